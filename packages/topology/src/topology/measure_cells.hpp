#pragma once
/// Configurations of the benchmark (here called cells), and the exchanges that they share; private to measure().
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/topology/measure.hpp"

namespace merganser::topology::detail {

/// One configuration: indices into the options, and its slot.
struct Cell {
  std::size_t graph = 0;
  std::size_t kernel = 0;
  std::size_t slot = 0;
  MessageSize size;
  bool usable = true;
};

/// One exchange object: a kernel on a graph, with capacity for the configurations of one class of sizes.
struct Slot {
  std::size_t graph = 0;
  std::size_t kernel = 0;
  std::size_t buffers = 1;
  bool kept = false;               ///< true: created once; false: created for its turn
  std::vector<std::size_t> cells;  ///< indices of configurations, ascending by size
};

/// All configurations and slots; equal on every rank.
struct Cells {
  std::vector<Cell> cells;  ///< by graph, kernel, size
  std::vector<Slot> slots;
  std::vector<UnusableCell> unusable;
  /// Marks a configuration as unusable. Every rank must do the same.
  void mark_unusable(std::size_t cell, const MeasureOptions& options, const std::string& reason);
};

/// Makes the configurations of all usable kernels, without those that need more memory than allowed. Local; the same on every
/// rank. @throws UsageError for options that contradict each other
[[nodiscard]] Cells make_cells(const MeasureOptions& options, const std::vector<std::string>& kernels);

/// Bytes along the arcs of one rank: out in the order of its row of the graph, in as in the local graph.
struct ArcBytes {
  std::vector<std::size_t> out;
  std::vector<std::size_t> in;
};
/// Returns the bytes of the messages of one iteration along the arcs of `rank`. Local.
[[nodiscard]] ArcBytes arc_bytes(const graphs::ProcessGraph& graph, const comm::Graph& local, int rank,
                                 MessageSize size);

/// Returns the bytes of all messages of one iteration of an exchange, over all ranks.
[[nodiscard]] std::int64_t total_bytes(const graphs::ProcessGraph& graph, MessageSize size);

}  // namespace merganser::topology::detail
