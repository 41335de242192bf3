// Filter-Kruskal with threads: the minimum spanning forest of one rank's edges; and the merging of two sorted forests.
#include "merganser/msf/local_forest.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"
#include "src/msf/local/filter_kruskal.hpp"

namespace merganser::msf {

void check_vertices(std::uint64_t vertices) {
  if (vertices > (std::uint64_t{1} << 32)) {
    throw InputError("vertices of one rank's forest: " + std::to_string(vertices) + "; allowed: at most 4294967296");
  }
}

void check_highest_end(std::uint64_t end, std::uint64_t vertices) {
  if (end >= vertices) {
    throw InputError("an edge ends in vertex " + std::to_string(end) + "; allowed: below " + std::to_string(vertices) +
                     ", the number of vertices");
  }
}

namespace {

/// One rank, for FilterKruskal: nothing is communicated.
class OneRank {
 public:
  /// Guard of a phase of FilterKruskal, which one rank does not measure.
  struct Scope {
    Scope(const OneRank&, bool) {}
    ~Scope() {}
  };
  static constexpr bool kContracts = false;  // all is its interior
  [[nodiscard]] static int rank() { return 0; }
  [[nodiscard]] static int size() { return 1; }
  [[nodiscard]] static std::size_t count(std::size_t edges) { return edges; }
  static void agree(const auto& check) { check(); }
  template <class Edge>
  [[nodiscard]] static std::vector<Edge> gather(std::vector<Edge> sample) {
    return sample;
  }
  template <class Edge>
  [[nodiscard]] static Buffer<Edge> distribute(Buffer<Edge> batch, const std::vector<Edge>&) {
    return batch;
  }
  /// Joins trees along the rank's edges.
  template <class Edge>
  static JoinCount join(UnionFind& sets, std::span<const Edge> sorted, const auto& joined) {
    JoinCount count{sorted.size(), 0};
    join_trees(sets, sorted, [&](std::size_t i) {
      joined(i);
      ++count.joined;
    });
    return count;
  }
};

}  // namespace

// Spanning forest of one rank's edges, by Filter-Kruskal with threads.
template <class Edge>
std::vector<Edge> local_forest(std::span<const Edge> edges, std::uint64_t vertices, int threads, bool flip,
                               const std::function<void(double)>& progress) {
  ForestProgress told(progress, 2 * edges.size() + kSortCost * 2 * static_cast<std::size_t>(vertices));
  OneRank one;
  return FilterKruskal<Edge, OneRank>(vertices, threads, flip, one, told).run(edges);
}

template decltype(local_forest<graphs::Edge12>) local_forest<graphs::Edge12>;
template decltype(local_forest<graphs::Edge16>) local_forest<graphs::Edge16>;
template decltype(local_forest<graphs::Edge24>) local_forest<graphs::Edge24>;

}  // namespace merganser::msf
