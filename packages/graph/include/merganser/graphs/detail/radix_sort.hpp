#pragma once
/// Radix sort of edges by weight, for Kruskal's algorithm.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "merganser/base/language.hpp"

namespace merganser::graphs::detail {

/// Radix sort of the edges of one rank by (weight, low, high), most significant bits first. Local.
///
/// At most two passes sort by 22 bits of a key, from the highest one in which two edges differ. Edges that agree in these are sorted by
/// comparisons or, from 2048 edges on, by the bits that follow, then by the next key. So 64-bit weights cost no more passes than
/// 32-bit ones, and edges of equal weight are radix sorted by their end points.
template <class Edge>
class RadixSort {
 public:
  /// Sorts edges. @param scratch  memory for a copy of the edges; its content is unspecified then
  static void sort(std::span<Edge> edges, std::span<Edge> scratch) { sort_by(edges, scratch, 0); }

 private:
  static constexpr unsigned kDigit = 11;
  static constexpr std::size_t kBins = std::size_t{1} << kDigit;
  static constexpr std::size_t kFew = 2048;  // edges up to which a comparison sort is faster

  /// Returns a key of an edge: in the order of comparison weight, low, high.
  template <int kKey>
  static std::uint64_t value(const Edge& e) {
    return kKey == 0 ? std::uint64_t{e.weight} : kKey == 1 ? std::uint64_t{e.low} : std::uint64_t{e.high};
  }
  /// Compares edges by all keys; an object, since sorting calls a function through a pointer.
  struct IsLess {
    bool operator()(const Edge& a, const Edge& b) const {
      if (value<0>(a) != value<0>(b)) return value<0>(a) < value<0>(b);
      if constexpr (sizeof(Edge) == 12) {  // both other keys in one word
        return (value<1>(a) << 32 | value<2>(a)) < (value<1>(b) << 32 | value<2>(b));
      } else {
        if (value<1>(a) != value<1>(b)) return value<1>(a) < value<1>(b);
        return value<2>(a) < value<2>(b);
      }
    }
  };
  /// Sorts edges that agree in all keys before number `key`. Edges that agree in all three are copies of one.
  static void sort_by(std::span<Edge> edges, std::span<Edge> scratch, int key) {
    const bool countable = edges.size() <= UINT32_MAX;  // by the counters of a pass
    if (edges.size() < kFew || !countable) return std::sort(edges.begin(), edges.end(), IsLess());
    if (key == 0) sort_by<0>(edges, scratch);
    if (key == 1) sort_by<1>(edges, scratch);
    if (key == 2) sort_by<2>(edges, scratch);
  }
  /// Sorts edges that agree in all keys before number kKey by that key, and those that agree in it too by the next.
  template <int kKey>
  static void sort_by(std::span<Edge> edges, std::span<Edge> scratch) {
    std::uint64_t differing = 0;
    for (const Edge& e : edges) differing |= value<kKey>(e) ^ value<kKey>(edges[0]);
    if (differing == 0) return sort_by(edges, scratch, kKey + 1);
    const auto bits = static_cast<unsigned>(std::bit_width(differing));
    const unsigned shift = bits > 2 * kDigit ? bits - 2 * kDigit : 0;  // bits below it are left to comparisons
    const unsigned passes = bits - shift > kDigit ? 2 : 1;
    std::array<std::array<std::uint32_t, kBins>, 2> counts{};
    for (const Edge& e : edges) {
      const std::uint64_t digits = value<kKey>(e) >> shift;
      ++counts[0][digits & (kBins - 1)];
      ++counts[1][digits >> kDigit & (kBins - 1)];
    }
    for (unsigned pass = 0; pass < passes; ++pass) {
      std::uint32_t at = 0;
      for (auto& c : counts[pass]) at += std::exchange(c, at);
      const auto& from = pass == 0 ? edges : scratch;
      Edge* const to = pass == 0 ? scratch.data() : edges.data();
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const std::uint64_t digit = value<kKey>(from[i]) >> (shift + pass * kDigit) & (kBins - 1);
        to[counts[pass][digit]++] = from[i];
      }
    }
    if (passes == 1) std::copy_n(scratch.begin(), edges.size(), edges.begin());
    const auto same = [&](std::size_t i, std::size_t j) {
      return ((value<kKey>(edges[i]) ^ value<kKey>(edges[j])) >> shift) == 0;
    };
    for (std::size_t i = 0; i + 1 < edges.size();) {
      std::size_t end = i + 1;
      while (end < edges.size() && same(i, end)) ++end;
      // Where all bits were sorted by, edges of a run agree in this key.
      if (end - i > 1) sort_by(edges.subspan(i, end - i), scratch.subspan(i, end - i), shift > 0 ? kKey : kKey + 1);
      i = end;
    }
  }
};

}  // namespace merganser::graphs::detail
