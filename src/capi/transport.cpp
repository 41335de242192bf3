// C interface of transports (mg_open..., mg_transport_..., mg_run_threads).
#include "merganser/capi/transport.h"

#include <cmath>

#include "merganser/base/text.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/comm/plugins.hpp"

namespace merganser::capi {
namespace {

/// Converts the options for opening a transport (model, decorators) from the C record; null fields keep the defaults.
comm::OpenOptions convert_options(const mg_open_options* given) {
  const auto record = read_options(given, "options");
  comm::OpenOptions options;
  options.backend = string_or(record.backend, "auto");
  options.decorators = string_or(record.decorators, "");
  return options;
}

}  // namespace

// Conversion of a C caller's box; the sum of corner and extent is checked too, since it may overflow or be rounded away.
Box to_box(const mg_box* given) {
  const mg_box record = read_record(given, "box");
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lower[a] = record.lower[a];
    box.extent[a] = record.extent[a];
    box.periodic[a] = read_flag(record.periodic[a], "box: periodic");
    const double upper = box.lower[a] + box.extent[a];
    if (!std::isfinite(box.lower[a]) || !std::isfinite(upper) || !(upper > box.lower[a]))
      throw InputError("box: extent " + number_text(box.extent[a]) + " from " + number_text(box.lower[a]) +
                       " on axis " + "xyz"[a] + "; allowed: finite numbers, the extent positive");
  }
  return box;
}

}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_open_fortran(int communicator, const mg_open_options* options, mg_transport** transport) {
  return guard([&] {
    check_not_null(transport, "transport");
    make_handle<TransportObject>(transport, comm::open(communicator, convert_options(options)));
  });
}

int mg_use_mpi(const char* where) {
  return guard([&] { (void)comm::use_mpi(string_or(where, "")); });
}

int mg_open_alone(mg_transport** transport) {
  return guard([&] {
    check_not_null(transport, "transport");
    make_handle<TransportObject>(transport, comm::open_alone());
  });
}

int mg_transport_choice(mg_transport* transport, const char** choice) {
  return guard_get<TransportObject>(transport, choice, "choice", [](auto& object) { return object.choice(); });
}

int mg_run_threads(int ranks, mg_body body, void* user) {
  return guard([&] {
    if (body == nullptr) throw UsageError("body: a null pointer; allowed: a function");
    check_range(ranks, 1, 1 << 20, "ranks");
    comm::RunOptions options;
    options.backend = "threads";
    options.ranks = ranks;
    comm::run(options, [&](comm::Transport& transport) {
      const auto object = std::make_shared<TransportObject>(transport);
      auto* const handle = static_cast<mg_transport*>(register_object(object));
      const int status = body(handle, user);
      object->end();
      // The body may have closed the handle, or stored it: a use after the run must fail, so it is freed here.
      guard([&] { static_cast<void>(free_handle<TransportObject>(handle)); });
      if (status != MG_OK) rethrow_recorded(status);
    });
  });
}

int mg_transport_close(mg_transport* transport) { return guard_free<TransportObject>(transport); }

int mg_transport_rank(mg_transport* transport, int* rank) {
  return guard_get<TransportObject>(transport, rank, "rank", [](auto& object) { return object.get().rank(); });
}

int mg_transport_size(mg_transport* transport, int* size) {
  return guard_get<TransportObject>(transport, size, "size", [](auto& object) { return object.get().size(); });
}

int mg_transport_name(mg_transport* transport, const char** name) {
  return guard_get<TransportObject>(transport, name, "name", [](auto& object) { return object.get().name().data(); });
}

int mg_transport_barrier(mg_transport* transport) {
  return guard([&] { object_from<TransportObject>(transport)->get().barrier(); });
}

int mg_transport_sum(mg_transport* transport, int64_t* values, size_t n) {
  return guard<TransportObject>(transport, [&](TransportObject& object) {
    check_range<std::size_t>(n, 0, std::size_t{1} << 24, "n");
    object.get().all_reduce(checked_array(values, n, "values"), comm::Op::sum);
  });
}

}  // extern "C"
