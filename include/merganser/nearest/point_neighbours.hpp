#pragma once
/// k nearest neighbours of all points of a rank's tree of boxes (all-kNN), multithreaded.
#include <atomic>
#include <cstdint>
#include <functional>

#include "merganser/nearest/leaf_scan.hpp"
#include "merganser/nearest/point_tree.hpp"

namespace merganser::nearest {

/// Nearest neighbours of the points of one leaf of a point tree, as find_neighbours() passes them on: row q has `row` entries
/// (`keep` or more) for point `first + q`, in order; missing neighbours have an infinite distance.
struct LeafResult {
  std::uint32_t first;         ///< first point of the leaf
  std::uint32_t count;         ///< number of points of the leaf
  std::uint32_t row;           ///< length of a row (neighbour list)
  const double* distance2;     ///< compared distances of the neighbours, row after row
  const std::uint64_t* point;  ///< neighbours, as numbers of points of the tree
};

/// Returns a view of the points of a tree in the form that scan_leaf() takes. @param core  squared core distances by point
/// and 16 more numbers; null: plain distances
template <std::size_t D>
[[nodiscard]] LeafPoints leaf_points(const PointTree<D>& tree, const double* core) {
  LeafPoints points;
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

/// Parameters of find_neighbours(), the search for the nearest neighbours of all points of a tree.
struct NeighbourSearch {
  std::uint32_t keep;  ///< nearest neighbours to find per point
  const double* core;  ///< squared core distances by point, and 16 more numbers; null: plain distances
  int threads;         ///< threads that share the leaves
  std::function<void(double)> progress =
      {};  ///< called by the calling thread with the share done, 0 to 1; may be empty
  std::atomic<std::int64_t>* visits =
      nullptr;  ///< the number of pairs of leaves that are compared is added; null: it is not
};

namespace detail {
/// Search for the neighbours of all points of a tree of D axes; find_neighbours() calls it. A class, since the names of its members are
/// in the namespace, unlike those of function templates, which begin with the type that is returned: a shared library exports by name.
template <std::size_t D>
struct AllNeighbours {
  static void find(const PointTree<D>& tree, const NeighbourSearch& search,
                   const std::function<void(const LeafResult&)>& store);
};
}  // namespace detail

/// Finds the `keep` nearest neighbours of every point of a rank's tree among the points of that tree, by (squared distance, id),
/// leaf by leaf. Local.
/// @param store  called once for every leaf, concurrently by the threads that search
template <std::size_t D>
void find_neighbours(const PointTree<D>& tree, const NeighbourSearch& search,
                     const std::function<void(const LeafResult&)>& store) {
  detail::AllNeighbours<D>::find(tree, search, store);
}

}  // namespace merganser::nearest
