// Construction and update of the tree of the units of one rank, under a merge policy.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/cluster/unit_tree.hpp"
#include "src/cluster/unit_tree_axes.hpp"

namespace merganser::cluster {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr std::size_t kPadding = nearest::BoxTree::kChildren;  // numbers behind the coordinates, which vectors may read

/// Cut of a box into cells, by halving the longest edge again and again, and the number of the cell of a place: one bit for each
/// halving, the first one highest.
template <std::size_t N>
struct Halvings {
  static constexpr int kMaxOfAxis = 10;
  std::array<double, N> lower, scale;
  std::array<std::vector<std::uint32_t>, N>
      bits_of;  // by axis and layer of cells: the bits of the number that it decides
  int bits = 0;

  /// Halves the box `most` times, or as often as axes allow.
  Halvings(const std::array<double, N>& low, const std::array<double, N>& high, int most) : lower(low) {
    std::array<double, N> length;
    std::array<int, N> of_axis{};
    std::vector<std::size_t> order;
    for (std::size_t a = 0; a < N; ++a) length[a] = high[a] - low[a];
    for (; bits < most; ++bits) {
      std::size_t longest = N;
      for (std::size_t a = 0; a < N; ++a)
        if (length[a] > 0 && of_axis[a] < kMaxOfAxis && (longest == N || length[a] > length[longest])) longest = a;
      if (longest == N) break;
      length[longest] *= 0.5;
      ++of_axis[longest];
      order.push_back(longest);
    }
    for (std::size_t a = 0; a < N; ++a) {
      const auto layers = std::uint32_t{1} << of_axis[a];
      scale[a] = of_axis[a] > 0 ? layers / (high[a] - low[a]) : 0;
      if (!std::isfinite(scale[a])) scale[a] = 0;
      bits_of[a].assign(layers, 0);
      for (std::uint32_t layer = 0; layer < layers; ++layer) {
        int left = of_axis[a];
        for (std::size_t at = 0; at < order.size(); ++at)
          if (order[at] == a && ((layer >> --left) & 1U) != 0) bits_of[a][layer] |= 1U << (order.size() - 1 - at);
      }
    }
  }
  /// Returns the number of the cell of a place.
  [[nodiscard]] std::uint32_t operator()(const std::array<double, N>& at) const {
    std::uint32_t cell = 0;
    for (std::size_t a = 0; a < N; ++a) {
      const double layer = std::min((at[a] - lower[a]) * scale[a], static_cast<double>(bits_of[a].size() - 1));
      cell |= bits_of[a][static_cast<std::size_t>(layer)];
    }
    return cell;
  }
};

}  // namespace

PairFilter::PairFilter(const MergePolicy& policy, const PolicyColumns& c, const Grid& grid)
    : box(grid.box), packed(c), columns(c) {
  std::iota(packed.phase.begin(), packed.phase.end(), std::size_t{0});
  std::iota(packed.same.begin(), packed.same.end(), packed.phase.size());
  packed.integers.clear();  // packed rows hold numbers
  const double length = policy.within.in_box_units(grid, 1);
  within2 = policy.within.value > 0 ? length * length : std::numeric_limits<double>::infinity();
  max_weight = policy.max_weight > 0 ? policy.max_weight : std::numeric_limits<double>::infinity();
  max_count = policy.max_members > 0 ? policy.max_members : std::numeric_limits<std::int64_t>::max();
}

void PairFilter::pack(const double* row, double* to) const {
  for (const std::size_t column : columns.phase) *to++ = columns.value(row, column);
  for (const std::size_t column : columns.same)
    *to++ = columns.value(row, column) + 0.0;  // -0 becomes 0, which equals it
}

/// Construction of trees over units sorted by group and cell: as far as cells tell units apart, their bits are the splits; units of
/// one cell are split in the middle along the widest axis.
template <std::size_t N>
struct UnitTree::Builder {
  UnitTree& tree;
  std::vector<Item<N>> items;         // sorted
  std::vector<std::uint32_t> starts;  // by group and cell: its first item
  std::uint32_t base;                 // slot of the first item

  /// Sorts items by bucket. @param buckets  number of them
  void sort(const std::vector<Item<N>>& from, std::size_t buckets) {
    starts.assign(buckets + 1, 0);
    for (const Item<N>& item : from) ++starts[item.bucket + 1];
    for (std::size_t b = 0; b < buckets; ++b) starts[b + 1] += starts[b];
    std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    items.resize(from.size());
    for (const Item<N>& item : from) items[next[item.bucket]++] = item;
  }
  /// Splits items in the middle along the axis on which they are widest. @return the first of the second half
  std::uint32_t halve(std::uint32_t begin, std::uint32_t end) {
    std::array<double, N> low = items[begin].at;
    std::array<double, N> high = low;
    for (std::uint32_t i = begin + 1; i < end; ++i)
      for (std::size_t a = 0; a < N; ++a) {
        low[a] = std::min(low[a], items[i].at[a]);
        high[a] = std::max(high[a], items[i].at[a]);
      }
    std::size_t widest = 0;
    for (std::size_t a = 1; a < N; ++a)
      if (high[a] - low[a] > high[widest] - low[widest]) widest = a;
    const std::uint32_t middle = begin + (end - begin) / 2;
    std::nth_element(items.begin() + begin, items.begin() + middle, items.begin() + end,
                     [=](const Item<N>& a, const Item<N>& b) { return a.at[widest] < b.at[widest]; });
    return middle;
  }
  /// Builds the node of a range of items and the nodes below it. @param bucket  the first of its buckets
  /// @param bits  logarithm of their number
  void build(std::uint32_t begin, std::uint32_t end, std::uint32_t bucket, int bits) {
    std::uint32_t middle = begin;
    while (end - begin > kLeaf && bits > 0) {
      const std::uint32_t second = bucket + (1U << --bits);
      middle = starts[second];
      if (middle > begin && middle < end) break;
      if (middle == begin) bucket = second;
      middle = begin;
    }
    const auto at = static_cast<std::uint32_t>(tree.nodes_.size());
    tree.nodes_.push_back({0, 0, 0, links::kNone, true});
    tree.view_nodes_.push_back({0, links::kNone, base + begin, end - begin, end - begin});
    if (end - begin <= kLeaf) return fill(at, begin, end);
    const bool halved = middle == begin;
    if (halved) middle = halve(begin, end);
    build(begin, middle, bucket, halved ? 0 : bits);
    tree.nodes_[at].second = static_cast<std::uint32_t>(tree.nodes_.size());
    build(middle, end, halved ? bucket : bucket + (1U << bits), halved ? 0 : bits);
  }
  /// Writes the units of a leaf into their slots.
  void fill(std::uint32_t leaf, std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t slot = base + i;
      const std::uint32_t v = items[i].vertex;
      for (std::size_t a = 0; a < N; ++a) *tree.place(leaf, a, slot) = items[i].at[a];
      tree.vertex_[slot] = v;
      tree.id_[slot] = tree.units_->parcels.id(v);
      tree.slot_[v] = slot;
      tree.leaf_[v] = leaf;
    }
  }
};

void UnitTree::build(const Units& units, const PairFilter& filter) {
  filter_ = &filter;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  is_limited_ = filter.within2 < kInfinite || filter.max_weight < kInfinite ||
                filter.max_count < std::numeric_limits<std::int64_t>::max();
  units_ = &units;
  axes_ = 3 + filter.packed.phase.size();
  is_periodic_ = false;
  view_ = {};
  view_.axes = static_cast<int>(axes_);
  view_.within2 = filter.within2;
  for (std::size_t a = 0; a < 3; ++a) {
    const bool periodic = filter.box.periodic[a];
    view_.period[a] = periodic ? filter.box.extent[a] : kUnbounded;
    view_.slack[a] = periodic ? 1e-15 * (filter.box.extent[a] + std::fabs(filter.box.lower[a])) : 0;
    is_periodic_ = is_periodic_ || periodic;
  }
  packed_.clear();
  slot_.clear();
  leaf_.clear();
  group_.clear();
  places_.clear();
  id_.clear();
  vertex_.clear();
  nodes_.clear();
  view_nodes_.clear();
  bounds_.clear();
  children_.clear();
  boxes_.clear();
  groups_.clear();
  roots_.clear();
  if (filter.packed.same.empty()) groups_.emplace(std::vector<double>(), 0), roots_.emplace_back();
  append_trees();
}

void UnitTree::update() {
  const auto known = static_cast<std::uint32_t>(slot_.size());
  for (const std::uint32_t v : units_->changed) {
    if (v >= known || slot_[v] == links::kNone) continue;
    nodes_[leaf_[v]].dirty = true;
    if (units_->gone[v] != 0) {
      remove(v);
      continue;
    }
    filter_->pack(units_->parcels.row(v), packed_.data() + v * filter_->width());
    with_axes(axes_, [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
      std::array<double, N> at;
      set_place(v, at);
      for (std::size_t a = 0; a < N; ++a) *place(leaf_[v], a, slot_[v]) = at[a];
    });
  }
  const std::size_t nodes = nodes_.size();
  if (!units_->changed.empty()) refit(0);
  if (units_->size() > known) append_trees();
  if (nodes_.size() > nodes) refit(nodes);
}

/// Returns where the coordinate of a slot of a leaf is.
inline double* UnitTree::place(std::uint32_t node, std::size_t axis, std::uint32_t slot) {
  const nearest::BoxTree::Node& leaf = view_nodes_[node];
  return places_.data() + nearest::BoxTree::index_of(leaf, axes_, axis, slot - leaf.begin);
}

/// Removes a unit from its leaf; the last of the leaf takes its slot.
void UnitTree::remove(std::uint32_t v) {
  const std::uint32_t slot = slot_[v];
  const std::uint32_t leaf = leaf_[v];
  const std::uint32_t last = view_nodes_[leaf].begin + --view_nodes_[leaf].count;
  for (std::size_t a = 0; a < axes_; ++a) *place(leaf, a, slot) = *place(leaf, a, last);
  id_[slot] = id_[last];
  vertex_[slot] = vertex_[last];
  slot_[vertex_[slot]] = slot;
  slot_[v] = leaf_[v] = links::kNone;
}

/// Writes the coordinates of a unit of this rank.
template <std::size_t N>
void UnitTree::set_place(std::uint32_t v, std::array<double, N>& at) const {
  const Site& s = units_->parcels.site(v);
  at = {s.x, s.y, s.z};
  const double* const row = packed(v);
  for (std::size_t i = 3; i < N; ++i) at[i] = row[i - 3] * filter_->packed.factors[i - 3];
}

/// Returns the number of the group of units with these values of the columns in which partners are equal.
std::uint32_t UnitTree::group_of(const double* values) {
  const std::size_t equal = filter_->packed.same.size();
  const auto [at, is_new] =
      groups_.try_emplace(std::vector<double>(values, values + equal), static_cast<std::uint32_t>(roots_.size()));
  if (is_new) roots_.emplace_back();
  return at->second;
}

/// Adds trees of the units that are not known yet, but for those gone.
void UnitTree::append_trees() {
  const std::size_t known = slot_.size();
  const std::size_t n = units_->size();
  const std::size_t width = filter_->width();
  packed_.resize(n * width);
  slot_.resize(n, links::kNone);
  leaf_.resize(n, links::kNone);
  std::vector<std::uint32_t> vertices;
  for (std::size_t v = known; v < n; ++v) {
    if (units_->gone[v] != 0) continue;
    filter_->pack(units_->parcels.row(v), packed_.data() + v * width);
    vertices.push_back(static_cast<std::uint32_t>(v));
  }
  if (!filter_->packed.same.empty()) {
    group_.resize(n);
    for (const std::uint32_t v : vertices) group_[v] = group_of(packed(v) + filter_->packed.phase.size());
  }
  const std::size_t slots = vertex_.size() + vertices.size();
  places_.resize(slots * axes_ + kPadding, 0);
  const auto base = static_cast<std::uint32_t>(vertex_.size());
  id_.resize(slots);
  vertex_.resize(slots);
  if (vertices.empty()) return;
  with_axes(axes_, [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    std::vector<Item<N>> items(vertices.size());
    std::array<double, N> low;
    std::array<double, N> high;
    low.fill(kUnbounded);
    high.fill(-kUnbounded);
    for (std::size_t i = 0; i < items.size(); ++i) {
      set_place(vertices[i], items[i].at);
      items[i].vertex = vertices[i];
      for (std::size_t a = 0; a < N; ++a) {
        low[a] = std::min(low[a], items[i].at[a]);
        high[a] = std::max(high[a], items[i].at[a]);
      }
    }
    const std::size_t cells = items.size() / roots_.size() / (kLeaf / 2);
    const Halvings<N> halvings(low, high, cells < 2 ? 0 : static_cast<int>(std::bit_width(cells)) - 1);
    for (Item<N>& item : items)
      item.bucket = ((group_.empty() ? 0 : group_[item.vertex]) << halvings.bits) + halvings(item.at);
    Builder<N> builder{*this, {}, {}, base};
    builder.sort(items, roots_.size() << halvings.bits);
    for (std::size_t g = 0; g < roots_.size(); ++g) {
      const auto bucket = static_cast<std::uint32_t>(g << halvings.bits);
      const std::uint32_t begin = builder.starts[bucket];
      const std::uint32_t end = builder.starts[bucket + (1U << halvings.bits)];
      if (begin == end) continue;
      roots_[g].push_back(static_cast<std::uint32_t>(nodes_.size()));
      builder.build(begin, end, bucket, halvings.bits);
      widen(roots_[g].back());
    }
  });
  if (known == 0) refit(0);
  set_view();
}

/// Points the view of the tree to its memory.
void UnitTree::set_view() {
  view_.places = places_.data();
  view_.ids = id_.data();
  view_.nodes = view_nodes_.data();
  view_.children = children_.data();
  view_.boxes = boxes_.data();
}

/// Makes the nodes of the view below a root, the last that was built: each has as children those that are left when the child of
/// the most leaves is replaced by its own two, again and again, as long as it has more leaves than fit below it. So nodes at the
/// bottom, which are most, have nearly as many children as they can. Their boxes are set by refit().
void UnitTree::widen(std::uint32_t top) {
  std::vector<std::uint32_t> leaves(nodes_.size() - top, 1);  // by node from the root on
  for (std::size_t i = leaves.size(); i-- > 0;)
    if (nodes_[top + i].second != 0) leaves[i] = leaves[i + 1] + leaves[nodes_[top + i].second - top];
  std::vector<std::uint32_t> waiting;
  if (nodes_[top].second != 0) waiting.push_back(top);
  while (!waiting.empty()) {
    const std::uint32_t parent = waiting.back();
    waiting.pop_back();
    std::size_t fit = 1;
    while (fit * kWide < leaves[parent - top]) fit *= kWide;
    std::array<std::uint32_t, kWide> below{parent + 1, nodes_[parent].second};
    std::size_t n = 2;
    for (; n < kWide; ++n) {
      const auto most = std::max_element(below.begin(), below.begin() + n, [&](std::uint32_t a, std::uint32_t b) {
        return leaves[a - top] < leaves[b - top];
      });
      if (leaves[*most - top] <= fit) break;
      below[n] = nodes_[*most].second;
      ++*most;
    }
    const std::size_t first = children_.size();
    view_nodes_[parent].inner = static_cast<std::uint32_t>(first / kWide);
    children_.resize(first + kWide, nearest::BoxTree::kNone);
    for (std::size_t i = 0; i < n; ++i) {
      children_[first + i] = below[i];
      nodes_[below[i]].box = static_cast<std::uint32_t>(first + i);
      if (nodes_[below[i]].second != 0) waiting.push_back(below[i]);
    }
  }
  // Unused boxes are empty: the lower bounds are above the upper ones.
  const std::size_t known = boxes_.size();
  boxes_.resize(children_.size() * 2 * axes_, kUnbounded);
  for (std::size_t i = known; i < boxes_.size(); ++i)
    if (i / kWide % 2 != 0) boxes_[i] = -kUnbounded;
}

/// Sets the bounds of a leaf from its units.
void UnitTree::refit_leaf(std::size_t n) {
  Node& node = nodes_[n];
  nearest::BoxTree::Node& leaf = view_nodes_[n];
  double* const low = bounds_.data() + n * 2 * axes_;
  double* const high = low + axes_;
  for (std::size_t a = 0; a < axes_; ++a) {
    low[a] = kUnbounded;
    high[a] = -kUnbounded;
    const double* const at = places_.data() + nearest::BoxTree::index_of(leaf, axes_, a, 0);
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      low[a] = std::min(low[a], at[i]);
      high[a] = std::max(high[a], at[i]);
    }
  }
  node.volume = kUnbounded;
  leaf.id = node.members = std::numeric_limits<std::int64_t>::max();
  const std::uint32_t end = leaf.begin + leaf.count;
  for (std::uint32_t slot = leaf.begin; slot < end; ++slot) leaf.id = std::min(leaf.id, id_[slot]);
  // Zeros are below all, and need no look at the units.
  if (filter_->max_weight == kUnbounded) node.volume = 0;
  if (filter_->max_count == std::numeric_limits<std::int64_t>::max()) node.members = 0;
  if (node.volume == 0 && node.members == 0) return;
  for (std::uint32_t slot = leaf.begin; slot < end; ++slot) {
    node.volume = std::min(node.volume, units_->parcels.site(vertex_[slot]).volume);
    node.members = std::min(node.members, units_->members[vertex_[slot]]);
  }
}

/// Copies the bounds of a node to the boxes of its parent in the view.
void UnitTree::set_box(std::size_t n) {
  const std::uint32_t box = nodes_[n].box;
  if (box == links::kNone) return;
  double* const to = boxes_.data() + box / kWide * (2 * kWide * axes_) + box % kWide;
  const double* const from = bounds_.data() + n * 2 * axes_;
  for (std::size_t a = 0; a < axes_; ++a) {
    to[2 * kWide * a] = from[a];
    to[2 * kWide * a + kWide] = from[axes_ + a];
  }
}

/// Sets the bounds of the nodes from `first` on whose units have changed, children before their parents.
void UnitTree::refit(std::size_t first) {
  bounds_.resize(nodes_.size() * 2 * axes_);
  for (std::size_t n = nodes_.size(); n-- > first;) {
    Node& node = nodes_[n];
    if (node.second == 0) {
      if (!node.dirty) continue;
      refit_leaf(n);
      set_box(n);
      continue;
    }
    const std::size_t two = node.second;
    node.dirty = nodes_[n + 1].dirty || nodes_[two].dirty;
    nodes_[n + 1].dirty = nodes_[two].dirty = false;
    if (!node.dirty) continue;
    double* const to = bounds_.data() + n * 2 * axes_;
    const double* const a = bounds_.data() + (n + 1) * 2 * axes_;
    const double* const b = bounds_.data() + two * 2 * axes_;
    for (std::size_t k = 0; k < axes_; ++k) {
      to[k] = std::min(a[k], b[k]);
      to[axes_ + k] = std::max(a[axes_ + k], b[axes_ + k]);
    }
    node.volume = std::min(nodes_[n + 1].volume, nodes_[two].volume);
    node.members = std::min(nodes_[n + 1].members, nodes_[two].members);
    view_nodes_[n].id = std::min(view_nodes_[n + 1].id, view_nodes_[two].id);
    set_box(n);
  }
  for (const auto& of_group : roots_)
    for (const std::uint32_t root : of_group) nodes_[root].dirty = false;
}

}  // namespace merganser::cluster
