#pragma once
/// Greatest lambdas of the clusters of a condensed tree, which scores, memberships and predictions share.
#include <vector>

#include "merganser/msf/hdbscan.hpp"

namespace merganser::msf {

/// Returns for each cluster of a condensed tree the greatest lambda at which a point or a child cluster leaves it.
[[nodiscard]] std::vector<double> last_lambdas(const CondensedTree& tree);

/// Returns for each cluster of a condensed tree the greatest lambda at which a point leaves it or a cluster below it.
[[nodiscard]] std::vector<double> deepest_lambdas(const CondensedTree& tree);

}  // namespace merganser::msf
