// Range maxima by a sparse table, and the tree of boxes that finds edges between points of equal weight for Prim's order.
#include "src/msf/linkage/equal_edges.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace merganser::msf {

// Sparse table of maxima over blocks.
RangeMaximum::RangeMaximum(std::vector<double> numbers) : numbers_(std::move(numbers)) {
  std::vector<double> level;
  for (std::size_t begin = 0; begin < numbers_.size(); begin += kBlock) {
    const auto first = numbers_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kBlock, numbers_.size() - begin));
    level.push_back(*std::max_element(first, first + count));
  }
  // Sparse table: level l has the maxima of 2^l consecutive blocks, each from two entries of level l - 1.
  for (std::size_t step = 1; !level.empty(); step *= 2) {
    std::vector<double> next;
    for (std::size_t b = 0; b + step < level.size(); ++b) next.push_back(std::max(level[b], level[b + step]));
    blocks_.push_back(std::move(level));
    level = std::move(next);
  }
}

// Range maximum query: numbers before the first and behind the last whole block one by one, whole blocks by the table.
double RangeMaximum::operator()(std::size_t begin, std::size_t end) const {
  double most = -std::numeric_limits<double>::infinity();
  const std::size_t first = (begin + kBlock - 1) / kBlock;
  const std::size_t last = end / kBlock;
  if (first >= last) {
    for (std::size_t i = begin; i < end; ++i) most = std::max(most, numbers_[i]);
    return most;
  }
  for (std::size_t i = begin; i < first * kBlock; ++i) most = std::max(most, numbers_[i]);
  for (std::size_t i = last * kBlock; i < end; ++i) most = std::max(most, numbers_[i]);
  // Two runs of 2^level blocks, which may overlap, cover all whole blocks.
  const auto level = static_cast<std::size_t>(std::bit_width(last - first)) - 1;
  const auto& blocks = blocks_[level];
  return std::max({most, blocks[first], blocks[last - (std::size_t{1} << level)]});
}

namespace {

/// Returns, for each place in the order in which Prim's algorithm adds points, the weight of the edge that added the point;
/// -infinity for point 0. @param grown  edges of the spanning tree in that order
std::vector<double> entries(std::span<const GrownEdge> grown) {
  std::vector<double> weights(grown.size() + 1, -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < grown.size(); ++i) weights[i + 1] = grown[i].weight;
  return weights;
}

}  // namespace

// Search for alternatives of equal weight to the edges of a spanning tree, with a tree of boxes over the points.
EqualEdges::EqualEdges(const GatheredPoints& points, std::span<const GrownEdge> grown, std::uint64_t most)
    : points_(points),
      axes_(points.sites->axes()),
      most_(most),
      place_(points.sites->size()),
      heaviest_(entries(grown)),
      order_(points.sites->size()),
      leaf_(points.sites->size()),
      taken_(points.sites->size()) {
  for (std::size_t i = 0; i < grown.size(); ++i) place_[grown[i].to] = static_cast<std::uint32_t>(i + 1);
  std::iota(order_.begin(), order_.end(), 0U);
  build();
  const std::size_t room = (order_.size() + kLeaf - 1) / kLeaf * kLeaf;
  data_.resize(room * axes_);
  for (std::size_t i = 0; i < order_.size(); ++i)
    for (std::size_t a = 0; a < axes_; ++a) data_[(i / 8 * axes_ + a) * 8 + i % 8] = points_.sites->at(order_[i])[a];
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
  bounds_.reserve((2 * leaves - 1) * 2 * axes_);
  // Depth first with a stack; the first child is pushed last, so that it becomes the next node.
  std::vector<PointRange> waiting{{0, static_cast<std::uint32_t>(order_.size()), 0, false}};
  while (!waiting.empty()) {
    const PointRange part = waiting.back();
    waiting.pop_back();
    const std::uint32_t node = add_node(part.begin, part.end, part.parent);
    if (part.second) nodes_[part.parent].right = node;
    if (part.end - part.begin <= kLeaf) {
      for (std::uint32_t i = part.begin; i < part.end; ++i) leaf_[order_[i]] = node;
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
void EqualEdges::mark_taken(std::uint32_t v) {
  taken_[v] = 1;
  // The root is its own parent.
  for (std::uint32_t node = leaf_[v];; node = nodes_[node].parent) {
    --nodes_[node].open;
    if (node == 0) return;
  }
}

}  // namespace merganser::msf
