// Contraction of graphs of nearest-neighbour links to roots (contract.hpp): of stars by pruning, of trees by pointer doubling.
#include "merganser/links/contract.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"
#include "src/links/cross_links.hpp"

namespace merganser::links {
namespace {

// Pointer doubling contracts any chain whose length fits 64 bits; more rounds mean a cycle.
constexpr int kMaxRounds = 70;

/// Validates the list of live vertices. Local. @throws InputError for a vertex that this rank does not have, and for a link of a
/// vertex that is not listed
void check_live(const Links& links, std::span<const std::uint32_t> live) {
  const auto& target = links.target;
  std::size_t listed = 0;
  std::vector<bool> seen(target.size());
  for (const std::uint32_t v : live) {
    if (v >= target.size())
      throw InputError("live vertex " + std::to_string(v) + "; allowed: below " + std::to_string(target.size()));
    if (seen[v]) throw InputError("live vertex " + std::to_string(v) + " is listed twice; allowed: once");
    seen[v] = true;
    listed += target[v] != kNone ? 1 : 0;
  }
  const std::size_t linked = target.size() - static_cast<std::size_t>(std::count(target.begin(), target.end(), kNone));
  if (listed != linked)
    throw InputError(std::to_string(linked) + " links, " + std::to_string(listed) +
                     " of them of live vertices; allowed: each link of a live vertex");
}

/// Contraction of trees by pointer doubling (Policy::trees). Each local chain ends in its terminal: a root, or a vertex
/// whose link leaves the rank; only those links (exits) take part in the rounds.
class TreeContraction {
 public:
  /// Prepares the contraction on this rank: dual links lose one direction, which leaves trees; every vertex that is no terminal
  /// gets that of its local chain. Local.
  TreeContraction(Links& links, std::span<const std::uint32_t> live, const Ids& ids, const Channels& channels)
      : links_(links), live_(live), channels_(channels) {
    const MeasuredWork work;
    const comm::Graph& graph = channels.mailbox.graph();
    arc_of_.assign(static_cast<std::size_t>(channels.transport.size()), kNoArc);
    for (std::size_t a = 0; a < graph.out.size(); ++a) arc_of_[static_cast<std::size_t>(graph.out[a])] = a;
    CrossLinks cross;
    require_no_relays(links);
    check_live(links, live);
    cross.build(links, graph.out.size());
    check_targets();
    // Without one direction of each dual link the graph is a forest, whose roots are the ends of chains.
    drop_lower_ends(ids, cross);
    find_terminals();
    exits_.reserve(links.out.size());
    for (const CrossLink& link : links.out) {
      const bool kept = links.target[link.vertex] != kNone;
      exits_.push_back({graph.out[link.arc], link.remote_vertex, kept ? 0U : 1U});
    }
  }

  /// Runs rounds of pointer doubling until every exit of every rank points at a root. Collective.
  std::vector<Root> run(ContractStatistics& statistics) {
    while (channels_.transport.all_reduce(has_open_exits(), comm::Op::max) > 0) {
      if (++statistics.rounds > kMaxRounds)
        throw InputError("a cycle of three or more links over several ranks; allowed: dual links only");
      statistics.asked += send_queries();
      send_replies();
      receive_replies();
    }
    std::vector<Root> roots(live_.size());
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const Pointer end = find_pointer(live_[i]);
      roots[i] = {end.rank, end.vertex};
    }
    return roots;
  }

 private:
  static constexpr std::size_t kNoArc = SIZE_MAX;
  /// Pointer of an exit, a link that leaves the rank, to a vertex further along its chain; doubled in every round.
  struct Pointer {
    std::int32_t rank;     // rank that owns the vertex
    std::uint32_t vertex;  // index of the vertex by the numbering of its owner
    std::uint32_t done;    // 1 if the vertex is a root, else 0
  };

  /// Validates the targets of this rank's links before trees are contracted. Local. @throws InputError for a target that is no
  /// other vertex
  void check_targets() const {
    const std::size_t n = links_.target.size();
    if (n >= kAway) throw InputError(std::to_string(n) + " vertices on one rank; allowed: below 2147483648");
    for (const std::uint32_t v : live_) {
      const std::uint32_t to = links_.target[v];
      if (to == kNone) continue;
      const std::size_t limit = (to & kAway) != 0 ? links_.out.size() : n;
      if ((to & ~kAway) >= limit || to == v)
        throw InputError("link of vertex " + std::to_string(v) + " to " + std::to_string(to & ~kAway) +
                         "; allowed: another vertex below " + std::to_string(limit));
    }
  }

  /// Drops the link of the lower id of each dual link, which makes that end a root. Both ends of a dual link that
  /// crosses ranks compare the same two ids, so exactly one of them drops its link.
  void drop_lower_ends(const Ids& ids, const CrossLinks& cross) {
    for (const std::uint32_t v : live_) {
      const std::uint32_t to = links_.target[v];
      if (to == kNone || (to & kAway) != 0 || links_.target[to] != v) continue;
      links_.target[ids[v] < ids[to] ? v : to] = kNone;
    }
    for (std::size_t k = 0; k < links_.out.size(); ++k) {
      const CrossLink& link = links_.out[k];
      if (cross.dual_out[k] != kNone && ids[link.vertex] < link.remote_id) links_.target[link.vertex] = kNone;
    }
  }

  /// Returns whether a chain of links within this rank ends at v: a root, or a vertex whose link leaves the rank.
  [[nodiscard]] bool ends_chain(std::uint32_t v) const {
    const std::uint32_t to = links_.target[v];
    return to == kNone || (to & kAway) != 0;
  }

  /// Finds the terminal of every live vertex with a link within this rank, the end of its chain of such links. Every vertex is
  /// visited twice at most: once to find the end of its chain, once to store it.
  void find_terminals() {
    const auto n = static_cast<std::uint32_t>(links_.target.size());
    terminal_.assign(n, kNone);
    for (const std::uint32_t v : live_) {
      std::uint32_t end = v;
      std::uint32_t steps = 0;
      while (terminal_[end] == kNone && !ends_chain(end)) {
        end = links_.target[end];
        if (++steps > n) throw InputError("a cycle of three or more links on one rank; allowed: dual links only");
      }
      if (terminal_[end] != kNone) end = terminal_[end];
      // Stored along the whole chain but for its end, so that later vertices on it stop at once.
      for (std::uint32_t u = v; u != end && terminal_[u] == kNone; u = links_.target[u]) terminal_[u] = end;
    }
  }

  /// Returns 1 if some exit of this rank does not point at a root yet, else 0: the operand of the reduction that ends
  /// the rounds.
  [[nodiscard]] std::int64_t has_open_exits() const {
    return std::any_of(exits_.begin(), exits_.end(), [](const Pointer& p) { return p.done == 0; }) ? 1 : 0;
  }

  /// Returns the current pointer of a local vertex: its root if the terminal of its chain is one, else where the exit
  /// there points.
  /// @throws InputError for a vertex number that is out of range, which another rank has sent
  [[nodiscard]] Pointer find_pointer(std::uint32_t vertex) const {
    if (vertex >= terminal_.size())
      throw InputError("a link to vertex " + std::to_string(vertex) + "; allowed: below " +
                       std::to_string(terminal_.size()) + ", those of its rank");
    const std::uint32_t end = ends_chain(vertex) ? vertex : terminal_[vertex];
    const std::uint32_t to = links_.target[end];
    if (to == kNone) return {rank_, end, 1};
    return exits_[to & ~kAway];
  }

  /// Sends one query of a round of pointer doubling for each exit whose target is on another rank and no root, and resolves local
  /// ones in `next_`. One wave.
  /// @return number of queries sent
  std::int64_t send_queries() {
    MeasuredWork work;
    queries_.clear();
    // New pointers go to next_: replies of this round must come from the pointers at its start, or the number of rounds
    // would depend on the order in which vertices are visited.
    next_ = exits_;
    std::int64_t questions = 0;
    for (std::uint32_t k = 0; k < exits_.size(); ++k) {
      const Pointer& p = exits_[k];
      if (p.done != 0) continue;
      if (p.rank == channels_.transport.rank()) {
        next_[k] = find_pointer(p.vertex);
        continue;
      }
      const std::size_t arc = arc_of_[static_cast<std::size_t>(p.rank)];
      if (arc == kNoArc)
        throw InputError("contraction of trees needs an arc to rank " + std::to_string(p.rank) +
                         "; allowed: a complete graph");
      channels_.mailbox.post(arc, p.vertex);
      queries_.push_back(k);
      ++questions;
    }
    work.end();
    channels_.mailbox.step();
    return questions;
  }

  /// Replies to every query of a round of pointer doubling with the current pointer of the vertex, in the order of arrival. One
  /// wave.
  void send_replies() {
    MeasuredWork work;
    comm::Mailbox& mailbox = channels_.mailbox;
    for (std::size_t a = 0; a < mailbox.graph().in.size(); ++a) {
      const std::size_t back = arc_of_[static_cast<std::size_t>(mailbox.graph().in[a])];
      for (const auto vertex : mailbox.records<std::uint32_t>(a)) mailbox.post(back, find_pointer(vertex));
    }
    work.end();
    mailbox.step();
  }

  /// Stores the replies of a round of pointer doubling as the new pointers of the exits. Local.
  void receive_replies() {
    const MeasuredWork work;
    comm::Mailbox& mailbox = channels_.mailbox;
    std::vector<std::span<const Pointer>> replies(arc_of_.size());  // by rank that has sent them, less those taken
    for (std::size_t a = 0; a < mailbox.graph().in.size(); ++a)
      replies[static_cast<std::size_t>(mailbox.graph().in[a])] = mailbox.records<Pointer>(a);
    for (const std::uint32_t k : queries_) {  // replies arrive in the order of the queries to each rank
      auto& from = replies[static_cast<std::size_t>(exits_[k].rank)];
      if (from.empty()) throw CommError("fewer replies than queries from rank " + std::to_string(exits_[k].rank));
      next_[k] = from.front();
      from = from.subspan(1);
    }
    exits_.swap(next_);
  }

  Links& links_;
  std::span<const std::uint32_t> live_;  // vertices of this rank that may have links
  const Channels& channels_;
  const int rank_ = channels_.transport.rank();
  std::vector<std::size_t> arc_of_;      // by rank: out-arc to it, or kNoArc
  std::vector<std::uint32_t> terminal_;  // by vertex with a link within this rank: end of its chain; kNone for others
  std::vector<Pointer> exits_;           // by Links::out: pointer at the start of the round
  std::vector<Pointer> next_;            // by Links::out: pointer after the round
  std::vector<std::uint32_t> queries_;   // of this round: exits for which one was sent, in order
};

/// Contracts stars (Policy::stars): the root of a vertex is the target of its kept link, or the vertex itself.
std::vector<Root> contract_stars(Links& links, std::span<const std::uint32_t> live, const Ids& ids,
                                 const Channels& channels, ContractStatistics& statistics) {
  check_live(links, live);
  PruneStatistics pruned;
  const Stars stars = prune_single_pass(links, ids, channels, &pruned);
  statistics.rounds = pruned.rounds;
  statistics.asked = static_cast<std::int64_t>(links.out.size());
  std::vector<Root> roots(live.size());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::uint32_t to = links.target[live[i]];
    if (to == kNone) {
      roots[i] = {channels.transport.rank(), live[i]};
    } else if ((to & kAway) != 0) {
      const CrossLink& link = links.out[to & ~kAway];
      roots[i] = {channels.mailbox.graph().out[link.arc], link.remote_vertex};
    } else {
      roots[i] = {channels.transport.rank(), to};
    }
  }
  return roots;
}

}  // namespace

// Contraction of the components' links in a round of Boruvka's algorithm: the policy decides whether stars or whole
// trees become one component.
std::vector<Root> contract(Policy policy, Links& links, std::span<const std::uint32_t> live, const Ids& ids,
                           const Channels& channels, ContractStatistics* statistics) {
  ContractStatistics unused;
  ContractStatistics& counted = statistics != nullptr ? *statistics : unused;
  if (policy == Policy::stars) return contract_stars(links, live, ids, channels, counted);
  return TreeContraction(links, live, ids, channels).run(counted);
}

}  // namespace merganser::links
