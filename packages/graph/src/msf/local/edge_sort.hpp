#pragma once
/// Sort of edges by (weight, low, high), the order in which Kruskal's algorithm joins trees.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "src/msf/local/buffer.hpp"

namespace merganser::msf {

/// Radix sort of edges by (weight, low, high) for Kruskal's algorithm, most significant bits first.
///
/// Only the highest 22 bits that differ between two edges are sorted by, in two passes; edges that agree in them are few where keys
/// are many, and are sorted by comparisons, or by their next bits where they are many. So 64-bit weights cost no more passes than
/// 32-bit ones, and edges of equal weight are radix sorted by their ends.
template <class Edge>
class EdgeSort {
 public:
  /// Sorts edges. @param scratch  memory for a copy of the edges; its content is unspecified then
  static void sort(std::span<Edge> edges, std::span<Edge> scratch) { sort_by(edges, scratch, Key::weight); }

 private:
  enum class Key : std::uint8_t { weight, low, high, none };
  static constexpr unsigned kDigit = 11;
  static constexpr std::size_t kBins = std::size_t{1} << kDigit;
  static constexpr std::size_t kFew = 2048;  // edges up to which a comparison sort is faster

  template <Key key>
  static std::uint64_t value(const Edge& e) {
    return key == Key::weight ? std::uint64_t{e.weight}
           : key == Key::low  ? std::uint64_t{e.low}
                              : std::uint64_t{e.high};
  }
  /// Sorts edges that agree in all keys before `key`.
  static void sort_by(std::span<Edge> edges, std::span<Edge> scratch, Key key) {
    if (edges.size() < kFew) return std::sort(edges.begin(), edges.end());
    switch (key) {
      case Key::weight:
        return sort_by<Key::weight>(edges, scratch);
      case Key::low:
        return sort_by<Key::low>(edges, scratch);
      case Key::high:
        return sort_by<Key::high>(edges, scratch);
      case Key::none:
        return;  // copies of one edge
    }
  }
  template <Key key>
  static void sort_by(std::span<Edge> edges, std::span<Edge> scratch) {
    std::uint64_t differing = 0;
    for (const Edge& e : edges) differing |= value<key>(e) ^ value<key>(edges[0]);
    const auto next = static_cast<Key>(static_cast<int>(key) + 1);
    if (differing == 0) return sort_by(edges, scratch, next);
    const auto bits = static_cast<unsigned>(std::bit_width(differing));
    const unsigned shift = bits > 2 * kDigit ? bits - 2 * kDigit : 0;  // bits below it are left to comparisons
    const unsigned passes = bits - shift > kDigit ? 2 : 1;
    std::array<std::array<std::uint32_t, kBins>, 2> counts{};
    for (const Edge& e : edges) {
      const std::uint64_t digits = value<key>(e) >> shift;
      ++counts[0][digits & (kBins - 1)];
      ++counts[1][digits >> kDigit & (kBins - 1)];
    }
    for (unsigned pass = 0; pass < passes; ++pass) {
      std::uint32_t at = 0;
      for (auto& c : counts[pass]) at += std::exchange(c, at);
      const auto& from = pass == 0 ? edges : scratch;
      Edge* const to = pass == 0 ? scratch.data() : edges.data();
      for (std::size_t i = 0; i < edges.size(); ++i) {
        const std::uint64_t digit = value<key>(from[i]) >> (shift + pass * kDigit) & (kBins - 1);
        to[counts[pass][digit]++] = from[i];
      }
    }
    if (passes == 1) std::copy_n(scratch.begin(), edges.size(), edges.begin());
    const auto same = [&](std::size_t i, std::size_t j) {
      return ((value<key>(edges[i]) ^ value<key>(edges[j])) >> shift) == 0;
    };
    for (std::size_t i = 0; i + 1 < edges.size();) {
      std::size_t end = i + 1;
      while (end < edges.size() && same(i, end)) ++end;
      // Where all bits were sorted by, edges of a run agree in this key.
      if (end - i > 1) sort_by(edges.subspan(i, end - i), scratch.subspan(i, end - i), shift > 0 ? key : next);
      i = end;
    }
  }
};

/// Sorts this rank's edges by (weight, low, high). `scratch` gets the size of `edges`.
template <class Edge>
void sort_edges(Buffer<Edge>& edges, Buffer<Edge>& scratch) {
  scratch.resize(edges.size());
  EdgeSort<Edge>::sort(edges.span(), scratch.span());
}

}  // namespace merganser::msf
