#pragma once
/// The published generator of process graphs, NEVE [koutsouheras2024], bit for bit: its random numbers, roundings,
/// radius and losses, whatever the C++ library. For comparison; graphs::generate_process_graph("rgg") is the one to use.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs {

/// What the published program's std::seed_seq{1} yields, for points in both modes.
inline constexpr std::uint32_t kPublishedSeed = 1967017404;

/// Which random numbers of the published program.
enum class PublishedNumbers : std::uint8_t {
  minstd,    ///< default: every strip holds the same points, shifted
  lcg,       ///< --lcg: one sequence over all ranks, its jumps spoiled by overflow of 64-bit integers
  lcg_exact  ///< the same sequence with correct jumps; no published program does that
};

/// Parameters of the published program.
struct PublishedOptions {
  int ranks = 16;
  std::int64_t vertices = 4096;  ///< per rank
  PublishedNumbers numbers = PublishedNumbers::minstd;
  double cross = 0;         ///< percent of cross edges
  std::uint64_t seed = 42;  ///< of the cross edges only, which the published program seeds by time and process id
};

/// A process graph of the published program, and what it counts.
struct PublishedGraph {
  graphs::ProcessGraph graph;     ///< all weights 1
  std::int64_t edges = 0;         ///< between vertices, undirected, without cross edges
  std::int64_t percent_base = 0;  ///< half of each rank's list of edges, rounded down, summed: what percents are of
  std::int64_t lost_pairs = 0;    ///< pairs across strips within the radius, left out for equal local indices
  std::int64_t tries = 0;         ///< cross edges asked for
  std::int64_t added = 0;         ///< cross edges that were no duplicates: "Adding extra ..."
  double radius = 0;
};

/// Makes a graph as the published program does. Local.
/// @throws UsageError for options out of range, for strips no higher than the radius (the published program ends
/// there), and with lcg for a number of ranks that is no power of two (it fails there)
/// Cost: linear in vertices and edges, where the published program compares all pairs.
[[nodiscard]] PublishedGraph generate_published(const PublishedOptions& options);

/// The graphs with each of `percents` of cross edges instead of options.cross; the vertices are gone through once.
[[nodiscard]] std::vector<PublishedGraph> generate_published(const PublishedOptions& options,
                                                             std::span<const double> percents);

/// Number of arcs to expect where edges are drawn at random.
struct ExpectedArcs {
  double mean = 0;
  double deviation = 0;
};
/// Arcs of a process graph that is a chain before `tries` cross edges between ranks taken at random: the mean is
/// p (p - 1) - (p - 1) (p - 2) exp(-2 tries / p^2).
[[nodiscard]] ExpectedArcs expected_arcs(int ranks, std::int64_t tries);

}  // namespace merganser::graphs
