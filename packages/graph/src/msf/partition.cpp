// Edge-balanced partition of a graph's vertices by a distributed search in histograms of degrees, and redistribution of edges.
#include "merganser/msf/partition.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/peers.hpp"

namespace merganser::msf {
namespace {

constexpr unsigned kPassBits = 12;  // most bits of vertex ids that a histogram pass determines
constexpr std::size_t kMaxCounts = std::size_t{32} << kPassBits;  // most counts in one reduction
constexpr std::int64_t kShortMessage = 4096;                      // bytes up to which messages are bundled

/// Validates the vertices of a graph before its edges are redistributed. Local. @throws InputError for more than 2^63 vertices, and
/// ends of this rank's edges that are no vertices or not in order
void check_vertices(const graphs::EdgeList& graph) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 63U;
  if (graph.vertices > kMax) {
    throw InputError("a graph of " + std::to_string(graph.vertices) + " vertices; allowed: 0 to " +
                     std::to_string(kMax));
  }
  graph.for_each([&](const auto& e) {
    if (e.low <= e.high && e.high < graph.vertices) return;
    throw InputError("edge (" + std::to_string(e.low) + ", " + std::to_string(e.high) + ") of a graph of " +
                     std::to_string(graph.vertices) +
                     " vertices; allowed: ends in order and below the number of vertices");
  });
}

/// Search for one boundary between the vertex ranges of two ranks in balanced_ranges(): the vertex at which the prefix sum of the
/// degrees reaches a share of the total.
struct BoundarySearch {
  std::uint64_t low = 0;    ///< the vertex is in low .. low + 2^bits - 1, for `bits` bits that are undetermined
  std::int64_t before = 0;  ///< sum of the degrees of all vertices below low
  std::int64_t target = 0;  ///< prefix sum of degrees that the vertex reaches
};

/// Buckets of the histogram of degrees in one pass of balanced_ranges(): 2^bits buckets of 2^shift vertices in each searched
/// interval of vertex ids.
struct DegreeBuckets {
  unsigned bits;   ///< bits of vertex ids that the pass determines
  unsigned shift;  ///< bits that later passes determine
};

/// Returns the buckets of the next histogram pass of balanced_ranges() when `left` bits of the vertex ids are undetermined, such
/// that the counts of all intervals fit one reduction.
DegreeBuckets next_buckets(unsigned left, std::size_t intervals) {
  unsigned bits = std::min(left, kPassBits);
  while (bits > 1 && intervals << bits > kMaxCounts) --bits;
  return {bits, left - bits};
}

/// Computes the histogram of degrees over all ranks' edges: sums by bucket of vertex ids, for each of the disjoint intervals that
/// begin at `lows`. Loops do not count. Collective.
std::vector<std::int64_t> histogram(const graphs::EdgeList& graph, const std::vector<std::uint64_t>& lows,
                                    const DegreeBuckets& buckets, comm::Transport& transport) {
  MeasuredWork work;
  std::vector<std::int64_t> counts(lows.size() << buckets.bits);
  const auto count_ends = [&](const auto& count) {
    graph.for_each([&](const auto& e) {
      if (e.low == e.high) return;
      count(std::uint64_t{e.low});
      count(std::uint64_t{e.high});
    });
  };
  if (lows.size() == 1) {
    // Without a search, and with all that the loop reads in local variables. Below the interval the difference wraps around.
    const std::uint64_t low = lows.front();
    const std::uint64_t size = counts.size();
    const unsigned shift = buckets.shift;
    std::int64_t* const at = counts.data();
    count_ends([=](std::uint64_t vertex) {
      const std::uint64_t bucket = (vertex - low) >> shift;
      if (bucket < size) ++at[bucket];
    });
  } else {
    // Intervals are disjoint and ascending, so that a binary search finds the one that a vertex is in.
    const unsigned span = buckets.shift + buckets.bits;
    count_ends([&](std::uint64_t vertex) {
      const auto after = std::upper_bound(lows.begin(), lows.end(), vertex);
      if (after == lows.begin()) return;
      const std::uint64_t at = vertex - *(after - 1);
      if (span < 64 && at >> span != 0) return;
      ++counts[(static_cast<std::size_t>(after - lows.begin() - 1) << buckets.bits) + (at >> buckets.shift)];
    });
  }
  work.end();
  transport.all_reduce(counts, comm::Op::sum);
  return counts;
}

/// Narrows the search for a boundary of vertex ranges to the bucket in which the prefix sum of degrees reaches the target. Local.
/// @param counts  degrees by bucket of the search's interval, over all ranks
void narrow(BoundarySearch& search, std::span<const std::int64_t> counts, unsigned shift) {
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    if (search.before + counts[bucket] >= search.target) {
      search.low += static_cast<std::uint64_t>(bucket) << shift;
      return;
    }
    search.before += counts[bucket];
  }
}

/// Returns whether the messages of edges between all pairs of ranks would be so short on average that bundling them pays for
/// forwarding their bytes. Collective. @param bytes  bytes that this rank sends
bool are_messages_short(std::size_t bytes, comm::Transport& transport) {
  const std::int64_t pairs = std::int64_t{transport.size()} * transport.size();
  return transport.all_reduce(static_cast<std::int64_t>(bytes), comm::Op::sum) / pairs < kShortMessage;
}

/// Sends this rank's edges of the graph to the owners of their ends, without loops; an edge between two ranges goes to both.
/// Collective. @return the edges with an end in this rank's range
template <class Edge>
std::vector<Edge> distribute(const std::vector<Edge>& edges, const graphs::Ranges& ranges, comm::Transport& transport) {
  // Beyond kMaxDirectRanks ranks short messages are bundled over a grid of ranks; else sizes are counted first, so that send
  // buffers are allocated once.
  std::vector<Edge> mine;
  if (transport.size() == 1) {
    mine.reserve(edges.size());
    for (const auto& e : edges)
      if (e.low != e.high) mine.push_back(e);
    return mine;
  }
  const auto for_owners = [&](const auto& use) {
    for (const auto& e : edges) {
      if (e.low == e.high) continue;
      const auto first = static_cast<std::size_t>(ranges.owner(e.low));
      const auto second = static_cast<std::size_t>(ranges.owner(e.high));
      use(first, e);
      if (second != first) use(second, e);
    }
  };
  if (transport.size() > Peers::kMaxDirectRanks && are_messages_short(2 * edges.size() * sizeof(Edge), transport)) {
    Peers peers(transport);
    MeasuredWork work;
    for_owners([&](std::size_t owner, const Edge& e) { peers.post(static_cast<int>(owner), e); });
    work.end();
    peers.step();
    for (int r = 0; r < transport.size(); ++r) {
      const auto theirs = peers.records<Edge>(r);
      mine.insert(mine.end(), theirs.begin(), theirs.end());
    }
    return mine;
  }
  std::vector<std::size_t> sizes(static_cast<std::size_t>(transport.size()));
  std::vector<std::vector<Edge>> to(sizes.size());
  for_owners([&](std::size_t owner, const Edge&) { ++sizes[owner]; });
  for (std::size_t r = 0; r < to.size(); ++r) to[r].reserve(sizes[r]);
  for_owners([&](std::size_t owner, const Edge& e) { to[owner].push_back(e); });
  return comm::all_to_all(transport, std::move(to)).flat();
}

/// Returns r shares of `whole` divided into `parts` shares, rounded up, without overflow: whole * r / parts. For the prefix sums of
/// degrees at which vertex ranges begin.
std::int64_t ceil_share(std::int64_t whole, std::int64_t r, std::int64_t parts) {
  return whole / parts * r + (whole % parts * r + parts - 1) / parts;
}

}  // namespace

// Ranges of vertices with about equal sums of degrees: all boundaries are searched at once, some bits of the vertex ids
// per reduction.
graphs::Ranges balanced_ranges(const graphs::EdgeList& graph, comm::Transport& transport) {
  comm::agree(transport, [&] { check_vertices(graph); });
  const int ranks = transport.size();
  if (ranks == 1 || graph.vertices < 2)
    return graphs::Ranges::even(graph.vertices, ranks);  // no boundary, or only loops
  std::vector<BoundarySearch> searches(static_cast<std::size_t>(ranks) - 1);
  auto bits = static_cast<unsigned>(std::bit_width(graph.vertices - 1));
  bool begun = false;
  while (bits > 0) {
    std::vector<std::uint64_t> lows;
    for (const auto& search : searches) lows.push_back(search.low);  // ascending, as the targets are
    lows.erase(std::unique(lows.begin(), lows.end()), lows.end());
    const DegreeBuckets buckets = next_buckets(bits, lows.size());
    const auto counts = histogram(graph, lows, buckets, transport);
    const MeasuredWork work;
    if (!begun) {  // the first histogram has all ends of edges
      const std::int64_t ends = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      if (ends == 0) return graphs::Ranges::even(graph.vertices, ranks);
      for (int r = 1; r < ranks; ++r) searches[static_cast<std::size_t>(r) - 1].target = ceil_share(ends, r, ranks);
      begun = true;
    }
    const std::size_t each = std::size_t{1} << buckets.bits;
    for (auto& search : searches) {
      const auto at = static_cast<std::size_t>(std::lower_bound(lows.begin(), lows.end(), search.low) - lows.begin());
      narrow(search, std::span(counts).subspan(at * each, each), buckets.shift);
    }
    bits = buckets.shift;
  }
  graphs::Ranges ranges;
  ranges.first.push_back(0);
  for (const auto& search : searches) ranges.first.push_back(search.low + 1);
  ranges.first.push_back(graph.vertices);
  return ranges;
}

// Redistribution of edges to the owners of both ends, before local contraction.
graphs::EdgeList distribute_edges(const graphs::EdgeList& graph, const graphs::Ranges& ranges,
                                  comm::Transport& transport) {
  graphs::EdgeList result;
  result.vertices = graph.vertices;
  result.kind = graph.kind;
  std::visit([&](const auto& edges) { result.edges = distribute(edges, ranges, transport); }, graph.edges);
  return result;
}

}  // namespace merganser::msf
