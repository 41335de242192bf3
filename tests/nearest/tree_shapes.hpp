#pragma once
/// Points of several shapes for tests of the tree of boxes.
#include "merganser/nearest/point_tree.hpp"
#include "tests/support/point_shapes.hpp"

namespace merganser::nearest {

/// Makes points with ids that are not in their order.
template <std::size_t D>
std::vector<IdentifiedPoint<D>> make_items(const std::vector<std::vector<double>>& points) {
  std::vector<IdentifiedPoint<D>> items;
  for (std::size_t i = 0; i < points.size(); ++i) {
    IdentifiedPoint<D> item{{}, 7 + (i * 37) % 40009};
    std::copy(points[i].begin(), points[i].end(), item.at.begin());
    items.push_back(item);
  }
  return items;
}

/// Kind and number of points.
struct TreeShape {
  const char* shape;
  std::size_t points;
};
inline constexpr TreeShape kTrees[] = {{"uniform", 300}, {"lattice", 300},  {"heaps", 200}, {"equal", 90},
                                       {"line", 200},    {"clusters", 250}, {"uniform", 0}, {"uniform", 1},
                                       {"equal", 2},     {"uniform", 9}};

}  // namespace merganser::nearest
