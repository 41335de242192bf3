#pragma once
/// What the generators share.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs::detail {

using Rows = std::vector<std::vector<ProcessGraph::Arc>>;

inline Rows empty_rows(int ranks) { return Rows(static_cast<std::size_t>(ranks)); }

/// Both arcs of an edge.
inline void join(Rows& rows, int a, int b) {
  rows[static_cast<std::size_t>(a)].push_back({b});
  rows[static_cast<std::size_t>(b)].push_back({a});
}

inline constexpr std::int64_t kMaxArcs = std::int64_t{1} << 28;

/// @throws UsageError if a graph would have more arcs than kMaxArcs, or than memory while it is made
inline void check_arcs(double arcs) {
  constexpr double kBytesPerArc = 64;  // in a set, in rows and in the graph
  const std::string what = "the process graph would have about " + number_text(arcs) + " arcs";
  if (!(arcs <= static_cast<double>(kMaxArcs)))
    throw UsageError(what + "; allowed: at most " + std::to_string(kMaxArcs));
  const auto there = static_cast<double>(available_bytes());
  if (there > 0 && arcs * kBytesPerArc > there)
    throw UsageError(what + ", which take about " + bytes_text(arcs * kBytesPerArc) + " of memory; there is " +
                     bytes_text(there) + ", allowed: what fits");
}

/// The same for points or vertices of which each takes so much. @throws UsageError
inline void check_vertices(double vertices, double bytes) {
  const auto there = static_cast<double>(available_bytes());
  if (there > 0 && vertices * bytes > there)
    throw UsageError(number_text(vertices) + " vertices on all ranks take about " + bytes_text(vertices * bytes) +
                     " of memory; there is " + bytes_text(there));
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

}  // namespace merganser::graphs::detail
