#pragma once
/// Arithmetic of splitting under a merge policy, which the merge step and its serial reference share.
#include <cstdint>

#include "src/cluster/policy_arithmetic.hpp"

namespace merganser::cluster {

/// Returns the id of the first new parcel of a step. @param grid  of the cells in which parcels are counted
/// @throws UsageError, on every rank alike, if those of the step have no room
[[nodiscard]] std::int64_t first_new_id(const MergePolicy& policy, const Grid& grid);

/// Splits one parcel as a policy says: one child stays at its place in the container with its id, the other is appended.
/// @param cells   grid of the cells in which parcels are counted
/// @param i       its index
/// @param child   id of the new parcel
void split_parcel(const MergePolicy& policy, const PolicyColumns& columns, const Grid& cells, Parcels& parcels,
                  std::size_t i, std::int64_t child);

/// Multiplies the attributes of rule sum in a payload row by a factor.
void scale_sums(const Schema& schema, double factor, double* row);

}  // namespace merganser::cluster
