// Domain decomposition: shapes with the least area between blocks, cuts, owners, distances between blocks, routes.
#include "merganser/geometry/decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "src/geometry/tiles.hpp"

namespace merganser {
namespace {

/// Formats the numbers of blocks along the axes for reports: "2x1x1".
std::string shape_text(const std::array<int, 3>& s) {
  return std::to_string(s[0]) + "x" + std::to_string(s[1]) + "x" + std::to_string(s[2]);
}

/// Formats the numbers of cells of a grid for error messages: "8x8x4 cells".
std::string cells_text(const Grid& g) {
  return std::to_string(g.cells[0]) + "x" + std::to_string(g.cells[1]) + "x" + std::to_string(g.cells[2]) + " cells";
}

/// Returns the total area between the blocks of a shape, to which the volume of a boundary exchange is proportional. An undivided
/// periodic axis has none.
double cut_surface(const Grid& g, const std::array<int, 3>& s) {
  double area = 0;
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3;
    const int c = (a + 2) % 3;
    const int planes = s[a] == 1 ? 0 : (g.box.periodic[a] ? s[a] : s[a] - 1);
    area += planes * g.box.extent[b] * g.box.extent[c];
  }
  return area;
}

/// Returns the factorisation of `ranks` into blocks along each axis with the least area between blocks, of those that fit the grid
/// and divide at most `axes` axes; {0, 0, 0} if there is none. The first of equal ones, so all ranks find the same.
std::array<int, 3> least_surface(const Grid& grid, int ranks, int axes) {
  // All factorisations of the number of ranks into three factors that fit the grid.
  std::array<int, 3> best{0, 0, 0};
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0 || x > grid.cells[0]) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if ((ranks / x) % y != 0 || y > grid.cells[1]) continue;
      const int z = ranks / x / y;
      if (z > grid.cells[2] || (x > 1) + (y > 1) + (z > 1) > axes) continue;
      const double area = cut_surface(grid, {x, y, z});
      if (area < least) {
        least = area;
        best = {x, y, z};
      }
    }
  }
  return best;
}

/// Returns the numbers of blocks along the axes from the text of a shape ("auto", "1d" to "3d", "AxBxC"); {0, 0, 0} if no
/// factorisation of `ranks` fits the grid. @throws UsageError for another text, InputError for more parts than cells
std::array<int, 3> parse_shape(const Grid& grid, int ranks, const std::string& text) {
  if (text == "auto" || text == "3d") return least_surface(grid, ranks, 3);
  if (text == "2d") return least_surface(grid, ranks, 2);
  if (text == "1d") return least_surface(grid, ranks, 1);
  std::array<int, 3> s{0, 0, 0};
  char rest = 0;
  if (std::sscanf(text.c_str(), "%dx%dx%d%c", &s[0], &s[1], &s[2], &rest) != 3 || s[0] < 1 || s[1] < 1 || s[2] < 1)
    throw UsageError("decomposition " + text + "; allowed: auto, 1d, 2d, 3d, or a shape like 2x2x1");
  if (static_cast<std::int64_t>(s[0]) * s[1] * s[2] != ranks)
    throw UsageError("decomposition " + text + " has not as many parts as there are ranks; allowed: shapes of " +
                     std::to_string(ranks) + " parts");
  for (int a = 0; a < 3; ++a)
    if (s[a] > grid.cells[a])
      throw InputError("decomposition " + text + ": axis " + "xyz"[a] + " has " + std::to_string(grid.cells[a]) +
                       " cells only; allowed: as many parts at most");
  return s;
}

}  // namespace

// Makes the decomposition by cells: shape, then equal runs of cells along each axis.
Decomposition::Decomposition(const Grid& grid, int ranks, const std::string& shape) : grid_(grid) {
  check_grid(grid);
  if (ranks < 1) throw UsageError("ranks: " + std::to_string(ranks) + "; allowed: at least 1");
  if (ranks > grid.cell_count())
    throw InputError(std::to_string(ranks) + " ranks for " + cells_text(grid) + "; allowed: at most one rank per cell");
  shape_ = parse_shape(grid, ranks, shape);
  if (shape_[0] == 0)
    throw InputError(
        cells_text(grid) + " cannot be split into " + std::to_string(ranks) + " blocks (" + shape +
        "): no factorisation fits; allowed: numbers of ranks that are a product of at most the cells of each axis");
  for (int a = 0; a < 3; ++a) {
    // The first parts of an axis get the extra cells, as in the published programs.
    const std::int64_t each = grid.cells[a] / shape_[a];
    const std::int64_t extra = grid.cells[a] % shape_[a];
    for (int i = 0; i <= shape_[a]; ++i) cuts_[a].push_back(each * i + std::min<std::int64_t>(i, extra));
  }
}

void Decomposition::require_cells(const std::string& what) const {
  if (is_by_cells()) return;
  throw UsageError(what + ": the decomposition is by " + (kind_ == Kind::cuts ? "cuts" : "boxes") +
                   "; allowed: one whose blocks are runs of cells");
}

// Makes the decomposition by cuts at coordinates of the caller, after a check that they ascend within the box.
Decomposition Decomposition::from_cuts(const Grid& grid, const std::array<std::vector<double>, 3>& cuts) {
  check_grid(grid);
  Decomposition d(grid);
  d.kind_ = Kind::cuts;
  double ranks = 1;
  for (int a = 0; a < 3; ++a) {
    const double upper = grid.box.lower[a] + grid.box.extent[a];
    // Faces of an axis: lower end of the domain, the cuts, upper end.
    auto& faces = d.faces_[a];
    faces.push_back(grid.box.lower[a]);
    for (const double cut : cuts[a]) {
      if (!(cut > faces.back() && cut < upper))
        throw InputError(std::string("cut ") + number_text(cut) + " of axis " + "xyz"[a] + "; allowed: above " +
                         number_text(faces.back()) + " and below " + number_text(upper));
      faces.push_back(cut);
    }
    faces.push_back(upper);
    d.shape_[a] = static_cast<int>(faces.size() - 1);
    ranks *= d.shape_[a];
  }
  if (ranks > 0x7fffffff) throw InputError("cuts into " + number_text(ranks) + " blocks; allowed: up to 2147483647");
  return d;
}

// Moves the cuts of a decomposition by cells so that each part of an axis has its share of the weights.
Decomposition Decomposition::balanced(const std::array<std::vector<std::int64_t>, 3>& weight) const {
  require_cells("balance");
  Decomposition d = *this;
  for (int a = 0; a < 3; ++a) {
    const auto cells = static_cast<std::size_t>(grid_.cells[a]);
    if (weight[a].size() != cells)
      throw UsageError(std::string("balance: axis ") + "xyz"[a] + " has " + std::to_string(weight[a].size()) +
                       " weights; allowed: one for each of its " + std::to_string(cells) + " cells");
    const std::int64_t total = std::accumulate(weight[a].begin(), weight[a].end(), std::int64_t{0});
    const int parts = shape_[a];
    std::int64_t sum = 0;
    std::size_t cell = 0;
    for (int part = 1; part < parts; ++part) {
      // Equal to total * part / parts, rounded down, without the product, which may overflow.
      const std::int64_t want = total / parts * part + total % parts * part / parts;
      const auto least = static_cast<std::size_t>(d.cuts_[a][static_cast<std::size_t>(part) - 1]) + 1;
      const std::size_t most = cells - static_cast<std::size_t>(parts - part);
      // The cut goes where the prefix sum is nearest to its share, within the bounds that leave every part at least one cell.
      while (cell < most && (cell < least || sum + weight[a][cell] / 2 < want)) sum += weight[a][cell++];
      d.cuts_[a][static_cast<std::size_t>(part)] = static_cast<std::int64_t>(cell);
    }
  }
  return d;
}

std::array<int, 3> Decomposition::coordinates(int rank) const {
  return {rank / (shape_[1] * shape_[2]), rank / shape_[2] % shape_[1], rank % shape_[2]};
}

int Decomposition::part_of_cell(int axis, std::int64_t cell) const {
  const auto& c = cuts_[axis];
  return static_cast<int>(std::upper_bound(c.begin() + 1, c.end() - 1, cell) - c.begin()) - 1;
}

// Returns the owner of a point: the part of each axis that its cell or coordinate lies in, then the rank of these parts.
int Decomposition::owner(const Vec3& p) const {
  if (kind_ == Kind::boxes) return tiles_->owner(*this, p);
  std::array<int, 3> part;
  for (int a = 0; a < 3; ++a) {
    if (shape_[a] == 1) {
      part[a] = 0;
    } else if (kind_ == Kind::cells) {
      part[a] = part_of_cell(a, grid_.cell(a, p[a]));
    } else {
      const auto& f = faces_[a];
      part[a] = static_cast<int>(std::upper_bound(f.begin() + 1, f.end() - 1, p[a]) - f.begin()) - 1;
    }
  }
  return rank_at(part);
}

// Returns the corners of a rank's block, from its cuts by cells or coordinates or from the list of boxes.
Decomposition::Block Decomposition::block(int rank) const {
  if (kind_ == Kind::boxes) return tiles_->blocks[static_cast<std::size_t>(rank)];
  const auto c = coordinates(rank);
  Block b{};
  if (kind_ == Kind::cuts) {
    for (int a = 0; a < 3; ++a) {
      b.lower[a] = faces_[a][static_cast<std::size_t>(c[a])];
      b.upper[a] = faces_[a][static_cast<std::size_t>(c[a]) + 1];
    }
    return b;
  }
  for (int a = 0; a < 3; ++a) {
    const double h = grid_.spacing(a);
    const double lower = grid_.box.lower[a];
    b.lower[a] = lower + static_cast<double>(cut(a, c[a])) * h;
    b.upper[a] =
        c[a] + 1 == shape_[a] ? lower + grid_.box.extent[a] : lower + static_cast<double>(cut(a, c[a] + 1)) * h;
  }
  return b;
}

// Returns a lower bound of the squared distance from a point to a rank's block, the least over its periodic images.
double Decomposition::distance2_to_block(const Vec3& p, int rank) const {
  const Block b = block(rank);
  double d2 = 0;
  for (int a = 0; a < 3; ++a) {
    const double length = grid_.box.extent[a];
    // Owners are computed from cell numbers, which are rounded: a point may lie a rounding error beyond the block of its owner.
    const double slack = 1e-12 * (length + std::fabs(grid_.box.lower[a]));
    double d = std::max({b.lower[a] - p[a], p[a] - b.upper[a], 0.0});
    if (grid_.box.periodic[a])
      d = std::min({d, std::max(b.lower[a] + length - p[a], 0.0), std::max(p[a] - (b.upper[a] - length), 0.0)});
    d = std::max(d - slack, 0.0);
    d2 += d * d;
  }
  // Below the exact sum in spite of its roundings: a bound that is too high would lose a nearest parcel.
  return d2 * (1 - 1e-14);
}

// Returns a lower bound of the squared distance between two ranks' blocks, the least over periodic images.
double Decomposition::distance2_between(int rank, int other) const {
  const Block a = block(rank);
  const Block b = block(other);
  double d2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double length = grid_.box.extent[axis];
    // Gap between the blocks on this axis, or through the periodic boundary if that is smaller.
    double gap = std::max({b.lower[axis] - a.upper[axis], a.lower[axis] - b.upper[axis], 0.0});
    if (grid_.box.periodic[axis])
      gap = std::min({gap, std::max(b.lower[axis] + length - a.upper[axis], 0.0),
                      std::max(a.lower[axis] + length - b.upper[axis], 0.0)});
    gap = std::max(gap - 1e-12 * (length + std::fabs(grid_.box.lower[axis])), 0.0);
    d2 += gap * gap;
  }
  return d2 * (1 - 1e-14);
}

// Returns the neighbours of a rank's block, and the ranks whose blocks are within a distance of it.
std::vector<int> Decomposition::within(int rank, double distance) const {
  std::vector<int> found = neighbours(rank);
  for (int r = 0; r < ranks(); ++r)
    if (r != rank && distance2_between(rank, r) <= distance * distance) found.push_back(r);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Returns the ranks of the up to 26 blocks around a rank's block, through periodic faces too.
std::vector<int> Decomposition::neighbours(int rank) const {
  if (kind_ == Kind::boxes) return tiles_->neighbours[static_cast<std::size_t>(rank)];
  const auto c = coordinates(rank);
  std::vector<int> found;
  for (int dx = -1; dx <= 1; ++dx)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dz = -1; dz <= 1; ++dz) {
        // Indices beyond an axis wrap if it is periodic; else there is no block on that side.
        std::array<int, 3> n{c[0] + dx, c[1] + dy, c[2] + dz};
        bool inside = true;
        for (int a = 0; a < 3; ++a) {
          if (n[a] >= 0 && n[a] < shape_[a]) continue;
          inside = inside && grid_.box.periodic[a];
          n[a] = (n[a] + shape_[a]) % shape_[a];
        }
        if (inside && rank_at(n) != rank) found.push_back(rank_at(n));
      }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Returns the next rank on a route between blocks: one step along every axis on which they differ.
int Decomposition::next_hop(int rank, int owner) const {
  if (kind_ == Kind::boxes) return tiles_->next_hop(rank, owner);
  auto c = coordinates(rank);
  const auto o = coordinates(owner);
  for (int a = 0; a < 3; ++a) {
    if (c[a] == o[a]) continue;
    const int parts = shape_[a];
    int step = o[a] > c[a] ? 1 : -1;
    // On a periodic axis the shorter direction; at half the period both are equal, and the one without wrapping is taken.
    if (grid_.box.periodic[a] && 2 * std::abs(o[a] - c[a]) > parts) step = -step;
    c[a] = (c[a] + step + parts) % parts;
  }
  return rank_at(c);
}

// Returns which faces of a rank's block are walls of the domain.
std::array<std::array<bool, 2>, 3> Decomposition::walls(int rank) const {
  std::array<std::array<bool, 2>, 3> wall{};
  const auto c = coordinates(rank);
  const Block b = block(rank);
  for (int a = 0; a < 3; ++a) {
    if (grid_.box.periodic[a]) continue;
    const bool tensor = kind_ != Kind::boxes;
    wall[a][0] = tensor ? c[a] == 0 : b.lower[a] <= grid_.box.lower[a];
    wall[a][1] = tensor ? c[a] + 1 == shape_[a] : b.upper[a] >= grid_.box.lower[a] + grid_.box.extent[a];
  }
  return wall;
}

std::string Decomposition::describe() const {
  return kind_ == Kind::boxes ? std::to_string(ranks()) + " boxes" : shape_text(shape_);
}

// Formats all cuts or boxes of the decomposition with all digits, so that equal texts mean equal owners.
std::string Decomposition::identity() const {
  std::string text = describe();
  if (kind_ == Kind::boxes) {
    for (int r = 0; r < ranks(); ++r) {
      const Block b = block(r);
      for (int a = 0; a < 3; ++a)
        text += (a == 0 ? "; " : ",") + number_text(b.lower[a]) + ":" + number_text(b.upper[a]);
    }
    return text;
  }
  for (int a = 0; a < 3; ++a)
    for (std::size_t part = 1; part < static_cast<std::size_t>(shape_[a]); ++part)
      text += (part == 1 ? "; " : ",") +
              (kind_ == Kind::cells ? std::to_string(cuts_[a][part]) : number_text(faces_[a][part]));
  return text;
}

}  // namespace merganser
