#pragma once
/// Order in which scikit-learn's HDBSCAN finds and merges the edges of a tree, for labels that equal its own.
#include <memory>
#include <vector>

#include "merganser/msf/grow.hpp"
#include "python/src/arrays.hpp"

namespace merganser::python {

/// Edges of a spanning tree in the order in which Prim's algorithm takes them; empty on ranks other than 0.
using msf::Growth;

/// Order of the merges of HDBSCAN* with ties="sequential": a spanning tree's edges as Prim's algorithm took them, and the
/// permutation by which they are merged.
struct Sequence {
  std::shared_ptr<Growth> growth;  ///< edges in the order of Prim's algorithm
  Line<std::uint32_t> order;       ///< positions in the growth by ascending weight
};

}  // namespace merganser::python
