// Limits of the time step, and the potential that evens out volumes, against independent computations.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "merganser/flow/inversion.hpp"
#include "tests/flow/fields.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;

template <class Body>
void on_grid(const Grid& grid, Body&& body) {
  on_ranks({"threads", 1, ""}, [&](comm::Transport& t) {
    const Decomposition d(grid, 1);
    Inversion inversion(t, d, {});
    HaloFill halo(t, d);
    body(inversion, NodeLayout(d, 0), halo);
  });
}

/// Returns the largest magnitude of an eigenvalue of a symmetric matrix, by Jacobi rotations.
double largest_eigenvalue(std::array<std::array<double, 3>, 3> a) {
  for (int sweep = 0; sweep < 30; ++sweep)
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t q = p + 1; q < 3; ++q) {
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t i = 0; i < 3; ++i) {
          const double x = a[i][p], y = a[i][q];
          a[i][p] = c * x - s * y;
          a[i][q] = s * x + c * y;
        }
        for (std::size_t i = 0; i < 3; ++i) {
          const double x = a[p][i], y = a[q][i];
          a[p][i] = c * x - s * y;
          a[q][i] = s * x + c * y;
        }
      }
  return std::max({std::fabs(a[0][0]), std::fabs(a[1][1]), std::fabs(a[2][2])});
}

TEST(Limits, the_strain_is_the_largest_eigenvalue_of_all_nodes) {
  on_grid(flow_grid({4, 4, 4}, {0, 0, 0}, {1, 1, 1}), [&](Inversion& inversion, const NodeLayout& layout, HaloFill&) {
    const CarriedNodes carried(layout);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> u(-1, 1);
    double most = 0;
    FlowNodes flow(layout);
    EXPECT_EQ(inversion.limits(carried, flow).strain, 0);
    // Nodes in succession get larger and larger gradients, some of them with equal eigenvalues.
    for_nodes(layout, false, [&](auto i, auto j, auto k, double, double, double) {
      double g[3][3];
      for (auto& row : g)
        for (double& x : row) x = u(random);
      if (k == 1) g[0][1] = g[0][2] = g[1][0] = g[1][2] = g[2][0] = g[2][1] = 0, g[0][0] = g[1][1];
      if (k == 2) g[1][0] = g[0][1], g[0][0] = g[1][1] = 0, g[0][2] = g[2][0] = g[1][2] = g[2][1] = 0;
      const double size = 1 + most;
      for (auto& row : g)
        for (double& x : row) x *= size;
      g[2][2] = -(g[0][0] + g[1][1]);
      double* const to = flow.at(i, j, k);
      const double values[] = {g[0][0], g[0][1], g[0][2], g[1][0], g[1][1], g[1][2], g[2][0], g[2][1]};
      std::copy(std::begin(values), std::end(values), to + FlowFields::u_x);
      std::array<std::array<double, 3>, 3> symmetric;
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) symmetric[a][b] = 0.5 * (g[a][b] + g[b][a]);
      most = std::max(most, largest_eigenvalue(symmetric));
      EXPECT_NEAR(inversion.limits(carried, flow).strain / most, 1, 2e-15);
      if (most > 1e6) {
        std::fill(to + FlowFields::u_x, to + FlowFields::w_y + 1, 0.0);
        most = 0;
        std::fill(flow.data(), flow.data() + layout.size() * FlowFields::width, 0.0);
      }
    });
    EXPECT_GT(most, 0);
  });
}

TEST(Limits, the_frequency_is_that_of_the_steepest_buoyancy) {
  on_grid(flow_grid({6, 4, 4}, {0, 0, 0}, {1.2, 0.6, 1}),
          [&](Inversion& inversion, const NodeLayout& layout, HaloFill&) {
            CarriedNodes carried(layout);
            const FlowNodes flow(layout);
            for_nodes(layout, true, [&](auto i, auto j, auto k, double x, double y, double z) {
              carried.at(i, j, k)[CarriedFields::buoyancy] = 2 * x - 3 * y + 6 * z;
            });
            EXPECT_NEAR(inversion.limits(carried, flow).frequency, std::sqrt(7.0), 1e-14);
            carried.at(2, 1, 3)[CarriedFields::buoyancy] = 100;
            EXPECT_GT(inversion.limits(carried, flow).frequency, 10);
          });
}

TEST(Limits, what_is_no_number_shows) {
  on_grid(flow_grid({4, 4, 4}, {0, 0, 0}, {1, 1, 1}), [&](Inversion& inversion, const NodeLayout& layout, HaloFill&) {
    CarriedNodes carried(layout);
    FlowNodes flow(layout);
    flow.at(3, 3, 4)[FlowFields::u_x] = 1;
    flow.at(1, 2, 3)[FlowFields::v_z] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(inversion.limits(carried, flow).strain));
    EXPECT_EQ(inversion.limits(carried, flow).frequency, 0);
    carried.at(0, 0, 0)[CarriedFields::buoyancy] = std::numeric_limits<double>::quiet_NaN();
    carried.at(2, 2, 2)[CarriedFields::buoyancy] = 5;
    EXPECT_TRUE(std::isnan(inversion.limits(carried, flow).frequency));
  });
}

TEST(Displacement, of_one_wave_is_its_gradient_over_its_eigenvalue) {
  const Grid grid = flow_grid({8, 10, 9}, {-1, 0, 2}, {2, 2.5, 2});
  on_grid(grid, [&](Inversion& inversion, const NodeLayout& layout, HaloFill&) {
    ScalarNodes excess(layout);
    VectorNodes displacement(layout);
    const double k = 2 * kPi / 2 * 3, l = 2 * kPi / 2.5 * 2, m = kPi / 2 * 4, step = 2.0 / 9;
    const double eigenvalue = 2 * (std::cos(m * step) - 1) / (step * step) - k * k - l * l;
    const auto phase = [&](double x, double y) { return k * x + l * y + 0.3; };
    set_nodes(excess, 0, [&](double x, double y, double z) {
      return std::array<double, 1>{std::cos(phase(x, y)) * std::cos(m * (z - 2)) + 0.7 * z};
    });
    inversion.displacement(excess, displacement);
    EXPECT_LT(largest_error(displacement, 0,
                            [&](double x, double y, double z) {
                              const double s = -std::sin(phase(x, y)) * std::cos(m * (z - 2)) / eigenvalue;
                              const double up = -std::cos(phase(x, y)) * std::sin(m * (z - 2)) * std::sin(m * step) /
                                                step / eigenvalue;
                              return std::array<double, 3>{k * s, l * s, z == 2 || z > 3.999 ? 0.0 : up};
                            }),
              1e-14);
  });
}

/// Eight points per cell, displaced at random.
std::vector<Vec3> shaken_points(const Grid& grid) {
  std::vector<Vec3> points;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> u(-0.25, 0.25);
  for (std::int64_t i = 0; i < 2 * grid.cells[0]; ++i)
    for (std::int64_t j = 0; j < 2 * grid.cells[1]; ++j)
      for (std::int64_t k = 0; k < 2 * grid.cells[2]; ++k) {
        Vec3 p;
        const std::int64_t at[3] = {i, j, k};
        for (int a = 0; a < 3; ++a)
          p[static_cast<std::size_t>(a)] = grid.box.lower[static_cast<std::size_t>(a)] +
                                           grid.spacing(a) * (0.5 * (static_cast<double>(at[a]) + 0.5) + u(random));
        points.push_back(p);
      }
  return points;
}

/// Calls use(i, j, k, weight) for the eight nodes around a point.
template <class Use>
void around(const Grid& grid, const Vec3& p, Use&& use) {
  std::array<std::int64_t, 3> low;
  Vec3 share;
  for (std::size_t a = 0; a < 3; ++a) {
    const double at = (p[a] - grid.box.lower[a]) / grid.spacing(static_cast<int>(a));
    low[a] = std::min(static_cast<std::int64_t>(std::floor(at)), grid.cells[a] - 1);
    share[a] = at - static_cast<double>(low[a]);
  }
  for (int c = 0; c < 8; ++c) {
    const int d[3] = {c & 1, c >> 1 & 1, c >> 2};
    double weight = 1;
    for (std::size_t a = 0; a < 3; ++a) weight *= d[a] != 0 ? share[a] : 1 - share[a];
    use(low[0] + d[0], low[1] + d[1], low[2] + d[2], weight);
  }
}

/// Computes the excess of the points' volume at nodes; returns its mean magnitude.
double gather_excess(const Grid& grid, const std::vector<Vec3>& points, ScalarNodes& excess) {
  std::fill(excess.data(), excess.data() + excess.layout().size(), 0.0);
  for (const Vec3& p : points)
    around(grid, p, [&](std::int64_t i, std::int64_t j, std::int64_t k, double weight) {
      const double wall = k == 0 || k == grid.cells[2] ? 2 : 1;
      *excess.at(i % grid.cells[0], j % grid.cells[1], k) += 0.125 * wall * weight;
    });
  double sum = 0;
  double count = 0;
  for_nodes(excess.layout(), false, [&](auto i, auto j, auto k, double, double, double) {
    *excess.at(i, j, k) -= 1;
    sum += std::fabs(*excess.at(i, j, k));
    ++count;
  });
  return sum / count;
}

TEST(Displacement, evens_out_shaken_points) {
  const Grid grid = flow_grid({16, 16, 16}, {0, 0, 0}, {1, 1, 1});
  on_grid(grid, [&](Inversion& inversion, const NodeLayout& layout, HaloFill&) {
    std::vector<Vec3> points = shaken_points(grid);
    ScalarNodes excess(layout);
    VectorNodes displacement(layout);
    const double before = gather_excess(grid, points, excess);
    for (int turn = 0; turn < 20; ++turn) {
      inversion.displacement(excess, displacement);
      for (Vec3& p : points) {
        Vec3 moved = p;
        around(grid, p, [&](std::int64_t i, std::int64_t j, std::int64_t k, double weight) {
          for (std::size_t a = 0; a < 3; ++a) moved[a] += weight * displacement.at(i, j, k)[a];
        });
        for (int a = 0; a < 2; ++a)
          moved[static_cast<std::size_t>(a)] = grid.box.wrap(a, moved[static_cast<std::size_t>(a)]);
        moved[2] = std::clamp(moved[2], 0.0, 1.0);
        p = moved;
      }
      gather_excess(grid, points, excess);
    }
    const double after = gather_excess(grid, points, excess);
    EXPECT_GT(before, 0.01);
    EXPECT_LT(after, 0.4 * before);
  });
}

}  // namespace
