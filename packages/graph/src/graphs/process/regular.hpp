#pragma once
/// Graphs without chance.
#include <span>
#include <vector>

#include "merganser/graphs/detail/rows.hpp"

namespace merganser::graphs::detail {

Rows chain(int ranks);
Rows ring(int ranks);
Rows complete(int ranks);
/// Ranks 1 to fan_in send to rank 0.
Rows incast(int ranks, int fan_in);
/// Rank (z * ny + y) * nx + x; neighbours one step along each axis.
Rows torus(std::span<const int> dims, std::span<const bool> periodic);
/// `ranks` as a product of `axes` factors as equal as can be, descending: of least sum.
std::vector<int> equal_dims(int ranks, int axes);

}  // namespace merganser::graphs::detail
