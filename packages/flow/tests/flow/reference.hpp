#pragma once
/// Reference for the transfer between parcels and nodes: slow, one parcel, point and node after the other, on one rank.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "merganser/flow/migrate.hpp"
#include "merganser/flow/transfer.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "merganser/parcels/split.hpp"

namespace merganser::flow::reference {

/// Index of a node of the whole grid, wrapped in x and y.
using Node = std::array<std::int64_t, 3>;

inline Node wrapped(const Grid& grid, Node n) {
  for (std::size_t a = 0; a < 2; ++a) n[a] = ((n[a] % grid.cells[a]) + grid.cells[a]) % grid.cells[a];
  return n;
}

/// Returns the four points of an ellipsoid.
inline std::array<Vec3, 4> points(const Site& site, const double* b5) {
  const Axes shape = principal_axes(b5, site.volume);
  const double eta = std::sqrt(0.4 * std::max(0.0, shape.square[0] - shape.square[2]));
  const double tau = std::sqrt(0.4 * std::max(0.0, shape.square[1] - shape.square[2]));
  std::array<Vec3, 4> all;
  for (std::size_t j = 0; j < 4; ++j) {
    const double angle = (2 * static_cast<double>(j) + 1) * std::acos(-1.0) / 4;
    const Vec3 centre{site.x, site.y, site.z};
    for (std::size_t a = 0; a < 3; ++a)
      all[j][a] = centre[a] + std::cos(angle) * eta * shape.vector[0][a] + std::sin(angle) * tau * shape.vector[1][a];
  }
  return all;
}

struct Corner {
  Node node;  ///< not wrapped
  double weight;
};
inline std::vector<Corner> corners(const Grid& grid, const Vec3& x) {
  Node low;
  Vec3 p;
  for (std::size_t a = 0; a < 3; ++a) {
    const double g = (x[a] - grid.box.lower[a]) / grid.spacing(static_cast<int>(a));
    low[a] = static_cast<std::int64_t>(std::floor(g));
    p[a] = g - std::floor(g);
  }
  std::vector<Corner> all;
  for (int n = 0; n < 8; ++n) {
    const std::array<int, 3> up{n >> 2, (n >> 1) & 1, n & 1};
    double weight = 1;
    Node node = low;
    for (std::size_t a = 0; a < 3; ++a) {
      weight *= up[a] == 1 ? p[a] : 1 - p[a];
      node[a] += up[a];
    }
    all.push_back({node, weight});
  }
  return all;
}

using Numbers = std::array<double, 5>;  ///< volume, vorticity, buoyancy
using Gathered = std::map<Node, Numbers>;

/// Volume, vorticity and buoyancy at the nodes of the whole grid, levels beyond the walls included.
inline Gathered gather(const Parcels& parcels, const Grid& grid) {
  Gathered sums;
  const std::int64_t top = grid.cells[2];
  for (std::int64_t i = 0; i < grid.cells[0]; ++i)
    for (std::int64_t j = 0; j < grid.cells[1]; ++j)
      for (std::int64_t k = -1; k <= top + 1; ++k) sums[{i, j, k}] = {};
  for (std::size_t p = 0; p < parcels.size(); ++p) {
    const double* const row = parcels.row(p);
    const double volume = parcels.site(p).volume;
    for (const Vec3& x : points(parcels.site(p), row + 5))
      for (const Corner& c : corners(grid, x)) {
        Numbers& to = sums.at(wrapped(grid, c.node));
        to[0] += 0.25 * volume * c.weight;
        for (std::size_t n = 1; n < 5; ++n) to[n] += 0.25 * volume * c.weight * row[n];
      }
  }
  for (std::int64_t i = 0; i < grid.cells[0]; ++i)
    for (std::int64_t j = 0; j < grid.cells[1]; ++j) {
      const auto at = [&](std::int64_t k) -> Numbers& { return sums.at({i, j, k}); };
      for (std::size_t n = 0; n < 5; ++n) {
        at(0)[n] *= 2;
        at(top)[n] *= 2;
        at(1)[n] += at(-1)[n];
        at(top - 1)[n] += at(top + 1)[n];
      }
      for (std::int64_t k = 0; k <= top; ++k)
        for (std::size_t n = 1; n < 5; ++n) at(k)[n] = at(k)[0] > 0 ? at(k)[n] / at(k)[0] : 0;
      for (std::size_t n = 0; n < 5; ++n) {
        at(-1)[n] = 2 * at(0)[n] - at(1)[n];
        at(top + 1)[n] = 2 * at(top)[n] - at(top - 1)[n];
      }
    }
  return sums;
}

/// Field as a function of node and component; the node may lie outside of the grid in x and y.
using Field = std::function<double(const Node&, std::size_t)>;

/// Returns the mean of a field over the four points of a parcel.
inline std::vector<double> read(const Grid& grid, const Site& site, const double* b5, const Field& field,
                                std::size_t width) {
  std::vector<double> mean(width, 0.0);
  for (const Vec3& x : points(site, b5))
    for (const Corner& c : corners(grid, x))
      for (std::size_t n = 0; n < width; ++n) mean[n] += 0.25 * c.weight * field(c.node, n);
  return mean;
}

/// Makes one stage, as Transfer::advance() is to make it.
inline void advance(Parcels& parcels, const Grid& grid, const Field& field, double a, double b_dt) {
  for (std::size_t p = 0; p < parcels.size(); ++p) {
    Site& s = parcels.site(p);
    double* const row = parcels.row(p);
    const std::vector<double> f = read(grid, s, row + 5, field, 14);
    const double gradient[3][3] = {{f[3], f[4], f[5]}, {f[6], f[7], f[8]}, {f[9], f[10], -(f[3] + f[7])}};
    const double* const b5 = row + 5;
    const double b[3][3] = {{b5[0], b5[1], b5[2]}, {b5[1], b5[3], b5[4]}, {b5[2], b5[4], b33(b5, s.volume)}};
    double change[3][3] = {};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k) change[i][j] += gradient[i][k] * b[k][j] + b[i][k] * gradient[j][k];
    const double rate[11] = {f[0],         f[1],         f[2],         f[11],        f[12],       f[13],
                             change[0][0], change[0][1], change[0][2], change[1][1], change[1][2]};
    double* const y[11] = {&s.x, &s.y, &s.z, row + 1, row + 2, row + 3, row + 5, row + 6, row + 7, row + 8, row + 9};
    for (std::size_t c = 0; c < 11; ++c) {
      double& r = row[10 + c];
      r = a == 0 ? rate[c] : a * r + rate[c];
      *y[c] += b_dt * r;
    }
  }
}

/// Returns a box whose cells have different edges in the three directions.
inline Grid grid_of(std::int64_t x, std::int64_t y, std::int64_t z) {
  return {{{-0.3, 0.1, -1},
           {0.5 * static_cast<double>(x), 0.6 * static_cast<double>(y), 0.45 * static_cast<double>(z)},
           {true, true, false}},
          {x, y, z}};
}

/// Returns B of an ellipsoid of this volume with the given ratios of its axes, in a random orientation.
inline void random_shape(std::mt19937_64& random, double volume, Vec3 ratio, double* b5) {
  std::normal_distribution<double> normal;
  double v[3][3];
  for (auto& r : v)
    for (double& x : r) x = normal(random);
  for (int i = 0; i < 3; ++i) {  // Gram and Schmidt, twice
    for (int again = 0; again < 2; ++again)
      for (int j = 0; j < i; ++j) {
        const double d = v[i][0] * v[j][0] + v[i][1] * v[j][1] + v[i][2] * v[j][2];
        for (int c = 0; c < 3; ++c) v[i][c] -= d * v[j][c];
      }
    const double norm = std::sqrt(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    for (double& x : v[i]) x /= norm;
  }
  const double scale = std::cbrt(0.75 * volume / std::acos(-1.0) / (ratio[0] * ratio[1] * ratio[2]));
  const auto entry = [&](int i, int j) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += scale * scale * ratio[k] * ratio[k] * v[k][i] * v[k][j];
    return sum;
  };
  b5[0] = entry(0, 0);
  b5[1] = entry(0, 1);
  b5[2] = entry(0, 2);
  b5[3] = entry(1, 1);
  b5[4] = entry(1, 2);
}

/// Returns parcels at random positions, some of them long, with ids 7, 10, 13, ...
inline Parcels random_parcels(const Grid& grid, std::size_t n, unsigned seed, double beyond_walls = 0) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  Parcels parcels(schema());
  parcels.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = [&](int a) {
      return grid.box.lower[static_cast<std::size_t>(a)] + u(random) * grid.box.extent[static_cast<std::size_t>(a)];
    };
    const double volume = grid.cell_volume() * (0.02 + 0.15 * u(random));
    parcels.site(i) = {at(0), at(1), at(2), volume};
    double& z = parcels.site(i).z;
    z += beyond_walls * grid.spacing(2) * (2 * (z - grid.box.lower[2]) / grid.box.extent[2] - 1);
    double* const row = parcels.row(i);
    std::fill_n(row, parcels.schema().width(), std::nan(""));  // registers hold nothing
    parcels.set_id(i, static_cast<std::int64_t>(7 + 3 * i));
    for (int c = 1; c <= 4; ++c) row[c] = u(random) - 0.3;
    const bool is_long = u(random) < 0.2;
    random_shape(random, volume, {1 + (is_long ? 4 : 1) * u(random), 0.8 + 0.4 * u(random), 1}, row + 5);
  }
  return parcels;
}

/// Makes single parcels, pairs and whole groups of small volume so flat that the minor B11 B22 - B12^2 of their shapes cancels.
inline void flatten_some(Parcels& parcels, const Grid& grid) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    if (i % 5 > 1 && (i < 96 || i > 112)) continue;
    const double volume = 0.004 * grid.cell_volume();
    parcels.site(i).volume = volume;
    const double size = std::pow(3 * volume / (4 * 3.141592653589793), 2.0 / 3);
    const double shape[] = {size, 0.99 * size, 0.1 * size, size, 0.1 * size};
    std::copy_n(shape, 5, parcels.row(i) + 5);
  }
}

/// Returns the parcels that a rank owns.
inline Parcels own(const Parcels& all, const Decomposition& d, int rank) {
  Parcels mine(all.schema());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Site& s = all.site(i);
    if (d.owner({s.x, s.y, s.z}) == rank) mine.append(s, all.row(i));
  }
  return mine;
}

}  // namespace merganser::flow::reference
