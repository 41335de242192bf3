/// Gathering from parcels to nodes, bit by bit: against a slow reference that makes every sum in the order that is specified, cells
/// along z, parcels by id, the four points of each, and then columns of cells in brackets (NodeSums).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "merganser/flow/transfer.hpp"
#include "src/flow/kernels.hpp"
#include "tests/flow/alone.hpp"
#include "tests/flow/reference.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using Cell = std::array<std::int64_t, 3>;

/// Volume, volume times vorticity and buoyancy as gather() sums them; last the volume as gather_excess() does.
using Sums = std::array<double, 6>;

/// Nodes of a column of cells, by line (di, dj) from -1 to 2 and level k from -1.
using Window = std::map<Cell, Sums>;

/// What the reference finds: windows by column, and how many parcels had their points in one cell or in several.
struct Windows {
  std::map<std::array<std::int64_t, 2>, Window> of_column;
  int together = 0;
  int apart = 0;
};

/// Returns the four points of a parcel in units of cells, as the kernels compute them; one parcel at a time.
std::array<Vec3, 4> points_of(const Parcels& parcels, std::size_t i, const Grid& grid) {
  Cells cells{};
  for (std::size_t a = 0; a < 3; ++a) {
    cells.lower[a] = grid.box.lower[a];
    cells.spacing[a] = grid.spacing(static_cast<int>(a));
    cells.inverse[a] = 1 / cells.spacing[a];
    cells.all[a] = cells.own[a] = static_cast<double>(grid.cells[a]);
  }
  const std::vector<std::uint32_t> index(kBatch, static_cast<std::uint32_t>(i));
  Batch batch;
  EXPECT_EQ(find_points(parcels.sites(), parcels.rows(), {index.data(), kBatch}, 1, cells, &batch), 1U);
  std::array<Vec3, 4> all{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double centre = batch.centre[a][0];
    all[0][a] = centre + batch.first[a][0];
    all[1][a] = centre + batch.second[a][0];
    all[2][a] = centre - batch.second[a][0];
    all[3][a] = centre - batch.first[a][0];
  }
  return all;
}

/// Adds what a parcel carries at one of its points to the window of the column (i, j), with the roundings of the kernels.
void add_point(const Vec3& point, double volume, const double* row, std::int64_t i, std::int64_t j, Window& window) {
  double share[3][2];
  Cell low{};
  for (std::size_t a = 0; a < 3; ++a) {
    low[a] = static_cast<std::int64_t>(std::floor(point[a]));
    share[a][1] = point[a] - std::floor(point[a]);
    share[a][0] = 1 - share[a][1];
  }
  for (int n = 0; n < 8; ++n) {
    const double weight = share[0][n >> 2] * share[1][(n >> 1) & 1] * share[2][n & 1];
    Sums& to = window[{low[0] + (n >> 2) - i, low[1] + ((n >> 1) & 1) - j, low[2] + (n & 1)}];
    const double quarter = 0.25 * volume;
    to[0] = std::fma(quarter, weight, to[0]);
    for (std::size_t c = 1; c < 5; ++c) to[c] = std::fma(row[c] * quarter, weight, to[c]);
    to[5] += quarter * weight;
  }
}

Windows find_windows(const Parcels& parcels, const Grid& grid) {
  std::map<std::pair<Cell, std::int64_t>, std::size_t> order;  // by cell and id
  for (std::size_t p = 0; p < parcels.size(); ++p) {
    const Site& s = parcels.site(p);
    Cell cell{};
    for (std::size_t a = 0; a < 3; ++a)
      cell[a] = static_cast<std::int64_t>(
          std::floor((std::array{s.x, s.y, s.z}[a] - grid.box.lower[a]) / grid.spacing(static_cast<int>(a))));
    order[{cell, parcels.id(p)}] = p;
  }
  Windows windows;
  for (const auto& [place, p] : order) {
    const auto& [i, j, k] = place.first;
    std::vector<Cell> cells;
    for (const Vec3& point : points_of(parcels, p, grid)) {
      add_point(point, parcels.site(p).volume, parcels.row(p), i, j, windows.of_column[{i, j}]);
      Cell& cell = cells.emplace_back();
      for (std::size_t a = 0; a < 3; ++a) cell[a] = static_cast<std::int64_t>(std::floor(point[a]));
    }
    ++(std::all_of(cells.begin(), cells.end(), [&](const Cell& c) { return c == cells[0]; }) ? windows.together
                                                                                             : windows.apart);
  }
  return windows;
}

/// Returns the sum c of all windows at a node, in brackets along y and then along x.
double sum_at(Windows& windows, const Grid& grid, const Cell& node, std::size_t c) {
  const auto column = [&](std::int64_t i, std::int64_t j, std::int64_t di, std::int64_t dj) {
    const auto wrap = [](std::int64_t n, std::int64_t cells) { return (n + cells) % cells; };
    return windows.of_column[{wrap(i, grid.cells[0]), wrap(j, grid.cells[1])}][{di, dj, node[2]}][c];
  };
  const auto along_y = [&](std::int64_t i, std::int64_t di) {
    const std::int64_t j = node[1];
    return (column(i, j - 2, di, 2) + column(i, j - 1, di, 1)) + (column(i, j, di, 0) + column(i, j + 1, di, -1));
  };
  const std::int64_t i = node[0];
  return (along_y(i - 2, 2) + along_y(i - 1, 1)) + (along_y(i, 0) + along_y(i + 1, -1));
}

TEST(SumOrder, is_the_specified_one_to_the_last_bit) {
  const Grid grid = reference::grid_of(4, 5, 6);
  const Parcels parcels = reference::random_parcels(grid, 1700, 77);
  test::Alone t;
  const Decomposition d(grid, 1, "1x1x1");
  const NodeLayout layout(d, 0);
  Transfer transfer(t, d, {});
  CarriedNodes carried(layout);
  ScalarNodes excess(layout);
  transfer.locate(parcels);
  transfer.gather(parcels, carried);
  transfer.gather_excess(parcels, excess);
  Windows windows = find_windows(parcels, grid);
  EXPECT_GT(windows.together, 300);
  EXPECT_GT(windows.apart, 300);
  // Levels without the folding at the walls.
  for (std::int64_t i = 0; i < grid.cells[0]; ++i)
    for (std::int64_t j = 0; j < grid.cells[1]; ++j)
      for (std::int64_t k = 2; k + 2 <= grid.cells[2]; ++k) {
        const double volume = sum_at(windows, grid, {i, j, k}, 0);
        EXPECT_EQ(carried.at(i, j, k)[0], volume) << i << ' ' << j << ' ' << k;
        for (std::size_t c = 1; c < 5; ++c)
          EXPECT_EQ(carried.at(i, j, k)[c], sum_at(windows, grid, {i, j, k}, c) / volume) << c;
        EXPECT_EQ(*excess.at(i, j, k), sum_at(windows, grid, {i, j, k}, 5) / grid.cell_volume() - 1);
      }
}

}  // namespace
