#pragma once
/// Edges in the order in which scikit-learn finds them.
#include <memory>
#include <vector>

#include "merganser/msf/grow.hpp"
#include "python/src/arrays.hpp"

namespace merganser::python {

/// The edges of a tree as Prim's algorithm takes them; on rank 0, on the others none.
using msf::Growth;

/// And the order in which they are merged: places in the growth by ascending weight.
struct Sequence {
  std::shared_ptr<Growth> growth;
  Line<std::uint32_t> order;
};

}  // namespace merganser::python
