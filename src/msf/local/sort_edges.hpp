#pragma once
/// Sorting edges by (weight, low, high).
#include <algorithm>
#include <array>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "src/msf/local/buffer.hpp"

namespace merganser::msf {

/// Sorts runs of equal weight by their ends.
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

/// Radix sort by weight, 11 bits at a time from below, skipping digits that all edges share; then ties.
/// `scratch` gets the size of `edges`.
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

}  // namespace merganser::msf
