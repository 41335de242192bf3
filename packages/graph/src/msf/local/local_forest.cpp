// Filter-Kruskal with threads: the minimum spanning forest of one rank's edges; and the merging of two sorted forests.
#include "merganser/msf/local_forest.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "merganser/base/error.hpp"
#include "src/msf/local/buffer.hpp"
#include "src/msf/local/union_find.hpp"
#include "src/msf/parallel.hpp"

namespace merganser::msf {
namespace {

constexpr std::size_t kBlock = 4096;   // edges that a thread filters at a time
constexpr std::size_t kSample = 4096;  // edges of the sample for a pivot
constexpr std::size_t kSortCost = 8;   // cost of sorting and joining an edge, relative to filtering one
constexpr std::size_t kAhead = 24;     // distance in edges at which ends are prefetched

/// Validates the number of vertices of one rank's spanning forest, whose numbers must fit 32 bits. @throws InputError
void check_vertices(std::uint64_t vertices) {
  if (vertices > (std::uint64_t{1} << 32)) {
    throw InputError("vertices of one rank's forest: " + std::to_string(vertices) + "; allowed: at most 4294967296");
  }
}

/// Progress of filter-Kruskal on one rank, in units of filtered edges. Used by one thread, which counts for all.
class Progress {
 public:
  Progress(const std::function<void(double)>& tell, std::size_t total)
      : tell_(tell), total_(static_cast<double>(total)) {}
  /// Counts filtered edges (or work of that cost) as done, and calls the progress callback with the share after every 2^22 edges.
  void add(std::size_t edges) {
    if (!tell_) return;
    done_ += edges;
    if (done_ < told_ + kEvery) return;
    told_ = done_;
    tell_(std::min(1.0, static_cast<double>(done_) / total_));
  }

 private:
  static constexpr std::size_t kEvery = std::size_t{1} << 22;  // edges between two calls of tell_
  const std::function<void(double)>& tell_;                    // progress callback; may be empty
  double total_;                                               // expected work
  std::size_t done_ = 0;                                       // work done
  std::size_t told_ = 0;                                       // work done at the last call of tell_
};

/// Returns the edges for which `keep` holds, filtered by several threads, in their order; every weight is xored with `flip` first
/// (all bits for a maximum forest). Filter step of filter-Kruskal. Appending has no branch on the outcome, which is unpredictable.
/// @param expected  estimated number of edges kept, for the first allocation
template <class Edge, class Keep>
Buffer<Edge> filter_edges(std::span<const Edge> edges, typename Edge::bits_type flip, int threads, std::size_t expected,
                          Progress& progress, const Keep& keep) {
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

/// Returns the pivot of a round of filter-Kruskal: an edge, with its weight xored with `flip`, below which about `wanted` of this
/// rank's `edges` lie, by a sample at fixed pseudo-random positions.
template <class Edge>
Edge sample_pivot(std::span<const Edge> edges, typename Edge::bits_type flip, std::size_t wanted) {
  std::vector<Edge> sample;
  sample.reserve(kSample);
  std::uint64_t at = 0x9e3779b97f4a7c15ULL;
  for (std::size_t i = 0; i < kSample; ++i) {  // a fixed sequence: weights may repeat with any stride
    at = at * 6364136223846793005ULL + 1442695040888963407ULL;
    __extension__ using Wide = unsigned __int128;
    sample.push_back(edges[static_cast<std::size_t>((static_cast<Wide>(at) * edges.size()) >> 64)]);
    sample.back().weight ^= flip;
  }
  std::sort(sample.begin(), sample.end());
  return sample[std::min(kSample - 1, wanted * kSample / edges.size())];
}

/// Sorts runs of edges of equal weight by their ends (low, high), in a list that is sorted by weight.
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

/// Sorts edges by (weight, low, high) for Kruskal's algorithm: radix sort by weight, 11 bits at a time from the lowest, skipping
/// digits that all edges share; then ties. @param scratch  memory for a copy; its content is unspecified then
template <class Edge>
void sort_edges(Buffer<Edge>& edges, Buffer<Edge>& scratch) {
  // All digits are counted in one pass over the edges; the order by ends matters among equal weights only.
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

/// Filter-Kruskal [osipov2009]: minimum spanning forest of the edges of one rank.
template <class Edge>
class FilterKruskal {
 public:
  using Bits = typename Edge::bits_type;
  FilterKruskal(std::uint64_t vertices, int threads, bool flip, Progress& progress)
      : trees_(static_cast<std::size_t>(vertices)),
        sets_(trees_),
        threads_(std::max(1, threads)),
        flip_(flip ? static_cast<Bits>(~Bits{0}) : Bits{0}),
        progress_(progress) {}

  /// Computes the minimum spanning forest of this rank's edges by filter-Kruskal. @throws InputError for ends that are no vertices
  void run(std::span<const Edge> edges) {
    check_ends(edges);
    forest_.reserve(std::min(trees_, edges.size()));
    Buffer<Edge> again;  // memory of `edges` from the second round on
    while (edges.size() > std::max(2 * kSample, 3 * trees_)) {
      // At least twice the trees that are left, so that light edges join most of them, and an eighth, so that passes are few.
      const std::size_t wanted = std::max(2 * trees_, edges.size() / 8);
      const Edge pivot = sample_pivot(edges, flip_, wanted);
      join_all(filter_edges(edges, flip_, threads_, wanted + wanted / 8, progress_,
                            [&](const Edge& e) { return !is_above(e, pivot); }));
      sets_.flatten();
      const std::uint32_t* const label = sets_.labels();
      // Light edges lie within trees by now, so this filter drops them with the heavy edges that cannot be in the forest.
      again = filter_edges(edges, flip_, threads_, edges.size() / 16, progress_,
                           [&](const Edge& e) { return label[e.low] != label[e.high]; });
      edges = again.span();
      flip_ = 0;
    }
    Buffer<Edge> rest =
        filter_edges(edges, flip_, 1, edges.size(), progress_, [](const Edge& e) { return e.low != e.high; });
    again = Buffer<Edge>();
    join_all(std::move(rest));
  }
  /// Returns the edges of the minimum spanning forest that run() found, ascending by (weight, low, high).
  std::vector<Edge> release() { return std::move(forest_); }

 private:
  /// Validates that the ends of this rank's edges are vertices, with several threads. @throws InputError for an end that is none
  void check_ends(std::span<const Edge> edges) const {
    std::vector<std::uint64_t> highest(static_cast<std::size_t>(threads_), 0);
    in_parallel(threads_, [&](int t) {
      typename Edge::id_type most = 0;
      for (const Edge& e : thread_share(edges, t, threads_)) most = std::max(most, e.high);
      highest[static_cast<std::size_t>(t)] = most;
    });
    const std::uint64_t most = *std::max_element(highest.begin(), highest.end());
    if (!edges.empty() && most >= trees_) {
      throw InputError("an edge ends in vertex " + std::to_string(most) + "; allowed: below " + std::to_string(trees_) +
                       ", the number of vertices");
    }
  }
  /// Returns whether an edge is greater than the pivot of a filter-Kruskal round; mostly decided by the weights.
  static bool is_above(const Edge& e, const Edge& pivot) {
    if (e.weight != pivot.weight) [[likely]]
      return e.weight > pivot.weight;
    return pivot < e;
  }
  /// Performs Kruskal's algorithm on the light edges of a filter-Kruskal round: sorts them, and adds those that join two trees to
  /// the forest.
  void join_all(Buffer<Edge> edges) {
    // Ends are prefetched, since their places in the union-find array are random.
    Buffer<Edge> scratch;
    sort_edges(edges, scratch);
    progress_.add(kSortCost / 2 * edges.size());
    const std::size_t n = edges.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (i + kAhead < n) {
        sets_.prefetch(static_cast<std::uint32_t>(edges[i + kAhead].low));
        sets_.prefetch(static_cast<std::uint32_t>(edges[i + kAhead].high));
      }
      if (sets_.join(static_cast<std::uint32_t>(edges[i].low), static_cast<std::uint32_t>(edges[i].high))) {
        forest_.push_back(edges[i]);
        --trees_;
      }
    }
    progress_.add(kSortCost / 2 * edges.size());
  }

  std::size_t trees_;  // trees left: vertices less edges of the forest
  UnionFind sets_;     // trees as sets of vertices
  int threads_;
  Bits flip_;  // all bits while edges have the original weights of a maximum forest, else 0
  Progress& progress_;
  std::vector<Edge> forest_;  // edges found, ascending
};

}  // namespace

// Spanning forest of one rank's edges, by Filter-Kruskal with threads.
template <class Edge>
std::vector<Edge> local_forest(std::span<const Edge> edges, std::uint64_t vertices, int threads, bool flip,
                               const std::function<void(double)>& progress) {
  check_vertices(vertices);
  Progress told(progress, 2 * edges.size() + kSortCost * 2 * static_cast<std::size_t>(vertices));
  FilterKruskal<Edge> forest(vertices, threads, flip, told);
  forest.run(edges);
  return forest.release();
}

// Step of a reduction of forests: Kruskal's algorithm on two sorted forests, as their edges are merged.
template <class Edge>
std::vector<Edge> merge_forests(std::span<const Edge> a, std::span<const Edge> b, std::uint64_t vertices) {
  // Kruskal's algorithm on the union of two forests, in the order of a merge of both lists: no sort is needed.
  check_vertices(vertices);
  std::vector<Edge> forest;
  forest.reserve(std::min<std::size_t>(a.size() + b.size(), static_cast<std::size_t>(vertices)));
  UnionFind sets(static_cast<std::size_t>(vertices));
  const auto take = [&](const Edge& e) {
    if (sets.join(static_cast<std::uint32_t>(e.low), static_cast<std::uint32_t>(e.high))) forest.push_back(e);
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) take(b[j] < a[i] ? b[j++] : a[i++]);
  for (; i < a.size(); ++i) take(a[i]);
  for (; j < b.size(); ++j) take(b[j]);
  return forest;
}

template decltype(local_forest<graphs::Edge12>) local_forest<graphs::Edge12>;
template decltype(local_forest<graphs::Edge16>) local_forest<graphs::Edge16>;
template decltype(local_forest<graphs::Edge24>) local_forest<graphs::Edge24>;
template decltype(merge_forests<graphs::Edge12>) merge_forests<graphs::Edge12>;
template decltype(merge_forests<graphs::Edge16>) merge_forests<graphs::Edge16>;
template decltype(merge_forests<graphs::Edge24>) merge_forests<graphs::Edge24>;

}  // namespace merganser::msf
