/// Steps on single flow parcels: reflection, numbering, splitting, sums of vorticity.
#include <gtest/gtest.h>

#include <set>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "tests/flow/alone.hpp"
#include "tests/flow/reference.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;

class ParcelSteps : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ParcelSteps, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST(Reflect, mirrors_centre_and_shape_of_parcels_beyond_a_wall_and_nothing_else) {
  const Grid grid = reference::grid_of(4, 4, 4);
  Parcels parcels = reference::random_parcels(grid, 500, 20, 0.4);
  const Parcels before = parcels;
  const double low = grid.box.lower[2];
  const double high = low + grid.box.extent[2];
  reflect(parcels, grid.box);
  std::size_t mirrored = 0;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = before.site(i);
    const bool below = s.z < low;
    const bool above = s.z > high;
    mirrored += below || above ? 1 : 0;
    EXPECT_EQ(parcels.site(i).z, below ? 2 * low - s.z : above ? 2 * high - s.z : s.z);
    for (std::size_t c = 5; c < 10; ++c)
      EXPECT_EQ(parcels.row(i)[c], ((below || above) && (c == 7 || c == 9) ? -1 : 1) * before.row(i)[c]);
  }
  EXPECT_GT(mirrored, 20U);
}

TEST(Split, gives_the_second_child_the_next_id_and_keeps_moments) {
  const Grid grid = reference::grid_of(4, 4, 4);
  Parcels parcels = reference::random_parcels(grid, 300, 21);
  for (std::size_t i = 0; i < parcels.size(); ++i) parcels.set_id(i, static_cast<std::int64_t>(2 * (i * 31 % 1000)));
  const Parcels before = parcels;
  FlowOptions options;
  options.max_aspect_ratio = 3;
  const std::int64_t splits = flow::split(parcels, grid, options);
  EXPECT_EQ(parcels.size(), before.size() + static_cast<std::size_t>(splits));
  EXPECT_GT(splits, 10);
  const double longest = std::cbrt(0.75 / std::acos(-1.0)) * grid.spacing(2);  // of the narrowest
  std::int64_t expected = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Axes shape = principal_axes(before.row(i) + 5, before.site(i).volume);
    const bool is_long = shape.square[0] >= 9 * shape.square[2] || std::sqrt(shape.square[0]) >= longest;
    expected += is_long ? 1 : 0;
    EXPECT_EQ(parcels.id(i), before.id(i));
  }
  EXPECT_EQ(splits, expected);
  for (std::size_t i = before.size(); i < parcels.size(); ++i) {
    std::size_t parent = 0;
    while (before.id(parent) + 1 != parcels.id(i)) ++parent;
    EXPECT_EQ(parcels.site(i).volume, 0.5 * before.site(parent).volume);
    EXPECT_EQ(parcels.site(parent).volume, 0.5 * before.site(parent).volume);
  }
}

/// Returns the ids of parcels by position in the box.
using Ids = std::map<std::array<double, 3>, std::int64_t>;

TEST_P(ParcelSteps, renumber_gives_even_ids_that_no_decomposition_changes) {
  const Grid grid = reference::grid_of(14, 16, 5);
  const Parcels all = reference::random_parcels(grid, 6000, 22);
  Parcels whole = all;
  renumber(whole, NodeLayout(Decomposition(grid, 1, "1x1x1"), 0));
  Ids expected;
  std::set<std::int64_t> ids;
  std::map<std::int64_t, std::vector<std::array<std::int64_t, 2>>> cells;  // new and old ids
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Site& s = whole.site(i);
    expected[{s.x, s.y, s.z}] = whole.id(i);
    ids.insert(whole.id(i));
    EXPECT_EQ(whole.id(i) % 2, 0);
    const std::int64_t cell = (grid.cell(0, s.x) * 16 + grid.cell(1, s.y)) * 5 + grid.cell(2, s.z);
    EXPECT_EQ(whole.id(i) >> 21, cell);
    cells[cell].push_back({whole.id(i), all.id(i)});
  }
  EXPECT_EQ(ids.size(), 6000U);
  for (auto& [cell, pairs] : cells) {
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t n = 0; n < pairs.size(); ++n) {
      EXPECT_EQ(pairs[n][0], 2 * ((cell << 20) + static_cast<std::int64_t>(n)));
      if (n > 0) {
        EXPECT_LT(pairs[n - 1][1], pairs[n][1]);
      }
    }
  }
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "2d");
    Parcels mine = reference::own(all, d, t.rank());
    renumber(mine, NodeLayout(d, t.rank()));
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const Site& s = mine.site(i);
      EXPECT_EQ(mine.id(i), expected.at({s.x, s.y, s.z}));
    }
  });
}

TEST_P(ParcelSteps, migration_brings_parcels_home_and_leaves_those_beyond_walls_there) {
  const Grid grid = reference::grid_of(14, 16, 5);
  Parcels all = reference::random_parcels(grid, 6000, 23, 0.3);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "2d");
    Parcels mine = reference::own(all, d, t.rank());
    for (std::size_t i = 0; i < mine.size(); ++i) {  // less than a block, over the faces of the box too
      mine.site(i).x += 0.7 * grid.spacing(0) * std::sin(static_cast<double>(mine.id(i)));
      mine.site(i).y += 0.7 * grid.spacing(1) * std::cos(static_cast<double>(mine.id(i)));
    }
    Migration migration(t, d);
    const std::int64_t sent = t.all_reduce(migration.send(mine), comm::Op::sum);
    EXPECT_EQ(sent > 0, t.size() > 1);
    EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(mine.size()), comm::Op::sum), 6000);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const Site& s = mine.site(i);
      EXPECT_EQ(d.owner({s.x, s.y, s.z}), t.rank());
      const auto n = static_cast<std::size_t>((mine.id(i) - 7) / 3);
      const double id = static_cast<double>(mine.id(i));
      EXPECT_EQ(s.x, grid.box.wrap(0, all.site(n).x + 0.7 * grid.spacing(0) * std::sin(id)));
      EXPECT_EQ(s.y, grid.box.wrap(1, all.site(n).y + 0.7 * grid.spacing(1) * std::cos(id)));
      EXPECT_EQ(s.z, all.site(n).z);
      EXPECT_EQ(s.volume, all.site(n).volume);
      for (std::size_t c = 1; c < 10; ++c) EXPECT_EQ(mine.row(i)[c], all.row(n)[c]);
    }
    EXPECT_EQ(migration.send(mine), 0);
  });
}

TEST(Migration, refuses_parcels_that_are_nowhere) {
  const Grid grid = reference::grid_of(14, 16, 5);
  {
    Alone t;
    const Decomposition d(grid, 1, "1x1x1");
    Migration migration(t, d);
    for (int axis = 0; axis < 3; ++axis) {
      Parcels parcels = reference::random_parcels(grid, 10, 24);
      (&parcels.site(4).x)[axis] = axis == 1 ? INFINITY : std::nan("");
      EXPECT_EQ(refusal<InputError>([&] { migration.send(parcels); }).substr(0, 28),
                "parcel 19 has moved to (" +
                    std::string(axis == 0 ? "nan," : std::to_string(parcels.site(4).x).substr(0, 4)));
    }
  }
}

TEST_P(ParcelSteps, the_mean_of_vorticity_has_the_same_bits_on_any_number_of_ranks) {
  const Grid grid = reference::grid_of(14, 16, 5);
  const Parcels all = reference::random_parcels(grid, 6000, 25);
  const Vec3 whole = vorticity_sums(all).mean();
  long double sum = 0;
  long double volume = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sum += static_cast<long double>(all.site(i).volume) * static_cast<long double>(all.row(i)[3]);
    volume += static_cast<long double>(all.site(i).volume);
  }
  EXPECT_NEAR(whole[2], static_cast<double>(sum / volume), 1e-16);
  Vec3 by_cell{};
  {
    Alone t;
    Transfer transfer(t, Decomposition(grid, 1, "1x1x1"), {});
    transfer.locate(all);
    by_cell = transfer.vorticity_sums(all).mean();
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(by_cell[c], whole[c], 1e-15);
  }
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "2d");
    Parcels mine = reference::own(all, d, t.rank());
    EXPECT_EQ(mean_vorticity(t, mine), whole);
    Transfer transfer(t, d, {});
    transfer.locate(mine);
    EXPECT_EQ(mean_vorticity(t, transfer.vorticity_sums(mine)), by_cell);
    add_vorticity(mine, {-whole[0], -whole[1], -whole[2]});
    for (const double m : mean_vorticity(t, mine)) EXPECT_NEAR(m, 0, 1e-16);
  });
}

TEST(VorticitySums, refuse_what_is_no_number_by_its_id) {
  Parcels parcels = reference::random_parcels(reference::grid_of(4, 4, 4), 10, 26);
  parcels.row(5)[2] = std::nan("");
  const std::string text = refusal<InputError>([&] { (void)vorticity_sums(parcels); });
  EXPECT_EQ(text.substr(0, 13), "parcel 22 has");
}

TEST_P(ParcelSteps, count_tells_the_parcels_and_the_small_ones_of_every_cell) {
  const Grid grid = reference::grid_of(14, 16, 5);
  const Parcels all = reference::random_parcels(grid, 6000, 27);
  const double small_volume = all.site(0).volume;
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "2d");
    const NodeLayout layout(d, t.rank());
    const Parcels mine = reference::own(all, d, t.rank());
    Transfer transfer(t, d, {});
    transfer.locate(mine);
    std::vector<std::int32_t> counted;
    std::vector<std::int32_t> small;
    transfer.count(mine, small_volume, counted, small);
    std::vector<std::int32_t> expected(counted.size());
    std::vector<std::int32_t> expected_small(counted.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const Site& s = mine.site(i);
      const std::int64_t x = grid.cell(0, s.x) - layout.first(0);
      const std::int64_t y = grid.cell(1, s.y) - layout.first(1);
      const auto cell = static_cast<std::size_t>((x * layout.cells(1) + y) * 5 + grid.cell(2, s.z));
      ++expected.at(cell);
      if (s.volume <= small_volume) ++expected_small.at(cell);
    }
    EXPECT_EQ(counted, expected);
    EXPECT_EQ(small, expected_small);
  });
}

}  // namespace
