#pragma once
/// The nearest neighbours of all points of a tree.
#include <functional>

#include "merganser/nearest/leaf_scan.hpp"
#include "src/msf/euclidean/point_tree.hpp"

namespace merganser::msf::euclidean {

/// The lists of a leaf's points: row q has `row` neighbours, `keep` or more, of point `first + q` in order, those that
/// are not there with an infinite distance.
struct LeafResult {
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t row;
  const double* distance2;
  const std::uint64_t* point;
};

/// The points of a tree as scans take them. `core` as in Search.
template <std::size_t D>
[[nodiscard]] nearest::LeafPoints leaf_points(const PointTree<D>& tree, const double* core) {
  nearest::LeafPoints points;
  for (std::size_t a = 0; a < D; ++a) points.axis[a] = tree.axis(a);
  points.axes = static_cast<int>(D);
  points.core = core;
  points.ids = tree.ids().data();
  points.period = tree.metric().period.data();
  points.periodic = tree.metric().periodic();
  points.norm = tree.metric().norm;
  points.sphere = tree.metric().sphere;
  return points;
}

struct Search {
  std::uint32_t keep;
  const double* core;  ///< by point, 16 numbers more than points; null: plain distances
  int threads;
  std::function<void(double)> progress = {};  ///< called by the caller's thread with the share done; may be empty
};

/// Finds the `keep` nearest neighbours of every point, by (squared distance, id), leaf by leaf. `take` is called by the
/// threads that search, once for every leaf.
template <std::size_t D>
void find_neighbours(const PointTree<D>& tree, const Search& search,
                     const std::function<void(const LeafResult&)>& take);

}  // namespace merganser::msf::euclidean
