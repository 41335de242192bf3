// Construction of the tree of tight boxes over one rank's points: splits at approximate medians and wide gaps, folding of equals.
#include "merganser/nearest/point_tree.hpp"

#include <array>
#include <bit>
#include <memory>

#include "merganser/base/parallel.hpp"
#include "merganser/base/random.hpp"

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

/// Returns the upper end of a gap of more than half the extent of points on an axis, at which their leaf of a point tree is split;
/// the lower end of their box if there is none.
template <std::size_t D>
double find_gap(const IdentifiedPoint<D>* first, std::size_t count, const Bounds<D>& box, std::size_t axis) {
  // Such a gap contains the middle. By side of it: the least and greatest coordinate; without branches, as in split().
  const double half = 0.5 * box.extent(axis);
  const double middle = box.lower[axis] + half;
  std::array<double, 2> least = {box.upper[axis], box.upper[axis]};
  std::array<double, 2> greatest = {box.lower[axis], box.lower[axis]};
  for (std::size_t i = 0; i < count; ++i) {
    const double x = first[i].at[axis];
    const auto side = static_cast<std::size_t>(x >= middle);
    least[side] = std::min(least[side], x);
    greatest[side] = std::max(greatest[side], x);
  }
  return least[1] - greatest[0] > half ? least[1] : box.lower[axis];
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

/// Returns whether two points of a leaf may be equal: false only where all are different. Local.
template <std::size_t D>
bool may_have_equal(const IdentifiedPoint<D>* first, const IdentifiedPoint<D>* last) {
  // A bit for each value of a hash of the first two coordinates; adding 0 makes both zeros one.
  constexpr unsigned kBits = 12;
  std::array<std::uint64_t, (std::size_t{1} << kBits) / 64> taken{};
  bool equal = false;
  for (const IdentifiedPoint<D>* i = first; i != last; ++i) {
    const auto x = std::bit_cast<std::uint64_t>(i->at[0] + 0.0);
    const auto y = std::bit_cast<std::uint64_t>(i->at[1] + 0.0);
    const std::uint64_t hash = (x * 0x9e3779b97f4a7c15 + (y ^ y >> 32U)) * 0xd6e8feb86659fd93 >> (64 - kBits);
    std::uint64_t& word = taken[hash / 64];
    equal |= (word >> hash % 64 & 1U) != 0;
    word |= std::uint64_t{1} << hash % 64;
  }
  return equal;
}

/// Returns whether two points of a leaf agree on their first two axes, a cheap necessary condition for equal points.
template <std::size_t D>
bool has_equal(const IdentifiedPoint<D>* first, const IdentifiedPoint<D>* last) {
  if (!may_have_equal(first, last)) return false;
  for (const IdentifiedPoint<D>* a = first; a != last; ++a) {
    bool equal = false;
    for (const IdentifiedPoint<D>* b = first; b != a; ++b) equal |= (a->at[0] == b->at[0]) & (a->at[1] == b->at[1]);
    if (equal) return true;
  }
  return false;
}

/// Division of many points at once, by a tree of cuts that is found in a sample, instead of a pass over the points for every level.
/// Nodes are numbered from 1, the children of i are 2 i and 2 i + 1, and those of the last level are parts.
template <std::size_t D>
class Division {
 public:
  /// Returns the fewest points that are divided. @param leaf  most points of a leaf
  [[nodiscard]] static std::size_t min_points(std::uint32_t leaf) { return kMinParts * kRoom * leaf; }
  /// Reorders at least min_points() points so that those of a part are consecutive.
  /// @return false where parts would be too unequal; then nothing is reordered
  [[nodiscard]] bool divide(IdentifiedPoint<D>* items, std::size_t count, std::uint32_t leaf) {
    const std::size_t parts = std::min(std::bit_floor(count / (kRoom * leaf)), kMaxParts);
    parts_ = static_cast<std::uint32_t>(parts);
    find_cuts(items, count);
    assign(items, count);
    const std::size_t least = std::max<std::size_t>(leaf + 1, count / (kRoom * parts));
    for (std::size_t i = 0; i < parts; ++i)
      if (begin_[i + 1] - begin_[i] < least) return false;
    move(items);
    for (std::uint32_t i = 0; i < parts_; ++i)
      boxes_[parts_ + i] = compute_bounds(items + begin_[i], items + begin_[i + 1]);
    for (std::uint32_t i = parts_; i-- > 1;) {
      boxes_[i] = boxes_[2 * i];
      boxes_[i].add(boxes_[2 * i + 1]);
    }
    return true;
  }

  /// Returns whether a node is a part, which has no children.
  [[nodiscard]] bool is_part(std::uint32_t node) const { return node >= parts_; }
  /// Returns the bounding box of the points of a node.
  [[nodiscard]] const Bounds<D>& box(std::uint32_t node) const { return boxes_[node]; }
  /// Returns the number of points of a node.
  [[nodiscard]] std::uint32_t size(std::uint32_t node) const {
    std::uint32_t end = node + 1;
    for (; node < parts_; end *= 2) node *= 2;
    return begin_[end - parts_] - begin_[node - parts_];
  }

 private:
  static constexpr std::size_t kRoom = 8;  // so many times the points of a leaf are in a part, on average
  static constexpr std::size_t kMinParts = 8;
  static constexpr std::size_t kMaxParts = 64;
  static constexpr std::size_t kSampled = 16;  // points of the sample for each part

  /// Finds the cuts that halve a sample of the points again and again, each along the longest axis.
  void find_cuts(const IdentifiedPoint<D>* items, std::size_t count) {
    // At random within strata: points in a regular order, as of a lattice, would have few coordinates in a regular sample.
    const std::size_t taken = kSampled * parts_;
    std::array<Place<D>, kSampled * kMaxParts> sample;
    Random random(1, count, 0);
    for (std::size_t i = 0; i < taken; ++i) {
      const std::size_t first = count * i / taken;
      sample[i] = items[first + static_cast<std::size_t>(random.below(count * (i + 1) / taken - first))].at;
    }
    for (std::uint32_t node = 1; node < parts_; ++node) {
      const std::size_t share = taken / std::bit_floor(node);
      Place<D>* const first = sample.data() + (node - std::bit_floor(node)) * share;
      Bounds<D> box;
      for (std::size_t i = 0; i < share; ++i) box.add(first[i]);
      const std::size_t axis = box.widest();
      std::nth_element(first, first + share / 2, first + share,
                       [axis](const Place<D>& a, const Place<D>& b) { return a[axis] < b[axis]; });
      axis_[node] = axis;
      cut_[node] = first[share / 2][axis];
    }
  }
  /// Determines the part of every point, and where each part begins.
  void assign(const IdentifiedPoint<D>* items, std::size_t count) {
    part_.resize(count);
    std::array<std::uint32_t, kMaxParts> sizes{};
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t node = 1;
      while (node < parts_) node = 2 * node + static_cast<std::uint32_t>(items[i].at[axis_[node]] >= cut_[node]);
      part_[i] = static_cast<std::uint8_t>(node - parts_);
      ++sizes[node - parts_];
    }
    begin_[0] = 0;
    for (std::size_t i = 0; i < parts_; ++i) begin_[i + 1] = begin_[i] + sizes[i];
  }
  /// Moves points to their parts, in place.
  void move(IdentifiedPoint<D>* items) {
    auto next = begin_;
    for (std::uint32_t part = 0; part < parts_; ++part)
      while (next[part] < begin_[part + 1]) {
        const std::uint32_t from = next[part];
        const std::uint32_t to = next[part_[from]]++;
        std::swap(items[from], items[to]);
        std::swap(part_[from], part_[to]);
      }
  }

  std::uint32_t parts_ = 0;                         // parts, a power of 2
  std::array<std::size_t, kMaxParts> axis_{};       // by node but parts: axis of its cut
  std::array<double, kMaxParts> cut_{};             // by node but parts: points at or above it are in the second child
  std::array<std::uint32_t, kMaxParts + 1> begin_;  // by part: its first point
  std::array<Bounds<D>, 2 * kMaxParts> boxes_;      // by node: bounding box
  std::vector<std::uint8_t> part_;                  // by point: its part
};

}  // namespace

/// Divisions that the construction of a point tree is within: each but the first is of the points of a part of the one before.
template <std::size_t D>
class PointTree<D>::Divisions {
 public:
  Divisions() = default;
  /// Shares the first `depth` divisions of others, which are not changed any more; the next ones are its own.
  Divisions(const Divisions& others, std::uint32_t depth) : all_(others.all_.begin(), others.all_.begin() + depth) {}

  /// Returns the bounding box of points. @param depth  divisions that they are within @param node  theirs in the last; 0: they are a
  /// part of a part
  [[nodiscard]] Bounds<D> box(std::uint32_t depth, std::uint32_t node, const IdentifiedPoint<D>* first,
                              std::size_t count) const {
    return node != 0 ? all_[depth - 1]->box(node) : compute_bounds(first, first + count);
  }
  /// Divides points, unless they are divided already. @param depth, node  as in box(); increased where points are divided
  /// @return their node in the last division; 0: they are to be split
  [[nodiscard]] std::uint32_t divide(std::uint32_t& depth, std::uint32_t node, IdentifiedPoint<D>* first,
                                     std::size_t count, std::uint32_t leaf) {
    if (node != 0 && !all_[depth - 1]->is_part(node)) return node;
    if (count < Division<D>::min_points(leaf)) return 0;
    if (all_.size() == depth) all_.push_back(std::make_shared<Division<D>>());
    if (!all_[depth]->divide(first, count, leaf)) return 0;
    ++depth;
    return 1;
  }
  /// Returns the number of points of a node of the division that is the last of `depth`.
  [[nodiscard]] std::uint32_t size(std::uint32_t depth, std::uint32_t node) const {
    return all_[depth - 1]->size(node);
  }

 private:
  std::vector<std::shared_ptr<Division<D>>> all_;
};

template <std::size_t D>
PointTree<D>::PointTree(std::vector<IdentifiedPoint<D>>& items, const Metric<D>& metric, std::uint32_t leaf,
                        std::uint32_t fold, int threads)
    : metric_(metric), leaf_(leaf), fold_(fold) {
  reserve(items.size());
  Divisions divisions;
  if (!items.empty())
    build(items, {0, static_cast<std::uint32_t>(items.size()), 0, false, 0, 0, 0}, divisions, threads);
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
void PointTree<D>::build(std::vector<IdentifiedPoint<D>>& items, const Range& top, Divisions& divisions, int threads) {
  if (threads > 1 && top.end - top.begin >= kMinThreadItems) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    const std::optional<Children> children = add_node(items, top, divisions);
    if (!children) return;
    const Range& right = children->second;
    PointTree second;
    second.leaf_ = leaf_;
    second.fold_ = fold_;
    Divisions shared(divisions, right.divisions);
    in_parallel(2, [&](int t) {
      if (t == 0) {
        build(items, children->first, divisions, threads - threads / 2);
      } else {
        second.reserve(right.end - right.begin);
        second.build(items, {right.begin, right.end, 0, false, right.divisions, right.divided, right.undivided}, shared,
                     threads / 2);
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
    const std::optional<Children> children = add_node(items, range, divisions);
    if (!children) continue;
    todo.push_back(children->second);
    todo.push_back(children->first);
  }
}

template <std::size_t D>
std::optional<typename PointTree<D>::Children> PointTree<D>::add_node(std::vector<IdentifiedPoint<D>>& items,
                                                                      Range range, Divisions& divisions) {
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  IdentifiedPoint<D>* const first = items.data() + range.begin;
  const std::uint32_t count = range.end - range.begin;
  const auto children = [&](std::uint32_t below, std::uint32_t divided) {
    const std::uint32_t second = divided == 0 ? 0 : divided + 1;
    return Children{{range.begin, range.begin + below, node, false, range.divisions, divided, range.undivided},
                    {range.begin + below, range.end, node, true, range.divisions, second, range.undivided}};
  };
  nodes_.push_back({divisions.box(range.divisions, range.divided, first, count), 0, 0, 0, range.parent});
  if (range.second) nodes_[range.parent].right = node;
  const Bounds<D>& box = nodes_[node].box;
  const std::size_t axis = box.widest();
  const bool one_place = box.extent(axis) == 0;
  // Points with few coordinates that could not be divided hardly can before they are far fewer.
  if (range.divided != 0 || (!one_place && (range.undivided == 0 || count <= range.undivided / 8))) {
    if (const std::uint32_t divided = divisions.divide(range.divisions, range.divided, first, count, leaf_))
      return children(divisions.size(range.divisions, 2 * divided), 2 * divided);
    range.undivided = count;
  }
  // A range ends as a leaf if it is small and has no wide gap, or if it is one place whose points are folded. A place of too
  // many points to be a leaf, but too few to be folded, is halved by number.
  double cut = box.lower[axis];
  if (count <= leaf_ && count >= kGap) cut = find_gap(first, count, box, axis);
  if ((count <= leaf_ && cut == box.lower[axis]) || (one_place && count >= fold_)) {
    finish_leaf(items, range, node);
    return std::nullopt;
  }
  if (one_place) return children(count / 2, 0);
  if (count > leaf_) cut = approximate_median(first, count, axis);
  if (cut == box.lower[axis]) cut = std::nextafter(cut, kInfinity);
  auto below = static_cast<std::uint32_t>(split(first, count, axis, cut));
  if (count > leaf_ && std::min(below, count - below) < count / 16) below = split_evenly(first, count, axis, box);
  return children(below, 0);
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
