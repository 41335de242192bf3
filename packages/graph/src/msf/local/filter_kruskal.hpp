#pragma once
/// Passes of filter-Kruskal over edge lists, for the spanning forest of one rank's edges and for that of all ranks' edges together:
/// selection by a pivot, radix sort, and the filter that drops edges within one tree.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "src/msf/local/buffer.hpp"
#include "src/msf/local/union_find.hpp"
#include "src/msf/parallel.hpp"

namespace merganser::msf {

/// Number of edges in the sample that a pivot is chosen from.
inline constexpr std::size_t kPivotSample = 4096;
/// Cost of sorting and joining an edge, relative to filtering one; for the share of work that progress callbacks report.
inline constexpr std::size_t kSortCost = 8;

/// Validates the number of vertices of a filter-Kruskal run, which must fit 32 bits. @throws InputError
void check_vertices(std::uint64_t vertices);

/// Validates the larger ends of edges. @throws InputError for an edge with an end that is no vertex
template <class Edge>
void check_ends(std::span<const Edge> edges, std::uint64_t vertices, int threads);

/// Progress of filter-Kruskal, in units of filtered edges. Used by one thread, which counts for all.
class ForestProgress {
 public:
  ForestProgress(const std::function<void(double)>& tell, std::size_t total)
      : tell_(tell), total_(static_cast<double>(total)) {}
  /// Counts work done, and reports the share now and then.
  void add(std::size_t edges) {
    if (!tell_) return;
    done_ += edges;
    if (done_ < told_ + kEvery) return;
    told_ = done_;
    tell_(std::min(1.0, static_cast<double>(done_) / total_));
  }

 private:
  static constexpr std::size_t kEvery = std::size_t{1} << 22;
  const std::function<void(double)>& tell_;
  double total_;
  std::size_t done_ = 0;
  std::size_t told_ = 0;
};

/// Returns the edges for which `keep` holds, filtered by several threads, in their order; every weight is xored with `flip` first.
/// Appending has no branch on the outcome, which is unpredictable.
template <class Edge, class Keep>
Buffer<Edge> select(std::span<const Edge> edges, typename Edge::bits_type flip, int threads, std::size_t expected,
                    ForestProgress& progress, const Keep& keep) {
  constexpr std::size_t kBlock = 4096;  // edges that a thread filters at a time
  std::vector<Buffer<Edge>> parts(static_cast<std::size_t>(threads));
  in_parallel(threads, [&](int t) {
    const auto mine = thread_share(edges, t, threads);
    auto& out = parts[static_cast<std::size_t>(t)];
    out.reserve(expected / static_cast<std::size_t>(threads) + kBlock);
    for (std::size_t begin = 0; begin < mine.size(); begin += kBlock) {
      const auto block = mine.subspan(begin, std::min(kBlock, mine.size() - begin));
      Edge* const to = out.reserve_more(block.size());
      std::size_t kept = 0;
      for (Edge e : block) {
        e.weight ^= flip;
        to[kept] = e;
        kept += static_cast<std::size_t>(keep(e));
      }
      out.resize(out.size() + kept);
      if (t == 0) progress.add(block.size() * static_cast<std::size_t>(threads));
    }
  });
  Buffer<Edge> all = std::move(parts[0]);
  for (std::size_t t = 1; t < parts.size(); ++t) all.append(parts[t].span());
  return all;
}

/// Returns `count` edges of a non-empty list, drawn with replacement by a fixed sequence that begins at `seed`: a stride would see
/// weights that repeat. Weights are xored with `flip`.
template <class Edge>
std::vector<Edge> sample_edges(std::span<const Edge> edges, typename Edge::bits_type flip, std::size_t count,
                               std::uint64_t seed) {
  std::vector<Edge> sample;
  sample.reserve(count);
  std::uint64_t at = 0x9e3779b97f4a7c15ULL * (seed + 1);
  for (std::size_t i = 0; i < count; ++i) {
    at = at * 6364136223846793005ULL + 1442695040888963407ULL;
    __extension__ using Wide = unsigned __int128;
    sample.push_back(edges[static_cast<std::size_t>((static_cast<Wide>(at) * edges.size()) >> 64)]);
    sample.back().weight ^= flip;
  }
  return sample;
}

/// Returns the number of light edges that a round of filter-Kruskal processes, of `edges` with `trees` trees left: at least twice the
/// trees, so that light edges join most of them, and an eighth of the edges, so that rounds are few.
inline std::size_t light_edges(std::size_t trees, std::size_t edges) { return std::max(2 * trees, edges / 8); }

/// Returns true if the edges that are left, `edges` with `trees` trees left, are sorted at once in the last round of filter-Kruskal,
/// since a pivot would save little.
inline bool is_last_round(std::size_t trees, std::size_t edges) {
  return edges <= std::max(2 * kPivotSample, 3 * trees);
}

/// Returns whether an edge is greater than the pivot; mostly decided by the weights.
template <class Edge>
bool is_above(const Edge& e, const Edge& pivot) {
  if (e.weight != pivot.weight) [[likely]]
    return e.weight > pivot.weight;
  return pivot < e;
}

/// Sorts runs of equal weight by (low, high).
template <class Edge>
void sort_ties(std::span<Edge> edges) {
  for (std::size_t i = 0; i + 1 < edges.size();) {
    std::size_t end = i + 1;
    while (end < edges.size() && edges[end].weight == edges[i].weight) ++end;
    if (end - i > 1)
      std::sort(edges.begin() + static_cast<std::ptrdiff_t>(i), edges.begin() + static_cast<std::ptrdiff_t>(end));
    i = end;
  }
}

/// Sorts edges by (weight, low, high): radix sort by weight, 11 bits at a time from the lowest, skipping digits that
/// all edges share; then ties. `scratch` gets the size of `edges`.
template <class Edge>
void sort_edges(Buffer<Edge>& edges, Buffer<Edge>& scratch) {
  using Bits = typename Edge::bits_type;
  constexpr std::size_t kDigit = 11;
  constexpr std::size_t kPasses = (8 * sizeof(Bits) + kDigit - 1) / kDigit;
  constexpr std::size_t kBins = std::size_t{1} << kDigit;
  const std::size_t n = edges.size();
  if (n < 2048) {
    std::sort(edges.begin(), edges.end());
    return;
  }
  std::vector<std::array<std::uint32_t, kBins>> counts(kPasses);
  for (const Edge& e : edges.span())
    for (std::size_t p = 0; p < kPasses; ++p) ++counts[p][(e.weight >> (p * kDigit)) & (kBins - 1)];
  scratch.resize(n);
  for (std::size_t p = 0; p < kPasses; ++p) {
    auto& count = counts[p];
    const std::size_t shift = p * kDigit;
    if (count[(edges[0].weight >> shift) & (kBins - 1)] == n) continue;
    std::uint32_t at = 0;
    for (auto& c : count) at += std::exchange(c, at);
    Edge* const to = scratch.data();
    for (const Edge& e : edges.span()) to[count[(e.weight >> shift) & (kBins - 1)]++] = e;
    std::swap(edges, scratch);
  }
  sort_ties(edges.span());
}

/// Ends of an edge, which are all that joining trees needs.
struct Ends {
  std::uint32_t low;
  std::uint32_t high;
};

/// Kruskal's algorithm on edges (or Ends) in ascending order: joins the trees at their ends, and calls joined(i) for every edge that
/// joined two trees. Ends are prefetched, since a random vertex's parent is seldom in the cache.
template <class Edge, class Joined>
void join_trees(UnionFind& sets, std::span<const Edge> edges, const Joined& joined) {
  constexpr std::size_t kAhead = 24;  // distance in edges at which ends are prefetched
  const std::size_t n = edges.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n) {
      sets.prefetch(static_cast<std::uint32_t>(edges[i + kAhead].low));
      sets.prefetch(static_cast<std::uint32_t>(edges[i + kAhead].high));
    }
    if (sets.join(static_cast<std::uint32_t>(edges[i].low), static_cast<std::uint32_t>(edges[i].high))) joined(i);
  }
}

/// Predicate of edges between two trees of a union-find, as the trees are when it is made.
///
/// After the light edges of a graph, one tree often has most ends of edges. Then membership in it is looked up in one bit per
/// vertex, which stays in the second-level cache where 4 bytes per vertex do not: most edges are decided by two bits.
class BetweenTrees {
 public:
  /// Flattens the paths of the sets. Cost: O(vertices).
  explicit BetweenTrees(UnionFind& sets);
  /// Returns whether an edge joins two trees.
  template <class Edge>
  bool operator()(const Edge& e) const {
    if (!giant_.empty() && (in_giant(e.low) & in_giant(e.high)) != 0) return false;
    return labels_[e.low] != labels_[e.high];
  }

 private:
  [[nodiscard]] std::uint32_t in_giant(std::uint64_t v) const { return giant_[v / 32] >> (v % 32) & 1U; }

  const std::uint32_t* labels_;
  std::vector<std::uint32_t> giant_;  // one bit per vertex: in the largest tree; empty if that has few vertices
};

}  // namespace merganser::msf
