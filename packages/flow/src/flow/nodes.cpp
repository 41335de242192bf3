// Layout of the flow's node fields on one rank, and the demands on box and decomposition.
#include "merganser/flow/nodes.hpp"

#include <string>

#include "merganser/base/error.hpp"

namespace merganser::flow {

// Layout of node fields on one rank: own nodes, halos, and the box that a flow needs.
NodeLayout::NodeLayout(const Decomposition& decomposition, int rank) : grid_(decomposition.grid()) {
  decomposition.require_cells("a flow");
  const Box& box = grid_.box;
  if (!box.periodic[0] || !box.periodic[1] || box.periodic[2])
    throw InputError("a flow in a box whose axes are not x and y periodic, z with walls; allowed: that");
  const std::array<int, 3> at = decomposition.coordinates(rank);
  const std::array<int, 3>& shape = decomposition.shape();
  if (shape[2] != 1)
    throw InputError("a flow on ranks of shape " + decomposition.describe() + "; allowed: z whole, as in 2x2x1");
  for (int a = 0; a < 3; ++a) {
    const auto s = static_cast<std::size_t>(a);
    first_[s] = decomposition.cut(a, at[s]);
    cells_[s] = decomposition.cut(a, at[s] + 1) - first_[s];
    spacing_[s] = box.extent[s] / static_cast<double>(grid_.cells[s]);
    const std::int64_t least = a == 2 ? 1 : shape[s] == 1 ? 3 : 2;
    for (int part = 0; part < shape[s]; ++part)
      if (decomposition.cut(a, part + 1) - decomposition.cut(a, part) < least)
        throw InputError("a flow with " + std::to_string(grid_.cells[s]) + " cells on " + std::to_string(shape[s]) +
                         " ranks along axis " + std::to_string(a) + "; allowed: at least " + std::to_string(least) +
                         " cells on each");
  }
  stride_j_ = static_cast<std::size_t>(cells_[2] + 3);
  stride_i_ = static_cast<std::size_t>(cells_[1] + 3) * stride_j_;
  size_ = static_cast<std::size_t>(cells_[0] + 3) * stride_i_;
}

}  // namespace merganser::flow
