#pragma once
/// What a state of the flow is summed up to, the same bits on any number of ranks.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/choices.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// What steps did to the number of parcels, on one rank or all.
struct StepCounts {
  std::int64_t splits = 0;
  std::int64_t merges = 0;                 ///< parcels merged into others
  std::int64_t merged_into_big = 0;        ///< those of them whose target was not small
  std::array<std::int64_t, 7> clusters{};  ///< of 2, 3, ... 7 members, of 8 and more

  /// Adds those of another step or rank.
  StepCounts& operator+=(const StepCounts& o);
  friend bool operator==(const StepCounts&, const StepCounts&) = default;
};

/// One state, at the start of a step.
struct Statistics {
  std::int64_t step = 0;
  double time = 0;
  double dt = 0;         ///< length of the step that begins here
  double strain = 0;     ///< largest strain rate at a node
  double frequency = 0;  ///< largest buoyancy frequency at a node
  std::int64_t parcels = 0;
  std::int64_t small = 0;       ///< with a volume of at most the smallest kept
  double volume = 0;            ///< sum
  double volume_deviation = 0;  ///< standard deviation of the volumes
  double kinetic_energy = 0;    ///< mean over the volume of u^2 / 2
  double enstrophy = 0;         ///< mean over the volume of omega^2 / 2
  Vec3 rms_vorticity{};         ///< root of the mean over the volume, by component
  double least_buoyancy = 0;
  double greatest_buoyancy = 0;
  StepCounts counts;  ///< of the step that led here

  /// Share of parcels that are small.
  [[nodiscard]] double small_share() const {
    return parcels > 0 ? static_cast<double>(small) / static_cast<double>(parcels) : 0;
  }
  friend bool operator==(const Statistics&, const Statistics&) = default;
};

/// A rank's part of the Statistics of a state.
class PartialStatistics {
 public:
  /// Volumes, vorticity and buoyancy, counted and summed; parcels up to `small_volume` count as small. Local.
  /// @throws InputError if a sum meets a number that is not finite
  void add_parcels(const Parcels& parcels, double small_volume);
  /// Velocities, read from the first three of `registers`. Local.
  void add_velocities(const Parcels& parcels);
  /// Another rank's part.
  void add(const PartialStatistics& o);
  /// What ranks have in common (step, time, limits) is not a sum: it is set in `out` by the caller.
  void finish(double box_volume, Statistics& out) const;

  /// For sending.
  [[nodiscard]] std::vector<std::byte> bytes() const;
  /// A part from what bytes() has made. @throws CommError if the bytes are not those of a part
  static PartialStatistics from_bytes(std::span<const std::byte> bytes);

  StepCounts counts;  ///< of this rank

 private:
  enum : std::size_t { volume, volume2, energy, xi2, eta2, zeta2, sums };
  std::int64_t parcels_ = 0;
  std::int64_t small_ = 0;
  double least_buoyancy_ = 0;  // of parcels_ > 0
  double greatest_buoyancy_ = 0;
  std::array<ExactSum, sums> sums_;
};

/// How the parts come together.
enum class StatisticsWay : std::uint8_t {
  network,    ///< announced from neighbour to neighbour: no rank waits for all, rows come some steps late
  collective  ///< a collective call per step
};
/// The ways, as options name them.
[[nodiscard]] Choices<StatisticsWay> statistics_ways();

/// Puts the parts of all ranks together, step by step.
class StatisticsGatherer {
 public:
  /// Collective.
  StatisticsGatherer(comm::Transport& transport, StatisticsWay way, double box_volume);
  ~StatisticsGatherer();
  StatisticsGatherer(StatisticsGatherer&&) noexcept;

  /// This rank's part of a state; `row` has what ranks have in common. Called by every rank.
  void add(const Statistics& row, const PartialStatistics& mine);
  /// Waits for all that has been added, over as many steps of the network as it is wide. Called by every rank.
  void drain();
  /// Rows that are complete and have not been taken, in order; the same on every rank. Local.
  [[nodiscard]] std::vector<Statistics> take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::flow
