#pragma once
/// Simulated machines (SimGrid's SMPI): the simulated time that local work of a rank takes.
///
/// In a build with the CMake option MERGANSER_SIMULATED all ranks are contexts of one process, run one after the other, and now()
/// returns the simulated time. The simulated network determines the time of messages; local work takes the time that spend() or
/// MeasuredWork adds, and no time otherwise. In other builds these functions do nothing.
#include <cstddef>

#include "merganser/base/pinned.hpp"
#include "merganser/base/timer.hpp"

namespace merganser {

#ifdef MERGANSER_SIMULATED
/// True in builds whose ranks are simulated by SimGrid (CMake option MERGANSER_SIMULATED).
inline constexpr bool kSimulated = true;
#else
/// True in builds whose ranks are simulated by SimGrid (CMake option MERGANSER_SIMULATED).
inline constexpr bool kSimulated = false;
#endif

/// Kinds of local work of a merge step, each with a simulated cost per unit.
enum class Work {
  search,           ///< binning, sorting and searching, by parcels; replies to queries, by queries
  graph,            ///< numbering links, by parcels
  prune,            ///< single pass, by parcels
  prune_iterative,  ///< Algorithm 1, all rounds, by parcels
  migrate,          ///< packing and unpacking rows, by rows
  merge             ///< merging and packing the container, by parcels
};

namespace detail {
/// Advances the simulated time of the calling rank by the cost of `count` units of local work. @throws UsageError
void spend_simulated(Work work, std::size_t count);
/// Advances the simulated time of the calling rank by work of its host that takes `seconds` at the host's present speed.
void busy_simulated(double seconds);
/// Returns the processor time of the process in seconds; -1 if MERGANSER_SIMULATED_WORK is not "measured".
double processor_seconds_simulated();
}  // namespace detail

/// Blocks the calling rank, working, until now() reaches `end` in seconds; returns at once if that time has passed. Local.
inline void busy_until(double end) {
  if constexpr (kSimulated) return detail::busy_simulated(end - now());
  while (now() < end) {
  }
}

/// Advances the simulated time of the calling rank by `count` times the cost of one unit of `work`. Local.
///
/// The environment variable MERGANSER_SIMULATED_COSTS gives the costs in seconds ("search=1e-7,merge=5e-8"); a kind of work that it
/// does not name takes no time. Does nothing in builds without simulation. @throws UsageError if the variable is not of that form
inline void spend([[maybe_unused]] Work work, [[maybe_unused]] std::size_t count) {
  if constexpr (kSimulated) detail::spend_simulated(work, count);
}

/// Scope of local work whose simulated time is the processor time that it takes on this machine, for work without a known cost per
/// unit.
///
/// It is measured if the environment variable MERGANSER_SIMULATED_WORK is "measured"; with "none" or without the variable it takes
/// no simulated time. The scope must contain no communication and no other MeasuredWork. Does nothing in builds without simulation.
/// @throws UsageError for another value of the variable
class MeasuredWork : Pinned {
 public:
  /// Starts to measure the processor time of local work of a simulated rank.
  MeasuredWork() {
    if constexpr (kSimulated) began_ = detail::processor_seconds_simulated();
  }
  ~MeasuredWork() { end(); }
  /// Ends the measurement of local work before the scope ends, and advances the simulated time of the rank.
  void end() {
    if constexpr (kSimulated) {
      if (began_ >= 0) detail::busy_simulated(detail::processor_seconds_simulated() - began_);
      began_ = -1;
    }
  }

 private:
  double began_ = -1;  // processor time in seconds; negative: not measured, or ended
};

}  // namespace merganser
