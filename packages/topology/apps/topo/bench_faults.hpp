#pragma once
/// Faults that topo bench injects for tests (--inject), and the end of a job in which no iteration ends any more.
#include <string>

#include "merganser/topology/measure.hpp"

namespace merganser::app {

/// Makes the hooks of measure() that inject the faults of one rank: "drop:rank=1,iteration=20; slow:rank=2,us=200". Local.
///
/// drop: the first iteration from `iteration` on whose kernel notifies its targets of arrived data leaves that out on its
/// first arc. slow: each iteration takes `us` longer, after the exchange. late: each begins its exchange `us`
/// later, so that ranks that wait for this one are late too. kill: the process is ended by SIGKILL at `iteration`.
/// @throws UsageError for a text that is no fault, or names a rank that is not there
[[nodiscard]] topology::Hooks make_hooks(const std::string& faults, int rank, int ranks);

/// Describes a stalled rank of topo bench or topo tail in one line: its phase, kernel and iteration, and the ranks whose data are
/// missing.
[[nodiscard]] std::string stall_text(const topology::Stall& stall);

/// Callback of the watchdog on any rank: prints stall_text(), sleeps up to 2 s so that the rank that lacks a message can print
/// its line too, and ends the job with exit code 4.
void end_stalled(const topology::Stall& stall);

}  // namespace merganser::app
