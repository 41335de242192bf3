// Search of partners in the tree of the units of one rank, under a merge policy.
#include "src/cluster/unit_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/cluster/unit_tree_axes.hpp"

namespace merganser::cluster {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

/// Lookers of one leaf, which search together: a node is visited if some of them may have a partner there.
template <std::size_t N>
struct UnitTree::Group {
  std::span<const LookingUnit> lookers;
  const std::array<double, N>* at;  // their places
  std::span<Partner> found;         // lists of the same length
  std::array<double, N> lower, upper;
  double volume;                     // least of the lookers
  std::int64_t members;              // least of the lookers
  std::uint32_t own;                 // leaf that has been searched; links::kNone: none
  Partner worst = {};                // greatest of the last partners
  bool wraps = true;                 // their partners may be beyond periodic faces
  nearest::LeafPoints queries = {};  // views axis
  double axis[N][kLeaf + 16] = {};   // coordinates of the lookers
  double limit[kLeaf + 8] = {};      // per looker: greatest squared distance of a partner; then negative
  [[nodiscard]] std::span<Partner> list(std::size_t k) const {
    const std::size_t fan = found.size() / lookers.size();
    return found.subspan(k * fan, fan);
  }
  /// Sets what is known of all lookers. @param points  of the tree
  void bound(const nearest::LeafPoints& points) {
    queries = points;
    for (std::size_t a = 0; a < N; ++a) {
      queries.axis[a] = axis[a];
      for (std::size_t k = 0; k < lookers.size(); ++k) axis[a][k] = at[k][a];
    }
    std::fill(std::begin(limit), std::end(limit), -1.0);
    lower = upper = at[0];
    volume = lookers[0].site.volume;
    members = lookers[0].members;
    for (std::size_t k = 1; k < lookers.size(); ++k) {
      for (std::size_t a = 0; a < N; ++a) {
        lower[a] = std::min(lower[a], at[k][a]);
        upper[a] = std::max(upper[a], at[k][a]);
      }
      volume = std::min(volume, lookers[k].site.volume);
      members = std::min(members, lookers[k].members);
    }
  }
  /// Sets the greatest of the last partners, and the limits.
  void set_worst() {
    for (std::size_t k = 0; k < lookers.size(); ++k) limit[k] = list(k).back().distance2;
    worst = list(0).back();
    for (std::size_t k = 1; k < lookers.size(); ++k)
      if (worst < list(k).back()) worst = list(k).back();
  }
};

/// Returns a lower bound of the squared distance of units of a node from places in a box, lowered by more than the rounding errors of
/// metric2(); infinite if all are farther than PairFilter::within2. @param wraps  whether images of the node beyond periodic faces count
template <std::size_t N>
inline double UnitTree::gap2(std::uint32_t node, const double* lower, const double* upper, bool wraps) const {
  constexpr double kBelow = 1 - 1e-14;
  const double* const low = bounds_.data() + std::size_t{node} * 2 * N;
  const double* const high = low + N;
  double gaps[N];
  for (std::size_t a = 0; a < N; ++a) gaps[a] = std::max(std::max(low[a] - upper[a], lower[a] - high[a]), 0.0);
  if (wraps)
    for (std::size_t a = 0; a < 3; ++a) {
      const double image = std::min(low[a] + period_[a] - upper[a], lower[a] - (high[a] - period_[a]));
      gaps[a] = std::max(std::min(gaps[a], std::max(image, 0.0)) - slack_[a], 0.0);
    }
  double sum = (gaps[0] * gaps[0] + gaps[1] * gaps[1]) + gaps[2] * gaps[2];
  if (sum * kBelow > filter_->within2) return kInfinite;
  for (std::size_t a = 3; a < N; ++a) sum = sum + gaps[a] * gaps[a];
  return sum * kBelow;
}

/// Inserts a unit, at a squared distance from a looker, into the list of its partners if it is admissible and less than the last.
/// @return whether it has been inserted
bool UnitTree::offer(const LookingUnit& looking, std::uint32_t slot, double distance2, std::span<Partner> best) const {
  const Partner& last = best.back();
  const std::int64_t id = id_[slot];
  if (distance2 > last.distance2 || (distance2 == last.distance2 && id >= last.id) || id == looking.id) return false;
  const std::uint32_t v = vertex_[slot];
  if (is_limited_ && !is_within_limits(looking, v, distance2)) return false;
  if (std::find(looking.refused.begin(), looking.refused.end(), id) != looking.refused.end()) return false;
  insert_partner(best, {distance2, id, v});
  return true;
}

/// Returns whether the policy's limits of distance, volume and members admit a unit as a partner of a looker.
bool UnitTree::is_within_limits(const LookingUnit& looking, std::uint32_t v, double distance2) const {
  const Site& site = units_->parcels.site(v);
  if ((axes_ > 3 ? filter_->box.distance2({looking.site.x, looking.site.y, looking.site.z}, {site.x, site.y, site.z})
                 : distance2) > filter_->within2)
    return false;
  if (looking.site.volume + site.volume > filter_->max_weight) return false;
  return looking.members + units_->members[v] <= filter_->max_count;
}

/// Compares the lookers of a group with the units of a leaf.
template <std::size_t N>
void UnitTree::scan_leaf(Group<N>& group, std::uint32_t node) const {
  nearest::NearPair pairs[kLeaf * kLeaf];
  const double* const low = bounds_.data() + std::size_t{node} * 2 * N;
  group.queries.periodic = group.wraps && points_.periodic;
  const std::size_t n =
      nearest::near_pairs(points_, group.queries, group.limit, static_cast<std::uint32_t>(group.lookers.size()), low,
                          low + N, nodes_[node].begin, nodes_[node].end, pairs);
  bool any = false;
  for (std::size_t i = 0; i < n; ++i)
    any = offer(group.lookers[pairs[i].query], pairs[i].point, pairs[i].distance2, group.list(pairs[i].query)) || any;
  if (any) group.set_worst();
}

/// Returns whether no unit of a node, at least gap2 away, can be a partner of a looker of a group.
template <std::size_t N>
inline bool UnitTree::is_out(const Group<N>& group, std::uint32_t n, double gap2) const {
  if (gap2 > group.worst.distance2 || gap2 == kInfinite) return true;
  const Node& node = nodes_[n];
  return (gap2 == group.worst.distance2 && node.id >= group.worst.id) ||
         group.volume + node.volume > filter_->max_weight || group.members + node.members > filter_->max_count;
}

/// Finds partners of a group of lookers below a node. Descent to the nearer child first; the other one waits on a stack.
template <std::size_t N>
void UnitTree::search_below(Group<N>& group, std::uint32_t top) const {
  struct Visit {
    std::uint32_t node;
    double gap2;
  };
  Visit stack[96];
  const auto visit = [&](std::uint32_t node) {
    return Visit{node, gap2<N>(node, group.lower.data(), group.upper.data(), group.wraps)};
  };
  std::size_t depth = 0;
  stack[depth++] = visit(top);
  while (depth > 0) {
    Visit next = stack[--depth];
    while (!is_out(group, next.node, next.gap2)) {
      const std::uint32_t second = nodes_[next.node].second;
      if (second == 0) {
        scan_leaf<N>(group, next.node);
        break;
      }
      Visit far = visit(second);
      next = visit(next.node + 1);
      // Of equally near children that of the lower id comes first, which decides where all units are in one place.
      if (far.gap2 < next.gap2 || (far.gap2 == next.gap2 && nodes_[far.node].id < nodes_[next.node].id))
        std::swap(far, next);
      if (!is_out(group, far.node, far.gap2)) stack[depth++] = far;
    }
  }
}

/// Finds the partners of a group of lookers: from their leaf, if they have one, upwards, and in the other trees.
template <std::size_t N>
void UnitTree::search(Group<N>& group, std::uint32_t tree_group) const {
  group.wraps = false;
  const double reach = std::sqrt(std::min(group.worst.distance2, filter_->within2)) * (1 + 1e-12);
  for (std::size_t a = 0; a < 3; ++a)
    if (period_[a] < kInfinite) {
      const double lower = filter_->box.lower[a] + slack_[a];
      group.wraps =
          group.wraps || group.lower[a] - reach < lower || group.upper[a] + reach > lower + period_[a] - 2 * slack_[a];
    }
  std::uint32_t node = group.own;
  while (node != links::kNone && nodes_[node].parent != links::kNone) {
    const std::uint32_t parent = nodes_[node].parent;
    search_below(group, node == parent + 1 ? nodes_[parent].second : parent + 1);
    node = parent;
  }
  for (const std::uint32_t root : roots_[tree_group])
    if (root != node) search_below(group, root);
}

void UnitTree::find(const LookingUnit& looking, std::span<Partner> best) const {
  const double* const values = looking.packed + filter_->packed.phase.size();
  const auto tree_group = groups_.find(std::vector<double>(values, values + filter_->packed.same.size()));
  if (tree_group == groups_.end()) return;
  with_axes(axes_, [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    std::array<double, N> at{looking.site.x, looking.site.y, looking.site.z};
    for (std::size_t i = 3; i < N; ++i) at[i] = looking.packed[i - 3] * filter_->packed.factors[i - 3];
    Group<N> group{{&looking, 1}, &at, best, {}, {}, 0, 0, links::kNone};
    group.bound(points_);
    group.set_worst();
    search(group, tree_group->second);
  });
}

void UnitTree::sort(std::vector<std::uint32_t>& units) const {
  if (units.size() < vertex_.size() / 32) {
    std::sort(units.begin(), units.end(), [&](std::uint32_t a, std::uint32_t b) { return slot_[a] < slot_[b]; });
    return;
  }
  std::vector<std::uint8_t> marked(vertex_.size(), 0);
  for (const std::uint32_t v : units) marked[slot_[v]] = 1;
  std::size_t n = 0;
  for (std::size_t slot = 0; slot < marked.size(); ++slot)
    if (marked[slot] != 0) units[n++] = vertex_[slot];
}

void UnitTree::find_all(std::span<const std::uint32_t> lookers, std::size_t fan, std::span<Partner> found) const {
  with_axes(axes_, [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    LookingUnit looking[kLeaf];
    std::array<double, N> at[kLeaf];
    for (std::size_t k = 0; k < lookers.size();) {
      const std::uint32_t leaf = leaf_[lookers[k]];
      std::size_t n = 0;
      for (; k + n < lookers.size() && leaf_[lookers[k + n]] == leaf; ++n) {
        const std::uint32_t v = lookers[k + n];
        const std::int64_t id = units_->parcels.id(v);
        looking[n] = {units_->parcels.site(v), id, units_->members[v], packed(v), units_->refused(id)};
        for (std::size_t a = 0; a < N; ++a) at[n][a] = at_[a][slot_[v]];
      }
      Group<N> group{{looking, n}, at, found.subspan(k * fan, n * fan), {}, {}, 0, 0, leaf};
      group.bound(points_);
      group.set_worst();
      scan_leaf<N>(group, leaf);
      search(group, group_.empty() ? 0 : group_[lookers[k]]);
      k += n;
    }
  });
}

}  // namespace merganser::cluster
