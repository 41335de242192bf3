#pragma once
/// Where the points of the other ranks lie, roughly: the upper boxes of their trees.
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

template <std::size_t D>
class RemoteBoxes {
 public:
  RemoteBoxes() = default;
  /// Collective. At most 1024 boxes of 16 D + 8 bytes come from each rank.
  RemoteBoxes(const PointTree<D>& tree, comm::Transport& transport);

  /// Tells each rank which of the others' boxes are of one component. Needs the marks of the nodes. Collective.
  void mark(const State<D>& state, comm::Transport& transport);

  /// Lower bound of the squared distance from a box to the points of a rank; any number above `most` if it is above.
  /// Boxes marked as of `component` do not count.
  [[nodiscard]] double distance2(const Bounds<D>& from, std::size_t rank, double most,
                                 std::uint32_t component = kNone) const;
  /// The least over the other ranks.
  [[nodiscard]] double distance2(const Bounds<D>& from, std::uint32_t component = kNone) const;
  /// Lower bounds for every point, exact (as far as the boxes tell) where one of its list may be farther.
  [[nodiscard]] std::vector<double> bounds(const State<D>& state) const;
  [[nodiscard]] std::size_t ranks() const { return boxes_.size(); }

 private:
  struct Node {
    Bounds<D> box;
    std::uint32_t right;  ///< 0: none below
    std::uint32_t node;   ///< of its rank's tree
  };
  struct Visit {
    std::size_t node;
    double d2;
  };
  static std::vector<std::uint8_t> choose(const PointTree<D>& tree);
  static void copy(const PointTree<D>& tree, const std::vector<std::uint8_t>& opened, std::uint32_t node,
                   std::vector<Node>& to);

  Metric<D> metric_;
  std::size_t mine_ = 0;
  std::vector<std::uint32_t> told_;                    ///< nodes of this rank that others know of
  std::vector<std::vector<std::uint32_t>> component_;  ///< by rank and box
  comm::Received<Node> boxes_;                         ///< by rank; of this rank none
  mutable std::vector<Visit> todo_;
};

}  // namespace merganser::msf::euclidean
