#pragma once
/// Simulated machines: whether the ranks of this build are simulated, and the time that their own work takes there.
///
/// Built for SimGrid's SMPI (CMake option MERGANSER_SIMULATED), all ranks are played by one process, one after the other, in a
/// time of their own, which now() tells. Messages take what the simulated network says; work takes what spend() says, and
/// nothing otherwise. In other builds spend() is nothing.
#include <cstddef>

#include "merganser/base/pinned.hpp"
#include "merganser/base/timer.hpp"

namespace merganser {

#ifdef MERGANSER_SIMULATED
/// Whether ranks are simulated.
inline constexpr bool kSimulated = true;
#else
/// Whether ranks are simulated.
inline constexpr bool kSimulated = false;
#endif

/// Local work of a merge step that takes time.
enum class Work {
  search,           ///< binning, sorting and searching, by parcels; answers, by questions
  graph,            ///< numbering links, by parcels
  prune,            ///< single pass, by parcels
  prune_iterative,  ///< Algorithm 1, all rounds, by parcels
  migrate,          ///< packing and unpacking rows, by rows
  merge             ///< merging and packing the container, by parcels
};

namespace detail {
void spend_simulated(Work work, std::size_t count);
void busy_simulated(double seconds);
double processor_seconds_simulated();
}  // namespace detail

/// Keeps this rank busy until now() is `end`; at once if it is later already.
inline void busy_until(double end) {
  if constexpr (kSimulated) return detail::busy_simulated(end - now());
  while (now() < end) {
  }
}

/// Lets this simulated rank work for `count` times the seconds that the variable MERGANSER_SIMULATED_COSTS names for `work`
/// ("search=1e-7,merge=5e-8"; what is not named takes no time). @throws UsageError if the variable is not of that form
inline void spend([[maybe_unused]] Work work, [[maybe_unused]] std::size_t count) {
  if constexpr (kSimulated) detail::spend_simulated(work, count);
}

/// A stretch of a rank's own work that is measured while it is done, for work whose cost no count tells: with the variable
/// MERGANSER_SIMULATED_WORK=measured it takes in simulated time the processor time that it took here, without the variable none.
/// Nothing may be sent or waited for in it, and no other one may begin in it. @throws UsageError for another value
class MeasuredWork : Pinned {
 public:
  /// Begins it.
  MeasuredWork() {
    if constexpr (kSimulated) began_ = detail::processor_seconds_simulated();
  }
  ~MeasuredWork() { end(); }
  /// Ends it before the block ends.
  void end() {
    if constexpr (kSimulated) {
      if (began_ >= 0) detail::busy_simulated(detail::processor_seconds_simulated() - began_);
      began_ = -1;
    }
  }

 private:
  double began_ = -1;
};

}  // namespace merganser
