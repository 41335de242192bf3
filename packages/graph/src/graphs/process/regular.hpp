#pragma once
/// Generators of regular process graphs, without random numbers. All are local.
#include <span>
#include <vector>

#include "merganser/graphs/detail/rows.hpp"

namespace merganser::graphs::detail {

/// Generates the rows of a process graph that is a path: ranks r and r + 1 are joined. @throws UsageError for too many arcs
Rows chain(int ranks);
/// Generates the rows of a process graph that is a cycle; a path for up to two ranks. @throws UsageError for too many arcs
Rows ring(int ranks);
/// Generates the rows of the complete process graph: every pair of ranks is joined. @throws UsageError for too many arcs
Rows complete(int ranks);
/// Generates the rows of the directed process graph in which ranks 1 to fan_in send to rank 0.
Rows incast(int ranks, int fan_in);
/// Generates the rows of a Cartesian grid of ranks, periodic along some axes. Rank (z * ny + y) * nx + x is joined to the ranks one
/// step away along each axis; an axis of two ranks has one edge whether the axis is periodic or not.
Rows torus(std::span<const int> dims, std::span<const bool> periodic);
/// Returns the lengths of the axes of a grid of `ranks` ranks: `axes` factors, descending, of least sum, as equal as possible.
std::vector<int> equal_dims(int ranks, int axes);

}  // namespace merganser::graphs::detail
