// Global rounds of Boruvka's algorithm on points: all ranks hold the same numbering of the components that are left; each finds
// the least edges out of them among its own points, queries other ranks where these may have nearer ones, and all contract.
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"

namespace merganser::msf::euclidean {
namespace {

/// Query of a global Boruvka round to another rank: for its point nearest to a point of the querying rank and in another component,
/// if the edge to it comes before `limit`.
template <std::size_t D>
struct NearestQuestion {
  Place<D> at;              ///< coordinates of the querying rank's point
  double core;              ///< its squared core distance; 0 with plain distances
  Key limit;                ///< key that the edge must precede to be of use
  std::uint64_t id;         ///< id of the point
  std::uint32_t component;  ///< component of the point
  std::uint32_t point;      ///< number of the point in the tree of the querying rank
};
/// Reply of a global Boruvka round: the nearest point of the replying rank in another component than the queried point, as an
/// edge.
struct NearestAnswer {
  double d2;                ///< squared (mutual reachability) distance of the two points
  std::uint64_t id;         ///< id of the point of the replying rank
  std::uint32_t component;  ///< its component
  std::uint32_t point;      ///< number of the queried point in the tree of the querying rank
};
/// Least edge out of a component that one rank has found in a global Boruvka round; all ranks gather these.
struct LeastEdgeOffer {
  Key key;                  ///< edge between two points
  std::uint32_t component;  ///< component that the edge leaves
  std::uint32_t to;         ///< component that the edge leads to
};

/// Global rounds of Boruvka's algorithm for a spanning tree of points, as one rank runs them: the nearest points on other ranks
/// that are known, and the limits of the search.
template <std::size_t D>
class GlobalRounds {
 public:
  GlobalRounds(BoruvkaState<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds,
               comm::Transport& transport)
      : state_(state),
        others_(others),
        transport_(transport),
        bound_(std::move(remote_bounds)),
        slot_(bound_.size(), kNone),
        least_(state.tree.nodes().size(), 0) {
    number_components();
  }

  /// Returns whether several components are left over all ranks, so that another round is needed; the same on every rank.
  [[nodiscard]] bool has_more() const { return state_.components > 1; }

  /// Performs one global round of Boruvka's algorithm on points: finds the least edge out of every component over all ranks and
  /// contracts along it. Collective.
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

  std::int64_t asked = 0;  ///< number of queries for nearest points that this rank has sent to other ranks

 private:
  /// Edge from a point of this rank to the nearest point of another component on other ranks, as far as replies tell.
  struct RemoteEdge {
    Key key;                  ///< key of the edge
    std::uint32_t component;  ///< component of the other rank's point
  };

  /// Numbers the components that are left on all ranks after the local rounds, those of rank 0 first, alike on every rank.
  /// Collective.
  /// @throws InputError on every rank for 2^32 - 2 or more
  void number_components() {
    const auto [before, total] = comm::compute_share(transport_, state_.tree.size() > 0 ? state_.components : 0);
    if (total >= kNone - 1)
      throw InputError(std::to_string(total) + " components left after the local rounds; allowed: below 2^32 - 2");
    for (auto& c : state_.component) c += static_cast<std::uint32_t>(before);
    state_.components = static_cast<std::uint32_t>(total);
  }

  /// Returns whether the nearest point of another component on other ranks is known for point v of this rank.
  [[nodiscard]] bool has_outside(std::uint32_t v) const {
    return slot_[v] != kNone && remote_[slot_[v]].component != state_.component[v];
  }
  /// Replaces the best edge of the component of point v by the point's known edge to another rank, if that is less.
  void offer_outside(std::uint32_t v) {
    const RemoteEdge& remote = remote_[slot_[v]];
    Choice& choice = state_.best[state_.component[v]];
    if (remote.key < choice.key) choice = {remote.key, remote.component};
  }

  /// Computes the ceiling of each component in this round: the least squared distance of an edge out of it that any rank has found;
  /// longer edges are not chosen. Collective.
  void lower_ceiling() {
    std::vector<double> least(state_.components);
    for (std::size_t c = 0; c < least.size(); ++c) least[c] = state_.best[c].key.d2;
    transport_.all_reduce(least, comm::Op::min);
    ceiling_.resize(least.size());
    for (std::size_t c = 0; c < least.size(); ++c) ceiling_[c].d2 = least[c];
  }
  /// Returns the squared distance above which an edge out of component c cannot be chosen in this round.
  [[nodiscard]] double most(std::uint32_t c) const { return std::min(ceiling_[c].d2, state_.best[c].key.d2); }
  /// Returns the key that an edge out of component c must precede to be chosen in this round.
  [[nodiscard]] Key limit(std::uint32_t c) const { return std::min(ceiling_[c], state_.best[c].key); }

  /// Returns this rank's points whose nearest point of another component may be on another rank, by an edge that comes before the
  /// limit of their component.
  [[nodiscard]] std::vector<std::uint32_t> open_points() {
    // A leaf of one component whose least bound is above what may be chosen is skipped as a whole.
    std::vector<std::uint32_t> out;
    for (const auto leaf : state_.tree.leaves()) {
      const auto& node = state_.tree.nodes()[leaf];
      const std::uint32_t common = state_.node_component[leaf];
      if (common != kNone && least_[leaf] > most(common)) continue;
      double reach = -1;
      for (std::uint32_t v = node.begin; v < node.end; ++v)
        if (may_query(v)) reach = std::max(reach, most(state_.component[v]));
      if (reach >= 0) others_.gather_near(node.box, reach);
      for (std::uint32_t v = node.begin; reach >= 0 && v < node.end; ++v)
        if (may_query(v) && must_query(v)) out.push_back(v);
      least_[leaf] = *std::min_element(bound_.begin() + node.begin, bound_.begin() + node.end);
    }
    return out;
  }
  /// Returns whether the bound of point v of this rank leaves room for an edge to another rank that can be chosen, and none is known.
  [[nodiscard]] bool may_query(std::uint32_t v) const {
    return bound_[v] <= most(state_.component[v]) && !has_outside(v);
  }
  /// Returns whether other ranks must be queried for the nearest point to point v of this rank; raises the bound of v by the boxes
  /// of other ranks, which must have been gathered for the leaf of v. Local.
  [[nodiscard]] bool must_query(std::uint32_t v) {
    const std::uint32_t c = state_.component[v];
    bound_[v] = std::max(bound_[v], others_.bound_within(state_.tree.at(v), c));
    return bound_[v] <= most(c) && bound_[v] < kInfinity;
  }

  /// Queries other ranks for the nearest points of other components to all points of this rank that need it. Collective.
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

  /// Returns, of the points of every component that other ranks must be queried for, the one that is nearest to other ranks by its
  /// bound. Local.
  [[nodiscard]] std::vector<std::uint32_t> nearest_per_component(const std::vector<std::uint32_t>& open) const {
    std::vector<std::uint32_t> scout(state_.components, kNone);
    for (const auto v : open) {
      auto& s = scout[state_.component[v]];
      if (s == kNone || bound_[v] < bound_[s]) s = v;
    }
    std::erase(scout, kNone);
    return scout;
  }

  /// Queries other ranks for the nearest points of other components to some points of this rank: one exchange of queries, one of
  /// replies. Collective.
  void query(const std::vector<std::uint32_t>& open) {
    std::vector<std::vector<NearestQuestion<D>>> to(others_.ranks());
    for (const auto v : open) {
      const Place<D> at = state_.tree.at(v);
      const Key most = limit(state_.component[v]);
      const NearestQuestion<D> question{at, state_.core_or_zero(v), most, state_.tree.id(v), state_.component[v], v};
      for (std::size_t r = 0; r < to.size(); ++r) {
        // Of two ranks the other one is within the limit, as must_query() has found.
        if (r == static_cast<std::size_t>(transport_.rank())) continue;
        if (to.size() > 2 && others_.distance2(Bounds<D>{at, at}, r, most.d2, question.component) > most.d2) continue;
        to[r].push_back(question);
        ++asked;
      }
      // Without a reply nothing comes before the limit. The ceiling {d2, max, max} admits every edge of squared distance d2,
      // so nothing is at d2 either; another limit is an edge, and later ones of its distance were not searched.
      bound_[v] = most == ceiling_[state_.component[v]] ? std::nextafter(most.d2, kInfinity) : most.d2;
    }
    const auto back = query_ranks<NearestAnswer>(transport_, std::move(to),
                                                 [this](const auto& q, auto& answers) { append_reply(q, answers); });
    for (const auto answers : back)
      for (const auto& a : answers) accept_reply(a);
    for (const auto v : open)
      if (has_outside(v)) offer_outside(v);
  }

  /// Appends the reply to another rank's query: this rank's nearest point of another component, if it has one within the limit.
  void append_reply(const NearestQuestion<D>& q, std::vector<NearestAnswer>& to) const {
    const Found found = state_.search({q.at, q.core, q.id, q.component}, q.limit);
    if (found.point == kNone) return;
    to.push_back({found.d2, state_.tree.id(found.point), state_.component[found.point], q.point});
  }

  /// Records the reply of another rank as the known edge of the queried point, unless a lesser edge is known already.
  void accept_reply(const NearestAnswer& a) {
    // Replies of several ranks may concern one point: the least edge stays.
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

  /// Ends a global round: gathers the least edge out of every component on all ranks, which contract alike, and adds this rank's
  /// edges to the spanning tree. Collective.
  void contract_all() {
    // All ranks gather the same edges and contract alike; an edge is stored by the rank that offered the least one.
    std::vector<LeastEdgeOffer> mine;
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

  BoruvkaState<D>& state_;
  RemoteBoxes<D>& others_;
  comm::Transport& transport_;
  /// By point of this rank: lower bound of the squared distance to points of other components on other ranks. Where the nearest
  /// such point is known, it is remote_[slot_[v]].
  std::vector<double> bound_;
  std::vector<std::uint32_t>
      slot_;                        ///< by point: position in remote_ of its edge to another rank; kNone: none is known
  std::vector<RemoteEdge> remote_;  ///< known edges to points of other ranks
  std::vector<std::uint32_t> known_;  ///< by position in remote_: this rank's point
  std::vector<double> least_;         ///< by node of the tree, for leaves: lower bound of bound_ of its points
  std::vector<Key> ceiling_;          ///< by component: least squared distance of an edge out that any rank has found
};

}  // namespace

// Last stage of a spanning tree of points: rounds over all ranks until one component is left.
template <std::size_t D>
void global_rounds(BoruvkaState<D>& state, RemoteBoxes<D>& others, std::vector<double> remote_bounds,
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
