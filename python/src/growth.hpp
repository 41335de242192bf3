#pragma once
/// Order in which scikit-learn's HDBSCAN finds and merges the edges of a tree, for labels that equal its own.
#include <memory>
#include <vector>

#include "merganser/msf/grow.hpp"
#include "python/src/arrays.hpp"

namespace merganser::python {

/// Edges of a tree in the order of Prim's algorithm; empty on ranks other than 0.
using msf::Growth;

/// Growth of a tree and the order in which its edges are merged: positions in the growth by ascending weight.
struct Sequence {
  std::shared_ptr<Growth> growth;
  Line<std::uint32_t> order;
};

}  // namespace merganser::python
