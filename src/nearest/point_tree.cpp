// Construction of the tree of tight boxes over one rank's points: splits at approximate medians and wide gaps, folding of equals.
#include "merganser/nearest/point_tree.hpp"

#include <array>

#include "merganser/base/parallel.hpp"

namespace merganser::nearest {
namespace {

constexpr std::uint32_t kGap = 8;  // fewest points of a leaf that is split at a wide gap

/// Returns the bounding box of a range of points from which a point tree is built.
template <std::size_t D>
Bounds<D> compute_bounds(const IdentifiedPoint<D>* first, const IdentifiedPoint<D>* last) {
  Bounds<D> b;
  for (const IdentifiedPoint<D>* i = first; i != last; ++i) b.add(i->at);
  return b;
}

/// Returns an approximate median of the coordinates of points on an axis, at which a node of a point tree is split: that of a few
/// of them at regular positions.
template <std::size_t D>
double approximate_median(const IdentifiedPoint<D>* first, std::size_t count, std::size_t axis) {
  constexpr std::size_t kMax = 63;
  std::array<double, kMax> sample;
  const std::size_t taken = std::min(count, count > 4096 ? kMax : std::size_t{15});
  for (std::size_t i = 0; i < taken; ++i) sample[i] = first[(2 * i + 1) * count / (2 * taken)].at[axis];
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(taken / 2);
  std::nth_element(sample.begin(), middle, sample.begin() + static_cast<std::ptrdiff_t>(taken));
  return *middle;
}

/// Returns the upper end of a gap of more than half the extent of up to 64 points on an axis, at which their leaf of a point tree
/// is split; the lower end of their box if there is none.
template <std::size_t D>
double find_gap(const IdentifiedPoint<D>* first, std::size_t count, const Bounds<D>& box, std::size_t axis) {
  constexpr std::size_t kMax = 64;
  std::array<double, kMax> at;
  for (std::size_t i = 0; i < count; ++i) at[i] = first[i].at[axis];
  std::sort(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 1; i < count; ++i)
    if (at[i] - at[i - 1] > 0.5 * box.extent(axis)) return at[i];
  return box.lower[axis];
}

/// Partitions the points of a node of a point tree so that those below the cut on an axis come first, without branches on the
/// outcomes, which are unpredictable. @return the number of points below
template <std::size_t D>
std::size_t split(IdentifiedPoint<D>* items, std::size_t count, std::size_t axis, double cut) {
  std::size_t below = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const IdentifiedPoint<D> moved = items[i];
    items[i] = items[below];
    items[below] = moved;
    below += static_cast<std::size_t>(moved.at[axis] < cut);
  }
  return below;
}

/// Partitions the points of a node of a point tree at their exact median, for distributions where the approximate one divides
/// badly.
/// @return the number of points below
template <std::size_t D>
std::uint32_t split_evenly(IdentifiedPoint<D>* items, std::uint32_t count, std::size_t axis, const Bounds<D>& box) {
  const auto less = [axis](const IdentifiedPoint<D>& a, const IdentifiedPoint<D>& b) {
    return a.at[axis] < b.at[axis];
  };
  std::nth_element(items, items + count / 2, items + count, less);
  double cut = items[count / 2].at[axis];
  if (cut == box.lower[axis]) cut = std::nextafter(cut, kInfinity);
  return static_cast<std::uint32_t>(split(items, count, axis, cut));
}

/// Returns whether two points of a leaf agree on their first two axes, a cheap necessary condition for equal points.
template <std::size_t D>
bool has_equal(const IdentifiedPoint<D>* first, const IdentifiedPoint<D>* last) {
  for (const IdentifiedPoint<D>* a = first; a != last; ++a) {
    bool equal = false;
    for (const IdentifiedPoint<D>* b = first; b != a; ++b) equal |= (a->at[0] == b->at[0]) & (a->at[1] == b->at[1]);
    if (equal) return true;
  }
  return false;
}

}  // namespace

template <std::size_t D>
PointTree<D>::PointTree(std::vector<IdentifiedPoint<D>>& items, const Metric<D>& metric, std::uint32_t leaf,
                        std::uint32_t fold, int threads)
    : metric_(metric), leaf_(leaf), fold_(fold) {
  reserve(items.size());
  if (!items.empty()) build(items, {0, static_cast<std::uint32_t>(items.size()), 0, false}, threads);
  finish();
}

template <std::size_t D>
void PointTree<D>::reserve(std::size_t points) {
  for (auto& axis : axes_) axis.reserve(points + 16);
  id_.reserve(points);
  nodes_.reserve(points / std::max(leaf_ / 4, 1U) + 16);
}

// Top-down construction of the tree of boxes: items are split at approximate medians, depth first, so that the first
// child of a node is the next node. The parts below a node of many points are made at once, and then stand one after the other.
template <std::size_t D>
void PointTree<D>::build(std::vector<IdentifiedPoint<D>>& items, const Range& top, int threads) {
  constexpr std::uint32_t kMinPoints = 4096;  // fewer cost less than threads
  if (threads > 1 && top.end - top.begin >= kMinPoints) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    const std::uint32_t below = add_node(items, top);
    if (below == 0) return;
    PointTree second;
    second.leaf_ = leaf_;
    second.fold_ = fold_;
    in_parallel(2, [&](int t) {
      if (t == 0) {
        build(items, {top.begin, top.begin + below, node, false}, threads - threads / 2);
      } else {
        second.reserve(top.end - top.begin - below);
        second.build(items, {top.begin + below, top.end, 0, false}, threads / 2);
      }
    });
    append(second, node);
    return;
  }
  // Depth first with a stack, the first part pushed last: a first child is always the next node.
  std::vector<Range> todo{top};
  while (!todo.empty()) {
    const Range range = todo.back();
    todo.pop_back();
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    const std::uint32_t below = add_node(items, range);
    if (below == 0) continue;
    todo.push_back({range.begin + below, range.end, node, true});
    todo.push_back({range.begin, range.begin + below, node, false});
  }
}

template <std::size_t D>
std::uint32_t PointTree<D>::add_node(std::vector<IdentifiedPoint<D>>& items, const Range& range) {
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  IdentifiedPoint<D>* const first = items.data() + range.begin;
  const std::uint32_t count = range.end - range.begin;
  nodes_.push_back({compute_bounds(first, first + count), 0, 0, 0, range.parent});
  if (range.second) nodes_[range.parent].right = node;
  const Bounds<D>& box = nodes_[node].box;
  const std::size_t axis = box.widest();
  // A range ends as a leaf if it is small and has no wide gap, or if it is one place whose points are folded. A place of too
  // many points to be a leaf, but too few to be folded, is halved by number.
  const bool one_place = box.extent(axis) == 0;
  double cut = box.lower[axis];
  if (count <= leaf_ && count >= kGap) cut = find_gap(first, count, box, axis);
  if ((count <= leaf_ && cut == box.lower[axis]) || (one_place && count >= fold_)) {
    finish_leaf(items, range, node);
    return 0;
  }
  if (one_place) return count / 2;
  if (count > leaf_) cut = approximate_median(first, count, axis);
  if (cut == box.lower[axis]) cut = std::nextafter(cut, kInfinity);
  const auto below = static_cast<std::uint32_t>(split(first, count, axis, cut));
  if (count > leaf_ && std::min(below, count - below) < count / 16) return split_evenly(first, count, axis, box);
  return below;
}

// Nodes, points and folds of the other part keep their order, and are numbered on.
template <std::size_t D>
void PointTree<D>::append(const PointTree& other, std::uint32_t parent) {
  const auto before = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t points = size();
  for (Node node : other.nodes_) {
    node.begin += points;
    node.end += points;
    node.parent += before;
    if (node.right != 0) node.right += before;
    nodes_.push_back(node);
  }
  nodes_[before].parent = parent;
  nodes_[parent].right = before;
  for (std::size_t a = 0; a < D; ++a) axes_[a].insert(axes_[a].end(), other.axes_[a].begin(), other.axes_[a].end());
  id_.insert(id_.end(), other.id_.begin(), other.id_.end());
  folds_.insert(folds_.end(), other.folds_.begin(), other.folds_.end());
  for (const std::uint32_t v : other.folded_) folded_.push_back(v + points);
  for (const std::uint32_t leaf : other.leaves_) leaves_.push_back(leaf + before);
}

template <std::size_t D>
void PointTree<D>::append(const IdentifiedPoint<D>& item) {
  for (std::size_t a = 0; a < D; ++a) axes_[a].push_back(item.at[a]);
  id_.push_back(item.id);
}

// Folding of equal points: one stays in the tree, the others become edges of weight 0.
template <std::size_t D>
void PointTree<D>::fold_equal(IdentifiedPoint<D>* first, IdentifiedPoint<D>* last) {
  // By place, then id: the first of a group has the least id and represents the others.
  std::sort(first, last, [](const IdentifiedPoint<D>& a, const IdentifiedPoint<D>& b) {
    return a.at != b.at ? a.at < b.at : a.id < b.id;
  });
  for (IdentifiedPoint<D>* group = first; group != last;) {
    IdentifiedPoint<D>* next = group + 1;
    while (next != last && next->at == group->at) ++next;
    const bool folds = next - group >= static_cast<std::ptrdiff_t>(fold_);
    if (folds) folded_.push_back(size());
    append(*group);
    for (const IdentifiedPoint<D>* other = group + 1; other != next; ++other) {
      if (folds)
        folds_.push_back({group->id, other->id});
      else
        append(*other);
    }
    group = next;
  }
}

// End of the construction at a leaf of the tree of boxes: its points are appended, equal ones folded.
template <std::size_t D>
void PointTree<D>::finish_leaf(std::vector<IdentifiedPoint<D>>& items, const Range& range, std::uint32_t node) {
  IdentifiedPoint<D>* const first = items.data() + range.begin;
  IdentifiedPoint<D>* const last = items.data() + range.end;
  nodes_[node].begin = size();
  const Bounds<D>& box = nodes_[node].box;
  if (box.extent(box.widest()) == 0 || has_equal(first, last)) {
    fold_equal(first, last);
  } else {
    for (const IdentifiedPoint<D>* i = first; i != last; ++i) append(*i);
  }
  nodes_[node].end = size();
  leaves_.push_back(node);
}

// Last step of the construction of the tree of boxes, when all leaves have their points.
template <std::size_t D>
void PointTree<D>::finish() {
  for (auto& axis : axes_) axis.insert(axis.end(), 16, kInfinity);
  // Children follow their parents, so that their ranges are known when those of the parents are set.
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& node = nodes_[i];
    if (node.right == 0) continue;
    node.begin = nodes_[i + 1].begin;
    node.end = nodes_[node.right].end;
  }
  if (!nodes_.empty()) bounds_ = nodes_[0].box;
}

MERGANSER_FOR_AXES(MERGANSER_CLASS, class PointTree)

}  // namespace merganser::nearest
