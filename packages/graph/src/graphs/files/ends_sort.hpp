#pragma once
/// Radix sort of the edges of one rank by their ends, for the removal of repeated ones.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "merganser/graphs/edges.hpp"

namespace merganser::graphs::detail {

/// Sort of the edges of one rank by (low, high, weight): a radix sort by all bits of the ends in which edges differ, least significant
/// digits first. Edges with the same ends, which are few, are compared by their weights. Local.
template <class Edge>
class EndsSort {
 public:
  /// Sorts edges. @param scratch  memory for a copy of the edges; its content is unspecified then
  static void sort(std::span<Edge> edges, std::span<Edge> scratch) {
    constexpr std::size_t kFew = 2048;  // edges up to which a comparison sort is faster
    if (std::is_sorted(edges.begin(), edges.end(), is_less)) return;
    // The counters of a pass have 32 bits.
    if (edges.size() < kFew || edges.size() > UINT32_MAX) return std::sort(edges.begin(), edges.end(), is_less);
    EndsSort(edges, scratch).run();
    for (std::size_t i = 0; i + 1 < edges.size();) {
      std::size_t end = i + 1;
      while (end < edges.size() && edges[end].low == edges[i].low && edges[end].high == edges[i].high) ++end;
      if (end - i > 1) std::sort(edges.begin() + offset(i), edges.begin() + offset(end), is_less);
      i = end;
    }
  }

 private:
  static constexpr unsigned kMaxDigit = 11;  // bits; the places that a pass writes to should stay in the caches

  /// Pass of the radix sort: a digit of one of the ends, with the number of edges that have each value of it.
  struct Pass {
    bool low;  // of the lower end
    unsigned shift, bits;
    std::vector<std::uint32_t> counts;
    [[nodiscard]] std::size_t digit(const Edge& e) const {
      return static_cast<std::size_t>((low ? e.low : e.high) >> shift) & ((std::size_t{1} << bits) - 1);
    }
  };

  static std::ptrdiff_t offset(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }
  static constexpr auto is_less = [](const Edge& a, const Edge& b) {
    if (a.low != b.low) return a.low < b.low;
    return a.high != b.high ? a.high < b.high : a.weight < b.weight;
  };

  EndsSort(std::span<Edge> edges, std::span<Edge> scratch) : edges_(edges), scratch_(scratch) {
    typename Edge::id_type low = 0, high = 0;  // bits in which some edges differ
    for (const Edge& e : edges) {
      low |= e.low ^ edges[0].low;
      high |= e.high ^ edges[0].high;
    }
    add_passes(false, static_cast<unsigned>(std::bit_width(high)));
    add_passes(true, static_cast<unsigned>(std::bit_width(low)));
  }
  /// Adds the passes of one of the ends, whose lowest `bits` bits differ between edges, in digits of about equal length.
  void add_passes(bool low, unsigned bits) {
    const unsigned count = (bits + kMaxDigit - 1) / kMaxDigit;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned from = bits * i / count, to = bits * (i + 1) / count;
      passes_.push_back({low, from, to - from, std::vector<std::uint32_t>(std::size_t{1} << (to - from))});
    }
  }
  /// Sorts the edges by their ends alone.
  void run() {
    for (const Edge& e : edges_)
      for (Pass& pass : passes_) ++pass.counts[pass.digit(e)];
    for (Pass& pass : passes_) {
      std::uint32_t at = 0;
      for (auto& c : pass.counts) at += std::exchange(c, at);
      std::uint32_t* const place = pass.counts.data();
      for (const Edge& e : edges_) scratch_[place[pass.digit(e)]++] = e;
      std::swap(edges_, scratch_);
    }
    if (passes_.size() % 2 == 1) std::copy(edges_.begin(), edges_.end(), scratch_.begin());
  }

  std::span<Edge> edges_, scratch_;  // swapped by each pass
  std::vector<Pass> passes_;
};

}  // namespace merganser::graphs::detail
