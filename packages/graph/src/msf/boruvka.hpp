#pragma once
/// Distributed Boruvka's algorithm for minimum spanning forests, on edges that lie on any rank: in each round components choose
/// their least edges, chosen edges are contracted, and the remaining edges relabelled.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/id_table.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/links/contract.hpp"
#include "merganser/msf/forest.hpp"
#include "src/msf/components.hpp"
#include "src/msf/local/union_find.hpp"
#include "src/msf/merge_tree.hpp"

namespace merganser::msf {

/// Distributed Boruvka's algorithm for the spanning forest of a graph, as one rank runs it: the rank's live edges (those between
/// different components), and the least edges chosen by the components that it owns.
template <class Edge>
class Boruvka {
 public:
  /// Options of the distributed Boruvka's algorithm for graphs; the same on every rank.
  struct Options {
    links::Policy policy =
        links::Policy::trees;     ///< contracts whole trees of chosen edges in a round, or stars cut from them
    std::uint64_t base_case = 0;  ///< components at or below which Kruskal's algorithm on rank 0 finishes
  };
  /// Opens the stream for the labels that the contraction of chosen edges sends along links between ranks. Collective. `components`
  /// and `peers` must outlive the object. The policy `stars` needs direct peers.
  /// @throws InputError for 2^31 or more vertices on this rank
  Boruvka(Components& components, Peers& peers, const Options& options, Report& report)
      : components_(components), peers_(peers), options_(options), report_(report) {
    comm::StreamOptions slots;
    comm::Graph labels = peers.mailbox().graph();
    if (options.policy == links::Policy::trees) {
      slots.slots_per_arc = 1;  // labels go by messages, or not at all
      if (!peers.is_direct()) labels = {};
    }
    stream_ = peers.transport().stream(std::move(labels), slots);
    const std::size_t own = components.parent().size();
    if (own >= links::kAway) throw InputError(std::to_string(own) + " vertices of one rank; allowed: below 2147483648");
    own_ids_.resize(own);
    std::iota(own_ids_.begin(), own_ids_.end(), static_cast<std::int64_t>(components.first()));
    choice_of_.assign(own, kNo);
  }

  /// Contracts components along `edges` of all ranks (with the ids of the input) until none joins two components: rounds of
  /// Boruvka's algorithm, then the base case. Collective. Edges of the spanning forest are appended to `forest`, each on the owner
  /// of the component that chose it, those of the base case on rank 0.
  void run(std::span<const Edge> edges, std::vector<Edge>& forest) {
    // A component without a candidate is a complete tree of these edges; without any choice on any rank the forest is done.
    load(edges);
    comm::Transport& transport = peers_.transport();
    for (;;) {
      std::int64_t components = 0;
      {
        const Report::Scope scope(report_, "choose", transport);
        send_candidates();
        choose();
        components = transport.all_reduce(static_cast<std::int64_t>(choices_.size()), comm::Op::sum);
      }
      if (components == 0) return;
      if (static_cast<std::uint64_t>(components) <= options_.base_case) {
        base_case(forest);
        return;
      }
      const Report::Scope scope(report_, "contract", transport);
      report_.add("rounds", 1);
      build_links();
      contract(forest);
      relabel();
    }
  }

  /// Returns those of this rank's `edges` whose ends are in different components at this stage of Boruvka's algorithm, in their
  /// order: the filter that drops edges that cannot be in the forest any more. Collective.
  [[nodiscard]] std::vector<Edge> between_components(std::span<const Edge> edges) {
    // All ranks make as many blocks as the one with most edges, since look-ups are collective; blocks bound the memory.
    const Report::Scope scope(report_, "lookup", peers_.transport());
    components_.flatten();
    const auto mine = static_cast<std::int64_t>((edges.size() + kLookUpBlock - 1) / kLookUpBlock);
    const std::int64_t blocks = peers_.transport().all_reduce(mine, comm::Op::max);
    std::vector<Edge> kept;
    std::vector<std::uint32_t> ends;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::size_t begin = std::min(edges.size(), static_cast<std::size_t>(b) * kLookUpBlock);
      const auto block = edges.subspan(begin, std::min(kLookUpBlock, edges.size() - begin));
      const auto labels = query_labels(block, ends);
      const MeasuredWork work;
      for (std::size_t i = 0; i < block.size(); ++i)
        if (labels[ends[2 * i]] != labels[ends[2 * i + 1]]) kept.push_back(block[i]);
    }
    return kept;
  }

 private:
  static constexpr std::uint32_t kNo = 0xffffffffU;                  // component that has not chosen an edge
  static constexpr std::size_t kLookUpBlock = std::size_t{1} << 24;  // edges whose labels are queried at a time

  /// Live edge of Boruvka's algorithm: an edge of the graph, on this rank, between two different components.
  struct LiveEdge {
    std::uint32_t a;  ///< component at one end, as a position in names_
    std::uint32_t b;  ///< component at the other end, as a position in names_
    Edge key;         ///< the edge with the ids of the input
  };
  /// Message of a Boruvka round to the owner of a component: the least edge out of the component on the sending rank.
  struct LeastEdgeCandidate {
    std::uint64_t component;  ///< name (root vertex) of the component, which the receiver owns
    std::uint64_t other;      ///< name of the component that the edge leads to
    Edge key;                 ///< the edge with the ids of the input
  };
  /// Message of a Boruvka round to the owner of a chosen edge's target: a link (chosen edge) between components of two ranks. A
  /// component is given by the position of its root among the vertices that its rank owns.
  struct LinkAnnouncement {
    std::uint32_t target;  ///< component of the receiver
    std::uint32_t source;  ///< component of the sender that chose the edge
  };
  /// Least edge of a component that this rank owns, over all ranks' edges, as chosen in a Boruvka round.
  struct Choice {
    std::uint32_t vertex;  ///< root of the component, less components_.first()
    std::uint64_t other;   ///< name of the component that the edge leads to
    Edge key;              ///< the edge with the ids of the input
  };

  /// Queries the owners of the end vertices of this rank's edges for the components that contain them; each distinct vertex is
  /// queried once. Collective.
  /// @param ends  result: the component of the lower end of edge i is labels[ends[2 i]], that of its higher end
  /// labels[ends[2 i + 1]]
  /// @return the labels (ids of components), one for each distinct vertex in the order of first occurrence
  std::vector<std::uint64_t> query_labels(std::span<const Edge> edges, std::vector<std::uint32_t>& ends) {
    MeasuredWork asking;
    IdTable table(2 * edges.size(), components_.ranges().first.back());
    ends.resize(2 * edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      ends[2 * i] = table.insert(edges[i].low);
      ends[2 * i + 1] = table.insert(edges[i].high);
    }
    asking.end();
    return components_.query_parents(table.keys());
  }

  /// Replaces this rank's live edges by `edges`, with the components that contain their ends at this stage of Boruvka's algorithm.
  /// Collective.
  void load(std::span<const Edge> edges) {
    const Report::Scope scope(report_, "lookup", peers_.transport());
    components_.flatten();
    std::vector<std::uint32_t> ends;
    const auto labels = query_labels(edges, ends);
    MeasuredWork work;
    names_.clear();
    edges_.clear();
    edges_.reserve(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) edges_.push_back({ends[2 * i], ends[2 * i + 1], edges[i]});
    work.end();
    set_names(labels);
  }

  /// Relabels this rank's live edges after a Boruvka round: the component at position i of names_ is part of component labels[i]
  /// now. names_ becomes the distinct labels, grouped by owner; loops and all but the least of parallel edges are dropped. Local.
  void set_names(const std::vector<std::uint64_t>& labels) {
    // Grouping by owner lets later look-ups send slices of names_, and match replies by position.
    const MeasuredWork work;
    IdTable table(labels.size(), components_.ranges().first.back());
    std::vector<std::uint32_t> number(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) number[i] = table.insert(labels[i]);
    const auto order = order_by_owner(table.keys(), components_.ranges());
    std::vector<std::uint32_t> place(order.size());
    names_.resize(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      names_[i] = table.keys()[order[i]];
    }
    for (auto& n : number) n = place[n];
    slice_ = slices_by_owner(names_, components_.ranges());
    std::size_t kept = 0;
    for (const LiveEdge& e : edges_) {
      const std::uint32_t a = number[e.a];
      const std::uint32_t b = number[e.b];
      if (a != b) edges_[kept++] = {std::min(a, b), std::max(a, b), e.key};
    }
    edges_.resize(kept);
    drop_parallel();
  }

  /// Drops parallel live edges of this rank in Boruvka's algorithm: of those between the same two components the least is kept.
  /// Local.
  void drop_parallel() {
    // Pairs are numbered in the order of first occurrence, which is the order of the edges kept: no second table is needed.
    IdTable pairs(edges_.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const LiveEdge e = edges_[i];
      const std::uint32_t at = pairs.insert(std::uint64_t{e.a} << 32 | e.b);
      if (at == kept) {
        edges_[kept++] = e;
      } else if (e.key < edges_[at].key) {
        edges_[at] = e;
      }
    }
    edges_.resize(kept);
  }

  /// First step of a Boruvka round: sends the least edge out of each component, among this rank's live edges, to the owner of the
  /// component. Called by every rank.
  void send_candidates() {
    MeasuredWork work;
    // Reducing to one candidate per component first bounds the messages by the components, not the edges.
    std::vector<std::uint32_t> best(names_.size(), kNo);
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      for (const std::uint32_t end : {edges_[i].a, edges_[i].b})
        if (best[end] == kNo || edges_[i].key < edges_[best[end]].key) best[end] = i;
    }
    for (int r = 0; r < peers_.transport().size(); ++r) {
      for (std::size_t n = slice_[static_cast<std::size_t>(r)]; n < slice_[static_cast<std::size_t>(r) + 1]; ++n) {
        if (best[n] == kNo) continue;
        const LiveEdge& e = edges_[best[n]];
        peers_.post(r, LeastEdgeCandidate{names_[n], names_[e.a == n ? e.b : e.a], e.key});
      }
    }
    work.end();
    peers_.step();
  }

  /// Second step of a Boruvka round: selects the least of the edges that ranks have sent for each component that this rank owns.
  /// Local. Keys are distinct but for copies of one edge, so the choice does not depend on their order.
  void choose() {
    const MeasuredWork work;
    for (const Choice& c : choices_) choice_of_[c.vertex] = kNo;
    choices_.clear();
    for (int r = 0; r < peers_.transport().size(); ++r) {
      for (const LeastEdgeCandidate& c : peers_.records<LeastEdgeCandidate>(r)) {
        const auto vertex = static_cast<std::uint32_t>(c.component - components_.first());
        std::uint32_t& at = choice_of_[vertex];
        if (at == kNo) {
          at = static_cast<std::uint32_t>(choices_.size());
          choices_.push_back({vertex, c.other, c.key});
        } else if (c.key < choices_[at].key) {
          choices_[at] = {vertex, c.other, c.key};
        }
      }
    }
  }

  /// Third step of a Boruvka round: converts the chosen edges of this rank's components to links. Links across ranks are announced
  /// to the owners of their targets in the order of their slots, so that both ends number the links of an arc alike. Called by
  /// every rank.
  void build_links() {
    // The slot of a link is its number among the links of its arc, on both ends: it need not be sent.
    MeasuredWork numbering;
    const graphs::Ranges& ranges = components_.ranges();
    const int rank = peers_.transport().rank();
    const std::size_t arcs = peers_.mailbox().graph().out.size();
    links_.target.assign(own_ids_.size(), links::kNone);
    links_.out.clear();
    links_.in.clear();
    std::vector<std::vector<links::CrossLink>> leaving(arcs);
    for (const Choice& c : choices_) {
      const int owner = ranges.owner(c.other);
      const auto far = static_cast<std::uint32_t>(c.other - ranges.first[static_cast<std::size_t>(owner)]);
      if (owner == rank) {
        links_.target[c.vertex] = far;
        continue;
      }
      const std::uint32_t arc = peers_.arc(owner);
      const auto slot = static_cast<std::uint32_t>(leaving[arc].size());
      leaving[arc].push_back({c.vertex, far, arc, slot, static_cast<std::int64_t>(c.other), 0});
      peers_.mailbox().post(arc, LinkAnnouncement{far, c.vertex});
    }
    for (const auto& list : leaving) {
      for (const auto& link : list) {
        links_.target[link.vertex] = links::kAway | static_cast<std::uint32_t>(links_.out.size());
        links_.out.push_back(link);
      }
    }
    numbering.end();
    peers_.step();
    const MeasuredWork taking;
    for (std::uint32_t arc = 0; arc < arcs; ++arc) {
      const int from = peers_.mailbox().graph().in[arc];
      std::uint32_t slot = 0;
      for (const auto& a : peers_.mailbox().records<LinkAnnouncement>(arc)) {
        const auto id = static_cast<std::int64_t>(ranges.first[static_cast<std::size_t>(from)] + a.source);
        links_.in.push_back({a.target, a.source, arc, slot++, id, 0});
      }
    }
  }

  /// Fourth step of a Boruvka round: contracts components along the links of chosen edges, that is points each component that this
  /// rank owns to the root of its tree. links::contract() may drop links, whose targets are none then; only the edges of kept links
  /// are added to the spanning forest. Called by every rank.
  void contract(std::vector<Edge>& forest) {
    const links::Channels channels{peers_.transport(), peers_.mailbox(), *stream_};
    const links::Ids ids{reinterpret_cast<const std::byte*>(own_ids_.data())};
    links::ContractStatistics statistics;
    const auto roots = links::contract(options_.policy, links_, ids, channels, &statistics);
    report_.add("contract rounds", statistics.rounds);
    for (const Choice& c : choices_) {
      const links::Root root = roots[c.vertex];
      components_.parent()[c.vertex] = components_.ranges().first[static_cast<std::size_t>(root.rank)] + root.vertex;
      if (links_.target[c.vertex] != links::kNone) forest.push_back(c.key);
    }
  }

  /// Last step of a Boruvka round: queries the owners of the components in names_ for the roots of their trees, and relabels this
  /// rank's live edges by them. Called by every rank.
  void relabel() {
    std::vector<std::uint64_t> labels = names_;
    components_.replace_by_parents(labels);
    set_names(labels);
  }

  /// Numbers all ranks' components that still have an edge, for the base case of Boruvka's algorithm, those of rank 0 first.
  /// Collective. @param dense  result: numbers of the components in names_ @param all  result: names of all components, by number
  void number_components(std::vector<std::uint32_t>& dense, std::vector<std::uint64_t>& all) {
    comm::Transport& transport = peers_.transport();
    std::vector<std::uint64_t> mine(choices_.size());
    for (std::size_t i = 0; i < choices_.size(); ++i) mine[i] = components_.first() + choices_[i].vertex;
    // Numbers are positions in the concatenated lists of all ranks; owners translate names by choice_of_.
    auto shares = comm::all_gather(transport, mine);
    std::uint32_t base = 0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(transport.rank()); ++r)
      base += static_cast<std::uint32_t>(shares[r].size());
    all = std::move(shares).flat();
    for (int r = 0; r < transport.size(); ++r)
      for (std::size_t n = slice_[static_cast<std::size_t>(r)]; n < slice_[static_cast<std::size_t>(r) + 1]; ++n)
        peers_.post(r, names_[n]);
    peers_.step();
    for (int r = 0; r < transport.size(); ++r) {
      for (const std::uint64_t name : peers_.records<std::uint64_t>(r)) {
        const std::uint32_t at = choice_of_[static_cast<std::size_t>(name - components_.first())];
        peers_.post(r, at == kNo ? kNo : base + at);
      }
    }
    peers_.step();
    dense.clear();
    for (int r = 0; r < transport.size(); ++r) {
      const auto numbers = peers_.records<std::uint32_t>(r);
      dense.insert(dense.end(), numbers.begin(), numbers.end());
    }
  }

  /// Base case of Boruvka's algorithm: computes the spanning forest of all ranks' live edges on rank 0, by Kruskal's algorithm on
  /// each rank and merging of forests along a binomial tree. Collective. @return the forest on rank 0, nothing on the others
  std::vector<LiveEdge> merge_to_first(std::vector<LiveEdge> mine, std::size_t components) {
    // Only edges of a rank's own forest can be in the forest of all (cycle property), so that lists stay below `components` edges.
    const auto reduce = [components](std::vector<LiveEdge>& edges) {
      const MeasuredWork work;
      std::sort(edges.begin(), edges.end(), [](const LiveEdge& x, const LiveEdge& y) { return x.key < y.key; });
      UnionFind sets(components);
      std::erase_if(edges, [&](const LiveEdge& e) { return !sets.join(e.a, e.b); });
    };
    reduce(mine);
    MergeTree(peers_.transport())
        .merge_to_first(mine, [&reduce](std::vector<LiveEdge>& edges, std::span<const LiveEdge> theirs) {
          edges.insert(edges.end(), theirs.begin(), theirs.end());
          reduce(edges);
        });
    return mine;
  }

  /// Finishes Boruvka's algorithm for the few components that are left: Kruskal's algorithm on rank 0, which adds the edges to the
  /// spanning forest and broadcasts the new label of each component. Collective.
  void base_case(std::vector<Edge>& forest) {
    comm::Transport& transport = peers_.transport();
    const Report::Scope scope(report_, "base case", transport);
    std::vector<std::uint32_t> dense;
    std::vector<std::uint64_t> all;
    number_components(dense, all);
    std::vector<LiveEdge> mine = std::move(edges_);
    edges_.clear();
    for (LiveEdge& e : mine) e = {dense[e.a], dense[e.b], e.key};
    const std::vector<LiveEdge> joined = merge_to_first(std::move(mine), all.size());
    report_.fact("base case components", static_cast<std::int64_t>(all.size()));
    for (const LiveEdge& e : joined) forest.push_back(e.key);
    if (transport.rank() == 0) {
      UnionFind sets(all.size());
      for (const LiveEdge& e : joined) sets.join(e.a, e.b);
      sets.flatten();
      for (int r = 0; r < transport.size(); ++r) peers_.post_all<std::uint32_t>(r, {sets.labels(), all.size()});
    }
    peers_.step();
    const auto labels = peers_.records<std::uint32_t>(0);
    std::size_t at = 0;  // choices of this rank are consecutive among all: find where they begin
    if (!choices_.empty()) {
      const std::uint64_t begin = components_.first() + choices_.front().vertex;
      while (all[at] != begin) ++at;
    }
    for (std::size_t i = 0; i < choices_.size(); ++i) components_.parent()[choices_[i].vertex] = all[labels[at + i]];
  }

  Components& components_;
  Peers& peers_;
  Options options_;
  Report& report_;
  std::unique_ptr<comm::Stream> stream_;
  std::vector<std::int64_t> own_ids_;     // ids of this rank's vertices, as links::Ids views them
  std::vector<std::uint64_t> names_;      // components at the ends of live edges here, by ascending owner
  std::vector<std::size_t> slice_;        // per owner: position of its first component in names_
  std::vector<LiveEdge> edges_;           // live edges of this rank
  std::vector<std::uint32_t> choice_of_;  // per own vertex: position in choices_, or kNo
  std::vector<Choice> choices_;           // least edges of this rank's components in this round
  links::Links links_;                    // chosen edges as links between components
};

}  // namespace merganser::msf
