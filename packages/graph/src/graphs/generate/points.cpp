// Random geometric graphs, generated without communication. Points are distributed to cells at least as wide as the radius, in
// Morton order, by recursive halving: the number of points in the lower half of a region is a sum of random bits that depend
// on the region alone, so every rank can compute the points of any cell.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "merganser/base/random.hpp"
#include "src/graphs/generate/spec.hpp"

namespace merganser::graphs::detail {
namespace {

/// Returns the probability that two uniformly distributed points of the unit square or cube are nearer than r <= 1.
double share_within(double r, int dimension) {
  constexpr double pi = std::numbers::pi;
  const double r2 = r * r;
  if (dimension == 2) return r2 * (pi - 8.0 / 3 * r + r2 / 2);
  return r2 * r * (4.0 / 3 * pi - 3.0 / 2 * pi * r + 8.0 / 5 * r2 - r2 * r / 6);
}

using CellCoordinates =
    std::array<std::uint32_t, 3>;  ///< integer coordinates of a grid cell of a random geometric graph

/// Cell of the grid of a random geometric graph and its points, whose ids are consecutive.
struct GridCell {
  std::uint64_t code;     ///< Morton code of the cell
  std::uint64_t first;    ///< id of its first point
  std::uint64_t count;    ///< number of its points
  std::size_t start = 0;  ///< position of its points in RankPatch::points
};

/// Grid of cells of a random geometric graph, 2^level along each axis, and the random distribution of points to the
/// cells.
class CellGrid {
 public:
  /// Chooses the finest grid whose cells are at least as wide as the radius, of at most about two cells per point.
  CellGrid(const Spec& spec, double radius, std::uint64_t seed)
      : dimension_(spec.dimension),
        points_(spec.vertices),
        key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {
    const int most = static_cast<int>(std::bit_width(spec.vertices)) / dimension_;
    while (level_ < most && std::ldexp(1.0, -(level_ + 1)) >= radius) ++level_;
  }
  /// Returns the number of cells of the whole grid of a random geometric graph.
  [[nodiscard]] std::uint64_t size() const { return std::uint64_t{1} << (level_ * dimension_); }
  /// Returns the dimension of the points: 2 or 3.
  [[nodiscard]] int dimension() const { return dimension_; }

  /// Returns the integer coordinates of the grid cell with a Morton code.
  [[nodiscard]] CellCoordinates place(std::uint64_t code) const {
    CellCoordinates p{};
    for (int bit = 0; bit < level_ * dimension_; ++bit)
      p[static_cast<std::size_t>(bit % dimension_)] |= static_cast<std::uint32_t>(code >> bit & 1)
                                                       << (bit / dimension_);
    return p;
  }
  /// Sets `codes` to the Morton codes of the cells adjacent to cell `code` that are greater than `code`, ascending: so every pair
  /// of adjacent cells is found once.
  void following_neighbours(std::uint64_t code, std::vector<std::uint64_t>& codes) const {
    codes.clear();
    const CellCoordinates p = place(code);
    const std::int64_t end = std::int64_t{1} << level_;
    const auto near = [end](std::uint32_t at) {
      const auto i = static_cast<std::int64_t>(at);
      return std::array<std::int64_t, 2>{std::max<std::int64_t>(i - 1, 0), std::min(i + 2, end)};
    };
    const auto x = near(p[0]), y = near(p[1]);
    const auto z = dimension_ == 3 ? near(p[2]) : std::array<std::int64_t, 2>{0, 1};
    for (std::int64_t i = x[0]; i < x[1]; ++i)
      for (std::int64_t j = y[0]; j < y[1]; ++j)
        for (std::int64_t k = z[0]; k < z[1]; ++k) {
          const std::uint64_t other = morton_code(
              {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(k)});
          if (other > code) codes.push_back(other);
        }
    std::sort(codes.begin(), codes.end());
  }

  /// Returns the grid cells of a list of Morton codes with the ids of their points, computed without communication.
  /// @param codes  ascending
  [[nodiscard]] std::vector<GridCell> find_cells(const std::vector<std::uint64_t>& codes) const {
    std::vector<GridCell> cells;
    cells.reserve(codes.size());
    descend({1, 0, points_}, codes, cells);
    return cells;
  }

  /// Returns the coordinates of point `id` in the cell at `p`: random numbers of the id, scaled to the cell; z is 0 in the plane.
  [[nodiscard]] std::array<double, 3> point(std::uint64_t id, const CellCoordinates& p) const {
    const auto r =
        philox({static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32), 0, kPointStream}, key_);
    // 40 bits per axis.
    const std::array<std::uint64_t, 3> bits{r[0] | static_cast<std::uint64_t>(r[3] & 0xff) << 32,
                                            r[1] | static_cast<std::uint64_t>(r[3] >> 8 & 0xff) << 32,
                                            r[2] | static_cast<std::uint64_t>(r[3] >> 16 & 0xff) << 32};
    const double side = std::ldexp(1.0, -level_);
    std::array<double, 3> x{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension_); ++axis)
      x[axis] = (p[axis] + static_cast<double>(bits[axis]) * 0x1p-40) * side;
    return x;
  }

 private:
  /// Node of the recursive halving of the grid: a region, and the points that the random distribution puts into it.
  struct Region {
    std::uint64_t node;   ///< number in a binary tree: 1 is the whole grid, 2 k and 2 k + 1 the halves of k
    std::uint64_t first;  ///< id of the first point
    std::uint64_t count;  ///< number of points
  };

  /// Returns the Morton code of the grid cell at given integer coordinates.
  [[nodiscard]] std::uint64_t morton_code(const CellCoordinates& p) const {
    std::uint64_t code = 0;
    for (int bit = 0; bit < level_ * dimension_; ++bit)
      code |= std::uint64_t{p[static_cast<std::size_t>(bit % dimension_)] >> (bit / dimension_) & 1} << bit;
    return code;
  }

  /// Returns the number of points in the lower half of a region of the grid: a random bit for each point, 128 of them per call of
  /// philox, with the region as its counter, so that every rank computes the same number.
  [[nodiscard]] std::uint64_t lower_half(const Region& region) const {
    std::uint64_t count = 0;
    for (std::uint64_t done = 0; done < region.count; done += 128) {
      const std::uint64_t block = done / 128;
      const auto r = philox(
          {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(region.node),
           static_cast<std::uint32_t>(region.node >> 32) ^ static_cast<std::uint32_t>(block >> 32) << 8, kCellStream},
          key_);
      for (std::uint64_t word = 0; word < 4; ++word) {
        const std::uint64_t before = done + 32 * word;
        const std::uint64_t bits = std::min<std::uint64_t>(32, region.count - std::min(region.count, before));
        count += static_cast<std::uint64_t>(std::popcount(r[word] & static_cast<std::uint32_t>((1ULL << bits) - 1)));
      }
    }
    return count;
  }

  /// Descends the tree of regions to the cells with the Morton codes `codes`, only where there are any, and appends these cells in
  /// ascending order of code.
  void descend(const Region& all, const std::vector<std::uint64_t>& codes, std::vector<GridCell>& cells) const {
    struct Task {
      Region region;
      int depth;
      std::size_t begin, end;
    };
    std::vector<Task> tasks{{all, 0, 0, codes.size()}};
    const int depth = level_ * dimension_;
    while (!tasks.empty()) {
      const Task t = tasks.back();
      tasks.pop_back();
      if (t.begin == t.end) continue;
      if (t.depth == depth) {
        cells.push_back({codes[t.begin], t.region.first, t.region.count});
        continue;
      }
      // The first code of the upper half splits the sorted codes; parts without codes are not visited.
      const std::uint64_t upper = (2 * t.region.node + 1 - (std::uint64_t{1} << (t.depth + 1)))
                                  << (depth - t.depth - 1);
      const auto begin = codes.begin();
      const auto middle = static_cast<std::size_t>(std::lower_bound(begin + static_cast<std::ptrdiff_t>(t.begin),
                                                                    begin + static_cast<std::ptrdiff_t>(t.end), upper) -
                                                   begin);
      const std::uint64_t below = lower_half(t.region);
      tasks.push_back(
          {{2 * t.region.node + 1, t.region.first + below, t.region.count - below}, t.depth + 1, middle, t.end});
      tasks.push_back({{2 * t.region.node, t.region.first, below}, t.depth + 1, t.begin, middle});
    }
  }

  int dimension_;
  int level_ = 0;                     ///< 2^level cells along an axis
  std::uint64_t points_;              ///< number of points in the whole grid
  std::array<std::uint32_t, 2> key_;  ///< seed, the key of philox
};

/// Part of a random geometric graph that one rank generates: its own grid cells, adjacent cells of higher ranks (ghost cells), and
/// the points of both.
struct RankPatch {
  std::vector<GridCell> cells;                ///< own cells, then ghost cells, each ascending by Morton code
  std::vector<std::array<double, 3>> points;  ///< coordinates of the points, cell by cell
  std::size_t own = 0;                        ///< number of this rank's cells, which come first

  /// Generates the cells with Morton codes from `begin` to below `end`, their ghost cells, and all points of these. Local.
  RankPatch(const CellGrid& all, std::uint64_t begin, std::uint64_t end) : own(end - begin) {
    std::vector<std::uint64_t> codes, around, beyond;
    for (std::uint64_t code = begin; code < end; ++code) {
      codes.push_back(code);
      all.following_neighbours(code, around);
      for (const std::uint64_t other : around)
        if (other >= end) beyond.push_back(other);
    }
    std::sort(beyond.begin(), beyond.end());
    beyond.erase(std::unique(beyond.begin(), beyond.end()), beyond.end());
    codes.insert(codes.end(), beyond.begin(), beyond.end());
    cells = all.find_cells(codes);
    std::size_t count = 0;
    for (const GridCell& cell : cells) count += cell.count;
    points.reserve(count);
    for (GridCell& cell : cells) {
      cell.start = points.size();
      const CellCoordinates place = all.place(cell.code);
      for (std::uint64_t i = 0; i < cell.count; ++i) points.push_back(all.point(cell.first + i, place));
    }
  }
  /// Returns the own or ghost cell with a Morton code, which must be in the patch.
  [[nodiscard]] const GridCell& at(std::uint64_t code) const {
    const std::uint64_t begin = cells.front().code;
    if (code - begin < own) return cells[code - begin];
    return *std::lower_bound(cells.begin() + static_cast<std::ptrdiff_t>(own), cells.end(), code,
                             [](const GridCell& cell, std::uint64_t c) { return cell.code < c; });
  }
};

/// Adds the edges of a random geometric graph between the points of two grid cells, or within one cell (a is b), that are nearer
/// than the radius. @param radius2  its square
template <class Edge>
void join_close(const RankPatch& patch, const GridCell& a, const GridCell& b, double radius2, Sink<Edge>& sink) {
  const auto* const others = patch.points.data() + b.start;
  for (std::uint64_t i = 0; i < a.count; ++i) {
    const std::array<double, 3> p = patch.points[a.start + i];
    for (std::uint64_t j = &a == &b ? i + 1 : 0; j < b.count; ++j) {
      const double x = p[0] - others[j][0], y = p[1] - others[j][1], z = p[2] - others[j][2];
      const double distance2 = x * x + y * y + z * z;
      if (distance2 >= radius2) continue;
      if (sink.euclidean())
        sink.add_weighted(a.first + i, b.first + j, static_cast<float>(std::sqrt(distance2)));
      else
        sink(a.first + i, b.first + j);
    }
  }
}

}  // namespace

// Largest number of edges of random geometric graphs, at radius 1.
double max_point_edges(const Spec& spec) {
  const auto n = static_cast<double>(spec.vertices);
  return n * (n - 1) / 2 * share_within(1, spec.dimension);
}

// Radius of a random geometric graph whose expected number of edges is that of its name, by bisection.
double connection_radius(const Spec& spec) {
  const auto n = static_cast<double>(spec.vertices);
  if (spec.edges == 0 || spec.vertices < 2) return 0;
  const double share = static_cast<double>(spec.edges) / (n * (n - 1) / 2);
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (share_within(middle, spec.dimension) < share ? low : high) = middle;
  }
  return high;
}

// All points of a random geometric graph on one rank, for tests.
std::vector<std::array<double, 3>> generate_points(const Spec& spec, std::uint64_t seed) {
  const CellGrid all(spec, connection_radius(spec), seed);
  return RankPatch(all, 0, all.size()).points;
}

// Generator of rgg2d and rgg3d: this rank joins close points within its cells, and between these and greater adjacent
// cells.
template <class Edge>
void make_points(const Spec& spec, const Part& part, Sink<Edge>& sink) {
  const double radius = connection_radius(spec);
  if (radius == 0) return;
  const CellGrid all(spec, radius, part.seed);
  const auto [begin, end] = part.range(all.size());
  if (begin == end) return;
  const RankPatch patch(all, begin, end);
  const double share = static_cast<double>(end - begin) / static_cast<double>(all.size());
  sink.reserve(static_cast<std::uint64_t>(static_cast<double>(spec.edges) * share * 1.03) + 4096);
  std::vector<std::uint64_t> around;
  for (std::size_t c = 0; c < patch.own; ++c) {
    const GridCell& cell = patch.cells[c];
    join_close(patch, cell, cell, radius * radius, sink);
    all.following_neighbours(cell.code, around);
    for (const std::uint64_t other : around) join_close(patch, cell, patch.at(other), radius * radius, sink);
  }
}

template void make_points(const Spec&, const Part&, Sink<Edge12>&);
template void make_points(const Spec&, const Part&, Sink<Edge16>&);
template void make_points(const Spec&, const Part&, Sink<Edge24>&);

}  // namespace merganser::graphs::detail
