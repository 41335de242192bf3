// Tree of boxes that finds the edges of equal weight between the parts of single-linkage clusters, for Prim's order.
#include "src/msf/linkage/equal_edges.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace merganser::msf {

// Search for alternatives of equal weight to the edges of a spanning tree, with a tree of boxes over the points.
EqualEdges::EqualEdges(const GatheredPoints& points, std::span<const GrownEdge> grown, std::uint64_t most)
    : points_(points),
      axes_(points.sites->axes()),
      most_(most),
      clusters_(grown),
      id_at_(points.sites->size()),
      place_(points.sites->size()),
      order_(points.sites->size()),
      rank_(points.sites->size(), kNone),
      taken_(points.sites->size()),
      unvisited_(points.sites->size() + 1) {
  // Until the boxes are known, place_ is by id.
  for (std::size_t i = 0; i < grown.size(); ++i) {
    id_at_[i + 1] = grown[i].to;
    place_[grown[i].to] = static_cast<std::uint32_t>(i + 1);
  }
  std::iota(order_.begin(), order_.end(), 0U);
  std::iota(unvisited_.begin(), unvisited_.end(), 0U);
  build();
  const std::size_t room = (order_.size() + kLeaf - 1) / kLeaf * kLeaf;
  data_.resize(room * axes_);
  position_.resize(order_.size());
  std::vector<std::uint32_t> place(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    for (std::size_t a = 0; a < axes_; ++a) data_[(i / 8 * axes_ + a) * 8 + i % 8] = points_.sites->at(order_[i])[a];
    position_[order_[i]] = static_cast<std::uint32_t>(i);
    place[i] = place_[order_[i]];
  }
  place_ = std::move(place);
  pairs_ = points_.sites->pair_points(data_.data());
}

// Construction of the tree of boxes over all points on rank 0, for the search for edges of equal weight.
void EqualEdges::build() {
  struct PointRange {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t parent;
    bool second;
  };
  // All leaves but the last have kLeaf points, so their number is known, and memory is taken once.
  const std::size_t leaves = std::max<std::size_t>((order_.size() + kLeaf - 1) / kLeaf, 1);
  nodes_.reserve(2 * leaves - 1);
  leaf_.reserve(leaves);
  bounds_.reserve((2 * leaves - 1) * 2 * axes_);
  // Depth first with a stack; the first child is pushed last, so that it becomes the next node.
  std::vector<PointRange> waiting{{0, static_cast<std::uint32_t>(order_.size()), 0, false}};
  while (!waiting.empty()) {
    const PointRange part = waiting.back();
    waiting.pop_back();
    const std::uint32_t node = add_node(part.begin, part.end, part.parent);
    if (part.second) nodes_[part.parent].right = node;
    if (part.end - part.begin <= kLeaf) {
      leaf_.push_back(node);
      continue;
    }
    const std::size_t axis = widest(node);
    // Leaves begin at multiples of kLeaf, so that a leaf is one group of pair_distances().
    const std::uint32_t middle = part.begin + std::max(kLeaf, (part.end - part.begin) / 2 / kLeaf * kLeaf);
    const auto less = [&](std::uint32_t a, std::uint32_t b) {
      const double x = points_.sites->at(a)[axis];
      const double y = points_.sites->at(b)[axis];
      return x != y ? x < y : place_[a] < place_[b];  // equal points stay together in the order of Prim's algorithm
    };
    std::nth_element(order_.begin() + part.begin, order_.begin() + middle, order_.begin() + part.end, less);
    waiting.push_back({middle, part.end, node, true});
    waiting.push_back({part.begin, middle, node, false});
  }
}

// Box of a range of points, with the range of their places in the order of Prim's algorithm and their least core distance.
std::uint32_t EqualEdges::add_node(std::uint32_t begin, std::uint32_t end, std::uint32_t parent) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  Node node{begin, end, 0, parent, end - begin, ~std::uint32_t{0}, 0, kInfinite};
  bounds_.insert(bounds_.end(), axes_, kInfinite);
  bounds_.insert(bounds_.end(), axes_, -kInfinite);
  double* const lower = bounds_.data() + number * 2 * axes_;
  double* const upper = lower + axes_;
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::uint32_t v = order_[i];
    const double* const at = points_.sites->at(v);
    for (std::size_t a = 0; a < axes_; ++a) {
      lower[a] = std::min(lower[a], at[a]);
      upper[a] = std::max(upper[a], at[a]);
    }
    node.first_place = std::min(node.first_place, place_[v]);
    node.last_place = std::max(node.last_place, place_[v]);
    node.least_core = std::min(node.least_core, core_distance(v));
  }
  nodes_.push_back(node);
  return number;
}

std::size_t EqualEdges::widest(std::uint32_t node) const {
  const double* const lower = bounds(node);
  std::size_t axis = 0;
  for (std::size_t a = 1; a < axes_; ++a)
    if (lower[axes_ + a] - lower[a] > lower[axes_ + axis] - lower[axis]) axis = a;
  return axis;
}

// Boxes without unvisited points are skipped by the search, so each box on the way to the root counts them.
void EqualEdges::take(std::uint32_t position) {
  if (taken_[position] != 0) return;
  taken_[position] = 1;
  // The root is its own parent.
  for (std::uint32_t node = leaf_[position / kLeaf];; node = nodes_[node].parent) {
    --nodes_[node].open;
    if (node == 0) return;
  }
}

// Disjoint sets of places that end at an unvisited one, with paths halved.
std::uint32_t EqualEdges::next_unvisited(std::uint32_t place) {
  while (unvisited_[place] != place) {
    unvisited_[place] = unvisited_[unvisited_[place]];
    place = unvisited_[place];
  }
  return place;
}

// The points of a part that has just been visited, in the order in which they were.
const std::vector<std::uint32_t>& EqualEdges::in_order_of_visits(const Places& part) {
  members_.clear();
  for (std::uint32_t p = part.begin; p < part.end; ++p) members_.push_back(position_[id_at_[p]]);
  std::sort(members_.begin(), members_.end(), [&](std::uint32_t a, std::uint32_t b) { return rank_[a] < rank_[b]; });
  return members_;
}

}  // namespace merganser::msf
