/// Initial conditions of the flow: eight parcels per cell, independent of the decomposition.
#include "merganser/flow/cases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/flow/detail/describe_cases.hpp"
#include "merganser/flow/model.hpp"
#include "merganser/flow/transfer.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "merganser/parcels/statistics.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;

constexpr double kPi = std::numbers::pi;

Parcels whole(Case which, const CaseOptions& options) {
  return fill(Decomposition(case_grid(which, options), 1), 0, case_fields(which, options));
}

class EveryCase : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, EveryCase, testing::Values(Case::rayleigh_taylor, Case::taylor_green, Case::thermal),
                         [](const auto& i) {
                           std::string name = cases().name(i.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryCase, has_eight_spheres_a_cell_that_fill_the_box) {
  CaseOptions options;
  options.cells = 8;
  const Grid grid = case_grid(GetParam(), options);
  const Parcels parcels = whole(GetParam(), options);
  ASSERT_EQ(static_cast<std::int64_t>(parcels.size()), 8 * grid.cell_count());
  const std::size_t b = parcels.schema().offset("B");
  std::map<std::array<std::int64_t, 3>, int> by_cell;
  std::set<std::int64_t> ids;
  ExactSum volume;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    ++by_cell[{grid.cell(0, s.x), grid.cell(1, s.y), grid.cell(2, s.z)}];
    ids.insert(parcels.id(i));
    volume.add(s.volume);
    const double* const shape = parcels.row(i) + b;
    EXPECT_NEAR(b33(shape, s.volume), shape[0], 1e-15);
    EXPECT_EQ(shape[0], shape[3]);
  }
  EXPECT_EQ(ids.size(), parcels.size());
  for (const auto& [cell, count] : by_cell) ASSERT_EQ(count, 8);
  const double box = grid.box.extent[0] * grid.box.extent[1] * grid.box.extent[2];
  EXPECT_NEAR(volume.value(), box, 1e-14 * box);
}

TEST_P(EveryCase, is_the_same_for_any_number_of_ranks_and_keeps_its_ids_when_renumbered) {
  CaseOptions options;
  options.cells = 12;
  const Grid grid = case_grid(GetParam(), options);
  const Digest all = digest(whole(GetParam(), options));
  for (const auto& [ranks, shape] : {std::pair(2, "2x1x1"), std::pair(4, "2x2x1"), std::pair(5, "1x5x1")}) {
    const Decomposition blocks = flow::decompose(grid, ranks, shape);
    Digest sum;
    for (int r = 0; r < ranks; ++r) {
      Parcels part = fill(blocks, r, case_fields(GetParam(), options));
      const Digest before = digest(part);
      renumber(part, NodeLayout(blocks, r));
      EXPECT_EQ(digest(part), before);
      sum += before;
    }
    EXPECT_EQ(sum, all) << shape;
  }
}

TEST(Cases, rayleigh_taylor_has_the_symmetry_of_its_formula) {
  CaseOptions options;
  options.cells = 8;
  const Parcels parcels = whole(Case::rayleigh_taylor, options);
  const Grid grid = case_grid(Case::rayleigh_taylor, options);
  const std::size_t b = parcels.schema().offset("buoyancy");
  const auto key = [&](double x, double y, double z) {
    const auto quarter = [&](int a, double v) { return std::lround(grid.box.wrap(a, v) / grid.spacing(a) * 4); };
    return std::array<long, 3>{quarter(0, x), quarter(1, y), quarter(2, z)};
  };
  std::map<std::array<long, 3>, double> buoyancy;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    buoyancy[key(s.x, s.y, s.z)] = parcels.row(i)[b];
  }
  ASSERT_EQ(buoyancy.size(), parcels.size());
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    const auto mirrored = buoyancy.find(key(s.x + kPi / 2, s.y + kPi / 2, -s.z));
    ASSERT_NE(mirrored, buoyancy.end());
    EXPECT_NEAR(parcels.row(i)[b], -mirrored->second, 1e-14);
  }
}

TEST(Cases, taylor_green_carries_the_curl_of_its_velocity) {
  CaseOptions options;
  options.cells = 32;
  options.amplitude = 2;
  const Parcels parcels = whole(Case::taylor_green, options);
  const std::size_t w = parcels.schema().offset("vorticity");
  for (std::size_t i = 0; i < parcels.size(); i += 7) {
    const Site& s = parcels.site(i);
    const double* const omega = parcels.row(i) + w;
    EXPECT_NEAR(omega[0], -2 * std::cos(s.x) * std::sin(s.y) * std::sin(s.z), 0.06);
    EXPECT_NEAR(omega[1], -2 * std::sin(s.x) * std::cos(s.y) * std::sin(s.z), 0.06);
    EXPECT_NEAR(omega[2], 4 * std::sin(s.x) * std::sin(s.y) * std::cos(s.z), 0.12);
    EXPECT_EQ(parcels.row(i)[parcels.schema().offset("buoyancy")], 0);
  }
}

TEST(Cases, a_thermal_is_light_inside_and_nowhere_else) {
  const CaseOptions options;
  const InitialFields fields = case_fields(Case::thermal, options);
  EXPECT_EQ(fields({0, 0, options.thermal_height}).buoyancy, options.thermal_buoyancy);
  EXPECT_EQ(fields({0, 0, options.thermal_height + 1.01 * options.thermal_radius}).buoyancy, 0);
  const double edge = fields({0, 0, options.thermal_height + 0.9 * options.thermal_radius}).buoyancy;
  EXPECT_GT(edge, 0);
  EXPECT_LT(edge, options.thermal_buoyancy);
}

TEST(Cases, an_odd_number_of_cells_is_refused) {
  CaseOptions options;
  options.cells = 9;
  EXPECT_THROW((void)case_grid(Case::thermal, options), InputError);
}

TEST(Blocks, are_dealt_in_x_and_y_with_the_least_surface) {
  const Grid square = case_grid(Case::rayleigh_taylor, {});
  EXPECT_EQ(flow::decompose(square, 2).describe(), "1x2x1");
  EXPECT_EQ(flow::decompose(square, 16).describe(), "4x4x1");
  EXPECT_EQ(flow::decompose(square, 6).shape()[2], 1);
  EXPECT_EQ(flow::decompose(square, 3, "1x3x1").describe(), "1x3x1");
  CaseOptions few;
  few.cells = 4;
  EXPECT_THROW((void)flow::decompose(case_grid(Case::rayleigh_taylor, few), 5), InputError);
}

}  // namespace
