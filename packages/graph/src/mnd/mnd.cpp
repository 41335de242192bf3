// Multi-node Boruvka (MND): cycles of local contraction, exchange of updates and ring exchange, then gathering on leaders.
#include "merganser/mnd/mnd.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/detail/uniform_values.hpp"
#include "merganser/mnd/detail/describe_mnd.hpp"
#include "merganser/msf/partition.hpp"
#include "src/mnd/component_updates.hpp"
#include "src/mnd/exchange.hpp"
#include "src/mnd/part.hpp"

namespace merganser::mnd {
namespace detail {
namespace {

/// Validates an option of mnd() that is a share. @throws UsageError, which names the option, for a value outside [0, 1]
void check_share(const char* name, double value) {
  if (value >= 0 && value <= 1) return;
  throw UsageError(std::string(name) + " is " + number_text(value) + "; allowed: 0 to 1");
}

/// Validates the options of mnd(). Local. @throws UsageError for thresholds and shares outside [0, 1], groups of fewer than 2
/// ranks, empty chunks, and values that are not in their enumeration
void check_options(const MndOptions& o) {
  check_share("independent_threshold", o.independent_threshold);
  check_share("mst_threshold", o.mst_threshold);
  check_share("stall_threshold", o.stall_threshold);
  check_share("ring_share", o.ring_share);
  if (o.leader_group < 2) {
    throw UsageError("leader_group is " + std::to_string(o.leader_group) + "; allowed: 2 and more");
  }
  if (o.chunk < 1) throw UsageError("chunk is " + std::to_string(o.chunk) + "; allowed: 1 and more");
  if (o.style > MndStyle::tuned || o.post > MndPost::leader || o.carrier > MndCarrier::memory ||
      o.sense > msf::Sense::maximum) {
    throw UsageError("style, post, carrier or sense is no value of its enumeration");
  }
}

/// Run of multi-node Boruvka on one rank: its part of the graph, and the cycles. Ranks that are multiples of stride_ are active and
/// hold components; at first that is every rank.
class MultiNodeBoruvka {
 public:
  MultiNodeBoruvka(comm::Transport& transport, const MndOptions& options, msf::Report& report)
      : transport_(transport), options_(options), report_(report), ranks_(transport.size()) {}

  /// Computes this rank's share of the minimum or maximum spanning forest of the graph by multi-node Boruvka. Collective.
  msf::Forest compute(const graphs::EdgeList& graph) {
    vertices_ = graph.vertices;
    partition(graph);
    cycles();
    finish();
    report_.add("chunks", exchange_->chunks());
    if (report_.progress && transport_.rank() == 0) report_.progress("post", 1);
    msf::Forest forest{graph.vertices, graph.kind, std::move(part_.forest)};
    for (auto& e : forest.edges) e.weight = orient_weight(e.weight, options_.sense);
    return forest;
  }

 private:
  /// Opens the scope that adds time and communication to a phase of the report; once finishing has begun, to phase "post".
  msf::Report::Scope phase(const char* name) { return {report_, finishing_ ? "post" : name, transport_}; }
  /// Returns whether a rank still holds components: all do at first, then the leaders of groups of stride_ ranks.
  [[nodiscard]] bool is_active(int rank) const { return rank % stride_ == 0; }

  /// Partitions the graph by edge-balanced ranges of vertices, redistributes the edges to the owners of their ends, and makes every
  /// vertex a component of its owner. Collective.
  void partition(const graphs::EdgeList& graph) {
    exchange_ = make_record_exchange(transport_, options_);
    graphs::Ranges ranges;
    graphs::EdgeList mine;
    {
      const auto scope = phase("partition");
      ranges = msf::balanced_ranges(graph, transport_);
      mine = msf::distribute_edges(graph, ranges, transport_);
    }
    const auto scope = phase("ghosts");
    comm::agree(transport_, [&] { part_ = make_part(mine, ranges, transport_.rank(), options_.sense); });
    const auto vertices = static_cast<double>(ranges.size(transport_.rank()));
    least_added_ = options_.independent_threshold * std::max(0.0, vertices - 1);
    report_balance();
  }

  /// Records the balance of the partition in the report: the number of arcs (ends of edges at vertices of a rank) of this rank, and
  /// the largest and the mean one of all ranks. Collective.
  void report_balance() {
    std::int64_t arcs = 0;
    for (const ComponentEdge& e : part_.edges) arcs += part_.is_own(e.b) ? 2 : 1;
    report_.fact("arcs", arcs);
    report_.fact("largest arcs", transport_.all_reduce(arcs, comm::Op::max));
    report_.fact("mean arcs", transport_.all_reduce(arcs, comm::Op::sum) / ranks_);
  }

  /// Repeats the cycle of multi-node Boruvka, that is local contraction, merging of updates and the ring exchange, until few
  /// components that can still grow are left. Collective.
  void cycles() {
    for (std::int64_t cycle = 0;; ++cycle) {
      const std::int64_t added = contract_and_merge(cycle);
      report_.add("cycles", 1);
      if (is_done(cycle, added)) return;
      exchange_ring(cycle);
    }
  }

  /// First part of a cycle: contracts this rank's components, exchanges the new names of components with the ranks that have them
  /// as ghosts, and drops parallel edges and components without edges. Collective. @return edges of the forest that this rank has
  /// found
  std::int64_t contract_and_merge(std::int64_t cycle) {
    // Listed before the contraction: afterwards edges no longer show which ranks have the old components as ghosts.
    NamesBefore before;
    {
      const auto scope = phase("ghosts");
      before.known = find_shared_components(part_);
      before.names.assign(part_.names.begin(), part_.names.begin() + part_.own);
    }
    Contraction contraction;
    {
      const auto scope = phase("independent");
      contraction = contract(part_, least_added_);
    }
    report_.add("rounds", contraction.rounds);
    report_.add(finishing_ ? "post edges" : cycle == 0 ? "independent edges" : "later edges", contraction.added);
    {
      const auto scope = phase("ghosts");
      exchange_names(part_, before, contraction, *exchange_, ranks_);
    }
    const auto scope = phase("merge");
    drop_parallel(part_);
    drop_idle(part_);
    return contraction.added;
  }

  /// Performs the global test whether to end the cycles of multi-node Boruvka. Collective. Components without edges are complete
  /// trees and do not count: with them, a forest of many trees would never get below the published threshold. A cycle after a ring
  /// exchange that adds few edges ends the cycles too. @param added  edges of the forest that this rank has found in this cycle
  bool is_done(std::int64_t cycle, std::int64_t added) {
    const auto scope = phase("test");
    std::array<std::int64_t, 2> sums{static_cast<std::int64_t>(part_.own), added};
    transport_.all_reduce(sums, comm::Op::sum);
    const auto live = static_cast<double>(sums[0]);
    const auto vertices = static_cast<double>(vertices_);
    if (report_.progress && transport_.rank() == 0 && vertices > 0)
      report_.progress(finishing_ ? "post" : "cycles", 1 - live / vertices);
    // With one active rank, or nothing left, there is nothing to exchange.
    if (stride_ >= ranks_ || sums[0] == 0) return true;
    if (live < options_.mst_threshold * (vertices - 1)) return true;
    return cycle > 0 && static_cast<double>(sums[1]) < std::max(1.0, options_.stall_threshold * live);
  }

  /// Chooses this rank's components that migrate to rank `next` in the ring exchange, up to the ring share: those whose least edge
  /// leads to another rank, first those whose edge leads to `next`. A random bit per component and cycle decides too, since two
  /// components whose edges lead to each other would otherwise swap ranks for ever. Local. @return the future owner of each
  /// component
  std::vector<int> ring_owners(int next, std::int64_t cycle) const {
    // Every component has an edge here, since drop_idle() has removed the others, so that least[c] is a position.
    std::vector<int> owners(part_.own, part_.rank);
    const auto share = std::ceil(options_.ring_share * static_cast<double>(part_.own));
    auto room = static_cast<std::int64_t>(share);
    const auto least = least_edges(part_);
    for (const bool to_next : {true, false}) {
      for (std::uint32_t c = 0; c < part_.own && room > 0; ++c) {
        const ComponentEdge& e = part_.edges[least[c]];
        if (part_.is_own(e.b) || (part_.owner(e.b) == next) != to_next) continue;
        if ((Random(part_.names[c], static_cast<std::uint64_t>(cycle), 0).bits() & 1U) == 0) continue;
        owners[c] = next;
        --room;
      }
    }
    return owners;
  }

  /// Last part of a cycle: migrates the components that ring_owners() chooses to the next rank in the ring of active ranks.
  /// Collective.
  void exchange_ring(std::int64_t cycle) {
    // Ranks that are not active hold no components, but take part in the collective exchanges.
    const auto scope = phase("ring");
    const int me = transport_.rank();
    const int last = (ranks_ - 1) / stride_ * stride_;
    const int next = !is_active(me) ? me : me == last ? 0 : me + stride_;
    const int previous = !is_active(me) ? me : me == 0 ? last : me - stride_;
    const auto owners = exchange_owners(part_, ring_owners(next, cycle), *exchange_, ranks_);
    MigrationRoute route{next, {}};
    if (previous != me) route.senders.push_back(previous);
    migrate_components(part_, owners, route, *exchange_, ranks_);
  }

  /// Migrates all components of each group of active ranks to the first rank of the group, its leader; then only leaders are
  /// active. Collective. @param stride  distance between leaders in ranks, from then on
  void gather_groups(int stride) {
    // Owners after the move follow from rank numbers alone: no exchange of owners is needed.
    const auto scope = phase("post");
    const int me = transport_.rank();
    const auto leader = [&](int rank) { return rank - rank % stride; };
    FutureOwners owners{std::vector<int>(part_.own, leader(me)), part_.ghost_owner};
    for (int& owner : owners.ghosts) owner = leader(owner);
    MigrationRoute route{is_active(me) ? leader(me) : me, {}};
    if (leader(me) == me)
      for (int r = me + stride_; r < std::min(me + stride, ranks_); r += stride_) route.senders.push_back(r);
    migrate_components(part_, owners, route, *exchange_, ranks_);
    stride_ = stride;
  }

  /// Finishes the forest when few components are left: gathers them on the leaders of larger and larger groups of ranks, with
  /// cycles in between, at last on rank 0, which contracts them until none has an edge. Collective.
  void finish() {
    finishing_ = true;
    report_.fact("arcs left", static_cast<std::int64_t>(part_.edges.size()));
    const int group = options_.post == MndPost::single ? ranks_ : options_.leader_group;
    while (stride_ < ranks_) {
      // The comparison by division avoids an overflow of stride_ * group.
      gather_groups(stride_ > ranks_ / group ? ranks_ : stride_ * group);
      if (stride_ < ranks_) cycles();
    }
    const auto scope = phase("post");
    const Contraction contraction = contract(part_, 0);
    report_.add("rounds", contraction.rounds);
    report_.add("post edges", contraction.added);
  }

  comm::Transport& transport_;
  const MndOptions& options_;
  msf::Report& report_;
  int ranks_;                   ///< number of ranks
  int stride_ = 1;              ///< distance between active ranks
  bool finishing_ = false;      ///< after the first call of cycles(): gathering on leaders
  std::uint64_t vertices_ = 0;  ///< vertices of the graph
  double least_added_ = 0;      ///< local contraction ends after a round that adds fewer edges
  Part part_;                   ///< this rank's components, ghosts and edges
  std::unique_ptr<RecordExchange> exchange_;
};

}  // namespace
}  // namespace detail

msf::Forest mnd(const graphs::EdgeList& graph, comm::Transport& transport, const MndOptions& options,
                msf::Report& report) {
  comm::agree(transport, [&] { detail::check_options(options); });
  auto uniform = comm::uniform_values(options);
  uniform.push_back({"sense", std::to_string(static_cast<int>(options.sense))});
  uniform.push_back({"the number of vertices", std::to_string(graph.vertices)});
  uniform.push_back({"the kind of weights", std::to_string(static_cast<int>(graph.kind))});
  comm::check_uniform_across_ranks(transport, "mnd", uniform);
  return detail::MultiNodeBoruvka(transport, options, report).compute(graph);
}

}  // namespace merganser::mnd
