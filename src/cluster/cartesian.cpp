// Decomposition of a grid that follows the process topology of an MPI Cartesian communicator.
#include "merganser/cluster/cartesian.hpp"

#include <string>
#include <vector>

#include "merganser/base/indexed_text.hpp"

namespace merganser {

// Decomposition of a grid over the ranks of an MPI Cartesian communicator, axis by axis.
Decomposition cartesian_decomposition(const Grid& grid, const comm::Cartesian& cartesian,
                                      const std::array<int, 3>& axes) {
  const std::size_t count = cartesian.shape.size();
  if (count < 1 || count > 3)
    throw UsageError("a Cartesian communicator of " + std::to_string(count) + " axes; allowed: 1 to 3");
  std::array<int, 3> shape{1, 1, 1};
  std::array<bool, 3> named{};
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (axis > 2 || named[axis])
      throw Indexed<UsageError>(IndexedText("axis ") + Index{axis} + " of the grid for axis " + Index{i} +
                                " of a Cartesian communicator; allowed: " + Index{0} + ", " + Index{1} + ", " +
                                Index{2} + ", each once");
    named[axis] = true;
    shape[axis] = cartesian.shape[i];
  }
  const int ranks = shape[0] * shape[1] * shape[2];
  Decomposition tensor(grid, ranks,
                       std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" + std::to_string(shape[2]));
  // MPI numbers the ranks of a Cartesian communicator with its last axis fastest, a Decomposition with the grid's third
  // axis. If the two orders differ, the blocks are listed by rank instead.
  bool alike = true;
  std::vector<Decomposition::Block> blocks;
  for (int rank = 0; rank < ranks; ++rank) {
    std::array<int, 3> at{0, 0, 0};
    int rest = rank;
    for (std::size_t i = count; i-- > 0; rest /= cartesian.shape[i])
      at[static_cast<std::size_t>(axes[i])] = rest % cartesian.shape[i];
    alike = alike && tensor.rank_at(at) == rank;
    blocks.push_back(tensor.block(tensor.rank_at(at)));
  }
  return alike ? tensor : Decomposition::from_boxes(grid, blocks);
}

}  // namespace merganser
