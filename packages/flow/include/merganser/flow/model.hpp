#pragma once
/// The 3D elliptical parcel model: parcels carry vorticity and buoyancy through the flow that they make.
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

/// What a run is between two steps besides its parcels. With both it goes on with the same bits.
struct RunState {
  std::int64_t step = 0;  ///< steps made
  double time = 0;
  bool begun = false;                      ///< what follows is known; else it is taken from the parcels
  Vec3 mean_vorticity{};                   ///< volume mean at the beginning, which is held
  std::array<bool, 2> hold{false, false};  ///< vertical vorticity is held at 0 on the lower, the upper wall
  StepCounts counts;  ///< of the step before: on this rank, but those of all are what rank 0 gives to begin()
};

/// Cells dealt to ranks in x and y; z stays whole.
/// @param shape  "auto": least surface among the shapes that fit; or "AxBx1"
/// @throws UsageError for another shape; InputError if none fits
[[nodiscard]] Decomposition decompose(const Grid& grid, int ranks, const std::string& shape = "auto");

/// The parcels with EPIC's attributes alone, as files have them: without what they hold within a step. Local.
[[nodiscard]] Parcels without_registers(const Parcels& parcels);

/// A run on one rank of a transport. Every function without "Local" is called by every rank.
class Model {
 public:
  /// Collective. @throws what NodeLayout, Inversion and Clusterer throw
  Model(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options,
        StatisticsWay way = StatisticsWay::network);
  ~Model();
  Model(Model&&) noexcept;

  /// Takes the parcels that a run begins or goes on with, wherever they are. Collective.
  /// @param parcels  with B, perhaps vorticity and buoyancy (else 0); ids unique and at least 0
  /// @throws InputError on every rank if there are none, or as distribute()
  void begin(Parcels parcels, const RunState& state = {});

  /// Fields, length of the step: the first part of a step. Nothing if it has been made. Two reductions.
  /// @throws InputError on every rank if a field is not finite, or nothing limits the step
  void observe();
  /// The rest of a step, after observe(); talks to neighbours, and along rows and columns of ranks. No reduction; with
  /// StatisticsWay::collective one.
  /// @throws InputError on the rank that finds a number that is not finite
  void advance();
  /// A whole step.
  void step() {
    observe();
    advance();
  }
  /// Statistics of the last state, after observe(), for a run that makes no further step.
  void conclude();

  /// Time and what else goes on from step to step. Local.
  [[nodiscard]] const RunState& state() const noexcept;
  /// Length of the step that observe() has begun. Local.
  [[nodiscard]] double dt() const noexcept;
  /// This rank's parcels. Local.
  [[nodiscard]] const Parcels& parcels() const noexcept;
  /// What parcels carry, at the nodes, as observe() left it. Local.
  [[nodiscard]] const CarriedNodes& carried() const noexcept;
  /// Velocity, gradient and tendency at the nodes, as observe() left them. Local.
  [[nodiscard]] const FlowNodes& flow() const noexcept;
  /// Parcels, and small ones, in each cell of this rank, after observe(): Transfer::count(). Local.
  void count(std::vector<std::int32_t>& all, std::vector<std::int32_t>& small) const;
  /// Where nodes and parcels are. Local.
  [[nodiscard]] const Decomposition& decomposition() const noexcept;

  /// Statistics that are complete and have not been taken. Local.
  [[nodiscard]] std::vector<Statistics> take_statistics();
  /// Completes those of all states so far, in a few waves.
  void drain_statistics();
  /// Time by stage on this rank. Local.
  [[nodiscard]] const Profile& profile() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::flow
