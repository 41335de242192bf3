// Filter-Kruskal with threads: the minimum spanning forest of one rank's edges; and the merging of two sorted forests.
#include "merganser/msf/local_forest.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "merganser/base/error.hpp"
#include "src/msf/local/filter_kruskal.hpp"

namespace merganser::msf {

void check_vertices(std::uint64_t vertices) {
  if (vertices > (std::uint64_t{1} << 32)) {
    throw InputError("vertices of one rank's forest: " + std::to_string(vertices) + "; allowed: at most 4294967296");
  }
}

template <class Edge>
void check_ends(std::span<const Edge> edges, std::uint64_t vertices, int threads) {
  std::vector<std::uint64_t> highest(static_cast<std::size_t>(threads), 0);
  in_parallel(threads, [&](int t) {
    typename Edge::id_type most = 0;
    for (const Edge& e : thread_share(edges, t, threads)) most = std::max(most, e.high);
    highest[static_cast<std::size_t>(t)] = most;
  });
  const std::uint64_t most = *std::max_element(highest.begin(), highest.end());
  if (!edges.empty() && most >= vertices) {
    throw InputError("an edge ends in vertex " + std::to_string(most) + "; allowed: below " + std::to_string(vertices) +
                     ", the number of vertices");
  }
}

BetweenTrees::BetweenTrees(UnionFind& sets) {
  sets.flatten();
  labels_ = sets.labels();
  const std::size_t n = sets.size();
  if (n < 64) return;
  // The label that occurs most often in a sample is that of the largest tree, but for an error that costs time only. An eighth of
  // the vertices may have most of the edges.
  std::array<std::uint32_t, 64> sample{};
  for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = labels_[i * (n / sample.size())];
  std::sort(sample.begin(), sample.end());
  std::size_t most = 0;
  std::uint32_t giant = 0;
  for (auto run = sample.begin(); run != sample.end();) {
    const auto end = std::upper_bound(run, sample.end(), *run);
    if (static_cast<std::size_t>(end - run) > most) {
      most = static_cast<std::size_t>(end - run);
      giant = *run;
    }
    run = end;
  }
  if (8 * most < sample.size()) return;
  giant_.resize((n + 31) / 32);
  for (std::size_t v = 0; v < n; ++v) giant_[v / 32] |= static_cast<std::uint32_t>(labels_[v] == giant) << (v % 32);
}

namespace {

/// Filter-Kruskal [osipov2009]: minimum spanning forest of the edges of one rank.
template <class Edge>
class FilterKruskal {
 public:
  using Bits = typename Edge::bits_type;
  FilterKruskal(std::uint64_t vertices, int threads, bool flip, ForestProgress& progress)
      : trees_(static_cast<std::size_t>(vertices)),
        sets_(trees_),
        threads_(std::max(1, threads)),
        flip_(flip ? static_cast<Bits>(~Bits{0}) : Bits{0}),
        progress_(progress) {}

  /// Computes the minimum spanning forest of this rank's edges by filter-Kruskal. @throws InputError for ends that are no vertices
  void run(std::span<const Edge> edges) {
    check_ends(edges, trees_, threads_);
    forest_.reserve(std::min(trees_, edges.size()));
    Buffer<Edge> again;  // memory of `edges` from the second round on
    while (!is_last_round(trees_, edges.size())) {
      const std::size_t wanted = light_edges(trees_, edges.size());
      auto sample = sample_edges(edges, flip_, kPivotSample, 0);
      const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(wanted * kPivotSample / edges.size());
      std::nth_element(sample.begin(), middle, sample.end());
      join_all(select(edges, flip_, threads_, wanted + wanted / 8, progress_,
                      [pivot = *middle](const Edge& e) { return !is_above(e, pivot); }));
      // Light edges lie within trees by now, so this filter drops them with the heavy edges that cannot be in the forest.
      again = select(edges, flip_, threads_, edges.size() / 16, progress_, BetweenTrees(sets_));
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
  /// Kruskal's algorithm on some edges: sorts them, and adds those that join two trees to the forest.
  void join_all(Buffer<Edge> edges) {
    // Ends are prefetched, since their places in the union-find array are random.
    Buffer<Edge> scratch;
    sort_edges(edges, scratch);
    progress_.add(kSortCost / 2 * edges.size());
    const std::size_t before = forest_.size();
    join_trees(sets_, std::as_const(edges).span(), [&](std::size_t i) { forest_.push_back(edges[i]); });
    trees_ -= forest_.size() - before;
    progress_.add(kSortCost / 2 * edges.size());
  }

  std::size_t trees_;  // trees left: vertices less edges of the forest
  UnionFind sets_;     // trees as sets of vertices
  int threads_;
  Bits flip_;
  ForestProgress& progress_;
  std::vector<Edge> forest_;
};

}  // namespace

// Spanning forest of one rank's edges, by Filter-Kruskal with threads.
template <class Edge>
std::vector<Edge> local_forest(std::span<const Edge> edges, std::uint64_t vertices, int threads, bool flip,
                               const std::function<void(double)>& progress) {
  check_vertices(vertices);
  ForestProgress told(progress, 2 * edges.size() + kSortCost * 2 * static_cast<std::size_t>(vertices));
  FilterKruskal<Edge> forest(vertices, threads, flip, told);
  forest.run(edges);
  return forest.release();
}

template decltype(check_ends<graphs::Edge12>) check_ends<graphs::Edge12>;
template decltype(check_ends<graphs::Edge16>) check_ends<graphs::Edge16>;
template decltype(check_ends<graphs::Edge24>) check_ends<graphs::Edge24>;
template decltype(local_forest<graphs::Edge12>) local_forest<graphs::Edge12>;
template decltype(local_forest<graphs::Edge16>) local_forest<graphs::Edge16>;
template decltype(local_forest<graphs::Edge24>) local_forest<graphs::Edge24>;

}  // namespace merganser::msf
