// Search of partners in the tree of the units of one rank, under a merge policy.
#include "src/cluster/unit_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace merganser::cluster {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

/// Search for the partners of one looker. If it has one partner, and no condition but those of the metric, the view of the tree
/// finds it, else the search takes the units that are near enough, and decides.
class UnitTree::Search final : public nearest::BoxSearch {
 public:
  /// Begins a search, but for its place. @param looking  of which only ids are needed if the policy limits nothing
  /// @param best  ascending list, whose last is the bound
  Search(const UnitTree& tree, const LookingUnit& looking, std::span<Partner> best)
      : tree_(tree), looking_(looking), best_(best) {
    self = looking.id;
    has_conditions = tree.is_limited_ || best.size() > 1 || !looking.refused.empty();
    set_bound();
  }
  /// Writes the partner that the view of the tree has found into the list.
  void finish() {
    if (point != nearest::BoxTree::kNone) best_.front() = {distance2, id, tree_.vertex_[point]};
  }
  void take(std::uint32_t slot, double d2) override {
    const std::uint32_t v = tree_.vertex_[slot];
    const std::int64_t unit = tree_.id_[slot];
    if (tree_.is_limited_ && !is_within_limits(v, d2)) return;
    if (std::find(looking_.refused.begin(), looking_.refused.end(), unit) != looking_.refused.end()) return;
    insert_partner(best_, {d2, unit, v});
    set_bound();
  }
  [[nodiscard]] bool may_hold(std::uint32_t node) const override {
    const Node& n = tree_.nodes_[node];
    return looking_.site.volume + n.volume <= tree_.filter_->max_weight &&
           n.members <= tree_.filter_->max_count - looking_.members;  // an empty tree has the greatest integer
  }

 private:
  void set_bound() {
    distance2 = best_.back().distance2;
    id = best_.back().id;
  }
  /// Returns whether the policy's limits of distance, volume and members admit a unit as a partner.
  [[nodiscard]] bool is_within_limits(std::uint32_t v, double d2) const {
    const PairFilter& filter = *tree_.filter_;
    const Site& a = looking_.site;
    const Site& b = tree_.units_->parcels.site(v);
    if ((tree_.axes_ > 3 ? filter.box.distance2({a.x, a.y, a.z}, {b.x, b.y, b.z}) : d2) > filter.within2) return false;
    return a.volume + b.volume <= filter.max_weight && looking_.members + tree_.units_->members[v] <= filter.max_count;
  }

  const UnitTree& tree_;
  const LookingUnit& looking_;
  std::span<Partner> best_;
};

/// Returns whether a looker may have partners beyond periodic faces, by the bound of its search.
bool UnitTree::reaches_faces(const Search& search) const {
  const double reach = std::sqrt(std::min(search.distance2, filter_->within2)) * (1 + 1e-12);
  bool out = false;
  for (std::size_t a = 0; a < 3; ++a) {
    if (view_.period[a] == kInfinite) continue;
    const double lower = filter_->box.lower[a] + view_.slack[a];
    out = out || search.place[a] - reach < lower ||
          search.place[a] + reach > lower + view_.period[a] - 2 * view_.slack[a];
  }
  return out;
}

/// Finds the partners of a looker, in its leaf first if it has one. @param own  that leaf; links::kNone: none
void UnitTree::search(Search& search, std::uint32_t own, std::uint32_t tree_group) const {
  search.wraps = is_periodic_;
  if (own != links::kNone) nearest::search_boxes(view_, own, search);
  search.skipped = own;
  search.wraps = is_periodic_ && reaches_faces(search);
  for (const std::uint32_t root : roots_[tree_group])
    if (root != own) nearest::search_boxes(view_, root, search);
  search.finish();
}

void UnitTree::find(const LookingUnit& looking, std::span<Partner> best) const {
  const double* const values = looking.packed + filter_->packed.phase.size();
  const auto tree_group = groups_.find(std::vector<double>(values, values + filter_->packed.same.size()));
  if (tree_group == groups_.end()) return;
  Search of_unit(*this, looking, best);
  of_unit.place[0] = looking.site.x;
  of_unit.place[1] = looking.site.y;
  of_unit.place[2] = looking.site.z;
  for (std::size_t i = 3; i < axes_; ++i) of_unit.place[i] = looking.packed[i - 3] * filter_->packed.factors[i - 3];
  search(of_unit, links::kNone, tree_group->second);
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
  for (std::size_t k = 0; k < lookers.size(); ++k) {
    const std::uint32_t v = lookers[k];
    const std::uint32_t slot = slot_[v];
    LookingUnit looking{{}, id_[slot], 0, nullptr, {}};
    if (is_limited_) {
      looking.site = units_->parcels.site(v);
      looking.members = units_->members[v];
    }
    if (!units_->extra.empty()) looking.refused = units_->refused(looking.id);
    Search of_unit(*this, looking, found.subspan(k * fan, fan));
    const nearest::BoxTree::Node& leaf = view_nodes_[leaf_[v]];
    for (std::size_t a = 0; a < axes_; ++a)
      of_unit.place[a] = places_[nearest::BoxTree::index_of(leaf, axes_, a, slot - leaf.begin)];
    search(of_unit, leaf_[v], group_.empty() ? 0 : group_[v]);
  }
}

}  // namespace merganser::cluster
