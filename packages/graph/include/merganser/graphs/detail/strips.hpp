#pragma once
/// Fixed-radius neighbour search among points in horizontal strips of the unit square, strip by strip: memory for a few
/// strips, time linear in the points and pairs. The generators of random geometric process graphs use it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::graphs::detail {

/// Returns the radius of the random geometric graph of [neve] on `vertices` points of the unit square.
inline double published_radius(std::int64_t vertices) {
  const auto n = static_cast<double>(vertices);
  const double rc = std::sqrt(std::log(n) / (3.14159 * n));
  const double rt = std::sqrt(2.0736 / n);
  return (rc + rt) / 2.0;
}

/// Returns the largest s with sqrt(s) <= r, so that comparing squares with s decides as comparing roots with r does.
inline double largest_square(double r) {
  double s = r * r;
  const double infinity = std::numeric_limits<double>::infinity();
  while (std::sqrt(s) > r) s = std::nextafter(s, 0.0);
  while (std::sqrt(std::nextafter(s, infinity)) <= r) s = std::nextafter(s, infinity);
  return s;
}

/// Vertex of a random geometric graph in strips: the number of its strip, and its index among the strip's points.
struct StripVertex {
  int strip;
  std::uint32_t index;
};

/// Fixed-radius neighbour search over strips of the unit square. Each strip has a grid of cells, at least the radius wide; only the
/// strips that a pair can reach back to are kept, in a ring buffer.
class Strips {
 public:
  /// Creates a search in which strip s holds `per_strip` points with x in [0, 1) and y in [s / strips, (s + 1) / strips]; pairs up
  /// to `radius` are found.
  Strips(int strips, std::int64_t per_strip, double radius)
      : strips_(strips), per_strip_(static_cast<std::size_t>(per_strip)), square_(largest_square(radius)) {
    // Cells are a little larger than the radius: a coordinate that was rounded across the border of a cell still has all
    // its neighbours in the adjacent cells.
    const double cell = radius * (1 + 1e-9);
    const double most = static_cast<double>(per_strip) * static_cast<double>(strips);
    columns_ = static_cast<int>(std::clamp(std::floor(1 / cell), 1.0, std::min(most, 1e9)));
    rows_ = static_cast<int>(std::clamp(std::floor(1 / (cell * strips)), 1.0, std::min(most, 1e9)));
    // Strips lower than a cell have one row of cells each, and a pair may lie several strips apart. Otherwise a pair lies
    // in adjacent rows, hence in one strip or in two adjacent ones.
    const double reach = rows_ > 1 || cell * strips <= 1 ? 1 : std::floor(cell * strips) + 1;
    reach_ = static_cast<int>(std::min(reach, static_cast<double>(strips)));
    const int kept = rows_ > 1 ? 2 : reach_ + 1;
    window_.resize(static_cast<std::size_t>(std::min(kept, strips)));
  }

  /// Returns the largest distance, in strips, of the strips of two points at most the radius apart.
  [[nodiscard]] int reach() const { return rows_ > 1 ? 1 : reach_; }

  /// Calls fill(strip, x, y) for every strip in turn, which sets the coordinates of its points, and use(a, b) once for every
  /// pair of points (StripVertex) at most the radius apart; b is in the strip of a or in an earlier one.
  template <class Fill, class Use>
  void for_each_pair(Fill&& fill, Use&& use) {
    std::vector<double> x(per_strip_), y(per_strip_);
    for (int s = 0; s < strips_; ++s) {
      fill(s, x, y);
      sort(s, x, y);
      for (int row = 0; row < rows_; ++row) {
        visit_row(strip(s), row, use);
        for (int back = 1; back <= reach_; ++back) {
          const int other = row - back;  // of this strip, or of one before
          if (other >= 0) {
            visit_rows(strip(s), row, strip(s), other, use);
          } else if (const int before = s - (rows_ > 1 ? 1 : back); before >= 0) {
            visit_rows(strip(s), row, strip(before), rows_ > 1 ? rows_ + other : 0, use);
          }
        }
      }
    }
  }

 private:
  /// Points of a strip of the unit square, sorted by row and column of cells.
  struct Sorted {
    int strip = 0;
    std::vector<double> x, y;
    std::vector<std::uint32_t> index;
    std::vector<std::uint32_t>
        start;  ///< position of the first point of cell row * columns + column; cells + 1 entries
  };
  /// Returns the entry of the ring buffer for strip s.
  [[nodiscard]] Sorted& strip(int s) { return window_[static_cast<std::size_t>(s) % window_.size()]; }

  /// Sorts the points of strip s by cell into its entry of the ring buffer: a counting sort, stable within a cell.
  void sort(int s, const std::vector<double>& x, const std::vector<double>& y) {
    Sorted& to = strip(s);
    to.strip = s;
    const auto cells = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_);
    to.start.assign(cells + 1, 0);
    cell_.resize(per_strip_);
    const double base = static_cast<double>(s) / strips_, scale = static_cast<double>(strips_) * rows_;
    for (std::size_t i = 0; i < per_strip_; ++i) {
      const int column = std::clamp(static_cast<int>(x[i] * columns_), 0, columns_ - 1);
      const int row = std::clamp(static_cast<int>((y[i] - base) * scale), 0, rows_ - 1);
      cell_[i] =
          static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(columns_) + static_cast<std::uint32_t>(column);
      ++to.start[cell_[i] + 1];
    }
    for (std::size_t c = 0; c < cells; ++c) to.start[c + 1] += to.start[c];
    to.x.resize(per_strip_);
    to.y.resize(per_strip_);
    to.index.resize(per_strip_);
    for (std::size_t i = per_strip_; i-- > 0;) {  // from the end of each cell to its beginning
      const std::uint32_t at = --to.start[cell_[i] + 1];
      to.x[at] = x[i];
      to.y[at] = y[i];
      to.index[at] = static_cast<std::uint32_t>(i);
    }
    // start[c + 1] is now the beginning of cell c.
    for (std::size_t c = 0; c < cells; ++c) to.start[c] = to.start[c + 1];
    to.start[cells] = static_cast<std::uint32_t>(per_strip_);
  }

  /// Returns the position of the first point of a cell in a sorted strip; `column` is clamped to [0, columns], so that columns
  /// beside the grid are empty and the end of a row is the beginning of the next.
  [[nodiscard]] std::uint32_t cell_begin(const Sorted& s, int row, int column) const {
    return s.start[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                   static_cast<std::size_t>(std::clamp(column, 0, columns_))];
  }

  /// Visits the pairs of point i of `a` with the points first .. last - 1 of `b` that are at most the radius apart.
  template <class Use>
  void visit_close(const Sorted& a, std::uint32_t i, const Sorted& b, std::uint32_t first, std::uint32_t last,
                   Use& use) const {
    const double x = a.x[i], y = a.y[i];
    for (std::uint32_t j = first; j < last; ++j) {
      const double dx = x - b.x[j], dy = y - b.y[j];
      if (dx * dx + dy * dy <= square_) use(StripVertex{a.strip, a.index[i]}, StripVertex{b.strip, b.index[j]});
    }
  }

  /// Visits the pairs at most the radius apart within one row of cells of a strip, each once: a point with the later ones of its
  /// cell and of the next cell.
  template <class Use>
  void visit_row(const Sorted& s, int row, Use& use) const {
    for (int column = 0; column < columns_; ++column) {
      const std::uint32_t last = cell_begin(s, row, column + 2), end = cell_begin(s, row, column + 1);
      for (std::uint32_t i = cell_begin(s, row, column); i < end; ++i) visit_close(s, i, s, i + 1, last, use);
    }
  }

  /// Visits the pairs at most the radius apart of two different rows of cells: a point of the one with three adjacent cells of the
  /// other.
  template <class Use>
  void visit_rows(const Sorted& a, int row_a, const Sorted& b, int row_b, Use& use) const {
    for (int column = 0; column < columns_; ++column) {
      const std::uint32_t first = cell_begin(b, row_b, column - 1), last = cell_begin(b, row_b, column + 2);
      const std::uint32_t end = cell_begin(a, row_a, column + 1);
      for (std::uint32_t i = cell_begin(a, row_a, column); i < end; ++i) visit_close(a, i, b, first, last, use);
    }
  }

  int strips_;
  std::size_t per_strip_;
  double square_;  ///< square of the radius, see largest_square()
  int columns_ = 1;
  int rows_ = 1;                ///< rows of cells per strip
  int reach_ = 1;               ///< largest distance of the rows of a pair; equal to strips where a strip has one row
  std::vector<Sorted> window_;  ///< ring buffer: strip s is entry s modulo its length
  std::vector<std::uint32_t> cell_;  ///< scratch of sort(): cell of each point
};

}  // namespace merganser::graphs::detail
