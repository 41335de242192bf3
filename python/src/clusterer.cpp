#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/parcels/limits.hpp"
#include "python/src/parcels.hpp"
#include "python/src/team.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// How steps are made.
struct StepOptions {
  Grid grid;
  ClusterOptions cluster;
  std::string shape;
};

/// Refuses volumes, attributes and shapes that cannot be merged, as the readers of files do. @throws InputError
void check_values(const Parcels& parcels) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const double volume = parcels.site(i).volume;
    std::string wrong = volume_error(volume);
    if (wrong.empty()) wrong = row_error(parcels.schema(), parcels.row(i), volume);
    if (!wrong.empty()) throw InputError("parcel id " + std::to_string(parcels.id(i)) + ": " + wrong);
  }
}

/// Steps on parcels that stay where they are, in the library's own memory.
class ClustererObject : Pinned {
 public:
  /// Collective: brings every parcel to who owns its place.
  ClustererObject(std::shared_ptr<Team> team, std::shared_ptr<ParcelsObject> parcels, const StepOptions& options)
      : state_(std::make_shared<State>()), team_(std::move(team)) {
    state_->parcels = std::move(parcels);
    run([options](State& state, comm::Transport& transport) {
      const auto use = state.parcels->use();
      state.blocks.emplace(options.grid, transport.size(), options.shape);
      distribute(*use, *state.blocks, transport);
      state.clusterer.emplace(transport, *state.blocks, use->schema(), options.cluster, &*use);
    });
  }

  /// One merge step, after parcels that have moved were redistributed to their owners. @return what it did
  nb::dict step() {
    const auto report = std::make_shared<StepReport>();
    run([report](State& state, comm::Transport&) {
      const auto use = state.parcels->use();
      check_values(*use);
      state.clusterer->redistribute(*use);
      *report = state.clusterer->step(*use);
    });
    return record(*report);
  }
  /// Brings every parcel to who owns its place, however far it has moved. Collective.
  void distribute_again() {
    run([](State& state, comm::Transport& transport) {
      const auto use = state.parcels->use();
      distribute(*use, *state.blocks, transport);
    });
  }
  /// Who makes the steps.
  [[nodiscard]] const std::shared_ptr<Team>& team() const noexcept { return team_; }

 private:
  /// What a step works on; an interrupted one may outlive this.
  struct State {
    std::shared_ptr<ParcelsObject> parcels;
    std::unique_ptr<comm::Transport> alone;
    std::optional<Decomposition> blocks;
    std::optional<Clusterer> clusterer;
  };

  void run(std::function<void(State&, comm::Transport&)> what) {
    const auto state = state_;
    if (!team_->here()) return team_->run([&](comm::Transport& t, const Interrupt&) { what(*state, t); });
    long_call([state, what = std::move(what)](const Interrupt&) {
      if (!state->alone) state->alone = comm::open_alone();
      what(*state, *state->alone);
    });
  }

  static nb::dict record(const StepReport& r) {
    nb::dict out;
    const std::pair<const char*, std::int64_t> numbers[] = {
        {"before", r.before},           {"small", r.small},
        {"merged", r.merged},           {"after", r.after},
        {"unmatched", r.unmatched},     {"links_to_small", r.links_to_small},
        {"cross_links", r.cross_links}, {"merged_into_big", r.merged_into_big}};
    for (const auto& [name, value] : numbers) out[name] = value;
    nb::dict seconds;
    const std::pair<const char*, double> stages[] = {{"search", r.seconds.search},   {"exchange", r.seconds.exchange},
                                                     {"graph", r.seconds.graph},     {"prune", r.seconds.prune},
                                                     {"migrate", r.seconds.migrate}, {"merge", r.seconds.merge}};
    for (const auto& [name, value] : stages) seconds[name] = value;
    out["seconds"] = seconds;
    nb::dict clusters;
    for (const auto& [members, count] : r.clusters) clusters[nb::int_(members)] = count;
    out["clusters"] = clusters;
    return out;
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<Team> team_;
};

std::shared_ptr<ClustererObject> clusterer(std::shared_ptr<Team> team, std::shared_ptr<ParcelsObject> parcels,
                                           const Vec3& lower, const Vec3& extent, const std::array<bool, 3>& periodic,
                                           const std::array<std::int64_t, 3>& cells, double min_volume_ratio,
                                           const std::string& shape) {
  StepOptions options;
  options.grid = {Box{lower, extent, periodic}, cells};
  options.cluster.min_volume_ratio = min_volume_ratio;
  options.shape = shape;
  return std::make_shared<ClustererObject>(std::move(team), std::move(parcels), options);
}

}  // namespace

void bind_clusterer(nb::module_& m) {
  nb::class_<ClustererObject>(m, "ClustererFound", "Merge steps on parcels: see merganser.Clusterer.")
      .def("step", &ClustererObject::step, "One merge step; a record of what it did.")
      .def("distribute", &ClustererObject::distribute_again, "Brings every parcel to who owns its place. Collective.")
      .def_prop_ro("team", &ClustererObject::team, "Who makes the steps.");
  m.def("clusterer", &clusterer, nb::arg("team"), nb::arg("parcels"), nb::arg("lower"), nb::arg("extent"),
        nb::arg("periodic"), nb::arg("cells"), nb::arg("min_volume_ratio"), nb::arg("shape"),
        "Steps on parcels: see merganser.Clusterer. Collective.");
}

}  // namespace merganser::python
