#include "merganser/flow/inversion.hpp"

#include <gtest/gtest.h>

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

/// EPIC's test of its inversion.
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
    set_nodes(carried, Carried::xi, epic_vorticity);
    inversion.velocity(carried, flow);
    EXPECT_LT(largest_error(carried, Carried::xi, epic_vorticity), 1e-13);
    EXPECT_LT(largest_error(flow, Flow::u, epic_flow), 1e-13);
    // What is not differentiated is better, as EPIC reports it.
    EXPECT_LT(largest_error(flow, Flow::u,
                            [](double x, double y, double z) {
                              const Values11 all = epic_flow(x, y, z);
                              return Values3{all[0], all[1], all[2]};
                            }),
              1e-14);
  });
}

}  // namespace
