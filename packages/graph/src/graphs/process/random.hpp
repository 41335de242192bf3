#pragma once
/// Generators of random process graphs, whose vertices are the ranks. All are local; sizes are checked by their callers.
#include <cstdint>

#include "merganser/graphs/detail/rows.hpp"

namespace merganser::graphs::detail {

/// Generates the rows of a random regular process graph: every rank has `degree` neighbours; ranks * degree must be even and degree
/// < ranks.
Rows random_regular(int ranks, int degree, std::uint64_t seed);
/// Generates the rows of a small-world process graph: a ring in which every rank is joined to the `degree` nearest (even, < ranks),
/// with one end of each edge moved with probability `rewire`. Source: [watts1998].
Rows small_world(int ranks, int degree, double rewire, std::uint64_t seed);
/// Generates the rows of a process graph by preferential attachment: from a complete graph of links + 1 ranks on, every new rank is
/// joined to `links` < ranks others. Source: [barabasi1999].
Rows power_law(int ranks, int links, std::uint64_t seed);
/// Generates the rows of a random geometric process graph: ranks are points of a periodic unit square, neighbours up to `radius` <=
/// 0.5.
Rows geometric(int ranks, double radius, std::uint64_t seed);
/// Adds `edges` undirected edges between pairs of ranks that have none, taken at random, to the rows of a process graph. There must
/// be as many such pairs.
void add_random_edges(Rows& rows, std::int64_t edges, std::uint64_t seed);

}  // namespace merganser::graphs::detail
