/// The slow reference for the transfer itself: analytic fields and conservation.
#include "tests/flow/inversion_reference.hpp"

#include <gtest/gtest.h>

#include <random>

#include "merganser/flow/inversion.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;

Reference::Field random_field(const Reference& r, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Reference::Field f(r.nx * r.ny * r.levels);
  for (auto& x : f) x = u(random);
  return f;
}

/// Calls a function with the index of each node in a Reference.
template <class Use>
void for_places(const NodeLayout& layout, const Reference& r, Use&& use) {
  for_nodes(layout, false, [&](auto i, auto j, auto k, double, double, double) {
    use(i, j, k, r.at(static_cast<std::size_t>(i), static_cast<std::size_t>(j), static_cast<std::size_t>(k)));
  });
}

template <std::size_t kWidth>
void expect_field(const Nodes<kWidth>& nodes, std::size_t component, const Reference& r, const Reference::Field& want,
                  const char* name) {
  double most = 0;
  double size = 0;
  for_places(nodes.layout(), r, [&](auto i, auto j, auto k, std::size_t at) {
    most = std::max(most, std::fabs(nodes.at(i, j, k)[component] - static_cast<double>(want[at])));
    size = std::max(size, std::fabs(static_cast<double>(want[at])));
  });
  EXPECT_GT(size, 0) << name;
  EXPECT_LT(most, 2e-14 * std::max(1.0, size)) << name;
}

class ReferenceTest : public testing::TestWithParam<std::array<std::int64_t, 3>> {
 protected:
  Grid grid() const {
    const auto& cells = GetParam();
    return flow_grid(cells, {-1, 0.5, 2},
                     {0.7 * static_cast<double>(cells[0]), 0.5 * static_cast<double>(cells[1]),
                      0.4 * static_cast<double>(cells[2])});
  }
  template <class Body>
  void solve(Body&& body) {
    FlowOptions options;
    options.coriolis_y = 0.3;
    options.coriolis_z = 0.8;
    on_ranks({"threads", 1, ""}, [&](comm::Transport& t) {
      const Decomposition d(grid(), 1);
      Inversion inversion(t, d, options);
      body(inversion, NodeLayout(d, 0));
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Grids, ReferenceTest,
                         testing::Values(std::array<std::int64_t, 3>{4, 4, 4}, std::array<std::int64_t, 3>{6, 8, 5},
                                         std::array<std::int64_t, 3>{10, 6, 9}, std::array<std::int64_t, 3>{8, 4, 18}));

TEST_P(ReferenceTest, random_vorticity_has_the_flow_of_the_definition) {
  solve([&](Inversion& inversion, const NodeLayout& layout) {
    Reference r(grid());
    r.xi = random_field(r, 1);
    r.eta = random_field(r, 2);
    r.zeta = random_field(r, 3);
    CarriedNodes carried(layout);
    FlowNodes flow(layout);
    for_places(layout, r, [&](auto i, auto j, auto k, std::size_t at) {
      double* const to = carried.at(i, j, k) + CarriedFields::xi;
      to[0] = static_cast<double>(r.xi[at]);
      to[1] = static_cast<double>(r.eta[at]);
      to[2] = static_cast<double>(r.zeta[at]);
    });
    r.velocity();
    inversion.velocity(carried, flow);
    expect_field(carried, CarriedFields::xi, r, r.xi, "xi");
    expect_field(carried, CarriedFields::eta, r, r.eta, "eta");
    expect_field(carried, CarriedFields::zeta, r, r.zeta, "zeta");
    const Reference::Field* const fields[] = {&r.u,   &r.v,   &r.w,   &r.u_x, &r.u_y, &r.u_z,
                                              &r.v_x, &r.v_y, &r.v_z, &r.w_x, &r.w_y};
    const char* const names[] = {"u", "v", "w", "u_x", "u_y", "u_z", "v_x", "v_y", "v_z", "w_x", "w_y"};
    for (std::size_t c = 0; c < 11; ++c) expect_field(flow, FlowFields::u + c, r, *fields[c], names[c]);
  });
}

TEST_P(ReferenceTest, random_fluxes_have_the_divergence_of_the_definition) {
  solve([&](Inversion& inversion, const NodeLayout& layout) {
    const Reference r(grid());
    std::array<Reference::Field, 7> f;  // xi, eta, zeta, b, u, v, w
    for (unsigned i = 0; i < 7; ++i) f[i] = random_field(r, 10 + i);
    CarriedNodes carried(layout);
    FlowNodes flow(layout);
    std::array<std::array<Reference::Field, 3>, 3> flux;  // by component of vorticity, by axis
    for (auto& component : flux)
      for (auto& axis : component) axis.resize(f[0].size());
    const double spin[3] = {0, 0.3, 0.8};
    for_places(layout, r, [&](auto i, auto j, auto k, std::size_t at) {
      for (std::size_t c = 0; c < 4; ++c) carried.at(i, j, k)[CarriedFields::xi + c] = static_cast<double>(f[c][at]);
      for (std::size_t c = 0; c < 3; ++c) {
        flow.at(i, j, k)[FlowFields::u + c] = static_cast<double>(f[4 + c][at]);
        for (std::size_t a = 0; a < 3; ++a) flux[c][a][at] = (f[a][at] + spin[a]) * f[4 + c][at];
      }
      flux[0][1][at] += f[3][at];
      flux[1][0][at] -= f[3][at];
    });
    const bool lower = grid().cells[2] % 2 == 0;
    inversion.tendency(carried, flow, {lower, !lower});
    for (std::size_t c = 0; c < 3; ++c) {
      Reference::Field want = r.divergence(flux[c][0], flux[c][1], flux[c][2]);
      for (std::size_t i = 0; c == 2 && i < r.nx * r.ny; ++i) want[i * r.levels + (lower ? 0 : r.nz)] = 0;
      expect_field(flow, FlowFields::xi_t + c, r, want, "tendency");
    }
  });
}

TEST_P(ReferenceTest, a_random_excess_has_the_displacement_of_the_definition) {
  solve([&](Inversion& inversion, const NodeLayout& layout) {
    const Reference r(grid());
    const Reference::Field f = random_field(r, 20);
    ScalarNodes excess(layout);
    VectorNodes displacement(layout);
    for_places(layout, r,
               [&](auto i, auto j, auto k, std::size_t at) { *excess.at(i, j, k) = static_cast<double>(f[at]); });
    inversion.displacement(excess, displacement);
    const std::array<Reference::Field, 3> want = r.displacement(f);
    for (std::size_t a = 0; a < 3; ++a) expect_field(displacement, a, r, want[a], "displacement");
  });
}

}  // namespace
