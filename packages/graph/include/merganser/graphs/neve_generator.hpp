#pragma once
/// The published generator of process graphs, NEVE [koutsouheras2024], bit for bit: its random numbers, roundings,
/// radius and losses, whatever the C++ library. For comparison only; use graphs::generate_process_graph("rgg") otherwise.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs {

/// Seed of the points in both modes: the number that the published program's std::seed_seq{1} yields.
inline constexpr std::uint32_t kPublishedSeed = 1967017404;

/// Random number generators of the published program NEVE, which place the vertices of its process graphs.
enum class PublishedNumbers : std::uint8_t {
  minstd,    ///< its default: every strip holds the same points, shifted
  lcg,       ///< its option --lcg: one sequence over all ranks, with jumps made wrong by overflow of 64-bit integers
  lcg_exact  ///< the sequence of --lcg with correct jumps; no published program does that
};

/// Parameters of generate_published(), the generator of NEVE's process graphs.
struct PublishedOptions {
  int ranks = 16;                                       ///< number of ranks of the process graph, from 1
  std::int64_t vertices = 4096;                         ///< vertices per rank
  PublishedNumbers numbers = PublishedNumbers::minstd;  ///< random number generator of the vertices
  double cross = 0;         ///< cross edges in percent of PublishedGraph::percent_base, from 0
  std::uint64_t seed = 42;  ///< seed of the cross edges only, which the published program seeds by time and process id
};

/// Process graph of the published program NEVE, filled by generate_published(), with the counts that the program prints.
struct PublishedGraph {
  graphs::ProcessGraph graph;  ///< process graph; all weights are 1
  std::int64_t edges = 0;      ///< undirected edges between vertices, without cross edges
  std::int64_t percent_base =
      0;  ///< the number percents refer to: half of each rank's list of edges, rounded down, summed
  std::int64_t lost_pairs = 0;  ///< pairs across strips within the radius, left out for equal local indices
  std::int64_t tries = 0;       ///< cross edges drawn
  std::int64_t added = 0;       ///< cross edges that were no duplicates; printed as "Adding extra ..."
  double radius = 0;            ///< largest distance of neighbours in the unit square
};

/// Generates the process graph that the published program NEVE generates. Local.
/// @throws UsageError for options out of range, for strips no higher than the radius (the published program ends
/// there), and with lcg for a number of ranks that is no power of two (it fails there)
/// Cost: linear in vertices and edges, where the published program compares all pairs.
[[nodiscard]] PublishedGraph generate_published(const PublishedOptions& options);

/// Generates one process graph of the published program for each of `percents` of cross edges, which replace options.cross;
/// the vertices are generated and searched once. Local.
/// @throws UsageError for a negative or infinite percentage, and as generate_published() with one
[[nodiscard]] std::vector<PublishedGraph> generate_published(const PublishedOptions& options,
                                                             std::span<const double> percents);

/// Distribution of the number of arcs of a process graph whose cross edges are drawn at random; filled by expected_arcs().
struct ExpectedArcs {
  double mean = 0;       ///< expected number of arcs
  double deviation = 0;  ///< standard deviation of the number of arcs
};
/// Returns the expected number of arcs, and its deviation, of a chain of p = `ranks` ranks to which `tries` cross edges
/// between ranks drawn at random are added: the mean is p (p - 1) - (p - 1) (p - 2) exp(-2 tries / p^2).
[[nodiscard]] ExpectedArcs expected_arcs(int ranks, std::int64_t tries);

}  // namespace merganser::graphs
