// C interface of announcement networks (mg_announcer_...): handles, and conversion of options and announcements.
#include "merganser/capi/announce.h"

#include "merganser/announce/announcement_network.hpp"
#include "merganser/capi/detail/objects.hpp"

namespace merganser::capi {
namespace {

/// Converts the limits of an announcement network from the C record; zero fields keep the defaults.
announce::AnnouncementOptions convert_options(const mg_announcer_options* given) {
  const auto record = read_options(given, "options");
  announce::AnnouncementOptions options;
  if (record.max_bytes != 0) options.max_bytes = record.max_bytes;
  if (record.max_step_bytes != 0) options.max_step_bytes = record.max_step_bytes;
  return options;
}

/// Announcement network behind a handle, and the list that its last step delivered, which the caller reads in place.
class AnnouncerObject final : public OverTransport {
 public:
  static constexpr const char* kKind = "announcer";
  AnnouncerObject(std::shared_ptr<TransportObject> transport_object, const announce::Network& arcs,
                  const announce::AnnouncementOptions& options)
      : OverTransport(std::move(transport_object)), network(transport(), arcs, options) {}

  /// Makes one step of the announcement network and lists what it delivered on this rank as C records. Called by every rank.
  void step() {
    static_cast<void>(transport());
    received.clear();
    for (const announce::Announcement& a : network.step())
      received.push_back({a.id.origin, a.topic, static_cast<std::uint16_t>(a.delivery), a.id.counter, a.announced,
                          a.bytes.data(), a.bytes.size()});
  }

  announce::AnnouncementNetwork network;
  std::vector<mg_announcement> received;
};

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_announcer_new(mg_transport* transport, const char* network, int dimension, const mg_announcer_options* options,
                     mg_announcer** announcer) {
  return guard([&] {
    auto over = object_from<TransportObject>(transport);
    std::unique_ptr<announce::Network> arcs;
    announce::AnnouncementOptions limits;
    // An invalid argument on one rank must fail on all: the others would wait for it in the collective constructor.
    comm::agree(over->get(), [&] {
      check_not_null(announcer, "announcer");
      check_not_null(network, "network");
      limits = convert_options(options);
      arcs = announce::make_network(network, over->get().size(), dimension);
    });
    make_handle<AnnouncerObject>(announcer, over, *arcs, limits);
  });
}

int mg_announcer_announce(mg_announcer* announcer, int topic, const void* bytes, size_t count, int delivery) {
  return guard<AnnouncerObject>(announcer, [&](AnnouncerObject& object) {
    check_range<int>(topic, 0, announce::kFirstServiceTopic - 1, "topic");
    check_range<int>(delivery, MG_SAME_STEP, MG_IMMEDIATE, "delivery");
    object.network.announce(static_cast<announce::Topic>(topic),
                            checked_array(static_cast<const std::byte*>(bytes), count, "bytes"),
                            static_cast<announce::Delivery>(delivery));
  });
}

int mg_announcer_step(mg_announcer* announcer, size_t* handed_over) {
  return guard<AnnouncerObject>(announcer, [&](AnnouncerObject& object) {
    object.step();
    store_optional(handed_over, object.received.size());
  });
}

int mg_announcer_received(mg_announcer* announcer, const mg_announcement** announcements, size_t* count) {
  return guard([&] { return_array(object_from<AnnouncerObject>(announcer)->received, announcements, count); });
}

int mg_announcer_time(mg_announcer* announcer, int* steps) {
  return guard_get<AnnouncerObject>(announcer, steps, "steps",
                                    [](auto& object) { return object.network.time_to_live(); });
}

int mg_announcer_free(mg_announcer* announcer) { return guard_free<AnnouncerObject>(announcer); }

}  // extern "C"
