/// Spectral inversion of vorticity: analytic flows, the reference by definition, errors.
#include "merganser/flow/inversion.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "merganser/base/error.hpp"
#include "tests/flow/fields.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;
using Values3 = std::array<double, 3>;
using Values11 = std::array<double, 11>;

/// Runs `body` on one rank with an inversion on a grid.
template <class Body>
void invert(const Grid& grid, Body&& body, const FlowOptions& options = {}) {
  on_ranks({"threads", 1, ""}, [&](comm::Transport& t) {
    const Decomposition d(grid, 1);
    const NodeLayout layout(d, 0);
    Inversion inversion(t, d, options);
    CarriedNodes carried(layout);
    FlowNodes flow(layout);
    body(inversion, carried, flow);
  });
}

const Grid kEpic = flow_grid({64, 64, 64}, {-kPi, -kPi, -kPi / 2}, {2 * kPi, 2 * kPi, 2 * kPi});

/// The flow of EPIC's own test of its inversion.
Values3 epic_vorticity(double x, double y, double z) {
  return {-3 * std::sin(x) * std::cos(y) * std::cos(z), 3 * std::cos(x) * std::sin(y) * std::cos(z), 0};
}
Values11 epic_flow(double x, double y, double z) {
  const double sx = std::sin(x), cx = std::cos(x);
  const double sy = std::sin(y), cy = std::cos(y);
  const double sz = std::sin(z), cz = std::cos(z);
  return {cx * sy * sz, sx * cy * sz,  -2 * sx * sy * cz, -sx * sy * sz,     cx * cy * sz,     cx * sy * cz,
          cx * cy * sz, -sx * sy * sz, sx * cy * cz,      -2 * cx * sy * cz, -2 * sx * cy * cz};
}

TEST(Inversion, EPICs_own_test_comes_out_to_rounding) {
  invert(kEpic, [&](Inversion& inversion, CarriedNodes& carried, FlowNodes& flow) {
    set_nodes(carried, CarriedFields::xi, epic_vorticity);
    inversion.velocity(carried, flow);
    EXPECT_LT(largest_error(carried, CarriedFields::xi, epic_vorticity), 1e-13);
    EXPECT_LT(largest_error(flow, FlowFields::u, epic_flow), 1e-13);
    // Components without differentiation are more accurate, as EPIC reports too.
    EXPECT_LT(largest_error(flow, FlowFields::u,
                            [](double x, double y, double z) {
                              const Values11 all = epic_flow(x, y, z);
                              return Values3{all[0], all[1], all[2]};
                            }),
              1e-14);
  });
}

TEST(Inversion, a_mean_flow_is_the_integral_of_the_mean_vorticity) {
  const double length = 1.7;
  const double low = -0.4;
  const double m = 3 * kPi / length;
  // Linear vorticity and one sine mode: u_z = eta, v_z = -xi, with zero mean.
  const auto vorticity = [&](double, double, double z) {
    const double up = z - low;
    return Values3{0.5 - 2 * up + std::sin(m * up), -1 + 0.3 * up - 4 * std::sin(m * up), 0.25};
  };
  const auto velocity = [&](double, double, double z) {
    const double up = z - low;
    const double mean_u = -length / 2 + 0.05 * length * length;
    const double mean_v = -0.5 * length / 2 + length * length / 3;
    return Values3{-up + 0.15 * up * up + 4 / m * std::cos(m * up) - mean_u,
                   -0.5 * up + up * up + std::cos(m * up) / m - mean_v, 0};
  };
  for (const std::int64_t nz : {16, 15}) {
    invert(flow_grid({8, 12, nz}, {0, 0, low}, {0.9, 1.3, length}),
           [&](Inversion& inversion, CarriedNodes& carried, FlowNodes& flow) {
             set_nodes(carried, CarriedFields::xi, vorticity);
             inversion.velocity(carried, flow);
             EXPECT_LT(largest_error(flow, FlowFields::u, velocity), 1e-14);
             EXPECT_LT(largest_error(carried, CarriedFields::xi, vorticity), 2e-15);
             EXPECT_LT(largest_error(
                           flow, FlowFields::u_z,
                           [&](double x, double y, double z) { return std::array<double, 1>{vorticity(x, y, z)[1]}; }),
                       2e-15);
           });
  }
}

/// A flow in planes of x and z: w = sin(k x) g(z), u = cos(k x) g'(z) / k, eta = cos(k x) (g'' - k^2 g) / k.
struct PlaneFlow {
  double k;
  std::function<Values3(double up)> g;  ///< returns g, g', g'' at a height above the lower wall
  double low = 0.3;

  Values3 vorticity(double x, double z) const {
    const Values3 at = g(z - low);
    return {0, std::cos(k * x) * (at[2] - k * k * at[0]) / k, 0};
  }
  Values11 flow(double x, double z) const {
    const Values3 at = g(z - low);
    const double s = std::sin(k * x), c = std::cos(k * x);
    return {c * at[1] / k, 0, s * at[0], -s * at[1], 0, c * at[2] / k, 0, 0, 0, k * c * at[0], 0};
  }
};

/// Checks the flow. @param turned  true: with x and y exchanged, which changes the sign of vorticity
void expect_plane_flow(const PlaneFlow& plane, double length, bool turned) {
  const double period = 2 * kPi / plane.k;
  Grid grid = flow_grid({16, 12, 14}, {-1, 4, plane.low}, {period, 0.9 * period, length});
  if (turned) {
    std::swap(grid.cells[0], grid.cells[1]);
    std::swap(grid.box.lower[0], grid.box.lower[1]);
    std::swap(grid.box.extent[0], grid.box.extent[1]);
  }
  const auto vorticity = [&](double x, double y, double z) {
    const Values3 all = plane.vorticity(turned ? y : x, z);
    return turned ? Values3{-all[1], 0, 0} : all;
  };
  const auto velocity = [&](double x, double y, double z) {
    const Values11 all = plane.flow(turned ? y : x, z);
    return turned ? Values11{0, all[0], all[2], 0, 0, 0, 0, all[3], all[5], 0, all[9]} : all;
  };
  invert(grid, [&](Inversion& inversion, CarriedNodes& carried, FlowNodes& flow) {
    set_nodes(carried, CarriedFields::xi, vorticity);
    inversion.velocity(carried, flow);
    EXPECT_LT(largest_error(flow, FlowFields::u, velocity), 1e-13);
    EXPECT_LT(largest_error(carried, CarriedFields::xi, vorticity), 1e-13);
  });
}

TEST(Inversion, vorticity_at_walls_drives_the_flow_of_its_harmonic_continuation) {
  const double length = 5;
  for (const double k : {0.8, 1.7}) {
    // g'' - k^2 g = cosh(k h) or sinh(k h), h measured from mid-height; g is 0 at the walls.
    const auto symmetric = [=](double up) {
      const double h = up - length / 2;
      const double a = length / 2 * std::tanh(k * length / 2) / (2 * k);
      const double s = std::sinh(k * h), c = std::cosh(k * h);
      const double g = h * s / (2 * k) - a * c;
      return Values3{g, s / (2 * k) + h * c / 2 - a * k * s, c + k * k * g};
    };
    const auto antisymmetric = [=](double up) {
      const double h = up - length / 2;
      const double a = length / 2 / std::tanh(k * length / 2) / (2 * k);
      const double s = std::sinh(k * h), c = std::cosh(k * h);
      const double g = h * c / (2 * k) - a * s;
      return Values3{g, c / (2 * k) + h * s / 2 - a * k * c, s + k * k * g};
    };
    for (const bool turned : {false, true}) {
      expect_plane_flow({k, symmetric}, length, turned);
      expect_plane_flow({k, antisymmetric}, length, turned);
    }
  }
}

TEST(Inversion, a_mode_in_z_has_its_flow) {
  const double length = 4;
  for (const double modes : {1.0, 2.0, 5.0}) {
    const double m = modes * kPi / length;
    const PlaneFlow plane{1.3, [m](double up) {
                            return Values3{std::sin(m * up), m * std::cos(m * up), -m * m * std::sin(m * up)};
                          }};
    for (const bool turned : {false, true}) expect_plane_flow(plane, length, turned);
  }
}

/// A Beltrami flow: vorticity = kTwist velocity everywhere.
const double kTwist = std::sqrt(1 + 4 + 9);
Values3 beltrami(double x, double y, double z) {
  const double s = std::sin(3 * z), c = std::cos(3 * z), phase = x + 2 * y;
  return {(3 * s - 2 * kTwist * c) / 5 * std::sin(phase), (6 * s + kTwist * c) / 5 * std::sin(phase),
          c * std::cos(phase)};
}

/// Returns (vorticity . grad) u = grad(kTwist u^2 / 2), by central differences over a small step.
Values3 beltrami_tendency(double x, double y, double z) {
  const auto energy = [](double a, double b, double c) {
    const Values3 u = beltrami(a, b, c);
    return 0.5 * kTwist * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  };
  const double e = 1e-5;
  return {(energy(x + e, y, z) - energy(x - e, y, z)) / (2 * e), (energy(x, y + e, z) - energy(x, y - e, z)) / (2 * e),
          (energy(x, y, z + e) - energy(x, y, z - e)) / (2 * e)};
}

TEST(Inversion, the_tendency_of_a_Beltrami_flow_converges_as_differences_in_z_do) {
  std::vector<double> at_walls;
  std::vector<double> inside;
  for (const std::int64_t n : {16, 32}) {
    FlowOptions options;
    options.coriolis_z = 0;
    const auto body = [&](Inversion& inversion, CarriedNodes& carried, FlowNodes& flow) {
      set_nodes(carried, CarriedFields::xi, [](double x, double y, double z) {
        Values3 u = beltrami(x, y, z);
        for (double& c : u) c *= kTwist;
        return u;
      });
      inversion.velocity(carried, flow);
      EXPECT_LT(largest_error(flow, FlowFields::u, beltrami), 1e-14);
      inversion.tendency(carried, flow, {false, false});
      double most[2] = {0, 0};
      for_nodes(flow.layout(), false, [&](auto i, auto j, auto k, double x, double y, double z) {
        const Values3 want = beltrami_tendency(x, y, z);
        double& e = most[k == 0 || k == n];
        for (std::size_t c = 0; c < 3; ++c)
          e = std::max(e, std::fabs(flow.at(i, j, k)[FlowFields::xi_t + c] - want[c]));
      });
      inside.push_back(most[0]);
      at_walls.push_back(most[1]);
    };
    invert(flow_grid({2 * n, 2 * n, n}, {0, 0, -kPi / 2}, {2 * kPi, 2 * kPi, kPi}), body, options);
  }
  EXPECT_LT(inside[1], inside[0] / 3.5);
  EXPECT_LT(at_walls[1], at_walls[0] / 1.75);  // one-sided there
  EXPECT_LT(inside[1], 0.6);
}

TEST(Inversion, levels_beyond_the_walls_follow_from_those_inside) {
  const Grid grid = flow_grid({8, 6, 6}, {0, 0, 0}, {1.6, 1.2, 1.2});
  invert(grid, [&](Inversion& inversion, CarriedNodes& carried, FlowNodes& flow) {
    set_nodes(carried, CarriedFields::xi, [](double x, double y, double z) {
      return Values3{std::sin(4 * x) + z * z, std::cos(5 * y) * z, std::sin(3 * x + y + z)};
    });
    inversion.velocity(carried, flow);
    inversion.tendency(carried, flow, {false, false});
    for (const auto& [beyond, wall, inside] : {Values3{-1, 0, 1}, Values3{7, 6, 5}}) {
      const auto k = [](double level) { return static_cast<std::int64_t>(level); };
      const double* const a = flow.at(3, 2, k(beyond));
      const double* const b = flow.at(3, 2, k(wall));
      const double* const c = flow.at(3, 2, k(inside));
      const double* const turn = carried.at(3, 2, k(beyond));
      for (const std::size_t f : {FlowFields::u, FlowFields::v, FlowFields::u_x, FlowFields::u_y, FlowFields::v_y,
                                  FlowFields::xi_t, FlowFields::zeta_t})
        EXPECT_EQ(a[f], 2 * b[f] - c[f]) << f;
      for (const std::size_t f : {FlowFields::w, FlowFields::w_x, FlowFields::w_y}) {
        EXPECT_EQ(a[f], -c[f]) << f;
        EXPECT_EQ(b[f], 0) << f;
      }
      EXPECT_EQ(a[FlowFields::u_z], a[FlowFields::w_x] + turn[CarriedFields::eta]);
      EXPECT_EQ(a[FlowFields::v_x], a[FlowFields::u_y] + turn[CarriedFields::zeta]);
      EXPECT_EQ(a[FlowFields::v_z], a[FlowFields::w_y] - turn[CarriedFields::xi]);
      EXPECT_EQ(turn[CarriedFields::xi],
                2 * carried.at(3, 2, k(wall))[CarriedFields::xi] - carried.at(3, 2, k(inside))[CarriedFields::xi]);
    }
  });
}

TEST(Inversion, grids_and_libraries_that_it_cannot_serve_are_refused) {
  const auto refused = [](std::array<std::int64_t, 3> cells, Vec3 extent, const std::string& library) {
    FlowOptions options;
    options.fft = library;
    const Grid grid = flow_grid(cells, {0, 0, 0}, extent);
    const auto open = [&] {
      comm::RunOptions one;
      one.backend = "threads";
      comm::run(one, [&](comm::Transport& t) { Inversion(t, Decomposition(grid, 1), options); });
    };
    return library == "auto" ? refusal<InputError>(open) : refusal<UsageError>(open);
  };
  EXPECT_NE(refused({7, 8, 8}, {1, 1, 1}, "auto").find("7 cells on axis x; allowed"), std::string::npos);
  EXPECT_NE(refused({8, 9, 8}, {1, 1, 1}, "auto").find("9 cells on axis y"), std::string::npos);
  EXPECT_NE(refused({8, 8, 3}, {1, 1, 1}, "auto").find("3 cells on axis z"), std::string::npos);
  EXPECT_NE(refused({8, 8, 8}, {1, 1, 2.1}, "auto").find("a ratio of at most 2"), std::string::npos);
  EXPECT_EQ(refused({8, 8, 7}, {1, 1, 1}, "auto"), "nothing was thrown");
  EXPECT_NE(refused({8, 8, 8}, {1, 1, 1}, "fast").find("fast; allowed in this build: auto, lanes"), std::string::npos);
}

}  // namespace
