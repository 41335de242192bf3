#pragma once
/// Graphs by chance whose vertices are the ranks.
#include <cstdint>

#include "merganser/graphs/detail/rows.hpp"

namespace merganser::graphs::detail {

/// Every rank has `degree` neighbours; ranks * degree is even and degree < ranks.
Rows random_regular(int ranks, int degree, std::uint64_t seed);
/// Ring in which every rank knows the `degree` nearest (even, < ranks), the far end of each edge moved with probability
/// `rewire`.
Rows small_world(int ranks, int degree, double rewire, std::uint64_t seed);
/// Preferential attachment, every new rank with `links` < ranks edges, from a complete graph of links + 1 ranks.
Rows power_law(int ranks, int links, std::uint64_t seed);
/// Points of a periodic unit square, neighbours up to `radius` <= 0.5.
Rows geometric(int ranks, double radius, std::uint64_t seed);
/// Adds `edges` edges between pairs of ranks that have none, taken at random. There must be as many such pairs.
void add_random_edges(Rows& rows, std::int64_t edges, std::uint64_t seed);

}  // namespace merganser::graphs::detail
