#pragma once
/// Boruvka's algorithm on edges that lie on any rank: choose, contract, relabel.
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

template <class Edge>
class Boruvka {
 public:
  struct Options {
    links::Policy policy = links::Policy::trees;
    std::uint64_t base_case = 0;
  };
  /// Collective. `components` and what is behind `peers` must outlive it. Policy stars needs direct peers.
  Boruvka(Components& components, Peers& peers, const Options& options, Report& report)
      : components_(components), peers_(peers), options_(options), report_(report) {
    comm::StreamOptions slots;
    comm::Graph labels = peers.mailbox().graph();
    if (options.policy == links::Policy::trees) {
      slots.slots_per_arc = 1;  // labels go by messages, or not at all
      if (!peers.direct()) labels = {};
    }
    stream_ = peers.transport().stream(std::move(labels), slots);
    const std::size_t own = components.parent().size();
    if (own >= links::kAway) throw InputError(std::to_string(own) + " vertices of one rank; allowed: below 2147483648");
    own_ids_.resize(own);
    std::iota(own_ids_.begin(), own_ids_.end(), static_cast<std::int64_t>(components.first()));
    choice_of_.assign(own, kNo);
  }

  /// Contracts along `edges` (ends by their original ids) until none joins two components. Edges of the forest are
  /// appended to `forest` on the rank where they are found. Collective.
  void run(std::span<const Edge> edges, std::vector<Edge>& forest) {
    load(edges);
    comm::Transport& transport = peers_.transport();
    for (;;) {
      std::int64_t components = 0;
      {
        const Report::Scope scope(report_, "choose", transport);
        offer();
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
      link();
      contract(forest);
      relabel();
    }
  }

  /// Edges of `edges` whose ends are in different components by now, in their order. Collective.
  [[nodiscard]] std::vector<Edge> between_components(std::span<const Edge> edges) {
    const Report::Scope scope(report_, "lookup", peers_.transport());
    components_.flatten();
    const auto mine = static_cast<std::int64_t>((edges.size() + kLookUpBlock - 1) / kLookUpBlock);
    const std::int64_t blocks = peers_.transport().all_reduce(mine, comm::Op::max);
    std::vector<Edge> kept;
    std::vector<std::uint32_t> ends;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::size_t begin = std::min(edges.size(), static_cast<std::size_t>(b) * kLookUpBlock);
      const auto block = edges.subspan(begin, std::min(kLookUpBlock, edges.size() - begin));
      const auto labels = labels_of(block, ends);
      const MeasuredWork work;
      for (std::size_t i = 0; i < block.size(); ++i)
        if (labels[ends[2 * i]] != labels[ends[2 * i + 1]]) kept.push_back(block[i]);
    }
    return kept;
  }

 private:
  static constexpr std::uint32_t kNo = 0xffffffffU;
  static constexpr std::size_t kLookUpBlock = std::size_t{1} << 24;  // edges whose ends are looked up at a time

  /// An edge between components: a and b are positions in names_.
  struct Live {
    std::uint32_t a;
    std::uint32_t b;
    Edge key;
  };
  struct Candidate {
    std::uint64_t component;
    std::uint64_t other;
    Edge key;
  };
  struct Announcement {
    std::uint32_t target;
    std::uint32_t source;
  };
  /// What this rank's component, first + vertex, has chosen.
  struct Choice {
    std::uint32_t vertex;
    std::uint64_t other;
    Edge key;
  };

  /// Components of all ends, by ascending owner of the ends; ends[2 i], ends[2 i + 1] are those of edge i.
  std::vector<std::uint64_t> labels_of(std::span<const Edge> edges, std::vector<std::uint32_t>& ends) {
    MeasuredWork asking;
    IdTable table(2 * edges.size(), components_.ranges().first.back());
    ends.resize(2 * edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      ends[2 * i] = table.insert(edges[i].low);
      ends[2 * i + 1] = table.insert(edges[i].high);
    }
    asking.end();
    return components_.pointers_of(table.keys());
  }

  void load(std::span<const Edge> edges) {
    const Report::Scope scope(report_, "lookup", peers_.transport());
    components_.flatten();
    std::vector<std::uint32_t> ends;
    const auto labels = labels_of(edges, ends);
    MeasuredWork work;
    names_.clear();
    edges_.clear();
    edges_.reserve(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) edges_.push_back({ends[2 * i], ends[2 * i + 1], edges[i]});
    work.end();
    rename(labels);
  }

  /// labels[i] is the component that end i of edges_ is in: names become the distinct labels, loops are dropped.
  void rename(const std::vector<std::uint64_t>& labels) {
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
    for (const Live& e : edges_) {
      const std::uint32_t a = number[e.a];
      const std::uint32_t b = number[e.b];
      if (a != b) edges_[kept++] = {std::min(a, b), std::max(a, b), e.key};
    }
    edges_.resize(kept);
    drop_parallel();
  }

  /// Of edges between the same two components the least is kept.
  void drop_parallel() {
    IdTable pairs(edges_.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const Live e = edges_[i];
      const std::uint32_t at = pairs.insert(std::uint64_t{e.a} << 32 | e.b);
      if (at == kept) {
        edges_[kept++] = e;
      } else if (e.key < edges_[at].key) {
        edges_[at] = e;
      }
    }
    edges_.resize(kept);
  }

  /// Sends each component's least edge here to the component's owner.
  void offer() {
    MeasuredWork work;
    std::vector<std::uint32_t> best(names_.size(), kNo);
    for (std::uint32_t i = 0; i < edges_.size(); ++i) {
      for (const std::uint32_t end : {edges_[i].a, edges_[i].b})
        if (best[end] == kNo || edges_[i].key < edges_[best[end]].key) best[end] = i;
    }
    for (int r = 0; r < peers_.transport().size(); ++r) {
      for (std::size_t n = slice_[static_cast<std::size_t>(r)]; n < slice_[static_cast<std::size_t>(r) + 1]; ++n) {
        if (best[n] == kNo) continue;
        const Live& e = edges_[best[n]];
        peers_.post(r, Candidate{names_[n], names_[e.a == n ? e.b : e.a], e.key});
      }
    }
    work.end();
    peers_.step();
  }

  void choose() {
    const MeasuredWork work;
    for (const Choice& c : choices_) choice_of_[c.vertex] = kNo;
    choices_.clear();
    for (int r = 0; r < peers_.transport().size(); ++r) {
      for (const Candidate& c : peers_.records<Candidate>(r)) {
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

  /// The choices as links; those that leave the rank are announced, so that both ends number the links of an arc alike.
  void link() {
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
      peers_.mailbox().post(arc, Announcement{far, c.vertex});
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
      for (const auto& a : peers_.mailbox().records<Announcement>(arc)) {
        const auto id = static_cast<std::int64_t>(ranges.first[static_cast<std::size_t>(from)] + a.source);
        links_.in.push_back({a.target, a.source, arc, slot++, id, 0});
      }
    }
  }

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

  /// Asks the owners of the components touched here where they went.
  void relabel() {
    std::vector<std::uint64_t> labels = names_;
    components_.look_up(labels);
    rename(labels);
  }

  /// Dense numbers for all components that still choose: of those touched here (by names_), and the names of all.
  void number_components(std::vector<std::uint32_t>& dense, std::vector<std::uint64_t>& all) {
    comm::Transport& transport = peers_.transport();
    std::vector<std::uint64_t> mine(choices_.size());
    for (std::size_t i = 0; i < choices_.size(); ++i) mine[i] = components_.first() + choices_[i].vertex;
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

  /// Kruskal here, then forests go along a binomial tree to rank 0, which returns the forest of all (others: nothing).
  std::vector<Live> merge_to_first(std::vector<Live> mine, std::size_t components) {
    const auto reduce = [components](std::vector<Live>& edges) {
      const MeasuredWork work;
      std::sort(edges.begin(), edges.end(), [](const Live& x, const Live& y) { return x.key < y.key; });
      UnionFind sets(components);
      std::erase_if(edges, [&](const Live& e) { return !sets.join(e.a, e.b); });
    };
    reduce(mine);
    MergeTree(peers_.transport())
        .merge_to_first(mine, [&reduce](std::vector<Live>& edges, std::span<const Live> theirs) {
          edges.insert(edges.end(), theirs.begin(), theirs.end());
          reduce(edges);
        });
    return mine;
  }

  /// Joins the few components that are left on rank 0, by Kruskal, and broadcasts the result.
  void base_case(std::vector<Edge>& forest) {
    comm::Transport& transport = peers_.transport();
    const Report::Scope scope(report_, "base case", transport);
    std::vector<std::uint32_t> dense;
    std::vector<std::uint64_t> all;
    number_components(dense, all);
    std::vector<Live> mine = std::move(edges_);
    edges_.clear();
    for (Live& e : mine) e = {dense[e.a], dense[e.b], e.key};
    const std::vector<Live> joined = merge_to_first(std::move(mine), all.size());
    report_.fact("base case components", static_cast<std::int64_t>(all.size()));
    for (const Live& e : joined) forest.push_back(e.key);
    if (transport.rank() == 0) {
      UnionFind sets(all.size());
      for (const Live& e : joined) sets.join(e.a, e.b);
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
  std::vector<std::int64_t> own_ids_;
  std::vector<std::uint64_t> names_;  // components that edges here touch, by ascending owner
  std::vector<std::size_t> slice_;    // per owner: where its names begin
  std::vector<Live> edges_;
  std::vector<std::uint32_t> choice_of_;  // per own vertex: position in choices_
  std::vector<Choice> choices_;
  links::Links links_;
};

}  // namespace merganser::msf
