// Artificial parcel configurations from counter-based random numbers, with the same bits on any number of ranks and machines.
#include "merganser/parcels/generate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"

namespace merganser {
namespace {

// Random numbers come from counter-based streams, one per cell: index = parcel for its parcels, kCountIndex for its
// count.
constexpr std::uint32_t kCountIndex = 0xffffffffU;
constexpr std::uint64_t kShuffleStream = ~std::uint64_t{0};

/// Cosine and sine of an angle by which an artificial parcel is turned.
struct Direction {
  double cosine;
  double sine;
};

/// Returns cosine and sine of a fraction of a turn in [0, 1], by Taylor series within an eighth of a turn: the same
/// bits with every C library, which the library's own functions do not promise.
Direction cosine_sine(double turns) {
  // Reduced to an eighth of a turn on either side of a multiple of a quarter, where the series converge fast.
  const double quarter = std::floor(4 * turns + 0.5);
  const double x = 2 * std::numbers::pi * (turns - 0.25 * quarter);
  const double z = x * x;
  double s = 1;
  double c = 1;
  for (int k = 17; k > 1; k -= 2) s = 1 - s * z / (k * (k - 1));
  for (int k = 18; k > 0; k -= 2) c = 1 - c * z / (k * (k - 1));
  s *= x;
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

/// Returns a coordinate in a cell, lower + (cell + u) * spacing, moved by the few roundings that keep it in that cell.
double coordinate_in_cell(const Grid& grid, int axis, std::int64_t cell, double u) {
  double x = grid.box.lower[axis] + (static_cast<double>(cell) + u) * grid.spacing(axis);
  const double top = grid.box.lower[axis] + grid.box.extent[axis];
  while (grid.cell(axis, x) > cell || (x >= top && grid.box.periodic[axis]))
    x = std::nextafter(x, -std::numeric_limits<double>::infinity());
  while (grid.cell(axis, x) < cell || x < grid.box.lower[axis])
    x = std::nextafter(x, std::numeric_limits<double>::infinity());
  return x;
}

/// Ellipsoid of an artificial parcel: semi-axes a, b = a / aspect_ab, c = a / aspect_ac turned by azimuth and polar angle.
struct Ellipsoid {
  double abc;         // product of the semi-axes
  double aspect_ac;   // ratio a / c of semi-axes
  double aspect_ab;   // ratio a / b of semi-axes
  Direction azimuth;  // azimuth of the longest axis
  Direction polar;    // angle of the longest axis from the z axis
};

/// Writes B11 B12 B13 B22 B23 of the ellipsoid of an artificial parcel.
void write_shape(const Ellipsoid& e, double* b5) {
  const double a = cube_root(e.abc * e.aspect_ac * e.aspect_ab);
  const double b = a / e.aspect_ab;
  const double c = a / e.aspect_ac;
  const double a2 = a * a;
  const double b2 = b * b;
  const double c2 = c * c;
  const auto [ct, st] = e.azimuth;
  const auto [cp, sp] = e.polar;
  // B is the sum of the squared semi-axes times the outer products of their unit vectors v1, v2, v3.
  const Vec3 v1{ct * sp, st * sp, cp};
  const Vec3 v2{-st, ct, 0};
  const Vec3 v3{ct * cp, st * cp, -sp};
  const auto entry = [&](int i, int j) { return a2 * v1[i] * v1[j] + b2 * v2[i] * v2[j] + c2 * v3[i] * v3[j]; };
  b5[0] = entry(0, 0);
  b5[1] = entry(0, 1);
  b5[2] = entry(0, 2);
  b5[3] = entry(1, 1);
  b5[4] = entry(1, 2);
}

/// Generator of the artificial parcels of single grid cells. A parcel depends only on the seed, its cell and its number in the
/// cell.
class CellGenerator {
 public:
  /// Checks the parameters, and that all ids fit 63 bits. @throws UsageError, InputError
  CellGenerator(const RandomParcels& options, const Grid& grid) : options_(options), grid_(grid) {
    check();
    small_volume_ = grid.cell_volume() / options.min_volume_ratio;
    spread_ = std::max<std::int64_t>(10, options.per_cell - 10);
    stride_ = options.variable_per_cell ? 10 + spread_ - 1 : options.per_cell;
    if (stride_ > 0 && grid.cell_count() > std::numeric_limits<std::int64_t>::max() / stride_)
      throw InputError("ids of " + std::to_string(grid.cell_count()) + " cells with up to " + std::to_string(stride_) +
                       " parcels each; allowed: ids that fit into 63 bits");
  }

  /// Returns the number of artificial parcels in a cell, by the cell's number in the grid.
  [[nodiscard]] std::int64_t count(std::int64_t cell) const {
    if (!options_.variable_per_cell) return options_.per_cell;
    Random random(options_.seed, static_cast<std::uint64_t>(cell), kCountIndex);
    return 10 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(spread_)));
  }

  /// Generates parcel k of a cell and writes it to position `at` of the container.
  void write_parcel(const std::array<std::int64_t, 3>& cell, std::int64_t k, Parcels& parcels, std::size_t at) const {
    const std::int64_t index = (cell[2] * grid_.cells[1] + cell[1]) * grid_.cells[0] + cell[0];
    Random random(options_.seed, static_cast<std::uint64_t>(index), static_cast<std::uint32_t>(k));
    Site& site = parcels.site(at);
    double* row = parcels.row(at);
    site.x = coordinate_in_cell(grid_, 0, cell[0], random.uniform());
    site.y = coordinate_in_cell(grid_, 1, cell[1], random.uniform());
    site.z = coordinate_in_cell(grid_, 2, cell[2], random.uniform());
    parcels.set_id(at, index * stride_ + k);
    for (int c = 0; c < 3; ++c) row[1 + c] = random.uniform(-10, 10);
    row[4] = random.uniform(-1, 1);
    const double share = random.uniform() + 1 - options_.small_fraction;
    site.volume = std::max(0.25 * small_volume_, small_volume_ * share);
    Ellipsoid e{detail::semi_axes_product(site.volume), random.uniform(1, 4), random.uniform(1, 4), {}, {}};
    e.azimuth = cosine_sine(random.uniform());
    e.polar = cosine_sine(0.5 * random.uniform());
    write_shape(e, row + 5);
  }

 private:
  /// Checks the parameters of the artificial configuration. @throws UsageError if one is out of range
  void check() const {
    if (options_.per_cell < 0 || options_.per_cell >= kCountIndex)
      throw UsageError("per_cell is " + std::to_string(options_.per_cell) + "; allowed: 0 to 4294967294");
    if (!(options_.min_volume_ratio > 0) || !std::isfinite(options_.min_volume_ratio))
      throw UsageError("min_volume_ratio is " + std::to_string(options_.min_volume_ratio) + "; allowed: above 0");
    if (!(options_.small_fraction >= 0 && options_.small_fraction <= 1))
      throw UsageError("small_fraction is " + std::to_string(options_.small_fraction) + "; allowed: 0 to 1");
  }

  const RandomParcels& options_;
  const Grid& grid_;
  double small_volume_ = 0;   // volume V_min below which a parcel is small
  std::int64_t spread_ = 10;  // exclusive upper bound of the random part of a cell's number of parcels
  std::int64_t stride_ = 0;   // ids reserved for each cell
};

/// Box of the grid cells of one rank's block, numbered in the order x fastest, then y, then z.
struct CellRange {
  std::array<std::int64_t, 3> first;  // by axis: index of the first cell
  std::array<std::int64_t, 3> size;   // by axis: number of cells

  /// Returns the number of grid cells of the rank's block.
  [[nodiscard]] std::int64_t count() const { return size[0] * size[1] * size[2]; }
  /// Returns the indices by axis of the i-th grid cell of the rank's block.
  [[nodiscard]] std::array<std::int64_t, 3> cell(std::int64_t i) const {
    return {first[0] + i % size[0], first[1] + i / size[0] % size[1], first[2] + i / (size[0] * size[1])};
  }
};

/// Returns the grid cells of a rank's block. @throws UsageError unless the decomposition is by cells
CellRange block_cells(const Decomposition& decomposition, int rank) {
  decomposition.require_cells("generate_random");
  const std::array<int, 3> part = decomposition.coordinates(rank);
  CellRange cells{};
  for (int a = 0; a < 3; ++a) {
    cells.first[a] = decomposition.cut(a, part[a]);
    cells.size[a] = decomposition.cut(a, part[a] + 1) - cells.first[a];
  }
  return cells;
}

/// Returns the position in the container of each generated parcel: a random permutation, or nothing for the identity.
std::vector<std::uint64_t> row_permutation(bool shuffle, std::size_t n, std::uint64_t seed, int rank) {
  std::vector<std::uint64_t> to;
  if (!shuffle) return to;
  to.resize(n);
  for (std::size_t i = 0; i < n; ++i) to[i] = i;
  Random random(seed, kShuffleStream, static_cast<std::uint32_t>(rank));
  for (std::size_t i = n; i > 1; --i) std::swap(to[i - 1], to[random.below(i)]);
  return to;
}

}  // namespace

// Generates the artificial parcels of one rank's block, after counting them, so that memory is allocated once.
Parcels generate_random(const RandomParcels& options, const Decomposition& decomposition, int rank) {
  Parcels parcels;
  generate_random(options, decomposition, rank, parcels);
  return parcels;
}

void generate_random(const RandomParcels& options, const Decomposition& decomposition, int rank, Parcels& parcels) {
  if (!(parcels.schema() == Schema::epic()))
    throw UsageError("generate_random: a container of another schema; allowed: Schema::epic()");
  const Grid& grid = decomposition.grid();
  const CellGenerator generator(options, grid);
  const CellRange cells = block_cells(decomposition, rank);
  const auto global = [&](const std::array<std::int64_t, 3>& c) {
    return (c[2] * grid.cells[1] + c[1]) * grid.cells[0] + c[0];
  };
  std::size_t total = 0;
  if (!options.variable_per_cell) {
    total = static_cast<std::size_t>(cells.count() * options.per_cell);
  } else {
    for (std::int64_t i = 0; i < cells.count(); ++i)
      total += static_cast<std::size_t>(generator.count(global(cells.cell(i))));
  }

  parcels.clear();
  parcels.resize(total);
  const std::vector<std::uint64_t> to = row_permutation(options.shuffle, total, options.seed, rank);
  std::size_t n = 0;
  for (std::int64_t i = 0; i < cells.count(); ++i) {
    const std::array<std::int64_t, 3> cell = cells.cell(i);
    const std::int64_t count = generator.count(global(cell));
    for (std::int64_t k = 0; k < count; ++k, ++n) generator.write_parcel(cell, k, parcels, to.empty() ? n : to[n]);
  }
}

}  // namespace merganser
