#pragma once
/// Options of searches among points, checked.
#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf::euclidean {

/// The same on all ranks and in their ranges. Collective. @throws UsageError on every rank
void check_together(const EuclideanOptions& options, comm::Transport& transport);

}  // namespace merganser::msf::euclidean
