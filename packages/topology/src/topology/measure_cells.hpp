#pragma once
/// Configurations of the benchmark of exchanges (here called cells), and the exchange objects that they share; private to
/// measure().
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/topology/measure.hpp"

namespace merganser::topology::detail {

/// One configuration of the benchmark: a kernel on a process graph with one message size. Made by make_cells().
struct Cell {
  std::size_t graph = 0;   ///< index into MeasureOptions::graphs
  std::size_t kernel = 0;  ///< index into MeasureOptions::kernels
  std::size_t slot = 0;    ///< index of the slot whose exchange object it uses
  MessageSize size;        ///< length of the messages
  bool usable = true;      ///< false: it cannot be measured, the reason is in Cells::unusable
};

/// Description of one exchange object of the benchmark: a kernel on a process graph, with capacity for the configurations of one
/// class of message sizes.
struct Slot {
  std::size_t graph = 0;           ///< index into MeasureOptions::graphs
  std::size_t kernel = 0;          ///< index into MeasureOptions::kernels
  std::size_t buffers = 1;         ///< sets of message buffers that take turns
  bool kept = false;               ///< true: exists from beginning to end; false: created for its rounds only
  std::vector<std::size_t> cells;  ///< indices of configurations, ascending by size
};

/// All configurations of the benchmark and the exchange objects that they share; equal on every rank. Made by make_cells().
struct Cells {
  std::vector<Cell> cells;  ///< by graph, kernel, size
  std::vector<Slot> slots;
  std::vector<UnusableCell> unusable;  ///< kernels and configurations that cannot be measured, with reasons
  /// Takes a configuration out of the benchmark, and notes the reason for the report. Every rank must do the same.
  void mark_unusable(std::size_t cell, const MeasureOptions& options, const std::string& reason);
};

/// Makes the configurations of the benchmark from all usable kernels; those that need more memory for buffers than allowed are
/// marked as unusable. Local; the same on every rank. @throws UsageError for options that contradict each other
[[nodiscard]] Cells make_cells(const MeasureOptions& options, const std::vector<std::string>& kernels);

/// Lengths of the messages of one iteration along the arcs of one rank, bytes; filled by arc_bytes().
struct ArcBytes {
  std::vector<std::size_t> out;  ///< sent, in the order of the rank's row of the process graph
  std::vector<std::size_t> in;   ///< received, in the order of the in-neighbours of the local graph
};
/// Returns the bytes of the messages of one iteration along the arcs of `rank`. Local.
[[nodiscard]] ArcBytes arc_bytes(const graphs::ProcessGraph& graph, const comm::Graph& local, int rank,
                                 MessageSize size);

/// Returns the bytes of all messages of one iteration of an exchange, over all ranks.
[[nodiscard]] std::int64_t total_bytes(const graphs::ProcessGraph& graph, MessageSize size);

}  // namespace merganser::topology::detail
