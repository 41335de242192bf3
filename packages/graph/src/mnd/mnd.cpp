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

void check_share(const char* name, double value) {
  if (value >= 0 && value <= 1) return;
  throw UsageError(std::string(name) + " is " + number_text(value) + "; allowed: 0 to 1");
}

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

/// One rank's run. Ranks that are multiples of stride_ hold components; at first that is every rank.
class Run {
 public:
  Run(comm::Transport& transport, const MndOptions& options, msf::Report& report)
      : transport_(transport), options_(options), report_(report), ranks_(transport.size()) {}

  msf::Forest find(const graphs::EdgeList& graph) {
    vertices_ = graph.vertices;
    partition(graph);
    cycles();
    finish();
    report_.add("chunks", exchange_->chunks());
    if (report_.progress && transport_.rank() == 0) report_.progress("post", 1);
    msf::Forest forest{graph.vertices, graph.kind, std::move(part_.forest)};
    for (auto& e : forest.edges) e.weight = directed(e.weight, options_.sense);
    return forest;
  }

 private:
  /// What is done once finishing has begun belongs to it.
  msf::Report::Scope phase(const char* name) { return {report_, finishing_ ? "post" : name, transport_}; }
  [[nodiscard]] bool active(int rank) const { return rank % stride_ == 0; }

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
    comm::agree(transport_, [&] { part_ = first_part(mine, ranges, transport_.rank(), options_.sense); });
    const auto vertices = static_cast<double>(ranges.size(transport_.rank()));
    least_added_ = options_.independent_threshold * std::max(0.0, vertices - 1);
    tell_balance();
  }

  void tell_balance() {
    std::int64_t arcs = 0;
    for (const Live& e : part_.edges) arcs += part_.is_own(e.b) ? 2 : 1;
    report_.fact("arcs", arcs);
    report_.fact("largest arcs", transport_.all_reduce(arcs, comm::Op::max));
    report_.fact("mean arcs", transport_.all_reduce(arcs, comm::Op::sum) / ranks_);
  }

  /// Independent computation, merging and the ring, until the test says that finishing is cheaper.
  void cycles() {
    for (std::int64_t cycle = 0;; ++cycle) {
      const std::int64_t added = contract_and_merge(cycle);
      report_.add("cycles", 1);
      if (is_enough(cycle, added)) return;
      ring(cycle);
    }
  }

  std::int64_t contract_and_merge(std::int64_t cycle) {
    Before before;
    {
      const auto scope = phase("ghosts");
      before.known = known_elsewhere(part_);
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

  /// The global test. Components without edges are finished: with them, a forest of many trees would never get below
  /// the published threshold. A cycle after a ring exchange that brings little ends the cycles too.
  bool is_enough(std::int64_t cycle, std::int64_t added) {
    const auto scope = phase("test");
    std::array<std::int64_t, 2> sums{static_cast<std::int64_t>(part_.own), added};
    transport_.all_reduce(sums, comm::Op::sum);
    const auto live = static_cast<double>(sums[0]);
    const auto vertices = static_cast<double>(vertices_);
    if (report_.progress && transport_.rank() == 0 && vertices > 0)
      report_.progress(finishing_ ? "post" : "cycles", 1 - live / vertices);
    if (stride_ >= ranks_ || sums[0] == 0) return true;
    if (live < options_.mst_threshold * (vertices - 1)) return true;
    return cycle > 0 && static_cast<double>(sums[1]) < std::max(1.0, options_.stall_threshold * live);
  }

  /// Who goes: components that wait for another rank, first those that wait for the next one. A coin per component and
  /// cycle, for two that wait for each other would else change places for ever.
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

  void ring(std::int64_t cycle) {
    const auto scope = phase("ring");
    const int me = transport_.rank();
    const int last = (ranks_ - 1) / stride_ * stride_;
    const int next = !active(me) ? me : me == last ? 0 : me + stride_;
    const int previous = !active(me) ? me : me == 0 ? last : me - stride_;
    const auto owners = announce_moves(part_, ring_owners(next, cycle), *exchange_, ranks_);
    Route route{next, {}};
    if (previous != me) route.senders.push_back(previous);
    relocate(part_, owners, route, *exchange_, ranks_);
  }

  /// Every group of active ranks hands all it has to its first one.
  void gather(int stride) {
    const auto scope = phase("post");
    const int me = transport_.rank();
    const auto leader = [&](int rank) { return rank - rank % stride; };
    Owners owners{std::vector<int>(part_.own, leader(me)), part_.ghost_owner};
    for (int& owner : owners.ghosts) owner = leader(owner);
    Route route{active(me) ? leader(me) : me, {}};
    if (leader(me) == me)
      for (int r = me + stride_; r < std::min(me + stride, ranks_); r += stride_) route.senders.push_back(r);
    relocate(part_, owners, route, *exchange_, ranks_);
    stride_ = stride;
  }

  void finish() {
    finishing_ = true;
    report_.fact("arcs left", static_cast<std::int64_t>(part_.edges.size()));
    const int group = options_.post == MndPost::single ? ranks_ : options_.leader_group;
    while (stride_ < ranks_) {
      gather(stride_ > ranks_ / group ? ranks_ : stride_ * group);
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
  return detail::Run(transport, options, report).find(graph);
}

}  // namespace merganser::mnd
