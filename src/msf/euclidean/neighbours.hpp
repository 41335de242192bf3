#pragma once
/// The nearest neighbours of all points of a tree.
#include <functional>
#include <span>
#include <vector>

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

struct Search {
  std::uint32_t keep;
  const double* core;  ///< by point, 16 numbers more than points; null: plain distances
  int threads;
  std::function<void(double)> progress = {};  ///< called by the caller's thread with the share done; may be empty
};

/// Finds the `keep` nearest neighbours of every point, by (squared distance, id), leaf by leaf. `take` is called by the
/// threads that search, once for every leaf.
void find_neighbours(const PointTree& tree, const Search& search, const std::function<void(const LeafResult&)>& take);

}  // namespace merganser::msf::euclidean
