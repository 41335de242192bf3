// Single linkage: the dendrogram of a spanning forest, and flat clusters by cutting it at a height or to a count.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "merganser/base/error.hpp"
#include "src/msf/linkage/clusters.hpp"

namespace merganser::msf {
namespace {

/// Returns the ends of an edge of a spanning forest as text, for error messages of single linkage: "edge 3 - 7".
std::string edge_text(const graphs::Edge24& e) {
  return "edge " + std::to_string(e.low) + " - " + std::to_string(e.high);
}

/// Validates edge i of a gathered spanning forest for single linkage. @throws InputError for an edge whose ends are no vertices, or
/// that is less than the edge before it
void check_edge(const Forest& forest, std::size_t i) {
  const auto& e = forest.edges[i];
  if (e.low >= forest.vertices || e.high >= forest.vertices) {
    throw InputError("dendrogram: " + edge_text(e) + "; allowed: vertices from 0 to below " +
                     std::to_string(forest.vertices));
  }
  if (i > 0 && e < forest.edges[i - 1]) {
    throw InputError("dendrogram: " + edge_text(e) + " comes before a greater one; allowed: edges in ascending order");
  }
}

/// Computes the flat clusters of a dendrogram after its first `merges` merges. From the top down each cluster takes the root of the
/// one that it becomes part of, which has a greater number.
Labels cut_after(const Dendrogram& d, std::size_t merges) {
  // Flat clusters: clusters of the dendrogram that no further merge joins, numbered in the order of their lowest vertices.
  const auto vertices = static_cast<std::size_t>(d.vertices);
  std::vector<std::uint32_t> top(vertices + merges);
  std::iota(top.begin(), top.end(), 0U);
  for (std::size_t i = merges; i-- > 0;) {
    const Merge& m = d.merges[i];
    top[m.a] = top[m.b] = top[vertices + i];
  }
  constexpr std::uint32_t kNone = ~0U;
  std::vector<std::uint32_t> label(top.size(), kNone);
  Labels out;
  out.of.resize(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    std::uint32_t& of_top = label[top[v]];
    if (of_top == kNone) of_top = out.clusters++;
    out.of[v] = of_top;
  }
  return out;
}

}  // namespace

// Single linkage: edges of the spanning forest in ascending order are the merges of clusters.
Dendrogram dendrogram(const Forest& forest, Apart apart) {
  check_linkage_size("dendrogram", forest.vertices);
  const auto vertices = static_cast<std::size_t>(forest.vertices);
  Dendrogram d{forest.vertices, {}};
  d.merges.reserve(apart == Apart::join && vertices > 0 ? vertices - 1 : forest.edges.size());
  Clusters clusters(vertices);
  for (std::size_t i = 0; i < forest.edges.size(); ++i) {
    check_edge(forest, i);
    const auto& e = forest.edges[i];
    const std::uint32_t x = clusters.find(static_cast<std::uint32_t>(e.low));
    const std::uint32_t y = clusters.find(static_cast<std::uint32_t>(e.high));
    if (x == y) throw InputError("dendrogram: " + edge_text(e) + " closes a cycle; allowed: edges of a forest");
    clusters.join_lower_first(x, y, graphs::weight_from_bits(forest.kind, e.weight), d);
  }
  if (apart == Apart::stay) return d;
  for (std::size_t v = 1; v < vertices && d.merges.size() + 1 < vertices; ++v) {
    const std::uint32_t x = clusters.find(0);
    const std::uint32_t y = clusters.find(static_cast<std::uint32_t>(v));
    if (x != y) clusters.join_lower_first(x, y, std::numeric_limits<double>::infinity(), d);
  }
  return d;
}

// Flat clusters: the merges up to a height.
Labels cut_by_height(const Dendrogram& d, double h) {
  if (std::isnan(h)) throw UsageError("cut_by_height: height is not a number; allowed: any number, infinity too");
  // Heights ascend, so the merges up to h are the first ones.
  const auto above =
      std::partition_point(d.merges.begin(), d.merges.end(), [&](const Merge& m) { return m.height <= h; });
  return cut_after(d, static_cast<std::size_t>(above - d.merges.begin()));
}

// Flat clusters: the merges that leave k clusters, with a rule for merges of equal height.
Labels cut_by_count(const Dendrogram& d, std::uint64_t k, Ties ties) {
  const std::uint64_t fewest = std::max<std::uint64_t>(d.components(), d.vertices > 0 ? 1 : 0);
  const bool too_many = ties == Ties::apart && k > d.vertices;
  if (k < fewest || too_many) {
    throw UsageError("cut_by_count: " + std::to_string(k) + " clusters of " + std::to_string(d.vertices) +
                     " vertices in " + std::to_string(d.components()) +
                     " components; allowed: " + std::to_string(fewest) + " to " + std::to_string(d.vertices));
  }
  auto merges = static_cast<std::size_t>(d.vertices - std::min(k, d.vertices));
  // Completing the last height makes fewer clusters, never more than k.
  while (ties == Ties::together && merges > 0 && merges < d.merges.size() &&
         d.merges[merges].height == d.merges[merges - 1].height) {
    ++merges;
  }
  return cut_after(d, merges);
}

}  // namespace merganser::msf
