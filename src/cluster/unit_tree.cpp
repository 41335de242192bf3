// k-d tree of the units of one rank, for the search of partners under a merge policy.
#include "src/cluster/unit_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"

namespace merganser::cluster {

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
  columns.check_row(row);
  for (const std::size_t column : columns.phase) *to++ = columns.value(row, column);
  for (const std::size_t column : columns.same)
    *to++ = columns.value(row, column) + 0.0;  // -0 becomes 0, which equals it
}

// The combinations of equal columns are sorted, each is a tree of its own.
void UnitTree::build(const Units& units, const PairFilter& filter) {
  filter_ = &filter;
  const std::size_t n = units.size();
  const std::size_t width = filter.width();
  const std::size_t equal = filter.packed.same.size();
  axes_ = 3 + filter.packed.phase.size();
  for (std::size_t a = 0; a < 3; ++a)
    slack_[a] = filter.box.periodic[a] ? 1e-15 * (filter.box.extent[a] + std::fabs(filter.box.lower[a])) : 0;
  packed_.resize(n * width);
  for (std::size_t i = 0; i < n; ++i) filter.pack(units.parcels.row(i), packed_.data() + i * width);
  entries_.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    entries_[i] = {units.parcels.site(i), units.parcels.id(i), units.members[i], static_cast<std::uint32_t>(i)};
  nodes_.clear();
  roots_.clear();
  const auto values = [&](const Entry& e) {
    const double* const from = packed(e.vertex) + filter.packed.phase.size();
    return std::span(from, equal);
  };
  if (equal > 0)
    std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
      const auto x = values(a);
      const auto y = values(b);
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    });
  for (std::size_t begin = 0; begin < n;) {
    const auto x = values(entries_[begin]);
    std::size_t end = equal == 0 ? n : begin;
    while (end < n && std::ranges::equal(values(entries_[end]), x)) ++end;
    roots_.emplace(std::vector<double>(x.begin(), x.end()), static_cast<std::uint32_t>(nodes_.size()));
    build_node(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
    begin = end;
  }
}

/// Returns the coordinate of a unit on one axis of the metric.
double UnitTree::coordinate(const Entry& e, std::size_t axis) const {
  if (axis == 0) return e.site.x;
  if (axis == 1) return e.site.y;
  if (axis == 2) return e.site.z;
  return packed(e.vertex)[axis - 3] * filter_->packed.factors[axis - 3];
}

/// Sets the bounds of a node from its units.
void UnitTree::set_bounds(Node& node) const {
  node.volume = std::numeric_limits<double>::infinity();
  node.id = node.members = std::numeric_limits<std::int64_t>::max();
  for (std::size_t a = 0; a < axes_; ++a) {
    node.lower[a] = std::numeric_limits<double>::infinity();
    node.upper[a] = -node.lower[a];
  }
  for (std::uint32_t i = node.begin; i < node.end; ++i) {
    const Entry& e = entries_[i];
    node.volume = std::min(node.volume, e.site.volume);
    node.id = std::min(node.id, e.id);
    node.members = std::min(node.members, e.members);
    for (std::size_t a = 0; a < axes_; ++a) {
      const double x = coordinate(e, a);
      node.lower[a] = std::min(node.lower[a], x);
      node.upper[a] = std::max(node.upper[a], x);
    }
  }
}

/// Builds the node of a range of entries and the nodes below it: split in the middle along the widest axis.
void UnitTree::build_node(std::uint32_t begin, std::uint32_t end) {
  const std::size_t at = nodes_.size();
  nodes_.emplace_back();
  Node node{};
  node.begin = begin;
  node.end = end;
  set_bounds(node);
  if (end - begin > kLeaf) {
    std::size_t widest = 0;
    for (std::size_t a = 1; a < axes_; ++a)
      if (node.upper[a] - node.lower[a] > node.upper[widest] - node.lower[widest]) widest = a;
    const std::uint32_t middle = begin + (end - begin) / 2;
    std::nth_element(entries_.begin() + begin, entries_.begin() + middle, entries_.begin() + end,
                     [&](const Entry& a, const Entry& b) { return coordinate(a, widest) < coordinate(b, widest); });
    build_node(begin, middle);
    node.second = static_cast<std::uint32_t>(nodes_.size());
    build_node(middle, end);
  }
  nodes_[at] = node;
}

/// Returns whether no unit of a node can be a partner less than `best`. Bounds of distances are lowered by more than the rounding
/// errors of Box::distance2. @param at  coordinates of the looker
bool UnitTree::is_out_of_reach(const Node& node, const LookingUnit& looking, const double* at,
                               const Partner& best) const {
  if (looking.site.volume + node.volume > filter_->max_weight) return true;
  if (looking.members + node.members > filter_->max_count) return true;
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    double d = std::max({node.lower[a] - at[a], at[a] - node.upper[a], 0.0});
    if (filter_->box.periodic[a]) {
      const double length = filter_->box.extent[a];
      d = std::min({d, std::max(node.lower[a] + length - at[a], 0.0), std::max(at[a] - (node.upper[a] - length), 0.0)});
      d = std::max(d - slack_[a], 0.0);
    }
    sum = sum + d * d;
  }
  constexpr double kBelow = 1 - 1e-14;
  if (sum * kBelow > filter_->within2) return true;
  for (std::size_t a = 3; a < axes_; ++a) {
    const double d = std::max({node.lower[a] - at[a], at[a] - node.upper[a], 0.0});
    sum = sum + d * d;
  }
  sum = sum * kBelow;
  return sum > best.distance2 || (sum == best.distance2 && node.id >= best.id);
}

/// Compares a looker with the units of a leaf.
void UnitTree::scan(const Node& node, const LookingUnit& looking, std::span<Partner> best) const {
  for (std::uint32_t i = node.begin; i < node.end; ++i) {
    const Entry& e = entries_[i];
    const double d2 = metric2(filter_->box, filter_->packed, looking.site, looking.packed, e.site, packed(e.vertex));
    const Partner& last = best.back();
    if (d2 > last.distance2 || (d2 == last.distance2 && e.id >= last.id) || e.id == looking.id) continue;
    if (filter_->packed.phase.empty() ? d2 > filter_->within2
                                      : filter_->box.distance2({looking.site.x, looking.site.y, looking.site.z},
                                                               {e.site.x, e.site.y, e.site.z}) > filter_->within2)
      continue;
    if (looking.site.volume + e.site.volume > filter_->max_weight) continue;
    if (looking.members + e.members > filter_->max_count) continue;
    if (std::find(looking.refused.begin(), looking.refused.end(), e.id) != looking.refused.end()) continue;
    insert_partner(best, {d2, e.id, e.vertex});
  }
}

// Descent to the nearer child first; the other one waits on a stack.
void UnitTree::find(const LookingUnit& looking, std::span<Partner> best) const {
  const std::size_t phase = filter_->packed.phase.size();
  const auto root =
      roots_.find(std::vector<double>(looking.packed + phase, looking.packed + phase + filter_->packed.same.size()));
  if (root == roots_.end()) return;
  double at[kMaxAxes] = {looking.site.x, looking.site.y, looking.site.z};
  for (std::size_t i = 0; i < phase; ++i) at[3 + i] = looking.packed[i] * filter_->packed.factors[i];
  std::uint32_t stack[64];
  std::size_t depth = 0;
  stack[depth++] = root->second;
  while (depth > 0) {
    const std::uint32_t n = stack[--depth];
    const Node& node = nodes_[n];
    if (is_out_of_reach(node, looking, at, best.back())) continue;
    if (node.second == 0) {
      scan(node, looking, best);
      continue;
    }
    std::uint32_t near = n + 1;
    std::uint32_t far = node.second;
    // The child whose middle is nearer, along the axis on which the two are farthest apart, is entered first.
    double widest = -1;
    for (std::size_t a = 0; a < axes_; ++a) {
      const double one = 0.5 * (nodes_[n + 1].lower[a] + nodes_[n + 1].upper[a]);
      const double two = 0.5 * (nodes_[node.second].lower[a] + nodes_[node.second].upper[a]);
      if (std::fabs(one - two) <= widest) continue;
      widest = std::fabs(one - two);
      const bool swap = std::fabs(at[a] - two) < std::fabs(at[a] - one);
      near = swap ? node.second : n + 1;
      far = swap ? n + 1 : node.second;
    }
    stack[depth++] = far;
    stack[depth++] = near;
  }
}

}  // namespace merganser::cluster
