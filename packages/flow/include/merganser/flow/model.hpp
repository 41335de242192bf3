#pragma once
/// The 3D elliptical parcel model (EPIC): parcels carry vorticity and buoyancy through the flow that they induce.
///
///     Model model(transport, decomposition, options);                     // collective
///     model.begin(fill(decomposition, transport.rank(), fields));         // collective
///     while (model.state().time < 6) model.step();                        // every rank
///
/// Source: EPIC 0.14.3; [frey2023]. The same bits for any number of ranks and any model of communication.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merganser/base/timer.hpp"
#include "merganser/flow/inversion.hpp"
#include "merganser/flow/nodes.hpp"
#include "merganser/flow/options.hpp"
#include "merganser/flow/statistics.hpp"
#include "merganser/flow/transfer.hpp"

namespace merganser::flow {

/// State of a flow run between two time steps besides its parcels. A run that begins with both continues with the same bits.
struct RunState {
  std::int64_t step = 0;  ///< number of completed time steps
  double time = 0;        ///< simulated time, s
  bool begun = false;     ///< true: the members below are set; false: Model::begin() computes them from the parcels
  Vec3 mean_vorticity{};  ///< volume mean of vorticity at the beginning, 1/s, which is held
  std::array<bool, 2> hold{false, false};  ///< true: vertical vorticity is held at 0 on the lower, the upper wall
  StepCounts counts;  ///< splits and merges of the step before, on this rank; begin() reads rank 0's, as those of all
};

/// Divides the cells of a flow's grid among ranks in x and y; columns in z stay whole. Local.
/// @param shape  "auto": least surface among the shapes that fit; or "AxBx1"
/// @throws UsageError for another shape; InputError if none fits
[[nodiscard]] Decomposition decompose(const Grid& grid, int ranks, const std::string& shape = "auto");

/// Returns a copy of flow parcels with EPIC's attributes alone, as parcel files have them: without the Runge-Kutta registers.
/// Local.
[[nodiscard]] Parcels without_registers(const Parcels& parcels);

/// Flow simulation by the elliptical parcel model on one rank of a transport. Every function not marked "Local" must be called by
/// every rank.
class Model {
 public:
  /// Creates the spectral solver, the node fields and the communication objects of a flow simulation. Collective.
  /// @throws UsageError for an option out of its range; and what NodeLayout, Inversion and Clusterer throw
  Model(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options,
        StatisticsWay way = StatisticsWay::network);
  ~Model();
  Model(Model&&) noexcept;

  /// Sets the parcels that a flow run begins or continues with, whichever ranks hold them, and sends them to their owners.
  /// Collective.
  /// @param parcels  with B, perhaps vorticity and buoyancy (else 0); ids unique and at least 0
  /// @param state  state that the run continues with; a default one begins a new run
  /// @throws InputError on every rank if there are none, or as distribute()
  void begin(Parcels parcels, const RunState& state = {});

  /// Computes the flow fields at the nodes and the length of the time step: the first part of a step. Does nothing if called
  /// again before advance(). Called by every rank; two reductions.
  /// @throws InputError on every rank if a field is not finite, or nothing limits the step
  void observe();
  /// Advances the flow's parcels by the time step whose length observe() has computed: the second part of a step. Called by every
  /// rank; exchanges messages with neighbours and along rows and columns of ranks; the statistics go along the arcs of an announcement
  /// network or, with StatisticsWay::collective, by one all-gather.
  /// @throws UsageError without observe(); InputError on the rank that finds a number that is not finite (of a parcel or a node), a parcel
  /// beyond the blocks that touch this rank's, or what locate() and Clusterer::step() refuse; the run cannot go on
  void advance();
  /// Makes a whole time step of the flow: observe() and advance(). Called by every rank.
  void step() {
    observe();
    advance();
  }
  /// Contributes the statistics of the last state of a flow run, after observe(), without a further step. Called by every rank.
  void conclude();

  /// Returns the simulated time, the step number and the held mean vorticity of the flow run, all that continues from step to
  /// step. Local.
  [[nodiscard]] const RunState& state() const noexcept;
  /// Returns the length of the flow's time step, s, as the last observe() computed it. Local.
  [[nodiscard]] double dt() const noexcept;
  /// Returns the parcels of the flow that this rank owns. Local.
  [[nodiscard]] const Parcels& parcels() const noexcept;
  /// Returns volume, vorticity and buoyancy gathered at the nodes, as observe() left them. Local.
  [[nodiscard]] const CarriedNodes& carried() const noexcept;
  /// Returns velocity, its gradient and the tendency of vorticity at the nodes, as observe() left them. Local.
  [[nodiscard]] const FlowNodes& flow() const noexcept;
  /// Counts the flow's parcels, and the small ones, in each cell of this rank, after observe(), in the order x, y, z with z
  /// fastest. Local.
  void count(std::vector<std::int32_t>& all, std::vector<std::int32_t>& small) const;
  /// Returns the division of the flow's grid cells among ranks. Local.
  [[nodiscard]] const Decomposition& decomposition() const noexcept;

  /// Returns the flow statistics of states that have become complete since the last call, in the order of steps; the same on
  /// every rank. Local.
  [[nodiscard]] std::vector<Statistics> pop_statistics();
  /// Completes the flow statistics of all states so far. Called by every rank; a few waves, none with StatisticsWay::collective.
  void drain_statistics();
  /// Returns the wall-clock time that this rank has spent in each stage of the flow's time steps. Local.
  [[nodiscard]] const Profile& profile() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::flow
