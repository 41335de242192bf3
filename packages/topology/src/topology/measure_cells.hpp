#pragma once
/// What is to be measured, cut into cells, and the exchanges that serve them.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/topology/measure.hpp"

namespace merganser::topology::detail {

struct Cell {
  std::size_t graph = 0;
  std::size_t kernel = 0;
  std::size_t slot = 0;
  MessageSize size;
  bool usable = true;
};

/// One exchange: a kernel on a graph, with capacity for the cells of one class of sizes.
struct Slot {
  std::size_t graph = 0;
  std::size_t kernel = 0;
  std::size_t buffers = 1;
  bool kept = false;               ///< made once; else when it is its turn
  std::vector<std::size_t> cells;  ///< by size
};

struct Cells {
  std::vector<Cell> cells;  ///< by graph, kernel, size
  std::vector<Slot> slots;
  std::vector<UnusableCell> unusable;
  /// Takes a cell out. Every rank does the same.
  void give_up(std::size_t cell, const MeasureOptions& options, const std::string& reason);
};

/// Cells of all kernels, without those that need more memory than allowed. Local; the same on every rank.
[[nodiscard]] Cells make_cells(const MeasureOptions& options, const std::vector<std::string>& kernels);

/// Bytes per arc on one rank: of its row, and of the arcs that come to it from in.
struct ArcBytes {
  std::vector<std::size_t> out;
  std::vector<std::size_t> in;
};
[[nodiscard]] ArcBytes arc_bytes(const graphs::ProcessGraph& graph, const comm::Graph& local, int rank,
                                 MessageSize size);

/// Bytes of one exchange, all ranks.
[[nodiscard]] std::int64_t total_bytes(const graphs::ProcessGraph& graph, MessageSize size);

}  // namespace merganser::topology::detail
