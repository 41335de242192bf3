#include "merganser/msf/partition.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::msf {
namespace {

constexpr unsigned kPassBits = 12;
constexpr std::size_t kBuckets = std::size_t{1} << kPassBits;

void check_vertices(const graphs::EdgeList& graph) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63U;
  if (graph.vertices > kMost) {
    throw InputError("a graph of " + std::to_string(graph.vertices) + " vertices; allowed: 0 to " +
                     std::to_string(kMost));
  }
  std::visit(
      [&](const auto& edges) {
        for (const auto& e : edges) {
          if (e.low <= e.high && e.high < graph.vertices) continue;
          throw InputError("edge (" + std::to_string(e.low) + ", " + std::to_string(e.high) + ") of a graph of " +
                           std::to_string(graph.vertices) +
                           " vertices; allowed: ends in order and below the number of vertices");
        }
      },
      graph.edges);
}

/// Where one boundary is being looked for: the vertex within which the sum of degrees reaches the target.
struct Search {
  std::uint64_t low = 0;    ///< the vertex is in low .. low + 2^bits - 1
  std::int64_t before = 0;  ///< degrees of all vertices below low
  std::int64_t target = 0;
};

/// Degrees of all ranks by bucket of 2^shift vertices, for each of the intervals that begin at `lows`.
std::vector<std::int64_t> histogram(const graphs::EdgeList& graph, const std::vector<std::uint64_t>& lows,
                                    unsigned shift, comm::Transport& transport) {
  std::vector<std::int64_t> counts(lows.size() * kBuckets);
  const unsigned span = shift + kPassBits;
  const auto count = [&](std::uint64_t vertex) {
    const auto after = std::upper_bound(lows.begin(), lows.end(), vertex);
    if (after == lows.begin()) return;
    const std::uint64_t at = vertex - *(after - 1);
    if (span < 64 && at >> span != 0) return;
    ++counts[static_cast<std::size_t>(after - lows.begin() - 1) * kBuckets + (at >> shift)];
  };
  std::visit(
      [&](const auto& edges) {
        for (const auto& e : edges) {
          if (e.low == e.high) continue;
          count(e.low);
          count(e.high);
        }
      },
      graph.edges);
  transport.all_reduce(counts, comm::Op::sum);
  return counts;
}

void narrow(Search& search, std::span<const std::int64_t> counts, unsigned shift) {
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (search.before + counts[bucket] >= search.target) {
      search.low += static_cast<std::uint64_t>(bucket) << shift;
      return;
    }
    search.before += counts[bucket];
  }
}

template <class Edge>
std::vector<Edge> brought_home(const std::vector<Edge>& edges, const graphs::Ranges& ranges,
                               comm::Transport& transport) {
  std::vector<Edge> mine;
  if (transport.size() == 1) {
    mine.reserve(edges.size());
    for (const auto& e : edges)
      if (e.low != e.high) mine.push_back(e);
    return mine;
  }
  std::vector<std::size_t> sizes(static_cast<std::size_t>(transport.size()));
  std::vector<std::vector<Edge>> to(sizes.size());
  const auto for_owners = [&](const auto& use) {
    for (const auto& e : edges) {
      if (e.low == e.high) continue;
      const auto first = static_cast<std::size_t>(ranges.owner(e.low));
      const auto second = static_cast<std::size_t>(ranges.owner(e.high));
      use(first, e);
      if (second != first) use(second, e);
    }
  };
  for_owners([&](std::size_t owner, const Edge&) { ++sizes[owner]; });
  for (std::size_t r = 0; r < to.size(); ++r) to[r].reserve(sizes[r]);
  for_owners([&](std::size_t owner, const Edge& e) { to[owner].push_back(e); });
  return comm::all_to_all(transport, std::move(to)).flat();
}

/// Share r of `parts` of a whole, rounded up, without overflow.
std::int64_t share(std::int64_t whole, std::int64_t r, std::int64_t parts) {
  return whole / parts * r + (whole % parts * r + parts - 1) / parts;
}

}  // namespace

graphs::Ranges balanced_ranges(const graphs::EdgeList& graph, comm::Transport& transport) {
  comm::agree(transport, [&] { check_vertices(graph); });
  const int ranks = transport.size();
  std::int64_t ends = 0;
  std::visit(
      [&](const auto& edges) {
        for (const auto& e : edges) ends += e.low == e.high ? 0 : 2;
      },
      graph.edges);
  ends = transport.all_reduce(ends, comm::Op::sum);
  if (ends == 0 || ranks == 1) return graphs::Ranges::even(graph.vertices, ranks);

  std::vector<Search> searches;
  for (int r = 1; r < ranks; ++r) searches.push_back({0, 0, share(ends, r, ranks)});
  unsigned bits = static_cast<unsigned>(std::bit_width(graph.vertices - 1));
  while (bits > 0) {
    const unsigned shift = bits > kPassBits ? bits - kPassBits : 0;
    std::vector<std::uint64_t> lows;
    for (const auto& search : searches) lows.push_back(search.low);  // ascending, as the targets are
    lows.erase(std::unique(lows.begin(), lows.end()), lows.end());
    const auto counts = histogram(graph, lows, shift, transport);
    for (auto& search : searches) {
      const auto at = std::lower_bound(lows.begin(), lows.end(), search.low) - lows.begin();
      narrow(search, std::span(counts).subspan(static_cast<std::size_t>(at) * kBuckets, kBuckets), shift);
    }
    bits = shift;
  }
  graphs::Ranges ranges;
  ranges.first.push_back(0);
  for (const auto& search : searches) ranges.first.push_back(search.low + 1);
  ranges.first.push_back(graph.vertices);
  return ranges;
}

graphs::EdgeList distribute_edges(const graphs::EdgeList& graph, const graphs::Ranges& ranges,
                                  comm::Transport& transport) {
  graphs::EdgeList result;
  result.vertices = graph.vertices;
  result.kind = graph.kind;
  std::visit([&](const auto& edges) { result.edges = brought_home(edges, ranges, transport); }, graph.edges);
  return result;
}

}  // namespace merganser::msf
