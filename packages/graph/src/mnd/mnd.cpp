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

/// @throws UsageError for a share outside [0, 1]
void check_share(const char* name, double value) {
  if (value >= 0 && value <= 1) return;
  throw UsageError(std::string(name) + " is " + number_text(value) + "; allowed: 0 to 1");
}

/// @throws UsageError for an option out of range
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

/// State of a run of the algorithm on one rank. Ranks that are multiples of stride_ are active and hold components; at first that
/// is every rank.
class Run {
 public:
  Run(comm::Transport& transport, const MndOptions& options, msf::Report& report)
      : transport_(transport), options_(options), report_(report), ranks_(transport.size()) {}

  /// Computes this rank's share of the forest. Collective.
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
  /// Opens the scope of a phase; once finishing has begun, all belongs to phase "post".
  msf::Report::Scope phase(const char* name) { return {report_, finishing_ ? "post" : name, transport_}; }
  [[nodiscard]] bool is_active(int rank) const { return rank % stride_ == 0; }

  /// Partitions the graph, and makes its vertices components. Collective.
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

  /// Records the number of arcs of this rank, and the largest and mean one of all. Collective.
  void report_balance() {
    std::int64_t arcs = 0;
    for (const Live& e : part_.edges) arcs += part_.is_own(e.b) ? 2 : 1;
    report_.fact("arcs", arcs);
    report_.fact("largest arcs", transport_.all_reduce(arcs, comm::Op::max));
    report_.fact("mean arcs", transport_.all_reduce(arcs, comm::Op::sum) / ranks_);
  }

  /// Repeats independent computation, merging and the ring exchange until few active components are left. Collective.
  void cycles() {
    for (std::int64_t cycle = 0;; ++cycle) {
      const std::int64_t added = contract_and_merge(cycle);
      report_.add("cycles", 1);
      if (is_done(cycle, added)) return;
      exchange_ring(cycle);
    }
  }

  /// Contracts locally, exchanges new names, and drops parallel edges and idle components. Collective. @return edges added here
  std::int64_t contract_and_merge(std::int64_t cycle) {
    Before before;
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

  /// Performs the global test whether to end the cycles. Collective. Components without edges are complete trees and do not
  /// count: with them, a forest of many trees would never get below the published threshold. A cycle after a ring exchange that
  /// adds few edges ends the cycles too.
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

  /// Chooses the components that are passed on to the next rank, up to the ring share: those whose least edge leads to another
  /// rank, first those whose edge leads to the next one. A random bit per component and cycle decides too, since two components
  /// whose edges lead to each other would otherwise swap ranks for ever.
  std::vector<int> ring_owners(int next, std::int64_t cycle) const {
    std::vector<int> owners(part_.own, part_.rank);
    const auto share = std::ceil(options_.ring_share * static_cast<double>(part_.own));
    auto room = static_cast<std::int64_t>(share);
    const auto least = least_edges(part_);
    for (const bool to_next : {true, false}) {
      for (std::uint32_t c = 0; c < part_.own && room > 0; ++c) {
        const Live& e = part_.edges[least[c]];
        if (part_.is_own(e.b) || (part_.owner(e.b) == next) != to_next) continue;
        if ((Random(part_.names[c], static_cast<std::uint64_t>(cycle), 0).bits() & 1U) == 0) continue;
        owners[c] = next;
        --room;
      }
    }
    return owners;
  }

  /// Passes components on around the ring of active ranks. Collective.
  void exchange_ring(std::int64_t cycle) {
    const auto scope = phase("ring");
    const int me = transport_.rank();
    const int last = (ranks_ - 1) / stride_ * stride_;
    const int next = !is_active(me) ? me : me == last ? 0 : me + stride_;
    const int previous = !is_active(me) ? me : me == 0 ? last : me - stride_;
    const auto owners = exchange_owners(part_, ring_owners(next, cycle), *exchange_, ranks_);
    Route route{next, {}};
    if (previous != me) route.senders.push_back(previous);
    migrate_components(part_, owners, route, *exchange_, ranks_);
  }

  /// Moves all components of each group of active ranks to its first one, the leader; then only leaders are active. Collective.
  void gather_groups(int stride) {
    const auto scope = phase("post");
    const int me = transport_.rank();
    const auto leader = [&](int rank) { return rank - rank % stride; };
    Owners owners{std::vector<int>(part_.own, leader(me)), part_.ghost_owner};
    for (int& owner : owners.ghosts) owner = leader(owner);
    Route route{is_active(me) ? leader(me) : me, {}};
    if (leader(me) == me)
      for (int r = me + stride_; r < std::min(me + stride, ranks_); r += stride_) route.senders.push_back(r);
    migrate_components(part_, owners, route, *exchange_, ranks_);
    stride_ = stride;
  }

  /// Finishes on leaders of larger and larger groups, at last on rank 0. Collective.
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
  int ranks_;
  int stride_ = 1;
  bool finishing_ = false;
  std::uint64_t vertices_ = 0;
  double least_added_ = 0;
  Part part_;
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
  return detail::Run(transport, options, report).compute(graph);
}

}  // namespace merganser::mnd
