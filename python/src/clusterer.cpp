/// Python bindings of merge steps on parcels (merganser.Clusterer).
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
#include "python/src/policies.hpp"
#include "python/src/team.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Parameters of merganser.Clusterer: grid of the domain, options of the merge steps on parcels, shape of the decomposition.
struct StepOptions {
  Grid grid;               ///< box of the domain, cut into equal cells
  ClusterOptions cluster;  ///< options of merge steps
  std::string shape;       ///< shape of the decomposition: "auto", "1d", "2d", "3d" or blocks along each axis
  std::shared_ptr<PlaceCallback> place;  ///< callable behind the predicate of the merge policy; null: none
};

/// Validates volumes and attributes (ellipsoid shapes too) of this rank's parcels by the rules of the parcel file readers, before a
/// merge step. Local.
/// @throws InputError naming the first invalid parcel by its id
void check_values(const Parcels& parcels) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const double volume = parcels.site(i).volume;
    std::string wrong = volume_error(volume);
    if (wrong.empty()) wrong = row_error(parcels.schema(), parcels.row(i), volume);
    if (!wrong.empty()) throw InputError("parcel id " + std::to_string(parcels.id(i)) + ": " + wrong);
  }
}

/// Clusterer of parcels that Python owns as ClustererFound; it makes merge steps on the parcels that a ParcelsObject holds.
class ClustererObject : Pinned {
 public:
  /// Creates the clusterer and sends every parcel to the rank that owns its position. Collective over the team.
  ClustererObject(std::shared_ptr<Team> team, std::shared_ptr<ParcelsObject> parcels, const StepOptions& options)
      : state_(std::make_shared<State>()), team_(std::move(team)) {
    state_->parcels = std::move(parcels);
    place_ = options.place;
    collective_ = options.cluster.policy.has_collectives();
    run([options](State& state, comm::Transport& transport) {
      const auto use = state.parcels->use();
      state.blocks.emplace(options.grid, transport.size(), options.shape);
      distribute(*use, *state.blocks, transport);
      state.clusterer.emplace(transport, *state.blocks, use->schema(), options.cluster, &*use);
    });
  }

  /// Validates this rank's parcels, sends those that have moved to the owners of their positions, and makes one merge step.
  /// Called by every rank of the team. An exception that the predicate of the policy raises is thrown on its rank once the step has
  /// ended on all. @return this rank's counts of parcels and links, and seconds of each phase, by name
  nb::dict step() {
    const auto report = std::make_shared<StepReport>();
    if (place_) place_->forget();
    run([report, collective = collective_](State& state, comm::Transport& transport) {
      const auto use = state.parcels->use();
      // Steps with collectives would wait for a rank that ends before its first one.
      if (collective)
        comm::agree(transport, [&] { check_values(*use); });
      else
        check_values(*use);
      state.clusterer->redistribute(*use);
      *report = state.clusterer->step(*use);
    });
    if (place_) place_->rethrow();
    return to_dict(*report);
  }
  /// Returns the number of the next step in the key of the merge policy's random numbers. Local.
  [[nodiscard]] std::uint64_t policy_step() const {
    const auto use = state_->parcels->use();  // an interrupted step may still run
    return state_->clusterer->policy_step();
  }
  /// Sends every parcel to the rank that owns its position, however far it has moved. Collective.
  void distribute_again() {
    run([](State& state, comm::Transport& transport) {
      const auto use = state.parcels->use();
      distribute(*use, *state.blocks, transport);
    });
  }
  /// Returns the predicate of the merge policy; null without one. Local.
  [[nodiscard]] PlaceCallback* place() const noexcept { return place_.get(); }
  /// Returns the team of ranks that make the merge steps.
  [[nodiscard]] const std::shared_ptr<Team>& team() const noexcept { return team_; }

 private:
  /// Data of the merge steps, shared with a step that runs: one that Ctrl-C has interrupted may outlive the ClustererObject.
  struct State {
    std::shared_ptr<ParcelsObject> parcels;  ///< parcels of this rank
    std::unique_ptr<comm::Transport> alone;  ///< transport of one rank, for a team of this process alone
    std::optional<Decomposition> blocks;     ///< blocks of grid cells of all ranks
    std::optional<Clusterer> clusterer;
  };

  /// Runs a function of the clusterer on the team's transport over its communicator, or as an interruptible call on a transport of
  /// this process alone, which is kept between merge steps.
  void run(std::function<void(State&, comm::Transport&)> what) {
    const auto state = state_;
    if (!team_->is_local()) return team_->run([&](comm::Transport& t, const Interrupt&) { what(*state, t); });
    long_call([state, what = std::move(what)](const Interrupt&) {
      if (!state->alone) state->alone = comm::open_alone();
      what(*state, *state->alone);
    });
  }

  /// Converts the report of a merge step on this rank to a dict: counts, seconds by phase, numbers of clusters by size.
  static nb::dict to_dict(const StepReport& r) {
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
    out["policy"] = policy_numbers(r.policy);
    return out;
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<Team> team_;
  std::shared_ptr<PlaceCallback> place_;  // null without a predicate
  bool collective_ = false;               // whether the steps of the policy have collectives
};

/// Creates the object behind merganser.Clusterer from lower corner, extents, periodicity and cells of the grid, and the merge
/// policy with its predicate (None: none). Collective.
std::shared_ptr<ClustererObject> clusterer(std::shared_ptr<Team> team, std::shared_ptr<ParcelsObject> parcels,
                                           const Vec3& lower, const Vec3& extent, const std::array<bool, 3>& periodic,
                                           const std::array<std::int64_t, 3>& cells, double min_volume_ratio,
                                           const std::string& shape, const PolicyObject& policy, nb::object allowed) {
  StepOptions options;
  options.grid = {Box{lower, extent, periodic}, cells};
  options.cluster.min_volume_ratio = min_volume_ratio;
  options.cluster.policy = policy.policy;
  options.shape = shape;
  if (!allowed.is_none()) {
    options.place = std::make_shared<PlaceCallback>(std::move(allowed));
    options.cluster.policy.allowed = [place = options.place](const Vec3& position) { return place->allows(position); };
  }
  return std::make_shared<ClustererObject>(std::move(team), std::move(parcels), options);
}

/// Shows the interpreter's search for cycles what a ClustererFound refers to: the predicate of its policy.
int traverse_clusterer(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const PlaceCallback* const place = nb::inst_ptr<ClustererObject>(self)->place();
  if (place != nullptr) Py_VISIT(place->callable().ptr());
  return 0;
}
/// Drops the predicate of a ClustererFound in a cycle that nothing else refers to.
int clear_clusterer(PyObject* self) {
  PlaceCallback* const place = nb::inst_ready(self) ? nb::inst_ptr<ClustererObject>(self)->place() : nullptr;
  if (place != nullptr) place->drop();
  return 0;
}
PyType_Slot cyclic_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_clusterer)},
                              {Py_tp_clear, reinterpret_cast<void*>(&clear_clusterer)},
                              {0, nullptr}};

}  // namespace

// Python class of merge steps; the public class merganser.Clusterer wraps it.
void bind_clusterer(nb::module_& m) {
  nb::class_<ClustererObject>(m, "ClustererFound", "Merge steps on parcels: see merganser.Clusterer.",
                              nb::type_slots(cyclic_slots))
      .def("step", &ClustererObject::step,
           "Makes one merge step on the parcels and returns this rank's counts and times of it.")
      .def("distribute", &ClustererObject::distribute_again,
           "Sends every parcel to the rank that owns its position. Collective.")
      .def_prop_ro("policy_step", &ClustererObject::policy_step,
                   "Number of the next step in the key of the merge policy's random numbers.")
      .def_prop_ro("team", &ClustererObject::team, "Team whose ranks make the steps.");
  m.def("clusterer", &clusterer, nb::arg("team"), nb::arg("parcels"), nb::arg("lower"), nb::arg("extent"),
        nb::arg("periodic"), nb::arg("cells"), nb::arg("min_volume_ratio"), nb::arg("shape"), nb::arg("policy"),
        nb::arg("allowed").none(), "Creates a clusterer: see merganser.Clusterer. Collective.");
}

}  // namespace merganser::python
