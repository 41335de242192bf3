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
#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/links/contract.hpp"
#include "merganser/msf/forest.hpp"
#include "src/msf/components.hpp"
#include "src/msf/local/union_find.hpp"
#include "src/msf/merge_tree.hpp"
#include "src/msf/parallel_edges.hpp"
#include "src/msf/vertex_numbers.hpp"

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
    choice_of_.assign(own, kNo);
    links_.target.assign(own, links::kNone);
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
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::size_t begin = std::min(edges.size(), static_cast<std::size_t>(b) * kLookUpBlock);
      const auto block = edges.subspan(begin, std::min(kLookUpBlock, edges.size() - begin));
      std::vector<std::uint64_t> labels;
      const VertexNumbers numbers = number_ends(block, labels);
      components_.replace_by_parents(labels);
      const MeasuredWork work;
      for (const Edge& e : block)
        if (labels[numbers.number(e.low)] != labels[numbers.number(e.high)]) kept.push_back(e);
    }
    return kept;
  }

 private:
  using Id = typename Edge::id_type;  // ids of vertices as edges hold them

  static constexpr std::uint32_t kNo = 0xffffffffU;   // component that has not chosen an edge
  static constexpr std::size_t kFewPerComponent = 2;  // live edges for each component, of which few are parallel
  static constexpr std::size_t kLookUpBlock = std::size_t{1} << 24;  // edges whose labels are queried at a time

  /// Live edge of Boruvka's algorithm: an edge of the graph, on this rank, between two different components.
  struct LiveEdge {
    std::uint32_t a;  ///< component at one end, as a position in names_
    std::uint32_t b;  ///< component at the other end, as a position in names_
    Edge key;         ///< the edge with the ids of the input
  };
  /// Message of a Boruvka round to the owner of a component: the least edge out of the component on the sending rank.
  struct LeastEdgeCandidate {
    Id component;  ///< name (root vertex) of the component, which the receiver owns
    Id other;      ///< name of the component that the edge leads to
    Edge key;      ///< the edge with the ids of the input
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
    Id other;              ///< name of the component that the edge leads to
    Edge key;              ///< the edge with the ids of the input
  };

  /// Numbers the distinct vertices at the ends of edges. Local. @param ids  result: these vertices by number, grouped by owner
  [[nodiscard]] VertexNumbers number_ends(std::span<const Edge> edges, std::vector<std::uint64_t>& ids) const {
    const MeasuredWork work;
    VertexNumbers numbers(components_.ranges().first.back(), 2 * edges.size());
    for (const Edge& e : edges) {
      numbers.add(e.low);
      numbers.add(e.high);
    }
    ids = numbers.finish(components_.ranges());
    return numbers;
  }

  /// Replaces this rank's live edges by `edges`, with the components that contain their ends at this stage of Boruvka's algorithm.
  /// Collective. @throws InputError for 2^32 - 1 edges and more, on the rank that has them only
  void load(std::span<const Edge> edges) {
    if (edges.size() >= 0xffffffffU)
      throw InputError(std::to_string(edges.size()) +
                       " edges of one rank in Boruvka's rounds; allowed: below 4294967295");
    const Report::Scope scope(report_, "lookup", peers_.transport());
    components_.flatten();
    {
      const VertexNumbers numbers = number_ends(edges, names_);
      const MeasuredWork work;
      edges_.clear();
      edges_.reserve(edges.size());
      for (const Edge& e : edges)
        if (e.low != e.high) edges_.push_back({numbers.number(e.low), numbers.number(e.high), e});
      are_sorted_ = std::is_sorted(edges.begin(), edges.end());
      most_per_component_ = kFewPerComponent;
    }
    slice_ = slices_by_owner(names_, components_.ranges());
    if (!components_.are_singletons()) relabel();
  }

  /// Relabels this rank's live edges after a Boruvka round: the component at position i of names_ is part of component labels[i]
  /// now. names_ becomes the distinct labels, grouped by owner; loops and most edges that are parallel to a lesser one are dropped.
  /// Local.
  void set_names(const std::vector<std::uint64_t>& labels) {
    // Grouping by owner lets later look-ups send slices of names_, and match replies by position.
    const MeasuredWork work;
    VertexNumbers numbers(components_.ranges().first.back(), labels.size());
    for (const std::uint64_t label : labels) numbers.add(label);
    names_ = numbers.finish(components_.ranges());
    slice_ = slices_by_owner(names_, components_.ranges());
    std::vector<std::uint32_t> number(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) number[i] = numbers.number(labels[i]);
    std::size_t kept = 0;
    for (const LiveEdge& e : edges_) {
      const std::uint32_t a = number[e.a];
      const std::uint32_t b = number[e.b];
      if (a != b) edges_[kept++] = {std::min(a, b), std::max(a, b), e.key};
    }
    edges_.resize(kept);
    // Where few edges were parallel, they are looked for again once there are four times as many edges for each component.
    if (kept / most_per_component_ <= names_.size()) return;
    drop_parallel(edges_, names_.size());
    most_per_component_ = edges_.size() <= kept - kept / 8 ? kFewPerComponent : 4 * most_per_component_;
  }

  /// Finds the least edge out of each component among this rank's live edges: best_ by position in names_. Local.
  void find_least_edges() {
    best_.assign(names_.size(), kNo);
    if (are_sorted_) {  // the last one stored for a component is its first
      for (auto i = static_cast<std::uint32_t>(edges_.size()); i-- > 0;) best_[edges_[i].a] = best_[edges_[i].b] = i;
      return;
    }
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      for (const std::uint32_t end : {edges_[i].a, edges_[i].b})
        if (best_[end] == kNo || edges_[i].key < edges_[best_[end]].key) best_[end] = i;
    }
  }

  /// Calls `use` with the least edge out of each component of a rank that this rank has an edge of.
  void for_each_candidate(int rank, const auto& use) const {
    const auto r = static_cast<std::size_t>(rank);
    for (std::size_t n = slice_[r]; n < slice_[r + 1]; ++n) {
      if (best_[n] == kNo) continue;
      const LiveEdge& e = edges_[best_[n]];
      use(LeastEdgeCandidate{static_cast<Id>(names_[n]), static_cast<Id>(names_[e.a == n ? e.b : e.a]), e.key});
    }
  }

  /// First step of a Boruvka round: sends the least edge out of each component, among this rank's live edges, to the owner of the
  /// component. Called by every rank.
  void send_candidates() {
    MeasuredWork work;
    // Reducing to one candidate per component first bounds the messages by the components, not the edges.
    find_least_edges();
    std::vector<LeastEdgeCandidate> candidates;
    for (int r = 0; r < peers_.transport().size(); ++r) {
      if (r == peers_.transport().rank()) continue;
      candidates.clear();
      for_each_candidate(r, [&](const LeastEdgeCandidate& c) { candidates.push_back(c); });
      peers_.post_all<LeastEdgeCandidate>(r, candidates);
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
    const auto take = [this](const LeastEdgeCandidate& c) {
      const auto vertex = static_cast<std::uint32_t>(c.component - components_.first());
      std::uint32_t& at = choice_of_[vertex];
      if (at == kNo) {
        at = static_cast<std::uint32_t>(choices_.size());
        choices_.push_back({vertex, c.other, c.key});
      } else if (c.key < choices_[at].key) {
        choices_[at] = {vertex, c.other, c.key};
      }
    };
    const int rank = peers_.transport().rank();
    for (int r = 0; r < peers_.transport().size(); ++r) {
      if (r == rank) {
        for_each_candidate(r, take);
      } else {
        for (const LeastEdgeCandidate& c : peers_.records<LeastEdgeCandidate>(r)) take(c);
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
    const comm::Graph& graph = peers_.mailbox().graph();
    const std::size_t arcs = graph.out.size();
    links_.in.clear();
    std::vector<std::uint32_t> arc_of;              // of each choice whose target is another rank's
    std::vector<std::uint32_t> begin(arcs + 1, 0);  // by arc: position of its first link
    for (const Choice& c : choices_) {
      if (c.other - components_.first() < links_.target.size()) {  // this rank's
        links_.target[c.vertex] = static_cast<std::uint32_t>(c.other - components_.first());
        continue;
      }
      arc_of.push_back(peers_.arc(ranges.owner(c.other)));
      ++begin[arc_of.back() + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> next = begin;
    links_.out.resize(arc_of.size());
    std::size_t k = 0;
    for (const Choice& c : choices_) {
      if (links_.target[c.vertex] != links::kNone) continue;
      const std::uint32_t arc = arc_of[k++];
      const auto far = static_cast<std::uint32_t>(c.other - ranges.first[static_cast<std::size_t>(graph.out[arc])]);
      const std::uint32_t at = next[arc]++;
      links_.target[c.vertex] = links::kAway | at;
      links_.out[at] = {c.vertex, far, arc, at - begin[arc], static_cast<std::int64_t>(c.other), 0};
      peers_.mailbox().post(arc, LinkAnnouncement{far, c.vertex});
    }
    numbering.end();
    peers_.step();
    const MeasuredWork taking;
    for (std::uint32_t arc = 0; arc < arcs; ++arc) {
      const int from = graph.in[arc];
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
    links::Ids ids;
    ids.first = static_cast<std::int64_t>(components_.first());
    links::ContractStatistics statistics;
    std::vector<std::uint32_t> live;
    live.reserve(choices_.size());
    for (const Choice& c : choices_) live.push_back(c.vertex);
    const auto roots = links::contract(options_.policy, links_, live, ids, channels, &statistics);
    report_.add("contract rounds", statistics.rounds);
    auto& parent = components_.change_parents();
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const Choice& c = choices_[i];
      parent[c.vertex] = components_.ranges().first[static_cast<std::size_t>(roots[i].rank)] + roots[i].vertex;
      if (links_.target[c.vertex] != links::kNone) forest.push_back(c.key);
      links_.target[c.vertex] = links::kNone;  // for the next round
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
    auto& parent = components_.change_parents();
    for (std::size_t i = 0; i < choices_.size(); ++i) parent[choices_[i].vertex] = all[labels[at + i]];
  }

  Components& components_;
  Peers& peers_;
  Options options_;
  Report& report_;
  std::unique_ptr<comm::Stream> stream_;
  std::vector<std::uint64_t> names_;  // components at the ends of live edges here, by ascending owner
  std::vector<std::size_t> slice_;    // per owner: position of its first component in names_
  std::vector<LiveEdge> edges_;       // live edges of this rank
  bool are_sorted_ = false;           // live edges ascend
  std::size_t most_per_component_ =
      kFewPerComponent;                   // live edges for each component up to which no parallel ones are looked for
  std::vector<std::uint32_t> best_;       // per component of names_: its least live edge, or kNo
  std::vector<std::uint32_t> choice_of_;  // per own vertex: position in choices_, or kNo
  std::vector<Choice> choices_;           // least edges of this rank's components in this round
  links::Links links_;                    // chosen edges as links between components
};

}  // namespace merganser::msf
