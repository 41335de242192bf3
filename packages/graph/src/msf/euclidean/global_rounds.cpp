// Global rounds of Boruvka's algorithm on points: all ranks hold the same numbering of the components that are left; each finds
// the least edges out of them among its own points, queries other ranks where these may have nearer ones, and all contract.
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"

namespace merganser::msf::euclidean {
namespace {

/// Query to another rank for the nearest of its points in another component than `component`, if the edge to it comes
/// before `limit`.
template <std::size_t D>
struct Question {
  Place<D> at;
  double core;
  Key limit;
  std::uint64_t id;
  std::uint32_t component;
  std::uint32_t point;  ///< number of the point on the querying rank
};
/// Reply to a Question: the nearest point of the replying rank in another component, as an edge.
struct Answer {
  double d2;
  std::uint64_t id;
  std::uint32_t component;
  std::uint32_t point;  ///< as in the query
};
/// Candidate of one rank for the least edge out of a component.
struct Offer {
  Key key;
  std::uint32_t component;
  std::uint32_t to;
};

/// Global rounds of Boruvka's algorithm on one rank: the nearest points on other ranks that are known, and the limits
/// of the search.
template <std::size_t D>
class GlobalRounds {
 public:
  GlobalRounds(State<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds, comm::Transport& transport)
      : state_(state),
        others_(others),
        transport_(transport),
        bound_(std::move(remote_bounds)),
        slot_(bound_.size(), kNone),
        least_(state.tree.nodes().size(), 0) {
    number_components();
  }

  [[nodiscard]] bool has_more() const { return state_.components > 1; }

  /// Performs one global round: finds the least edge of every component over all ranks and contracts along it.
  /// Collective.
  void run_round() {
    state_.choose_from_lists();
    for (const auto v : known_)
      if (has_outside(v)) offer_outside(v);
    lower_ceiling();
    state_.search_where_needed(ceiling_);
    others_.mark(state_, transport_);
    query_others();
    contract_all();
  }

  std::int64_t asked = 0;  ///< number of queries sent to other ranks

 private:
  /// Edge from a point of this rank to the nearest known point of another component on another rank.
  struct Remote {
    Key key;
    std::uint32_t component;
  };

  /// Numbers the components of all ranks, those of rank 0 first. Collective.
  void number_components() {
    const auto [before, total] = comm::compute_share(transport_, state_.tree.size() > 0 ? state_.components : 0);
    if (total >= kNone - 1)
      throw InputError(std::to_string(total) + " components left after the local rounds; allowed: below 2^32 - 2");
    for (auto& c : state_.component) c += static_cast<std::uint32_t>(before);
    state_.components = static_cast<std::uint32_t>(total);
  }

  /// Returns whether the nearest point of another component on other ranks is known of a point.
  [[nodiscard]] bool has_outside(std::uint32_t v) const {
    return slot_[v] != kNone && remote_[slot_[v]].component != state_.component[v];
  }
  /// Offers the known edge of a point to another rank to the point's component.
  void offer_outside(std::uint32_t v) {
    const Remote& remote = remote_[slot_[v]];
    Choice& choice = state_.best[state_.component[v]];
    if (remote.key < choice.key) choice = {remote.key, remote.component};
  }

  /// Computes the least squared distance of an edge out of each component that any rank has found: longer edges are not chosen.
  /// Collective.
  void lower_ceiling() {
    std::vector<double> least(state_.components);
    for (std::size_t c = 0; c < least.size(); ++c) least[c] = state_.best[c].key.d2;
    transport_.all_reduce(least, comm::Op::min);
    ceiling_.resize(least.size());
    for (std::size_t c = 0; c < least.size(); ++c) ceiling_[c].d2 = least[c];
  }
  /// Returns the squared distance above which an edge out of component c is of no use.
  [[nodiscard]] double most(std::uint32_t c) const { return std::min(ceiling_[c].d2, state_.best[c].key.d2); }
  [[nodiscard]] Key limit(std::uint32_t c) const { return std::min(ceiling_[c], state_.best[c].key); }

  /// Returns the points whose nearest point of another component may be on another rank and come before the limit.
  [[nodiscard]] std::vector<std::uint32_t> open_points() {
    std::vector<std::uint32_t> out;
    for (const auto leaf : state_.tree.leaves()) {
      const auto& node = state_.tree.nodes()[leaf];
      const std::uint32_t common = state_.node_component[leaf];
      if (common != kNone && least_[leaf] > most(common)) continue;
      for (std::uint32_t v = node.begin; v < node.end; ++v)
        if (must_query(v)) out.push_back(v);
      least_[leaf] = *std::min_element(bound_.begin() + node.begin, bound_.begin() + node.end);
    }
    return out;
  }
  /// Returns whether other ranks must be queried for a point; raises its bound by the boxes of other ranks.
  [[nodiscard]] bool must_query(std::uint32_t v) {
    const std::uint32_t c = state_.component[v];
    if (bound_[v] > most(c) || has_outside(v)) return false;
    const Place<D> at = state_.tree.at(v);
    bound_[v] = std::max(bound_[v], others_.distance2(Bounds<D>{at, at}, c));
    return bound_[v] <= most(c) && bound_[v] < kInfinity;
  }

  /// Queries other ranks for all points that need it. Collective.
  void query_others() {
    // With many open points, the nearest one of each component is queried first: its reply usually excludes the others.
    constexpr std::int64_t kMany = 20000;
    auto open = open_points();
    if (transport_.all_reduce(static_cast<std::int64_t>(open.size()), comm::Op::sum) > kMany) {
      query(nearest_per_component(open));
      lower_ceiling();
      open = open_points();
    }
    query(open);
  }

  /// Returns, of the open points of every component, the one that is nearest to other ranks by its bound.
  [[nodiscard]] std::vector<std::uint32_t> nearest_per_component(const std::vector<std::uint32_t>& open) const {
    std::vector<std::uint32_t> scout(state_.components, kNone);
    for (const auto v : open) {
      auto& s = scout[state_.component[v]];
      if (s == kNone || bound_[v] < bound_[s]) s = v;
    }
    std::erase(scout, kNone);
    return scout;
  }

  /// Queries the other ranks for some points: one exchange of queries, one of replies. Collective.
  void query(const std::vector<std::uint32_t>& open) {
    std::vector<std::vector<Question<D>>> to(others_.ranks());
    for (const auto v : open) {
      const Place<D> at = state_.tree.at(v);
      const Key most = limit(state_.component[v]);
      const Question<D> question{at, state_.core_or_zero(v), most, state_.tree.id(v), state_.component[v], v};
      for (std::size_t r = 0; r < to.size(); ++r) {
        if (others_.distance2(Bounds<D>{at, at}, r, most.d2, question.component) > most.d2) continue;
        to[r].push_back(question);
        ++asked;
      }
      // Without a reply nothing comes before the limit. The ceiling {d2, max, max} admits every edge of squared distance d2,
      // so nothing is at d2 either; another limit is an edge, and later ones of its distance were not searched.
      bound_[v] = most == ceiling_[state_.component[v]] ? std::nextafter(most.d2, kInfinity) : most.d2;
    }
    const auto back = query_ranks<Answer>(transport_, std::move(to),
                                          [this](const auto& q, auto& answers) { append_reply(q, answers); });
    for (const auto answers : back)
      for (const auto& a : answers) accept_reply(a);
    for (const auto v : open)
      if (has_outside(v)) offer_outside(v);
  }

  /// Appends the reply to a query, if this rank has such a point.
  void append_reply(const Question<D>& q, std::vector<Answer>& to) const {
    const Found found = state_.search({q.at, q.core, q.id, q.component}, q.limit);
    if (found.point == kNone) return;
    to.push_back({found.d2, state_.tree.id(found.point), state_.component[found.point], q.point});
  }

  /// Records a reply, unless a reply of a lesser edge is known already.
  void accept_reply(const Answer& a) {
    const Key key = make_key(a.d2, state_.tree.id(a.point), a.id);
    if (has_outside(a.point) && remote_[slot_[a.point]].key < key) return;
    if (slot_[a.point] == kNone) {
      slot_[a.point] = static_cast<std::uint32_t>(remote_.size());
      remote_.push_back({});
      known_.push_back(a.point);
    }
    remote_[slot_[a.point]] = {key, a.component};
    bound_[a.point] = a.d2;
  }

  /// Gathers the least edge out of every component on all ranks, which contract alike. Collective.
  void contract_all() {
    std::vector<Offer> mine;
    for (std::uint32_t c = 0; c < state_.components; ++c) {
      const Choice& choice = state_.best[c];
      if (choice.to != kNone && choice.key.d2 <= ceiling_[c].d2) mine.push_back({choice.key, c, choice.to});
    }
    std::vector<Choice> best(state_.components);
    std::vector<int> from(state_.components, -1);
    const auto offers = comm::all_gather(transport_, mine);
    for (std::size_t r = 0; r < offers.size(); ++r) {
      for (const auto& o : offers[r]) {
        if (!(o.key < best[o.component].key)) continue;
        best[o.component] = {o.key, o.to};
        from[o.component] = static_cast<int>(r);
      }
    }
    const Contraction made = contract(best, std::vector<std::uint8_t>(state_.components, 1));
    for (std::uint32_t c = 0; c < state_.components; ++c)
      if (made.keeps[c] != 0 && from[c] == transport_.rank()) state_.add_edge(best[c].key);
    for (auto& c : state_.component) c = made.renamed[c];
    for (auto& r : remote_) r.component = made.renamed[r.component];
    state_.components = made.components;
    ceiling_.clear();
  }

  State<D>& state_;
  RemoteBoxes<D>& others_;
  comm::Transport& transport_;
  /// By point: lower bound of the squared distance to points of other components on other ranks. Where the nearest such point is
  /// known, it is remote_[slot_[v]].
  std::vector<double> bound_;
  std::vector<std::uint32_t> slot_;
  std::vector<Remote> remote_;
  std::vector<std::uint32_t> known_;  ///< by slot: the point
  std::vector<double> least_;         ///< by node, for leaves: no bound of its points is lower
  std::vector<Key> ceiling_;          ///< by component: least squared distance of an edge out that any rank has found
};

}  // namespace

// Last stage of a spanning tree of points: rounds over all ranks until one component is left.
template <std::size_t D>
void global_rounds(State<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds,
                   comm::Transport& transport, Report& report) {
  GlobalRounds<D> rounds(state, others, std::move(remote_bounds), transport);
  report.fact("euclidean_global_components", state.components);
  std::int64_t count = 0;
  const double first = state.components;
  for (; rounds.has_more(); ++count) {
    if (report.progress && transport.rank() == 0) report.progress("global rounds", 1 - state.components / first);
    rounds.run_round();
  }
  report.fact("euclidean_global_rounds", count);
  report.fact("euclidean_questions", rounds.asked);
}

MERGANSER_FOR_AXES(MERGANSER_FUNCTION, global_rounds)

}  // namespace merganser::msf::euclidean
