// Search for the nearest points of other components to the points of one leaf together, with the single-precision filter.
#include "src/msf/euclidean/search_names.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

/// Search of one leaf in a Boruvka round. An edge that it finds lowers the limits of all points of the component at once.
template <std::size_t D>
class BoruvkaState<D>::FilteredSearch final : public nearest::OutsideSearch {
 public:
  FilteredSearch(BoruvkaState& state, Worker& worker, const std::vector<Key>& ceiling)
      : state_(state), worker_(worker), ceiling_(ceiling) {}

  /// Searches for the points of a leaf of the tree that need it, and stores their new bounds.
  /// @return false where the filter cannot tell distances apart; then no bound is stored, but edges that were found are kept
  [[nodiscard]] bool run(std::uint32_t leaf) {
    const auto& nodes = state_.tree.nodes();
    const auto& node = nodes[leaf];
    begin(state_.scan, state_.filter_, state_.filter_.leaf_of(leaf), state_.component.data());
    count_ = 0;
    for (std::uint32_t v = node.begin; v < node.end; ++v) {
      const Key most = state_.limit(worker_, state_.component[v], ceiling_);
      if (!state_.may_improve(v, most) || state_.has_outside_neighbour(v)) continue;
      pending_[count_++] = v;
      if (state_.core_or_zero(v) <= most.d2) set_limit(v - node.begin, most.d2);
    }
    if (!queries.blind()) visit_near(leaf);
    // Only a search that was finished bounds distances from below. Edges found before are edges all the same, and stay the best.
    if (queries.blind()) return false;
    for (std::uint32_t i = 0; i < count_; ++i) finish(pending_[i]);
    return true;
  }

  void offer(std::uint32_t q, std::uint32_t point) override {
    const std::uint32_t v = queries.first + q;
    const std::uint32_t c = state_.component[v];
    const Key most = state_.limit(worker_, c, ceiling_);
    const double d2 = state_.weight(v, point);
    if (d2 > most.d2) return;
    const Key k = state_.key(v, point, d2);
    if (!(k < most)) return;
    state_.choose(worker_, c, {k, v, point});
    found_[q] = point;
    for (std::uint32_t i = 0; i < count_; ++i)
      if (state_.component[pending_[i]] == c) lower_limit(pending_[i] - queries.first, d2);
  }

 private:
  /// Lowers the limit of query q to d2; below its core distance it needs nothing more.
  void lower_limit(std::uint32_t q, double d2) {
    if (state_.core_or_zero(queries.first + q) > d2)
      queries.limit[q] = -1;
    else if (queries.limit[q] >= 0)
      set_limit(q, d2);
  }

  /// Visits the leaves within reach, subtree after subtree on the way from the leaf to the root, near ones first.
  void visit_near(std::uint32_t leaf) {
    const auto& nodes = state_.tree.nodes();
    const auto& metric = state_.tree.metric();
    const Bounds<D>& from = nodes[leaf].box;
    const std::uint32_t common = state_.node_component[leaf];
    const auto open = [&](std::uint32_t node) { return common == kNone || state_.node_component[node] != common; };
    const auto scan = [&](std::uint32_t near) {
      ++worker_.visits;
      visit(state_.filter_.leaf_of(near), nodes[near].box.lower.data(), nodes[near].box.upper.data());
    };
    if (open(leaf)) scan(leaf);
    for (std::uint32_t child = leaf; child != 0; child = nodes[child].parent) {
      const std::uint32_t parent = nodes[child].parent;
      if (!open(parent)) continue;
      visit_leaves(
          nodes, nodes[parent].right == child ? parent + 1 : nodes[parent].right, worker_.todo,
          [&](const Bounds<D>& box) { return metric.distance2(from, box); },
          [&](double d2) { return d2 <= reach() && !queries.blind(); }, open,
          [&](std::uint32_t near, double) { scan(near); });
    }
  }

  /// Stores what the search has found for point v: its nearest point if that is the least edge of the component, else the limit as a
  /// bound.
  void finish(std::uint32_t v) {
    // Where another point's edge has become the limit, what was found for v before need not be its nearest.
    const Choice& choice = worker_.best[state_.component[v]];
    const std::uint64_t id = state_.tree.id(v);
    const Key most = state_.limit(worker_, state_.component[v], ceiling_);
    const std::uint32_t point = found_[v - queries.first];
    ++worker_.searches;
    state_.used[v] = static_cast<std::uint8_t>(state_.keep);
    state_.bound[v] = std::max(state_.bound[v], most.d2);
    const bool best = point != kNone && choice.key == most && (most.low == id || most.high == id) &&
                      most == state_.key(v, point, most.d2);
    state_.nearest[v] = best ? point : v;
    found_[v - queries.first] = kNone;
  }

  BoruvkaState& state_;
  Worker& worker_;
  const std::vector<Key>& ceiling_;
  std::array<std::uint32_t, kMaxLeafPoints> pending_;  ///< points of the leaf that search
  std::uint32_t count_ = 0;                            ///< number of those
  std::array<std::uint32_t, kMaxLeafPoints> found_ =
      filled();  ///< by query: the last point that became the best; kNone: none

  static std::array<std::uint32_t, kMaxLeafPoints> filled() {
    std::array<std::uint32_t, kMaxLeafPoints> none;
    none.fill(kNone);
    return none;
  }
};

template <std::size_t D>
bool BoruvkaState<D>::search_filtered(Worker& worker, std::uint32_t leaf, const std::vector<Key>& ceiling) {
  return FilteredSearch(*this, worker, ceiling).run(leaf);
}

#define MERGANSER_MEMBER(NAME, D) template bool BoruvkaState<D>::NAME(Worker&, std::uint32_t, const std::vector<Key>&);
MERGANSER_FOR_AXES(MERGANSER_MEMBER, search_filtered)

}  // namespace merganser::msf::euclidean
