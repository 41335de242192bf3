#pragma once
/// Sort of edges by (weight, low, high), the order in which Kruskal's algorithm joins trees.
#include "merganser/graphs/detail/radix_sort.hpp"
#include "src/msf/local/buffer.hpp"

namespace merganser::msf {

/// Radix sort of edges by (weight, low, high).
template <class Edge>
using EdgeSort = graphs::detail::RadixSort<Edge>;

/// Sorts this rank's edges by (weight, low, high). `scratch` gets the size of `edges`.
template <class Edge>
void sort_edges(Buffer<Edge>& edges, Buffer<Edge>& scratch) {
  scratch.resize(edges.size());
  EdgeSort<Edge>::sort(edges.span(), scratch.span());
}

}  // namespace merganser::msf
