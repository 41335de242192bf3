#pragma once
/// Search for the point nearest to a place in a tree of boxes of which each node has up to eight children, in 3 to 6 dimensions.
/// The boxes of the children of a node are compared with the place together. Local.
///
/// Distances are the canonical ones of leaf_scan.hpp, sums of squares: they have the same bits on every processor.
#include <cstdint>
#include <limits>

namespace merganser::nearest {

/// View of a tree of boxes over points. Nodes have numbers, as their owner likes; points are numbered leaf after leaf.
struct BoxTree {
  static constexpr std::uint32_t kChildren = 8;        ///< children of a node, at most
  static constexpr int kMaxAxes = 6;                   ///< number of axes, at most
  static constexpr std::uint32_t kNone = 0xffffffffU;  ///< no node, point or inner node
  static constexpr std::uint32_t kMaxDepth = 72;       ///< nodes from a root to a leaf, at most; not checked
  /// Node of the tree.
  struct Node {
    std::int64_t id;      ///< least id of its points
    std::uint32_t inner;  ///< number among the nodes that have children, by which these are found; kNone: a leaf
    std::uint32_t begin;  ///< of a leaf: number of its first point
    std::uint32_t count;  ///< of a leaf: number of its points
    std::uint32_t room;   ///< of a leaf: number of points for which it has memory
  };

  int axes = 3;                       ///< number of axes, 3 to kMaxAxes
  const double* places = nullptr;     ///< coordinates of the points, see index_of(); kChildren more numbers at the end
  const std::int64_t* ids = nullptr;  ///< by point: its id
  const Node* nodes = nullptr;        ///< by number of the node
  const std::uint32_t* children = nullptr;  ///< by inner node: kChildren numbers of nodes; kNone: no more children
  /// By inner node and axis: kChildren lower bounds, then as many upper ones; begins at a multiple of 64 bytes.
  const double* boxes = nullptr;
  double period[3] = {};  ///< period of each of the first three axes; infinite: none
  double slack[3] = {};   ///< bound of the rounding error of a distance to an image along each of these axes
  /// Boxes with a greater sum of squares of the first three axes are left out; points are not, BoxSearch::take() decides on these.
  double within2 = std::numeric_limits<double>::infinity();

  /// Returns where the coordinate of a point of a leaf is among `places`. @param i  number of the point in the leaf
  [[nodiscard]] static std::size_t index_of(const Node& leaf, std::size_t axes, std::size_t axis, std::size_t i) {
    return leaf.begin * axes + axis * leaf.room + i;
  }
};

/// Search for the point nearest to a place, the least by (distance, id), or under conditions that a derived class decides.
class BoxSearch {
 public:
  BoxSearch() = default;
  BoxSearch(const BoxSearch&) = delete;
  BoxSearch& operator=(const BoxSearch&) = delete;
  virtual ~BoxSearch() = default;

  double place[BoxTree::kMaxAxes] = {};                        ///< where it searches
  std::int64_t self = 0;                                       ///< points of this id are not found
  std::uint32_t skipped = BoxTree::kNone;                      ///< node that is left out
  bool wraps = false;                                          ///< images of points beyond periodic faces count
  bool has_conditions = false;                                 ///< take() and may_hold() decide
  double distance2 = std::numeric_limits<double>::infinity();  ///< what is found is less than distance2 and id
  std::int64_t id = std::numeric_limits<std::int64_t>::max();  ///< as distance2
  std::uint32_t point = BoxTree::kNone;                        ///< point of distance2 and id; kNone: none was found

  /// Receives a point that is less than distance2 and id, if there are conditions; it may lower these. By default nothing is done.
  virtual void take(std::uint32_t /*point*/, double /*distance2*/) {}
  /// Returns whether a node may have a point that fulfils the conditions. By default all may.
  [[nodiscard]] virtual bool may_hold(std::uint32_t /*node*/) const { return true; }
};

/// Searches below a node of the tree, nearer boxes first. Local.
void search_boxes(const BoxTree& tree, std::uint32_t node, BoxSearch& search);

}  // namespace merganser::nearest
