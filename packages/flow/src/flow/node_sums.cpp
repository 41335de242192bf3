// Sums of parcel contributions at nodes, bracket by bracket, across the boundaries between ranks; the order of additions does not
// depend on the number of ranks.
#include "src/flow/node_sums.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::flow {

// Exchange of partial sums between blocks along one axis, to both neighbours.
AxisExchange::AxisExchange(comm::Transport& transport, const Decomposition& decomposition, int axis)
    : alone_(decomposition.shape()[static_cast<std::size_t>(axis)] == 1) {
  if (alone_) return;
  const auto a = static_cast<std::size_t>(axis);
  const int parts = decomposition.shape()[a];
  std::array<int, 3> at = decomposition.coordinates(transport.rank());
  const auto rank_at = [&](int step) {
    std::array<int, 3> to = at;
    to[a] = (at[a] + step + parts) % parts;
    return decomposition.rank_at(to);
  };
  std::vector<int> neighbours{rank_at(-1)};
  if (rank_at(1) != neighbours[0]) neighbours.push_back(rank_at(1));
  above_ = neighbours.size() - 1;
  mailbox_ = transport.mailbox(comm::Graph::symmetric(neighbours));
}

// Exchange of the partial sums at nodes that blocks share along one axis.
void AxisExchange::exchange(std::span<const double> up, std::span<const double> down) {
  from_below_ = up;
  from_above_ = down;
  if (alone_) return;
  mailbox_->post_all(above_, up);  // with two ranks along the axis both messages share one arc, in this order
  mailbox_->post_all(below_, down);
  mailbox_->step();
  std::span<const double> below = mailbox_->records<double>(below_);
  std::span<const double> above = mailbox_->records<double>(above_);
  const std::size_t wanted = below_ == above_ ? up.size() + down.size() : up.size();
  if (below.size() != wanted || (below_ != above_ && above.size() != down.size()))
    throw CommError("sums of " + std::to_string(below.size()) + " numbers came from the block below, " +
                    std::to_string(above.size()) + " from the one above; awaited: " + std::to_string(wanted) + ", " +
                    std::to_string(down.size()));
  from_below_ = below.first(up.size());
  from_above_ = above.last(down.size());
}

// Memory of sums at nodes: the windows of four columns, lines at the edges of the block, and planes of partial sums.
NodeSums::NodeSums(comm::Transport& transport, const Decomposition& decomposition, const NodeLayout& layout,
                   std::size_t width)
    : cells_x_(layout.cells(0)),
      cells_y_(layout.cells(1)),
      width_(width),
      // Whole cache lines; an odd number of them, so that the lines of a window are in different sets of the cache.
      line_(((static_cast<std::size_t>(layout.cells(2)) + 10) / 8 | 1) * 8),
      length_(line_ * width),
      windows_(4 * 16 * length_),
      edges_(2 * kEdges * static_cast<std::size_t>(cells_x_) * 4 * length_),
      planes_(2 * static_cast<std::size_t>((cells_x_ + 3) * cells_y_) * length_),
      along_x_(transport, decomposition, 0),
      along_y_(transport, decomposition, 1) {}

void NodeSums::begin() noexcept { i_ = j_ = 0; }

// Begin of a column of cells, whose parcels are then summed into its window.
double* NodeSums::open() {
  double* const window = windows_.data() + static_cast<std::size_t>(j_ % 4) * 16 * length_;
  std::fill_n(window, 16 * length_, 0.0);
  return window;
}

/// Returns the parts that a line in a window has: one, or one of four numbers per node and one of the fifth.
std::span<const NodeSums::Part> NodeSums::parts() const noexcept {
  static constexpr Part of_five[2] = {{4, 0}, {1, 4}};
  static constexpr Part of_one[1] = {{1, 0}};
  if (width_ == 5) return of_five;
  return of_one;
}

/// Returns a part of line (di, dj) of the window of column j of the current row of columns; the windows of the last four columns are
/// kept.
const double* NodeSums::window_line(const Part& part, std::int64_t j, std::int64_t di, std::int64_t dj) const noexcept {
  const auto line = static_cast<std::size_t>((di + 1) * 4 + dj + 1);
  const double* const window = windows_.data() + static_cast<std::size_t>(j % 4) * 16 * length_;
  return window + (16 * part.first + line * part.width) * line_;
}

/// Returns the index, among kEdges, of a line of nodes in y at the block's edge, whose sum involves columns of two ranks.
std::size_t NodeSums::edge_index(std::int64_t j) const noexcept {
  if (j < 2) return static_cast<std::size_t>(j + 1);
  return static_cast<std::size_t>(j - cells_y_ + 4);
}

/// Returns the partial sum of one bracket at an edge line of the block in y, line di of the windows of row i of columns.
double* NodeSums::edge_line(Bracket bracket, std::size_t edge, std::int64_t i, std::int64_t di) noexcept {
  const std::size_t row = (bracket * kEdges + edge) * static_cast<std::size_t>(cells_x_) + static_cast<std::size_t>(i);
  return edges_.data() + (row * 4 + static_cast<std::size_t>(di + 1)) * length_;
}

/// Returns the sum along y of one bracket in x at line (i, j) of nodes.
double* NodeSums::plane_line(Bracket bracket, std::int64_t i, std::int64_t j) noexcept {
  const std::size_t plane = bracket * static_cast<std::size_t>(cells_x_ + 3) + static_cast<std::size_t>(i + 1);
  return planes_.data() + (plane * static_cast<std::size_t>(cells_y_) + static_cast<std::size_t>(j)) * length_;
}

/// Sums the windows of columns along y at line j of nodes, in the row of columns that is open: completely if this rank has all
/// four columns, else bracket by bracket. Windows of the columns j - 2 .. j + 1 are still there, since four are kept.
void NodeSums::sum_line(std::int64_t j) {
  for (std::int64_t di = -1; di <= 2; ++di) {
    if (is_own(j - 2) && is_own(j + 1)) {
      double* const to = plane_line(di > 0 ? low : high, i_ + di, j);
      for (const Part& part : parts()) {
        const double* const from[4] = {window_line(part, j - 2, di, 2), window_line(part, j - 1, di, 1),
                                       window_line(part, j, di, 0), window_line(part, j + 1, di, -1)};
        sum_four(from, part.width * line_, to + part.first * line_, (di == 1 || di == -1) && i_ > 0);
      }
    } else {
      store_bracket(low, j, di);
      store_bracket(high, j, di);
    }
  }
}

/// Stores this rank's summands of one bracket of the sum along y at a line of nodes on the edge of its block.
void NodeSums::store_bracket(Bracket bracket, std::int64_t j, std::int64_t di) {
  const std::int64_t first = bracket == low ? j - 2 : j;  // columns; lines 2, 1 or 0, -1 of their windows
  const std::int64_t second = first + 1;
  if (!is_own(first) && !is_own(second)) return;
  for (const Part& part : parts()) {
    double* const to = edge_line(bracket, edge_index(j), i_, di) + part.first * line_;
    const std::size_t length = part.width * line_;
    if (is_own(first) && is_own(second)) {
      sum_two(window_line(part, first, di, j - first), window_line(part, second, di, j - second), length, to, false);
    } else {
      const std::int64_t one = is_own(first) ? first : second;
      std::copy_n(window_line(part, one, di, j - one), length, to);
    }
  }
}

// End of a column: the line of nodes that now has all four columns is summed.
void NodeSums::close() {
  sum_line(j_ - 1);
  if (++j_ < cells_y_) return;
  for (std::int64_t j = cells_y_ - 1; j <= cells_y_ + 1; ++j) sum_line(j);
  j_ = 0;
  ++i_;
}

/// Exchanges the brackets of sums at nodes with the neighbours along y, and sums the lines at the edges of the block. Lines n and
/// n + 1 of a block of n cells are lines 0 and 1 of the block above, line -1 is the last of the block below: low brackets of the
/// former are sent up, high brackets of the latter down.
void NodeSums::finish_y() {
  const std::size_t block = static_cast<std::size_t>(cells_x_) * 4 * length_;
  const std::size_t last = edge_index(cells_y_ - 1);
  along_y_.exchange({edge_line(low, 4, 0, -1), 2 * block}, {edge_line(high, 0, 0, -1), block});
  std::copy_n(along_y_.from_below().data(), block, edge_line(low, 1, 0, -1));
  add_line(along_y_.from_below().data() + block, block, edge_line(low, 2, 0, -1));
  add_line(along_y_.from_above().data(), block, edge_line(high, last, 0, -1));
  const auto sum = [&](std::int64_t j) {
    for (std::int64_t i = 0; i < cells_x_; ++i)
      for (std::int64_t di = -1; di <= 2; ++di)
        sum_two(edge_line(low, edge_index(j), i, di), edge_line(high, edge_index(j), i, di), length_,
                plane_line(di > 0 ? low : high, i + di, j), (di == 1 || di == -1) && i > 0);
  };
  sum(0);
  sum(1);
  if (cells_y_ > 2) sum(cells_y_ - 1);
}

// Exchange of the brackets that two ranks share, along y, then along x.
void NodeSums::finish() {
  finish_y();
  const std::size_t plane = static_cast<std::size_t>(cells_y_) * length_;
  along_x_.exchange({plane_line(low, cells_x_, 0), 2 * plane}, {plane_line(high, -1, 0), plane});
  std::copy_n(along_x_.from_below().data(), plane, plane_line(low, 0, 0));
  add_line(along_x_.from_below().data() + plane, plane, plane_line(low, 1, 0));
  add_line(along_x_.from_above().data(), plane, plane_line(high, cells_x_ - 1, 0));
}

// Final sum along x at one line of nodes.
void NodeSums::sum_at_line(std::int64_t i, std::int64_t j, double* to) const {
  const std::size_t row =
      (static_cast<std::size_t>(i + 1) * static_cast<std::size_t>(cells_y_) + static_cast<std::size_t>(j)) * length_;
  const std::size_t above = static_cast<std::size_t>((cells_x_ + 3) * cells_y_) * length_;
  sum_two(planes_.data() + row, planes_.data() + above + row, length_, to, false);
}

}  // namespace merganser::flow
