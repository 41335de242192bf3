/// Python bindings of announcement networks (merganser.Announcements).
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/announce/network.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/comm/open.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Announcement network (flooding along a sparse process graph, bounded by a time to live) that Python owns as AnnouncementsFound,
/// over a communicator or over this process alone.
class AnnouncementsObject : Pinned {
 public:
  /// Creates this rank's end of an announcement network. Collective over the team. `name` and `dimension` select the process
  /// graph, `max_bytes` limits an announcement. @throws UsageError for a team of threads of this process
  AnnouncementsObject(std::shared_ptr<Team> team, const std::string& name, int dimension, std::size_t max_bytes)
      : state_(std::make_shared<State>()), team_(std::move(team)) {
    if (team_->is_local() && team_->ranks() > 1)
      throw UsageError(
          "announcements: over threads of this process; allowed: over a communicator, or this process alone");
    run([=](State& state, comm::Transport& transport) {
      const auto network = announce::make_network(name, transport.size(), dimension);
      announce::AnnouncementOptions options;
      options.max_bytes = max_bytes;
      options.max_step_bytes = std::max(options.max_step_bytes, max_bytes);
      state.network.emplace(transport, *network, options);
    });
  }

  /// Queues a copy of `bytes` as an announcement of this rank on a topic, sent from the next step on; with `immediate` a rank
  /// delivers it on arrival, else all ranks in the same step. Local. @return its id as a tuple (origin rank, counter)
  /// @throws UsageError for a negative topic and for those reserved for services of the library
  nb::tuple announce(const nb::bytes& bytes, int topic, bool immediate) {
    if (topic < 0 || topic >= announce::kFirstServiceTopic)
      throw UsageError("topic: " + std::to_string(topic) + "; allowed: from 0 to below " +
                       std::to_string(announce::kFirstServiceTopic));
    const auto delivery = immediate ? announce::Delivery::immediate : announce::Delivery::same_step;
    const auto id =
        state_->network->announce(static_cast<announce::Topic>(topic),
                                  {reinterpret_cast<const std::byte*>(bytes.c_str()), bytes.size()}, delivery);
    return nb::make_tuple(id.origin, id.counter);
  }

  /// Makes one step of the announcement network: exchanges with the neighbours. Called by every rank. @return tuples (origin,
  /// counter, step of announcing, topic, bytes) of the announcements that the step delivers to this rank
  nb::list step() {
    run([](State& state, comm::Transport&) { state.network->step(); });
    nb::list out;
    for (const announce::Announcement& a : state_->network->received())
      out.append(nb::make_tuple(a.id.origin, a.id.counter, a.announced, static_cast<int>(a.topic),
                                nb::bytes(reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size())));
    return out;
  }

  /// Returns the number of steps after which an announcement has reached all ranks: the network's diameter, at least 1.
  [[nodiscard]] int time_to_live() const { return state_->network->time_to_live(); }
  /// Returns the number of steps that this announcement network has made.
  [[nodiscard]] std::int64_t now() const { return state_->network->now(); }
  [[nodiscard]] int rank() const { return state_->network->rank(); }
  [[nodiscard]] int size() const { return state_->network->size(); }
  /// Returns this rank's counters of the announcement network by name: steps, announcements, messages, bytes sent, ...
  nb::dict statistics() const {
    const auto& s = state_->network->statistics();
    nb::dict out;
    const std::pair<const char*, std::int64_t> numbers[] = {
        {"steps", s.steps},           {"announced", s.announced}, {"delivered", s.delivered},
        {"duplicates", s.duplicates}, {"messages", s.messages},   {"empty", s.empty},
        {"bytes", s.bytes},           {"held", s.held},           {"peak_held", s.peak_held}};
    for (const auto& [name, value] : numbers) out[name] = value;
    return out;
  }

 private:
  /// Announcement network of this rank and, for a team of this process alone, the transport of one rank that it runs over.
  struct State {
    std::unique_ptr<comm::Transport> alone;  ///< transport of this process alone; null over a communicator
    std::optional<announce::AnnouncementNetwork> network;  ///< created by the constructor
  };
  /// Runs a function of the announcement network on the team's transport over its communicator, or on a transport of this process
  /// alone, which the first call opens; without Python's interpreter lock.
  void run(const std::function<void(State&, comm::Transport&)>& what) {
    if (!team_->is_local()) return team_->run([&](comm::Transport& t, const Interrupt&) { what(*state_, t); });
    const nb::gil_scoped_release free;
    if (!state_->alone) state_->alone = comm::open_alone();
    what(*state_, *state_->alone);
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<Team> team_;
};

}  // namespace

// Registers class AnnouncementsFound and the function that creates one, which merganser.Announcements wraps.
void bind_announcements(nb::module_& m) {
  using A = AnnouncementsObject;
  nb::class_<A>(m, "AnnouncementsFound", "Announcement network: see merganser.Announcements.")
      .def("announce", &A::announce, nb::arg("bytes"), nb::arg("topic"), nb::arg("immediate"),
           "Announces bytes of this rank to all ranks of the network.")
      .def("step", &A::step, "Makes one step of the network and returns the announcements delivered to this rank.")
      .def_prop_ro("time_to_live", &A::time_to_live, "Number of steps to all ranks.")
      .def_prop_ro("now", &A::now, "Number of steps made.")
      .def_prop_ro("rank", &A::rank, "Number of this rank.")
      .def_prop_ro("size", &A::size, "Number of ranks.")
      .def("statistics", &A::statistics, "Counts of this rank by name.");
  m.def(
      "announcements",
      [](std::shared_ptr<Team> team, const std::string& network, int dimension, std::size_t max_bytes) {
        return std::make_shared<A>(std::move(team), network, dimension, max_bytes);
      },
      nb::arg("team"), nb::arg("network"), nb::arg("dimension"), nb::arg("max_bytes"),
      "Creates an announcement network: see merganser.Announcements. Collective.");
}

}  // namespace merganser::python
