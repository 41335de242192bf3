#pragma once
/// Decompositions of one grid of every kind: by cells, by cuts, by boxes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "merganser/geometry/decomposition.hpp"

namespace merganser::test {

/// Returns a decomposition of each kind, the blocks of the last two of very different sizes.
inline std::vector<Decomposition> decompositions(const Grid& grid, int ranks) {
  std::vector<Decomposition> all{Decomposition(grid, ranks)};
  std::vector<double> cuts;
  for (int i = 1; i < ranks; ++i)
    cuts.push_back(grid.box.lower[0] + grid.box.extent[0] * std::sqrt(static_cast<double>(i) / ranks));
  all.push_back(Decomposition::from_cuts(Grid{grid.box}, {cuts, {}, {}}));
  // Each box takes a slice off what is left, along another axis each time; ranks in reverse.
  std::vector<Decomposition::Block> boxes;
  Vec3 lower = grid.box.lower;
  const Vec3 upper{lower[0] + grid.box.extent[0], lower[1] + grid.box.extent[1], lower[2] + grid.box.extent[2]};
  for (int i = 1; i < ranks; ++i) {
    const int a = i % 3;
    const double cut = lower[a] + 0.3 * (upper[a] - lower[a]);
    Decomposition::Block slice{lower, upper};
    slice.upper[a] = cut;
    boxes.push_back(slice);
    lower[a] = cut;
  }
  boxes.push_back({lower, upper});
  std::reverse(boxes.begin(), boxes.end());
  all.push_back(Decomposition::from_boxes(Grid{grid.box}, boxes));
  return all;
}

}  // namespace merganser::test
