#pragma once
/// Faults that topo bench can be made to suffer, and what it says when nothing moves any more.
#include <string>

#include "merganser/topology/measure.hpp"

namespace merganser::app {

/// Hooks for the faults that a rank is to suffer: "drop:rank=1,iteration=20; slow:rank=2,us=200".
///
/// drop: the first iteration from `iteration` on whose kernel tells its targets that data has come leaves that out on its
/// first arc. slow: each iteration takes `us` longer, after the exchange. late: the same before the exchange, so that
/// ranks that wait for this one are late too. kill: the process ends at `iteration` without a word.
/// @throws UsageError for what is no fault
[[nodiscard]] topology::Hooks make_hooks(const std::string& faults, int rank, int ranks);

/// One line: who stands where, and waits for whom.
[[nodiscard]] std::string stall_text(const topology::Stall& stall);

/// Prints stall_text(), leaves others time for theirs, and ends the job with exit code 4.
void end_stalled(const topology::Stall& stall);

}  // namespace merganser::app
