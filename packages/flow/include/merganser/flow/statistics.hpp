#pragma once
/// Statistics of a state of the flow: exact sums over all parcels, with the same bits for any number of ranks.
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

/// Numbers of splits and merges of flow parcels in one or more time steps, on one rank or on all.
struct StepCounts {
  std::int64_t splits = 0;                 ///< number of parcels that were split
  std::int64_t merges = 0;                 ///< number of parcels merged into others
  std::int64_t merged_into_big = 0;        ///< merged parcels whose target was not small
  std::array<std::int64_t, 7> clusters{};  ///< merged stars of 2, 3, ... 7 parcels, and of 8 and more

  /// Adds the splits and merges of another time step or rank.
  StepCounts& operator+=(const StepCounts& o);
  friend bool operator==(const StepCounts&, const StepCounts&) = default;
};

/// Statistics of a flow at the start of a time step, over the parcels of all ranks; filled by Model and StatisticsGatherer.
struct Statistics {
  std::int64_t step = 0;         ///< number of the step that begins here, from 0
  double time = 0;               ///< simulated time, s
  double dt = 0;                 ///< length of the step that begins here, s
  double strain = 0;             ///< largest strain rate at a node, 1/s
  double frequency = 0;          ///< largest buoyancy frequency at a node, 1/s
  std::int64_t parcels = 0;      ///< number of parcels on all ranks
  std::int64_t small = 0;        ///< number of parcels whose volume is at most the smallest kept
  double volume = 0;             ///< sum of the parcel volumes, m^3
  double volume_deviation = 0;   ///< standard deviation of the parcel volumes, m^3
  double kinetic_energy = 0;     ///< mean over the volume of u^2 / 2, m^2/s^2
  double enstrophy = 0;          ///< mean over the volume of omega^2 / 2, 1/s^2
  Vec3 rms_vorticity{};          ///< root of the mean over the volume of the square of each component, 1/s
  double least_buoyancy = 0;     ///< smallest buoyancy of a parcel, m/s^2
  double greatest_buoyancy = 0;  ///< largest buoyancy of a parcel, m/s^2
  StepCounts counts;             ///< splits and merges of the step that led to this state

  /// Returns the share of parcels that are small, in [0, 1].
  [[nodiscard]] double small_share() const {
    return parcels > 0 ? static_cast<double>(small) / static_cast<double>(parcels) : 0;
  }
  friend bool operator==(const Statistics&, const Statistics&) = default;
};

/// One rank's contribution to the flow statistics of a state: exact sums over its parcels.
class PartialStatistics {
 public:
  /// Adds volumes, enstrophy and the range of buoyancy of this rank's parcels; those with up to `small_volume` m^3 count as
  /// small. Local.
  /// @throws InputError if a sum meets a number that is not finite
  void add_parcels(const Parcels& parcels, double small_volume);
  /// Adds the kinetic energy of this rank's parcels, whose velocities are the first three of their `registers`. Local.
  /// @throws InputError if a number is not finite
  void add_velocities(const Parcels& parcels);
  /// Adds the partial sums of another rank, of the same time step, to these. Local.
  void add(const PartialStatistics& o);
  /// Computes the flow statistics into `out` from the sums over all ranks, except for step, time, dt, strain and frequency, which
  /// are no sums. Local. @param box_volume  volume of the box, m^3
  void finish(double box_volume, Statistics& out) const;

  /// Serialises this rank's contribution to the flow statistics as a message for from_bytes(). Local.
  [[nodiscard]] std::vector<std::byte> bytes() const;
  /// Deserialises a rank's contribution to the flow statistics from a message of bytes(). Local. @throws CommError if the bytes
  /// are of another length
  static PartialStatistics from_bytes(std::span<const std::byte> bytes);

  StepCounts counts;  ///< splits and merges of this rank's parcels in the step before

 private:
  enum : std::size_t { volume, volume2, energy, xi2, eta2, zeta2, sums };
  std::int64_t parcels_ = 0;
  std::int64_t small_ = 0;
  double least_buoyancy_ = 0;  // of parcels_ > 0
  double greatest_buoyancy_ = 0;
  std::array<ExactSum, sums> sums_;
};

/// Method by which the contributions of all ranks to the flow statistics are combined.
enum class StatisticsWay : std::uint8_t {
  network,    ///< announced over a network: no rank waits for all, and statistics complete some steps late
  collective  ///< one collective call per state
};
/// Returns the methods of combining flow statistics with their names in the option --statistics. Local.
[[nodiscard]] Choices<StatisticsWay> statistics_ways();

/// Combines the contributions of all ranks into flow statistics, state by state.
class StatisticsGatherer {
 public:
  /// Creates the announcement network of the flow statistics where the method needs one. Collective. @param box_volume  volume of
  /// the box, m^3
  StatisticsGatherer(comm::Transport& transport, StatisticsWay way, double box_volume);
  ~StatisticsGatherer();
  StatisticsGatherer(StatisticsGatherer&&) noexcept;

  /// Adds this rank's contribution to the flow statistics of a state. Called by every rank, once per state in the same order.
  /// @param row  step, time, dt, strain and frequency, which are equal on all ranks
  void add(const Statistics& row, const PartialStatistics& mine);
  /// Completes the flow statistics of all states added. Called by every rank; up to as many waves as the time to live of the
  /// network.
  void drain();
  /// Returns the flow statistics that have become complete since the last call, in the order of states; the same on every rank.
  /// Local.
  [[nodiscard]] std::vector<Statistics> pop_complete();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::flow
