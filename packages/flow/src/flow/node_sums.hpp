#pragma once
/// Sums at nodes over the columns of cells around them, in an order that gives the same bits for any number of ranks.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/flow/nodes.hpp"
#include "src/flow/kernels.hpp"

namespace merganser::flow {

/// Exchange of partial sums at nodes with the two neighbouring blocks along x or y.
class AxisExchange {
 public:
  /// Creates the mailbox for partial sums to the neighbours below and above along x (axis 0) or y (1). Collective.
  AxisExchange(comm::Transport& transport, const Decomposition& decomposition, int axis);
  /// Sends the partial sums `up` to the neighbour above and `down` to the neighbour below. Called by every rank; communicates with
  /// these two only. Where one rank holds the whole axis, it receives its own. @throws CommError for a message of another length
  void exchange(std::span<const double> up, std::span<const double> down);
  /// Returns the partial sums that the neighbour below sent up; valid until the next exchange, as many as this rank sent up.
  [[nodiscard]] std::span<const double> from_below() const noexcept { return from_below_; }
  /// Returns the partial sums that the neighbour above sent down; valid until the next exchange, as many as this rank sent down.
  [[nodiscard]] std::span<const double> from_above() const noexcept { return from_above_; }

 private:
  bool alone_;
  std::size_t below_ = 0;  // arcs
  std::size_t above_ = 0;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::span<const double> from_below_;
  std::span<const double> from_above_;
};

/// Accumulator of parcel contributions at the nodes of a rank's block, column of cells by column of cells.
///
/// The parcels of a column of cells contribute to the 4 x 4 lines of nodes around it. Their sum there, the column's window, is
/// computed by one rank alone. At a line J of nodes the windows of the columns J-2 .. J+1 are added, first along y and then
/// along x, as
///
///     (c[J-2] + c[J-1]) + (c[J] + c[J+1])
///
/// Each bracket is a sum of two, which has the same bits in either order. So the two ranks that share a bracket each
/// contribute one summand, and the result does not depend on where the boundary between ranks lies.
class NodeSums {
 public:
  /// Allocates the sums at a rank's nodes. Collective. @param width  numbers per node: 1 or 5
  NodeSums(comm::Transport& transport, const Decomposition& decomposition, const NodeLayout& layout, std::size_t width);

  /// Returns the distances in nodes from one line of a window to the next.
  [[nodiscard]] Lines window_lines() const noexcept { return {4 * line_, line_}; }
  /// Begins sums with the first column of cells, also where others were left before finish().
  void begin() noexcept;
  /// Returns the window of the next column of cells, to add its parcels to, all zero: node k of line (di, dj), both -1 .. 2, has
  /// index ((di + 1) * 4 + dj + 1) * line + k + 1. Of five numbers per node the first four stand together, for all nodes of the
  /// window; behind these is the fifth of each. Columns go along y, then x.
  [[nodiscard]] double* open();
  /// Ends the column of cells that open() began: its window takes part in the sums at nodes.
  void close();
  /// Adds the contributions of neighbouring ranks to the sums at nodes. Called by every rank after its last column; communicates
  /// with neighbours only, in one wave along y and one along x.
  void finish();
  /// Computes the sums at nodes (i, j, -1) .. (i, j, cells + 1), one of the rank's own lines: the first four of five numbers for
  /// each of line_nodes() nodes, then the last. `to` is aligned to a cache line, with room for line_length() numbers.
  void sum_at_line(std::int64_t i, std::int64_t j, double* to) const;
  /// Returns the number of nodes in a line with those that fill it up, a multiple of 8.
  [[nodiscard]] std::size_t line_nodes() const noexcept { return line_; }
  /// Returns the number of doubles in a line of sums at nodes, a multiple of 8.
  [[nodiscard]] std::size_t line_length() const noexcept { return length_; }

 private:
  using Numbers = std::vector<double, AlignedAllocator<double>>;
  enum Bracket : std::size_t { low, high };
  /// Number of lines of nodes in y whose sum involves columns of two ranks: -1, 0, 1, n-1, n, n+1.
  static constexpr std::size_t kEdges = 6;

  [[nodiscard]] bool is_own(std::int64_t j) const noexcept { return j >= 0 && j < cells_y_; }
  /// Part of a line in a window: adjacent numbers of its nodes.
  struct Part {
    std::size_t width;  ///< numbers per node, of those in this part
    std::size_t first;  ///< number of a node's numbers in the parts before
  };
  [[nodiscard]] std::span<const Part> parts() const noexcept;
  [[nodiscard]] const double* window_line(const Part& part, std::int64_t j, std::int64_t di,
                                          std::int64_t dj) const noexcept;
  [[nodiscard]] std::size_t edge_index(std::int64_t j) const noexcept;
  [[nodiscard]] double* edge_line(Bracket bracket, std::size_t edge, std::int64_t i, std::int64_t di) noexcept;
  [[nodiscard]] double* plane_line(Bracket bracket, std::int64_t i, std::int64_t j) noexcept;
  void sum_line(std::int64_t j);
  void store_bracket(Bracket bracket, std::int64_t j, std::int64_t di);
  void finish_y();

  std::int64_t cells_x_;
  std::int64_t cells_y_;
  std::size_t width_;
  std::size_t line_;    // nodes
  std::size_t length_;  // numbers
  std::int64_t i_ = 0;  // column that is open
  std::int64_t j_ = 0;
  Numbers windows_;  // of four columns
  Numbers edges_;    // by bracket, edge, i, di
  Numbers planes_;   // by bracket, i, j
  AxisExchange along_x_;
  AxisExchange along_y_;
};

}  // namespace merganser::flow
