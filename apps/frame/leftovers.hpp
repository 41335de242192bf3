#pragma once
#include <set>

namespace merganser::app {

/// Ends every process below this one, in order where they can within two seconds, and removes the shared memory (files
/// under /dev/shm) that they had mapped, or that names one of `jobs` as Open MPI does ("vader_segment.HOST.0.21d70001.0"),
/// unless another process uses it: what a launcher that was killed could not do any more. This process must have asked
/// to inherit orphans (PR_SET_CHILD_SUBREAPER) before it started them.
void end_leftovers(const std::set<unsigned>& jobs);

}  // namespace merganser::app
