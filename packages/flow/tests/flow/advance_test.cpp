/// Runge-Kutta stages and displacements of flow parcels, against the slow reference and over ranks.
#include <gtest/gtest.h>

#include <cstring>

#include "merganser/flow/transfer.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/flow/alone.hpp"
#include "tests/flow/reference.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;
using reference::Node;

class Advance : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Advance, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// A velocity field that is periodic in x and y.
reference::Field waves(const Grid& grid) {
  return [grid](const Node& node, std::size_t c) {
    const double turn = 2 * std::acos(-1.0);
    const Node n = reference::wrapped(grid, node);
    const double x = turn * static_cast<double>(n[0]) / static_cast<double>(grid.cells[0]);
    const double y = turn * static_cast<double>(n[1]) / static_cast<double>(grid.cells[1]);
    const auto phase = static_cast<double>(c);
    return std::sin(x + phase) * std::cos(2 * y - phase) + 0.03 * static_cast<double>(n[2]) * std::sin(phase);
  };
}

template <std::size_t kWidth>
Nodes<kWidth> filled(const NodeLayout& layout, const reference::Field& field, std::size_t used) {
  Nodes<kWidth> nodes(layout);
  for (std::int64_t i = -1; i <= layout.cells(0) + 1; ++i)
    for (std::int64_t j = -1; j <= layout.cells(1) + 1; ++j)
      for (std::int64_t k = -1; k <= layout.cells(2) + 1; ++k)
        for (std::size_t c = 0; c < used; ++c)
          nodes.at(i, j, k)[c] = field({layout.first(0) + i, layout.first(1) + j, k}, c);
  return nodes;
}

/// Returns the largest difference between parcels and those of the reference with the same ids, registers included.
double difference(const Parcels& mine, const Parcels& expected) {
  std::map<std::int64_t, std::size_t> by_id;
  for (std::size_t i = 0; i < expected.size(); ++i) by_id[expected.id(i)] = i;
  double worst = 0;
  const auto compare = [&](double a, double b) { worst = std::max(worst, std::fabs(a - b) / (1 + std::fabs(b))); };
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::size_t e = by_id.at(mine.id(i));
    const Site& a = mine.site(i);
    const Site& b = expected.site(e);
    compare(a.x, b.x);
    compare(a.y, b.y);
    compare(a.z, b.z);
    compare(a.volume, b.volume);
    for (std::size_t c = 1; c < 21; ++c) {
      EXPECT_FALSE(std::isnan(mine.row(i)[c])) << "component " << c << " of parcel " << mine.id(i);
      compare(mine.row(i)[c], expected.row(e)[c]);
    }
  }
  return worst;
}

constexpr double kStages[3][2] = {{0, 0.05}, {-0.42, 0.07}, {-1.2, 0.06}};

/// Makes three stages; returns the sum of the ranks' digests.
std::vector<std::int64_t> advanced(comm::Transport& t, const Grid& grid, const std::string& shape, const Parcels& all,
                                   Parcels& mine) {
  const Decomposition d(grid, t.size(), shape);
  const NodeLayout layout(d, t.rank());
  mine = reference::own(all, d, t.rank());
  Transfer transfer(t, d, {});
  Migration migration(t, d);
  const FlowNodes flow = filled<FlowFields::width>(layout, waves(grid), 14);
  for (const auto& stage : kStages) {
    transfer.locate(mine);
    transfer.advance(mine, flow, stage[0], stage[1]);
    migration.send(mine, transfer.may_have_left());
    EXPECT_EQ(migration.send(mine), 0);                                 // all are on their owners
    for (std::size_t i = 0; i < mine.size(); ++i) mine.row(i)[21] = 0;  // unused
  }
  const Digest digest = merganser::digest(mine);
  std::vector<std::int64_t> words(2 + 1, static_cast<std::int64_t>(mine.size()));
  static_assert(sizeof digest == 2 * sizeof(std::int64_t));
  std::memcpy(words.data(), &digest, sizeof digest);
  t.all_reduce(std::span(words), comm::Op::sum);
  return words;
}

TEST(AdvanceFlat, parcels_whose_minors_cancel_move_as_in_the_slow_reference) {
  const Grid grid = reference::grid_of(8, 7, 5);
  Parcels all = reference::random_parcels(grid, 501, 31, 0.2);
  reference::flatten_some(all, grid);
  Parcels expected = all;
  reference::advance(expected, grid, waves(grid), 0, 0.01);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (const int axis : {0, 1}) {
      double& x = axis == 0 ? expected.site(i).x : expected.site(i).y;
      x = grid.box.wrap(axis, x);
    }
  Alone t;
  const Decomposition d(grid, 1, "1x1x1");
  const NodeLayout layout(d, 0);
  Transfer transfer(t, d, {});
  transfer.locate(all);
  const FlowNodes flow = filled<16>(layout, waves(grid), 14);
  transfer.advance(all, flow, 0, 0.01);
  EXPECT_LT(difference(all, expected), 1e-9);  // a minor that cancels loses digits of B33
}

/// Advances parcels alone on one rank by two stages.
Parcels advanced_alone(Parcels parcels, const Grid& grid) {
  Alone t;
  const Decomposition d(grid, 1, "1x1x1");
  Transfer transfer(t, d, {});
  const FlowNodes flow = filled<FlowFields::width>(NodeLayout(d, 0), waves(grid), 14);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    transfer.locate(parcels);
    transfer.advance(parcels, flow, kStages[stage][0], kStages[stage][1]);
  }
  return parcels;
}

/// Returns small parcels, no spheres, all of whose points are in cell (3, 2, `level`).
Parcels parcels_in_one_cell(const Grid& grid, std::size_t n, double level) {
  Parcels parcels = reference::random_parcels(grid, n, 5);
  for (std::size_t i = 0; i < n; ++i) {
    Site& s = parcels.site(i);
    const auto inside = [&](std::size_t a, double cell, double x) {
      const double fraction = (x - grid.box.lower[a]) / grid.box.extent[a];
      return grid.box.lower[a] + (cell + 0.3 + 0.4 * fraction) * grid.spacing(static_cast<int>(a));
    };
    s = {inside(0, 3, s.x), inside(1, 2, s.y), inside(2, level, s.z), 0.008 * s.volume};
    for (std::size_t c = 5; c < 10; ++c) parcels.row(i)[c] *= 0.04;
  }
  return parcels;
}

TEST(AdvanceInOneCell, groups_of_parcels_in_one_cell_move_with_the_bits_of_parcels_among_those_of_other_cells) {
  const Grid grid = reference::grid_of(8, 7, 5);
  const Parcels low = parcels_in_one_cell(grid, 13, 1);
  const Parcels high = parcels_in_one_cell(grid, 13, 2);
  const Parcels together = advanced_alone(low, grid);
  for (std::size_t i = 0; i < low.size(); ++i) {
    Parcels apart(schema());  // a group is at most four parcels, and these are in two cells
    apart.append(low.site(i), low.row(i));
    for (std::size_t n = 1; n < 4; ++n) apart.append(high.site((i + n) % 13), high.row((i + n) % 13));
    apart = advanced_alone(apart, grid);
    EXPECT_EQ(std::memcmp(&apart.site(0), &together.site(i), sizeof(Site)), 0) << i;
    EXPECT_EQ(std::memcmp(apart.row(0), together.row(i), 21 * sizeof(double)), 0) << i;
  }
}

TEST_P(Advance, gives_what_the_slow_reference_gives_and_the_same_bits_on_any_number_of_ranks) {
  const Grid grid = reference::grid_of(14, 16, 5);
  const Parcels all = reference::random_parcels(grid, 3000, 8, 0.2);
  Parcels expected = all;
  for (const auto& stage : kStages) {
    reference::advance(expected, grid, waves(grid), stage[0], stage[1]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      Site& s = expected.site(i);
      s.x = grid.box.wrap(0, s.x);
      s.y = grid.box.wrap(1, s.y);
    }
  }
  std::vector<std::int64_t> bits;
  {
    Alone t;
    Parcels mine(schema());
    bits = advanced(t, grid, "1x1x1", all, mine);
    EXPECT_LT(difference(mine, expected), 1e-12);
  }
  EXPECT_EQ(bits[2], 3000);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const std::string n = std::to_string(t.size());
    for (const std::string& shape : {std::string("2d"), n + "x1x1", "1x" + n + "x1"}) {
      if (Decomposition(grid, t.size(), shape).shape()[2] != 1) continue;
      Parcels mine(schema());
      EXPECT_EQ(advanced(t, grid, shape, all, mine), bits) << shape;
      EXPECT_LT(difference(mine, expected), 1e-12);
    }
  });
}

TEST_P(Advance, reads_constants_and_linear_fields_exactly) {
  const Grid grid = reference::grid_of(14, 16, 5);
  const Parcels all = reference::random_parcels(grid, 3000, 9, 0.2);
  const reference::Field constant = [](const Node&, std::size_t c) { return 1 + 0.1 * static_cast<double>(c); };
  const reference::Field linear = [](const Node& n, std::size_t c) {
    return 0.01 * (static_cast<double>(n[0]) - 2 * static_cast<double>(n[1]) + 3 * static_cast<double>(n[2])) +
           static_cast<double>(c);
  };
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "2d");
    const NodeLayout layout(d, t.rank());
    Transfer transfer(t, d, {});
    for (const bool flat : {true, false}) {
      Parcels mine = reference::own(all, d, t.rank());
      const Parcels before = mine;
      transfer.locate(mine);
      transfer.advance(mine, filled<FlowFields::width>(layout, flat ? constant : linear, 14), 0, 0);
      double worst = 0;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        const Site& s = mine.site(i);
        const double along =
            0.01 * ((s.x - grid.box.lower[0]) / grid.spacing(0) - 2 * (s.y - grid.box.lower[1]) / grid.spacing(1) +
                    3 * (s.z - grid.box.lower[2]) / grid.spacing(2));
        for (const std::size_t c : {0U, 1U, 2U, 11U, 12U, 13U}) {
          const double at = flat ? 1 + 0.1 * static_cast<double>(c) : along + static_cast<double>(c);
          worst = std::max(worst, std::fabs(mine.row(i)[10 + (c < 3 ? c : c - 8)] - at) / (1 + std::fabs(at)));
        }
        EXPECT_EQ(s.x, before.site(i).x);  // b dt is 0
        EXPECT_EQ(mine.row(i)[5], before.row(i)[5]);
      }
      EXPECT_LT(worst, 1e-15);
    }
  });
}

TEST_P(Advance, displaces_by_what_is_read_at_centres) {
  const Grid grid = reference::grid_of(14, 16, 5);
  const Parcels all = reference::random_parcels(grid, 3000, 10);
  const reference::Field field = waves(grid);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "2d");
    Transfer transfer(t, d, {});
    Parcels mine = reference::own(all, d, t.rank());
    Parcels expected = mine;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      Site& s = expected.site(i);
      for (std::size_t c = 10; c < 22; ++c) expected.row(i)[c] = mine.row(i)[c] = 0;
      const std::vector<reference::Corner> corners = reference::corners(grid, {s.x, s.y, s.z});
      for (const reference::Corner& c : corners) {
        s.x += c.weight * field(c.node, 0);
        s.y += c.weight * field(c.node, 1);
        s.z += c.weight * field(c.node, 2);
      }
    }
    transfer.locate(mine);
    transfer.displace(mine, filled<4>(NodeLayout(d, t.rank()), field, 3));
    EXPECT_LT(difference(mine, expected), 1e-14);
  });
}

TEST_P(Advance, evens_out_down_the_gradient_and_not_beyond_the_bound) {
  const Grid grid = reference::grid_of(14, 16, 5);
  const Parcels all = reference::random_parcels(grid, 3000, 11);
  for (const double strength : {0.05, 3.0}) {
    const reference::Field field = [&](const Node& n, std::size_t) { return strength * waves(grid)(n, 1); };
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Decomposition d(grid, t.size(), "2d");
      Transfer transfer(t, d, {});
      Parcels mine = reference::own(all, d, t.rank());
      Parcels expected = mine;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        Site& s = expected.site(i);
        for (std::size_t c = 10; c < 22; ++c) expected.row(i)[c] = mine.row(i)[c] = 0;
        const Vec3 x{s.x, s.y, s.z};
        Vec3 moved = x;
        for (std::size_t a = 0; a < 3; ++a) {
          // Component of the gradient: the field on the upper face of the cell minus that on the lower.
          double across = 0;
          const std::vector<reference::Corner> corners = reference::corners(grid, x);
          const double g = (x[a] - grid.box.lower[a]) / grid.spacing(static_cast<int>(a));
          const double f = g - std::floor(g);
          for (const reference::Corner& c : corners) {
            const bool up = c.node[a] > static_cast<std::int64_t>(std::floor(g));
            across += (up ? 1 / f : -1 / (1 - f)) * c.weight * field(c.node, 0);
          }
          const double limit = grid.spacing(static_cast<int>(a)) * f * (1 - f);
          moved[a] += std::clamp(-1.8 * limit * across, -0.5 * limit, 0.5 * limit);
        }
        s.x = moved[0];
        s.y = moved[1];
        s.z = moved[2];
      }
      transfer.locate(mine);
      transfer.even_out(mine, filled<1>(NodeLayout(d, t.rank()), field, 1));
      EXPECT_LT(difference(mine, expected), 1e-11);
    });
  }
}

TEST_P(Advance, damps_the_vorticity_near_walls_towards_that_of_the_wall) {
  const Grid grid = reference::grid_of(14, 16, 6);
  const Parcels all = reference::random_parcels(grid, 3000, 12);
  const reference::Field field = waves(grid);
  const double dt = 3;
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "2d");
    const NodeLayout layout(d, t.rank());
    Transfer transfer(t, d, {});
    Parcels mine = reference::own(all, d, t.rank());
    Parcels expected = mine;
    std::size_t changed = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const Site& s = mine.site(i);
      for (std::size_t c = 10; c < 22; ++c) expected.row(i)[c] = mine.row(i)[c] = 0;
      const double level = (s.z - grid.box.lower[2]) / grid.spacing(2);
      if (level > 2 && level < 4) continue;
      for (const Vec3& x : reference::points(s, mine.row(i) + 5))
        for (const reference::Corner& c : reference::corners(grid, x)) {
          if (c.node[2] != 0 && c.node[2] != 6) continue;
          const auto f = [&](std::size_t n) { return field(c.node, n); };
          const double g[3][3] = {{f(3), f(4), f(5)}, {f(6), f(7), f(8)}, {f(9), f(10), -f(3) - f(7)}};
          double squares = 0;
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) squares += std::pow(0.5 * (g[a][b] + g[b][a]), 2);
          const double share = 1 - std::exp(-0.03 * std::sqrt(2 * squares) * dt);
          ++changed;
          for (std::size_t n = 1; n < 4; ++n) expected.row(i)[n] += 0.25 * c.weight * share * (f(n) - mine.row(i)[n]);
        }
    }
    EXPECT_GT(changed, 0U);
    transfer.locate(mine);
    transfer.damp(mine, filled<CarriedFields::width>(layout, field, 8), filled<FlowFields::width>(layout, field, 14),
                  dt);
    EXPECT_LT(difference(mine, expected), 1e-13);
  });
}

}  // namespace
