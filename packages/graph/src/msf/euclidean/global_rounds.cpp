// Global rounds of Boruvka's algorithm on points: all ranks hold the same numbering of the components that are left; each takes
// the least edges out of them from the tree of its own points, queries other ranks where these may have nearer ones, and all contract.
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
  GlobalRounds(BoruvkaState<D>& state, std::vector<OpenEdge> edges, RemoteBoxes<D>& others,
               std::vector<double> remote_bounds, comm::Transport& transport)
      : state_(state),
        edges_(std::move(edges)),
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
    best_.assign(state_.components, {});
    for (const OpenEdge& edge : edges_) {
      offer(edge.a, {edge.key, edge.b});
      offer(edge.b, {edge.key, edge.a});
    }
    for (const auto v : known_)
      if (has_outside(v)) offer_outside(v);
    lower_ceiling();
    state_.mark_nodes();
    others_.mark(state_, transport_);
    query_others();
    contract_all();
  }

  std::int64_t asked = 0;  ///< number of queries for nearest points that this rank has sent to other ranks

 private:
  /// Least edge out of a component that this rank knows.
  struct LeastEdge {
    Key key;                   ///< the edge
    std::uint32_t to = kNone;  ///< component at the other end; kNone: no edge is known
  };
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
    const auto first = static_cast<std::uint32_t>(before);
    for (auto& c : state_.component) c += first;
    for (OpenEdge& edge : edges_) {
      edge.a += first;
      edge.b += first;
    }
    state_.components = static_cast<std::uint32_t>(total);
  }

  /// Returns whether the nearest point of another component on other ranks is known for point v of this rank.
  [[nodiscard]] bool has_outside(std::uint32_t v) const {
    return slot_[v] != kNone && remote_[slot_[v]].component != state_.component[v];
  }
  /// Replaces the best edge of component c by another one, if that is less.
  void offer(std::uint32_t c, const LeastEdge& edge) {
    if (edge.key < best_[c].key) best_[c] = edge;
  }
  /// Replaces the best edge of the component of point v by the point's known edge to another rank, if that is less.
  void offer_outside(std::uint32_t v) {
    const RemoteEdge& remote = remote_[slot_[v]];
    offer(state_.component[v], {remote.key, remote.component});
  }

  /// Computes the ceiling of each component in this round: the least squared distance of an edge out of it that any rank has found;
  /// longer edges are not chosen. Collective.
  void lower_ceiling() {
    std::vector<double> least(state_.components);
    for (std::size_t c = 0; c < least.size(); ++c) least[c] = best_[c].key.d2;
    transport_.all_reduce(least, comm::Op::min);
    ceiling_.resize(least.size());
    for (std::size_t c = 0; c < least.size(); ++c) ceiling_[c].d2 = least[c];
  }
  /// Returns the squared distance above which an edge out of component c cannot be chosen in this round.
  [[nodiscard]] double most(std::uint32_t c) const { return std::min(ceiling_[c].d2, best_[c].key.d2); }

  /// Returns this rank's points whose nearest point of another component may be on another rank, by an edge that comes before the
  /// limit of their component.
  [[nodiscard]] std::vector<std::uint32_t> open_points() {
    std::vector<std::uint32_t> out;
    greatest_ = 0;
    for (std::uint32_t c = 0; c < state_.components; ++c) greatest_ = std::max(greatest_, most(c));
    if (!least_.empty()) collect_open(0, out);
    return out;
  }
  /// Appends the open points below a node of this rank's tree (open_points()), and raises the lower bounds of the nodes.
  void collect_open(std::uint32_t here, std::vector<std::uint32_t>& out) {
    constexpr std::uint32_t kMany = 32;  // points for which one bound is worth its cost
    const auto& node = state_.tree.nodes()[here];
    const std::uint32_t common = state_.node_component[here];
    const double limit = common == kNone ? greatest_ : most(common);
    if (least_[here] > limit) return;
    if (common != kNone && node.end - node.begin >= kMany) {
      least_[here] = std::max(least_[here], others_.distance2(node.box, common, limit));
      if (least_[here] > limit) return;
    }
    if (node.right != 0) {
      collect_open(here + 1, out);
      collect_open(node.right, out);
      least_[here] = std::max(least_[here], std::min(least_[here + 1], least_[node.right]));
      return;
    }
    double reach = -1;
    for (std::uint32_t v = node.begin; v < node.end; ++v)
      if (may_query(v)) reach = std::max(reach, most(state_.component[v]));
    if (reach >= 0) others_.gather_near(node.box, reach);
    for (std::uint32_t v = node.begin; reach >= 0 && v < node.end; ++v)
      if (may_query(v) && must_query(v)) out.push_back(v);
    least_[here] = *std::min_element(bound_.begin() + node.begin, bound_.begin() + node.end);
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
    // With many open points of a component, the nearest one is queried first: its reply usually excludes the others.
    constexpr double kMany = 16;
    constexpr double kFew = 64;
    auto open = open_points();
    const auto nearest = nearest_per_component(open);
    double count[2] = {static_cast<double>(open.size()), static_cast<double>(nearest.size())};
    transport_.all_reduce(count, comm::Op::sum);
    if (count[0] > kMany * count[1] + kFew) {
      query(nearest);
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
    // The limits of later rounds are greater: what is known up to twice the squared distance needs no other query then. A limit {d2, max,
    // max} admits every edge of squared distance d2, so that without a reply nothing is at d2 either.
    constexpr double kWide = 2;
    std::vector<std::vector<NearestQuestion<D>>> to(others_.ranks());
    for (const auto v : open) {
      const Place<D> at = state_.tree.at(v);
      const Key most{kWide * this->most(state_.component[v])};
      const NearestQuestion<D> question{at, state_.core_or_zero(v), most, state_.tree.id(v), state_.component[v], v};
      for (std::size_t r = 0; r < to.size(); ++r) {
        // Of two ranks the other one is within the limit, as must_query() has found.
        if (r == static_cast<std::size_t>(transport_.rank())) continue;
        if (to.size() > 2 && others_.distance2(Bounds<D>{at, at}, r, most.d2, question.component) > most.d2) continue;
        to[r].push_back(question);
        ++asked;
      }
      bound_[v] = std::nextafter(most.d2, kInfinity);
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
      const LeastEdge& choice = best_[c];
      if (choice.to != kNone && choice.key.d2 <= ceiling_[c].d2) mine.push_back({choice.key, c, choice.to});
    }
    std::vector<LeastEdge> best(state_.components);
    std::vector<std::uint32_t> target(state_.components, kNone);
    std::vector<int> from(state_.components, -1);
    const auto offers = comm::all_gather(transport_, mine);
    for (std::size_t r = 0; r < offers.size(); ++r) {
      for (const auto& o : offers[r]) {
        if (!(o.key < best[o.component].key)) continue;
        best[o.component] = {o.key, o.to};
        target[o.component] = o.to;
        from[o.component] = static_cast<int>(r);
      }
    }
    const Contraction made = contract(std::move(target));
    for (std::uint32_t c = 0; c < state_.components; ++c)
      if (made.keeps[c] != 0 && from[c] == transport_.rank()) state_.add_edge(best[c].key);
    for (auto& c : state_.component) c = made.renamed[c];
    for (auto& r : remote_) r.component = made.renamed[r.component];
    for (OpenEdge& edge : edges_) {
      edge.a = made.renamed[edge.a];
      edge.b = made.renamed[edge.b];
    }
    std::erase_if(edges_, [](const OpenEdge& edge) { return edge.a == edge.b; });
    state_.components = made.components;
    ceiling_.clear();
  }

  BoruvkaState<D>& state_;
  std::vector<OpenEdge> edges_;  ///< edges of the spanning tree of this rank's points between components that are left
  std::vector<LeastEdge> best_;  ///< by component: least edge out of it that this rank knows in this round
  RemoteBoxes<D>& others_;
  comm::Transport& transport_;
  /// By point of this rank: lower bound of the squared distance to points of other components on other ranks. Where the nearest
  /// such point is known, it is remote_[slot_[v]].
  std::vector<double> bound_;
  std::vector<std::uint32_t>
      slot_;                        ///< by point: position in remote_ of its edge to another rank; kNone: none is known
  std::vector<RemoteEdge> remote_;  ///< known edges to points of other ranks
  std::vector<std::uint32_t> known_;  ///< by position in remote_: this rank's point
  std::vector<double> least_;         ///< by node of the tree: lower bound of the same for all of its points
  double greatest_ = 0;               ///< greatest limit of a component in this round
  std::vector<Key> ceiling_;          ///< by component: least squared distance of an edge out that any rank has found
};

}  // namespace

// Last stage of a spanning tree of points: rounds over all ranks until one component is left.
template <std::size_t D>
void global_rounds(BoruvkaState<D>& state, std::vector<OpenEdge> edges, RemoteBoxes<D>& others,
                   std::vector<double> remote_bounds, comm::Transport& transport, Report& report) {
  GlobalRounds<D> rounds(state, std::move(edges), others, std::move(remote_bounds), transport);
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
