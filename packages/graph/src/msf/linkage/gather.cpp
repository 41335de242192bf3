// Gathering of a distributed spanning forest on rank 0 for single linkage, in pieces of bounded size.
#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/linkage/clusters.hpp"

namespace merganser::msf {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 20;  // edges sent to rank 0 in one round, by all ranks together

/// Checks that all ranks give the same number of vertices of the forest that is gathered. Collective. @throws on every rank
/// UsageError for different numbers, InputError for more than kMaxLinkageVertices
void check_vertices(const Forest& mine, comm::Transport& transport) {
  const auto here = static_cast<std::int64_t>(std::min(mine.vertices, std::uint64_t{1} << 62));
  const std::int64_t least = transport.all_reduce(here, comm::Op::min);
  const std::int64_t most = transport.all_reduce(here, comm::Op::max);
  comm::agree(transport, [&] {
    if (least != most) {
      throw UsageError("gather_forest: " + std::to_string(least) + " and " + std::to_string(most) +
                       " vertices on different ranks; allowed: the same number on all");
    }
    check_linkage_size("linkage", mine.vertices);
  });
}

}  // namespace

// Gather of a forest for single linkage, which is sequential, in rounds of bounded size.
Forest gather_forest(const Forest& mine, comm::Transport& transport) {
  // In rounds of pieces, so that the messages to rank 0 need bounded memory besides the edges themselves.
  using graphs::Edge24;
  check_vertices(mine, transport);
  const auto ranks = static_cast<std::size_t>(transport.size());
  const bool first = transport.rank() == 0;
  const std::int64_t total = transport.all_reduce(static_cast<std::int64_t>(mine.edges.size()), comm::Op::sum);
  const std::size_t piece = std::max<std::size_t>(kPieceBytes / sizeof(Edge24) / ranks, 256);
  const std::int64_t rounds =
      transport.all_reduce(static_cast<std::int64_t>((mine.edges.size() + piece - 1) / piece), comm::Op::max);
  Forest all{mine.vertices, mine.kind, {}};
  comm::agree(transport, [&] {
    if (!first) return;
    all.edges.reserve(static_cast<std::size_t>(total));
    all.edges = mine.edges;
  });
  for (std::int64_t round = 0; round < rounds && ranks > 1; ++round) {
    const std::size_t begin = std::min(static_cast<std::size_t>(round) * piece, mine.edges.size());
    const std::size_t count = first ? 0 : std::min(piece, mine.edges.size() - begin);
    comm::gather_to_first(transport, std::span(mine.edges).subspan(begin, count)).append_to(all.edges);
  }
  if (!std::is_sorted(all.edges.begin(), all.edges.end())) std::sort(all.edges.begin(), all.edges.end());
  return all;
}

}  // namespace merganser::msf
