#pragma once
/// What the generators share.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/topology/process_graph.hpp"

namespace merganser::topology::detail {

using Rows = std::vector<std::vector<ProcessGraph::Arc>>;

inline Rows empty_rows(int ranks) { return Rows(static_cast<std::size_t>(ranks)); }

/// Both arcs of an edge.
inline void join(Rows& rows, int a, int b) {
  rows[static_cast<std::size_t>(a)].push_back({b});
  rows[static_cast<std::size_t>(b)].push_back({a});
}

inline constexpr std::int64_t kMostArcs = std::int64_t{1} << 28;

/// @throws UsageError if a graph would have more arcs than kMostArcs
inline void check_arcs(double arcs) {
  if (!(arcs <= static_cast<double>(kMostArcs))) {
    throw UsageError("the process graph would have about " + number_text(arcs) + " arcs; allowed: at most " +
                     std::to_string(kMostArcs));
  }
}

/// An unordered pair of ranks as one number.
inline std::uint64_t pair_key(int a, int b) {
  const auto low = static_cast<std::uint32_t>(a < b ? a : b);
  const auto high = static_cast<std::uint32_t>(a < b ? b : a);
  return static_cast<std::uint64_t>(low) << 32 | high;
}

/// Streams of random numbers, so that no two uses of one seed share numbers.
enum class Stream : std::uint64_t { points = 1, cross, degree, switches, rewire, attach, geometric, published_cross };
inline std::uint64_t stream(Stream use, std::uint64_t part = 0) { return static_cast<std::uint64_t>(use) << 40 | part; }

}  // namespace merganser::topology::detail
