#pragma once
/// What a rank can contract without a word to others.
#include <cstdint>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::msf {

template <class Edge>
struct LocalContraction {
  std::vector<Edge> forest;  ///< edges of the forest of the whole graph
  std::vector<Edge> left;    ///< edges still to be decided; an edge between ranks is left to the owner of `low`
  std::vector<std::uint64_t> parent;  ///< per own vertex: the vertex that names its component
};

/// Contracts components of the vertices first .. end - 1 along their least edges as long as these end in such vertices
/// too: a component whose least edge leaves the rank halts, but another one may still join it. Each edge here is first
/// held against the forest of all edges here, so that few are left.
/// @param edges     all edges with an end in the range, without loops
/// @param vertices  of the whole graph
/// Cost: that of local_forest() and a sort of the ends beyond the range.
template <class Edge>
[[nodiscard]] LocalContraction<Edge> contract_locally(std::vector<Edge> edges, std::uint64_t first, std::uint64_t end,
                                                      std::uint64_t vertices, int threads);

}  // namespace merganser::msf
