#pragma once
/// Shared parts of the generators of process graphs: rows of arcs under construction, limits of size, random streams.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs::detail {

/// Adjacency lists of a process graph under construction, one per rank; ProcessGraph sorts them and joins equal heads.
using Rows = std::vector<std::vector<ProcessGraph::Arc>>;

/// Returns the adjacency lists of a process graph of `ranks` ranks without arcs.
inline Rows empty_rows(int ranks) { return Rows(static_cast<std::size_t>(ranks)); }

/// Adds both arcs of the undirected edge between ranks a and b to a process graph under construction, each of weight 1.
inline void add_edge(Rows& rows, int a, int b) {
  rows[static_cast<std::size_t>(a)].push_back({b});
  rows[static_cast<std::size_t>(b)].push_back({a});
}

/// Largest number of arcs of a generated process graph, those of all ranks together; check_arcs() refuses more.
inline constexpr std::int64_t kMaxArcs = std::int64_t{1} << 28;

/// Checks, before a process graph is generated, that it is not too large. Local.
/// @param arcs  expected number of arcs; a double, so that products of options cannot overflow
/// @throws UsageError for more than kMaxArcs arcs, and for more than fit the memory that is available while it is made
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

/// Checks, before a process graph of kind "rgg" is generated, that `vertices` vertices of `bytes` bytes each fit the memory that is
/// available. Local.
/// @throws UsageError if they do not
inline void check_vertices(double vertices, double bytes) {
  const auto there = static_cast<double>(available_bytes());
  if (there > 0 && vertices * bytes > there)
    throw UsageError(number_text(vertices) + " vertices on all ranks take about " + bytes_text(vertices * bytes) +
                     " of memory; there is " + bytes_text(there));
}

/// Returns an unordered pair of ranks, an edge of a process graph, as one number: the lower rank in the upper 32 bits.
inline std::uint64_t pair_key(int a, int b) {
  const auto low = static_cast<std::uint32_t>(a < b ? a : b);
  const auto high = static_cast<std::uint32_t>(a < b ? b : a);
  return static_cast<std::uint64_t>(low) << 32 | high;
}

/// Uses of random numbers by the generators of process graphs. Each has a stream of its own, so that no two uses of one seed share
/// numbers.
enum class Stream : std::uint64_t { points = 1, cross, degree, switches, rewire, attach, geometric, published_cross };
/// Returns the number of the random stream of a use in the generation of process graphs; `part` (below 2^40) distinguishes several
/// streams of one use.
inline std::uint64_t stream(Stream use, std::uint64_t part = 0) { return static_cast<std::uint64_t>(use) << 40 | part; }

}  // namespace merganser::graphs::detail
