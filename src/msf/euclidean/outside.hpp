#pragma once
/// Where the points of the other ranks lie, roughly: the upper boxes of their trees.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

class Outside {
 public:
  Outside() = default;
  /// Collective. At most 1024 boxes of 56 bytes come from each rank.
  Outside(const PointTree& tree, comm::Transport& transport);

  /// Lower bound of the squared distance from a box to the points of a rank; any number above `most` if it is above.
  [[nodiscard]] double distance2(const Bounds& from, std::size_t rank, double most) const;
  /// The least over the other ranks.
  [[nodiscard]] double distance2(const Bounds& from) const;
  /// Lower bounds for every point, exact (as far as the boxes tell) where one of its list may be farther.
  [[nodiscard]] std::vector<double> bounds(const State& state) const;
  [[nodiscard]] std::size_t ranks() const { return boxes_.size(); }

 private:
  struct Node {
    Bounds box;
    std::uint64_t right;  ///< 0: none below
  };
  struct Visit {
    std::size_t node;
    double d2;
  };
  static void shorten(const PointTree& tree, std::uint32_t node, std::uint32_t few, std::vector<Node>& to);

  Metric metric_;
  std::size_t mine_ = 0;
  std::vector<std::vector<Node>> boxes_;  ///< by rank; of this rank none
  mutable std::vector<Visit> todo_;
};

}  // namespace merganser::msf::euclidean
