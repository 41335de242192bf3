#pragma once
/// Table 2 of [koutsouheras2024]: arcs of the process graphs of 16 to 1,024 processes, without cross edges and with 2 %
/// and 5 %.
#include <cstdint>
#include <vector>

#include "merganser/graphs/neve_generator.hpp"

namespace merganser::studies {

/// One number of arcs: as published, made here, and expected.
struct Table2Cell {
  int percent = 0;             ///< cross edges: 0, 2 or 5
  std::int64_t published = 0;  ///< the table's entry
  std::int64_t ours = 0;       ///< by graphs::generate_published()
  std::int64_t tries = 0;      ///< cross edges asked for
  graphs::ExpectedArcs expected;
  bool random = false;  ///< may differ from seed to seed
  /// Ours, in deviations from the mean; where fewer than ten edges are missing on average, the score of a normal
  /// distribution with the tail of the Poisson distribution; where not random, 0 if right.
  double z = 0;
  double published_z = 0;  ///< the published entry likewise
  std::int64_t correct =
      0;  ///< by graphs::generate_process_graph("rgg"), which loses no pairs and adds all cross edges
  double correct_z = 0;
  bool ok = false;  ///< no score beyond 4
};

/// The row of one number of processes.
struct Table2Row {
  int ranks = 0;
  std::int64_t known_edges = 0;    ///< vertex edges that the published program counts
  std::int64_t edges = 0;          ///< by graphs::generate_published()
  std::int64_t correct_edges = 0;  ///< by graphs::generate_process_graph("rgg")
  std::vector<Table2Cell> cells;   ///< 0, 2 and 5 %
  /// True if all cells are, and the counts of edges are those published.
  [[nodiscard]] bool ok() const;
};

/// Makes all graphs of the table, 4,096 vertices a rank, and compares. Local. Takes some seconds.
/// @param seed  of the cross edges, and of the correct graphs
/// @param most_ranks  rows of more ranks are left out
[[nodiscard]] std::vector<Table2Row> check_table2(std::uint64_t seed, int most_ranks = 1024);

}  // namespace merganser::studies
