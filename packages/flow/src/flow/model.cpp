// Time step of the elliptical parcel model: the order of gather, inversion, Runge-Kutta stages, merging, splitting and correction,
// with the errors of each stage.
#include "merganser/flow/model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/base/options.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/flow/detail/describe_options.hpp"
#include "merganser/flow/migrate.hpp"
#include "src/flow/model_parts.hpp"

namespace merganser::flow {
namespace {

constexpr double kMaxRatePerSecond = 1e50;  // 1/s; faster rates give steps that no longer advance the time

/// Validates the value of a flow option against its range. @throws UsageError if it is outside
template <class T>
void check_value(const char* name, const T& value, const Check& check) {
  if (!check.ok(static_cast<double>(value)))
    throw UsageError(std::string(name) + ": " + number_text(static_cast<double>(value)) +
                     "; allowed: " + check.allowed);
}

/// Validates all options of the flow by the ranges in describe(). @throws UsageError
void check_values(FlowOptions options) {
  describe(options, []([[maybe_unused]] const char* name, [[maybe_unused]] const auto& value, const char*,
                       const auto&... checks) { (check_value(name, value, checks), ...); });
}

/// Returns the options of the merge step (Clusterer) that follow from those of the flow model.
ClusterOptions cluster_options(const FlowOptions& options) {
  ClusterOptions out;
  out.min_volume_ratio = options.min_volume_ratio;
  return out;
}

}  // namespace

/// State of a flow run on one rank, with the parts of a time step as member functions in their order. Messages of errors get step
/// and time from step_context().
struct Model::Impl {
  Impl(comm::Transport& t, const Decomposition& d, const FlowOptions& o, StatisticsWay way)
      : transport(t),
        decomposition(d),
        options(o),
        layout(d, t.rank()),
        halo(t, d),
        inversion(t, d, o),
        transfer(t, d, o),
        migration(t, d),
        clusterer(t, d, schema(), cluster_options(o)),
        carried(layout),
        flow(layout),
        displacement(layout),
        excess(layout),
        gatherer(t, way, box_volume()) {}

  /// Returns the volume of the box in which the flow is simulated, m^3.
  [[nodiscard]] double box_volume() const {
    const Vec3& extent = decomposition.grid().box.extent;
    return extent[0] * extent[1] * extent[2];
  }
  /// Returns the largest volume of a small parcel, which the merge step merges, m^3.
  [[nodiscard]] double small_volume() const { return decomposition.grid().cell_volume() / options.min_volume_ratio; }

  /// Begins or continues a flow run: distributes the parcels, numbers them if the run is new, and finds the fields held at
  /// walls. Collective.
  void begin(Parcels given, const RunState& begun) {
    Parcels mine = with_registers(std::move(given));
    if (transport.all_reduce(static_cast<std::int64_t>(mine.size()), comm::Op::sum) == 0)
      throw InputError("a flow without parcels; allowed: at least one");
    distribute(mine, decomposition, transport);
    if (!begun.begun) renumber(mine, layout);  // a continued run keeps the ids, which decide the order of its sums
    parcels = std::move(mine);
    shapes = Shapes::changed;
    ids = IdOrder::any;
    state = begun;
    if (transport.rank() != 0) state.counts = {};
    observed = false;
    if (state.begun) return;
    locate();
    state.mean_vorticity = mean_vorticity(transport, transfer.vorticity_sums(parcels));
    state.begun = true;
    if (!options.keep_surface_vorticity) find_holds();
  }

  /// Makes the first half of a time step of the flow: fields, time step and statistics of the present state. Called by every rank.
  void observe() {
    if (observed) return;
    locate();
    fix_mean();
    compute_fields();
    row = {};
    row.step = state.step;
    row.time = state.time;
    compute_time_step();
    const Scope s(profile, "statistics");
    partial = {};
    partial.counts = std::exchange(state.counts, {});
    with_step_context([&] { partial.add_parcels(parcels, small_volume()); });
    observed = true;
  }

  /// Makes the second half of a time step of the flow: Runge-Kutta stages, then damping, merging, splitting and correction of the
  /// parcels. Called by every rank.
  void advance() {
    if (!observed) throw UsageError("Model::advance() without observe()");
    for (std::size_t i = 0; i < stages(options.order).size(); ++i) move(i);
    reflect(parcels, decomposition.grid().box);
    damp();
    state.counts = {};
    merge();
    {
      const Scope s(profile, "split");
      state.counts.splits = split(parcels, decomposition.grid(), options);
      ids = IdOrder::any;
      reflect(parcels, decomposition.grid().box);
    }
    migrate_all();
    arrange();
    correct();
    state.time += row.dt;
    ++state.step;
    observed = false;
  }

  /// Contributes the statistics of the last state of a flow run, without a further step. Called by every rank.
  void conclude() {
    if (!observed) throw UsageError("Model::conclude() without observe()");
    transfer.advance(parcels, flow, 0, 0);  // stores velocities in the registers; with b_dt = 0 no parcel moves
    shapes = Shapes::changed;
    publish();
  }

  /// Shifts the vorticity of all parcels so that its volume mean is the one that is held. Called by every rank.
  void fix_mean() {
    if (!options.mean_vorticity_fixed) return;
    const Scope s(profile, "mean");
    Vec3 now{};
    with_step_context([&] { now = mean_vorticity(transport, transfer.vorticity_sums(parcels)); });
    const Vec3& held = state.mean_vorticity;
    add_vorticity(parcels, {held[0] - now[0], held[1] - now[1], held[2] - now[2]});
  }

  /// Gathers volume, vorticity and buoyancy of the parcels at the nodes. After locate(); called by every rank.
  void gather() {
    const Scope s(profile, "gather");
    with_step_context([&] { transfer.gather(parcels, carried); });
    fix_walls();
  }

  /// Computes all node fields that parcels read, velocity, gradient and tendency, from the parcels. After locate(); called by
  /// every rank.
  void compute_fields() {
    gather();
    const Scope s(profile, "velocity");
    inversion.velocity_and_tendency(carried, flow, state.hold);
  }

  /// Sets vertical vorticity at this rank's nodes to 0 on walls where it is held, and to odd values beyond them.
  void fix_walls() {
    const std::int64_t top = layout.cells(2);
    for (std::size_t wall = 0; wall < 2; ++wall) {
      if (!state.hold[wall]) continue;
      const std::int64_t at = wall == 0 ? 0 : top;
      const std::int64_t out = wall == 0 ? -1 : top + 1;
      const std::int64_t in = wall == 0 ? 1 : top - 1;
      for (std::int64_t i = -1; i <= layout.cells(0) + 1; ++i)
        for (std::int64_t j = -1; j <= layout.cells(1) + 1; ++j) {
          carried.at(i, j, at)[CarriedFields::zeta] = 0;
          carried.at(i, j, out)[CarriedFields::zeta] = -carried.at(i, j, in)[CarriedFields::zeta];
        }
    }
  }

  /// Finds the walls where vertical vorticity begins as (nearly) 0, to hold it there. After locate(); collective.
  void find_holds() {
    transfer.gather(parcels, carried);
    std::vector<ExactSum> squares(3);  // lower wall, upper wall, inside
    const std::int64_t top = layout.cells(2);
    for (std::int64_t i = 0; i < layout.cells(0); ++i)
      for (std::int64_t j = 0; j < layout.cells(1); ++j)
        for (std::int64_t k = 0; k <= top; ++k) {
          const double zeta = carried.at(i, j, k)[CarriedFields::zeta];
          squares[k == 0 ? 0 : k == top ? 1 : 2].add(zeta * zeta);
        }
    const std::vector<double> all = sum_over_ranks(squares, transport);
    const Grid& grid = decomposition.grid();
    const double columns = static_cast<double>(grid.cells[0]) * static_cast<double>(grid.cells[1]);
    const double inside = std::sqrt(all[2] / (columns * static_cast<double>(top - 1)));
    for (std::size_t wall = 0; wall < 2; ++wall)
      state.hold[wall] = std::sqrt(all[wall] / columns) < 1e-3 * inside + 2.2e-16;
  }

  /// Computes the length of the flow's time step. Called by every rank; one reduction, which also finds out whether a field is
  /// not finite on any rank.
  void compute_time_step() {
    const Scope s(profile, "limit");
    const std::string wrong = find_not_finite(carried, flow);
    const StepLimits mine = inversion.limits(carried, flow);
    std::array<double, 3> most{mine.strain, mine.frequency, wrong.empty() ? 0.0 : 1.0};
    if (!wrong.empty()) most = {0, 0, 1};
    transport.all_reduce(most, comm::Op::max);
    // All ranks have most[2] in common, so either all or none enter agree().
    if (most[2] != 0)
      comm::agree(transport, [&] {
        if (!wrong.empty()) throw InputError(step_context() + ": " + wrong);
      });
    row.strain = most[0];
    row.frequency = most[1];
    row.dt = options.alpha / std::max(most[0], most[1]);
    if (std::max(most[0], most[1]) > kMaxRatePerSecond)
      throw InputError(step_context() + ": the largest strain rate is " + number_text(most[0]) +
                       ", the largest buoyancy frequency " + number_text(most[1]) + "; allowed: up to " +
                       number_text(kMaxRatePerSecond));
    if (row.dt > 0 && state.time + row.dt == state.time)
      throw InputError(step_context() + ": the time step " + number_text(row.dt) +
                       " does not advance the time; allowed: steps above " + number_text(0x1p-53 * state.time));
    if (!std::isfinite(row.dt) || !(row.dt > 0))
      throw InputError("nothing limits the time step at t = " + number_text(state.time) +
                       ": there is neither strain nor a gradient of buoyancy; allowed: a flow that moves, or will");
  }

  /// Validates the node fields of a Runge-Kutta stage on this rank. @throws InputError if a value is not finite
  void check_stage(std::size_t stage) const {
    const std::string wrong = find_not_finite(carried, flow);
    if (!wrong.empty()) throw InputError(step_context() + ", stage " + std::to_string(stage + 1) + ": " + wrong);
  }

  /// Makes one Runge-Kutta stage of all parcels, with the fields it needs; the first uses those of observe(). Called by every rank.
  void move(std::size_t stage) {
    if (stage > 0) {
      locate();
      compute_fields();
      check_stage(stage);
    }
    const RungeKuttaStage& now = stages(options.order)[stage];
    {
      const Scope s(profile, "advance");
      transfer.advance(parcels, flow, now.a, now.b * row.dt);
      shapes = Shapes::changed;
    }
    if (stage == 0) publish();
    migrate_moved();
  }

  /// Adds the kinetic energy to this rank's flow statistics of the state, and contributes them. After a first stage, whose
  /// registers hold velocities; called by every rank.
  void publish() {
    const Scope s(profile, "statistics");
    with_step_context([&] { partial.add_velocities(parcels); });
    gatherer.add(row, partial);
  }

  /// Sends all parcels that other ranks own to these. Called by every rank.
  void migrate_all() {
    const Scope s(profile, "migrate");
    keep_order([&] { return migration.send(parcels); });
  }

  /// Sends the parcels that the last advance(), displace() or even_out() moved out of this rank's block to their owners. Called by
  /// every rank.
  void migrate_moved() {
    const Scope s(profile, "migrate");
    keep_order([&] { return migration.send(parcels, transfer.may_have_left()); });
  }

  /// Calls send(), which migrates parcels and returns the number sent, and records whether their order in memory is still known.
  void keep_order(const auto& send) {
    const std::size_t before = parcels.size();
    const std::int64_t sent = send();
    if (sent != 0 || parcels.size() != before) ids = IdOrder::any;  // none sent and as many as before: none came
  }

  /// Damps the vorticity of parcels near the walls towards that of the wall, if option damping is not 0. Called by every rank.
  void damp() {
    if (options.damping == 0) return;
    locate();
    gather();
    const Scope s(profile, "damping");
    inversion.velocity(carried, flow);
    halo.fill(carried);  // velocity() replaces the vorticity of own nodes only, and parcels read the halo too
    transfer.damp(parcels, carried, flow, row.dt);
  }

  /// Merges small parcels into their nearest by one step of the Clusterer, and counts the stars. Called by every rank.
  void merge() {
    {
      const Scope s(profile, "merge");
      const StepReport report = clusterer.step(parcels);
      ids = IdOrder::any;
      state.counts.merges = report.merged;
      state.counts.merged_into_big = report.merged_into_big;
      for (const auto& [members, count] : report.clusters)
        if (members >= 2)
          state.counts.clusters[std::min<std::size_t>(static_cast<std::size_t>(members) - 2, 6)] += count;
    }
    migrate_all();
  }

  /// Sorts this rank's parcels by cell and id, renumbers and locates them, for the next time step. Local.
  void arrange() {
    locate();
    const Scope s(profile, "arrange");
    with_step_context([&] { transfer.arrange(parcels); });
    shapes = Shapes::kept;
    ids = IdOrder::ascending;
  }

  /// Corrects the positions of parcels `corrections` times so that volume becomes even at the nodes. After arrange(); called by
  /// every rank.
  void correct() {
    for (std::int64_t i = 0; i < options.corrections; ++i) {
      if (i > 0) locate();
      {
        const Scope s(profile, "correction");
        transfer.gather_excess(parcels, excess);
        inversion.displacement(excess, displacement);
        transfer.displace(parcels, displacement);
        reflect(parcels, decomposition.grid().box);
      }
      migrate_moved();
      locate();
      {
        const Scope s(profile, "correction");
        transfer.gather_excess(parcels, excess);
        transfer.even_out(parcels, excess);
      }
      migrate_moved();
    }
  }

  /// Returns the beginning of messages of errors in a time step: step number and simulated time.
  [[nodiscard]] std::string step_context() const {
    return "blow-up at step " + std::to_string(state.step) + ", t = " + number_text(state.time);
  }
  /// Calls work(), part of a time step; an InputError from it is rethrown with the step number and the simulated time.
  void with_step_context(const std::function<void()>& work) const {
    try {
      work();
    } catch (const InputError& e) {
      throw InputError(step_context() + ": " + e.what());
    }
  }

  /// Finds the grid cells of all parcels of this rank. Local.
  void locate() {
    const Scope s(profile, "locate");
    with_step_context([&] { transfer.locate(parcels, shapes, ids); });
  }

  comm::Transport& transport;
  Decomposition decomposition;
  FlowOptions options;
  NodeLayout layout;
  HaloFill halo;
  Inversion inversion;
  Transfer transfer;
  Migration migration;
  Clusterer clusterer;
  CarriedNodes carried;
  FlowNodes flow;
  VectorNodes displacement;
  ScalarNodes excess;
  StatisticsGatherer gatherer;
  Parcels parcels{schema()};
  Shapes shapes = Shapes::changed;  // relative to the last arrange()
  IdOrder ids = IdOrder::any;       // of the parcels in memory
  RunState state;
  Statistics row;
  PartialStatistics partial;
  bool observed = false;
  Profile profile;
};

Model::Model(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options,
             StatisticsWay way) {
  comm::agree(transport, [&] { check_values(options); });
  impl_ = std::make_unique<Impl>(transport, decomposition, options, way);
}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;

void Model::begin(Parcels parcels, const RunState& state) { impl_->begin(std::move(parcels), state); }
void Model::observe() { impl_->observe(); }
void Model::advance() { impl_->advance(); }
void Model::conclude() { impl_->conclude(); }
const RunState& Model::state() const noexcept { return impl_->state; }
double Model::dt() const noexcept { return impl_->row.dt; }
const Parcels& Model::parcels() const noexcept { return impl_->parcels; }
const CarriedNodes& Model::carried() const noexcept { return impl_->carried; }
const FlowNodes& Model::flow() const noexcept { return impl_->flow; }
void Model::count(std::vector<std::int32_t>& all, std::vector<std::int32_t>& small) const {
  impl_->transfer.count(impl_->parcels, impl_->small_volume(), all, small);
}
const Decomposition& Model::decomposition() const noexcept { return impl_->decomposition; }
std::vector<Statistics> Model::pop_statistics() { return impl_->gatherer.pop_complete(); }
void Model::drain_statistics() { impl_->gatherer.drain(); }
const Profile& Model::profile() const noexcept { return impl_->profile; }

}  // namespace merganser::flow
