// requires: nothing
// Plan of an exchange kernel: checks of the specifications of all ranks against each other, and offsets at both ends of every arc.
#include "src/kernels/families/support/plan.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::kernels::detail {
namespace {

// Bound of the zones of one rank and side of an exchange, in bytes: sums of two such sizes do not overflow 64 bits.
constexpr std::size_t kMaxTotalBytes = std::size_t{1} << 62;

/// Endpoint descriptor of an exchange that a rank sends to a neighbour: its ends of the two arcs between them.
struct EndpointDescriptor {
  std::uint64_t sends = 0;      // 1: it has an out-arc to the neighbour
  std::uint64_t receives = 0;   // 1: it has an in-arc from the neighbour
  std::uint64_t out_bytes = 0;  // capacity of the out-arc
  std::uint64_t in_bytes = 0;   // capacity of the in-arc
  FarZone source;               // its source zone of the out-arc
  FarZone landing;              // its landing zone of the in-arc
};

/// Returns a size or a number of arcs as decimal text, for error messages of an exchange specification.
std::string number(std::uint64_t value) { return std::to_string(value); }

/// Lays out the zones of one side of an exchange on this rank: one per arc behind each other, each aligned to a cache line.
Zones lay_out_zones(const std::vector<std::size_t>& bytes) {
  Zones zones;
  for (const std::size_t size : bytes) {
    zones.at.push_back(zones.stride);
    zones.stride += (size + kLine - 1) / kLine * kLine;
  }
  return zones;
}

/// Checks that an exchange specification gives each arc of one side ("out" or "in") a size, within the limits of its kernel.
/// @throws UsageError otherwise
void check_sizes(const KernelEntry& entry, const char* side, const std::vector<int>& ranks,
                 const std::vector<std::size_t>& bytes, std::size_t buffers) {
  const std::string name(entry.info.name);
  if (ranks.size() != bytes.size()) {
    throw UsageError(name + ": sizes for " + number(bytes.size()) + " " + side + "-arcs; the graph has " +
                     number(ranks.size()));
  }
  std::size_t together = 0;
  for (std::size_t arc = 0; arc < bytes.size(); ++arc) {
    if (bytes[arc] > entry.most_bytes || bytes[arc] > kMaxTotalBytes) {
      throw UsageError(name + ": " + number(bytes[arc]) + " bytes on the " + side + "-arc of rank " +
                       std::to_string(ranks[arc]) + "; allowed: up to " +
                       number(std::min(entry.most_bytes, kMaxTotalBytes)));
    }
    together += bytes[arc] + kLine;
    const std::size_t most = std::min(entry.most_bytes_together, kMaxTotalBytes / buffers);
    if (together > most) {
      throw UsageError(name + ": the " + side + "-arcs of one rank carry more than " + number(most) +
                       " bytes together, which this kernel cannot");
    }
  }
}

/// Checks the exchange specification of this rank alone. The bounds exclude overflow in all later sums of sizes. @throws UsageError
void check_local(const comm::Transport& control, const KernelEntry& entry, const ExchangeSpec& spec) {
  const std::string name(entry.info.name);
  const std::string wrong = comm::detail::graph_error(spec.graph, control.size());
  if (!wrong.empty()) throw UsageError(name + ": " + wrong);
  if (spec.buffers < 1 || spec.buffers > (std::size_t{1} << 20)) {
    throw UsageError(name + ": " + number(spec.buffers) + " buffers; allowed: 1 to 1048576");
  }
  check_sizes(entry, "out", spec.graph.out, spec.bytes_out, spec.buffers);
  check_sizes(entry, "in", spec.graph.in, spec.bytes_in, spec.buffers);
}

/// Checks that all ranks make an exchange by the same kernel with the same number of buffers. Collective. @throws UsageError on
/// every rank if not
void check_uniform(comm::Transport& control, const KernelEntry& entry, std::size_t buffers) {
  const std::string mine = std::string(entry.info.name) + " with " + number(buffers) + " buffers";
  const auto all = all_gather(control, mine);
  agree(control, [&] {
    const std::string first(all[0].begin(), all[0].end());
    if (first != mine) {
      throw UsageError("exchange: rank " + std::to_string(control.rank()) + " makes " + mine + ", rank 0 " + first);
    }
  });
}

/// Returns the contradiction between the endpoint descriptor of a rank and that of this rank for it, about arcs or sizes of an
/// exchange; empty if they agree.
std::string describe_disagreement(const EndpointDescriptor& theirs, const EndpointDescriptor& mine, int rank) {
  const std::string who = "rank " + std::to_string(rank);
  // An arc must exist at both of its ends, then have one size.
  if (theirs.sends != mine.receives) {
    return theirs.sends != 0 ? who + " has this rank as an out-neighbour, but is no in-neighbour here"
                             : who + " is an in-neighbour here, but has this rank not as an out-neighbour";
  }
  if (theirs.receives != mine.sends) {
    return theirs.receives != 0 ? who + " has this rank as an in-neighbour, but is no out-neighbour here"
                                : who + " is an out-neighbour here, but has this rank not as an in-neighbour";
  }
  if (theirs.sends != 0 && theirs.out_bytes != mine.in_bytes) {
    return who + " sends " + number(theirs.out_bytes) + " bytes, but " + number(mine.in_bytes) + " are expected here";
  }
  return {};
}

/// Returns, by rank, the endpoint descriptor for it: the arcs of the exchange between the two, and the offsets of this rank's zones
/// of these arcs.
std::vector<EndpointDescriptor> endpoint_descriptors(const ExchangePlan& plan, std::size_t ranks) {
  std::vector<EndpointDescriptor> descriptors(ranks);
  const comm::Graph& graph = plan.spec.graph;
  for (std::size_t arc = 0; arc < graph.out.size(); ++arc) {
    EndpointDescriptor& descriptor = descriptors[static_cast<std::size_t>(graph.out[arc])];
    descriptor.sends = 1;
    descriptor.out_bytes = plan.spec.bytes_out[arc];
    descriptor.source = {.at = plan.sources.at[arc], .stride = plan.sources.stride, .slot = arc};
  }
  for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
    EndpointDescriptor& descriptor = descriptors[static_cast<std::size_t>(graph.in[arc])];
    descriptor.receives = 1;
    descriptor.in_bytes = plan.spec.bytes_in[arc];
    descriptor.landing = {.at = plan.landings.at[arc], .stride = plan.landings.stride, .slot = arc};
  }
  return descriptors;
}

}  // namespace

// Makes the plan of an exchange kernel: each rank lays its zones out and swaps descriptors with its neighbours, so that
// contradictions are found and the offsets at the other ends of its arcs are known.
ExchangePlan make_plan(comm::Transport& control, const KernelEntry& entry, ExchangeSpec spec) {
  agree(control, [&] { check_local(control, entry, spec); });
  check_uniform(control, entry, spec.buffers);

  ExchangePlan plan;
  plan.info = &kernel(entry.info.name);
  plan.sources = lay_out_zones(spec.bytes_out);
  plan.landings = lay_out_zones(spec.bytes_in);
  plan.spec = std::move(spec);

  const auto descriptors = endpoint_descriptors(plan, static_cast<std::size_t>(control.size()));
  std::vector<std::span<const EndpointDescriptor>> messages(descriptors.size());
  for (std::size_t r = 0; r < descriptors.size(); ++r) {
    if (descriptors[r].sends != 0 || descriptors[r].receives != 0) messages[r] = {&descriptors[r], 1};
  }
  const auto came = all_to_all(control, messages);
  std::vector<EndpointDescriptor> theirs(descriptors.size());
  agree(control, [&] {
    for (std::size_t r = 0; r < came.size(); ++r) {
      if (!came[r].empty()) theirs[r] = came[r][0];
      // Of a rank that sent no descriptor the default says that it has no arc here, which this rank must agree with.
      const std::string text = describe_disagreement(theirs[r], descriptors[r], static_cast<int>(r));
      if (!text.empty()) {
        throw UsageError(std::string(entry.info.name) + ": on rank " + std::to_string(control.rank()) + ": " + text);
      }
    }
  });
  for (const int to : plan.spec.graph.out) plan.targets.push_back(theirs[static_cast<std::size_t>(to)].landing);
  for (const int from : plan.spec.graph.in) plan.origins.push_back(theirs[static_cast<std::size_t>(from)].source);
  return plan;
}

}  // namespace merganser::kernels::detail
