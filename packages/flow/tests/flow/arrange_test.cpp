/// Sorting of flow parcels by cell and id, and reuse of the points of unchanged shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "merganser/flow/transfer.hpp"
#include "tests/flow/alone.hpp"
#include "tests/flow/reference.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using merganser::test::Alone;

struct Arranged {
  Grid grid = reference::grid_of(14, 16, 5);
  Decomposition whole{grid, 1, "1x1x1"};
  NodeLayout layout{whole, 0};
  Alone alone;
  Transfer transfer{alone, whole, {}};
  Parcels before = reference::random_parcels(grid, 6001, 31);
  Parcels parcels = before;

  Arranged() {
    transfer.locate(parcels);
    transfer.arrange(parcels);
  }
};

/// Returns a digest of the fields gathered from parcels that are located with or without reuse of shapes.
std::vector<double> gathered(const Arranged& a, Transfer& transfer, const Parcels& parcels, Shapes shapes,
                             IdOrder ids = IdOrder::any) {
  CarriedNodes carried(a.layout);
  ScalarNodes excess(a.layout);
  transfer.locate(parcels, shapes, ids);
  transfer.gather(parcels, carried);
  transfer.locate(parcels, shapes, ids);
  transfer.gather_excess(parcels, excess);
  std::vector<double> all(carried.data(), carried.data() + a.layout.size() * CarriedFields::width);
  all.insert(all.end(), excess.data(), excess.data() + a.layout.size());
  return all;
}

TEST(Arrange, sorts_by_cell_and_id_and_loses_nothing) {
  Arranged a;
  ASSERT_EQ(a.parcels.size(), a.before.size());
  Parcels renumbered = a.before;
  renumber(renumbered, a.layout);
  std::map<std::int64_t, std::size_t> by_id;
  for (std::size_t i = 0; i < renumbered.size(); ++i) by_id[renumbered.id(i)] = i;
  for (std::size_t i = 0; i < a.parcels.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(a.parcels.id(i - 1), a.parcels.id(i));
    }
    const std::size_t same = by_id.at(a.parcels.id(i));
    EXPECT_EQ(std::memcmp(&a.parcels.site(i), &renumbered.site(same), sizeof(Site)), 0);
    EXPECT_TRUE(std::equal(a.parcels.row(i), a.parcels.row(i) + 10, renumbered.row(same),
                           [](double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0; }));
  }
}

TEST(Arrange, leaves_parcels_located) {
  Arranged a;
  ScalarNodes now(a.layout);
  a.transfer.gather_excess(a.parcels, now);
  Transfer fresh(a.alone, a.whole, {});
  ScalarNodes expected(a.layout);
  fresh.locate(a.parcels);
  fresh.gather_excess(a.parcels, expected);
  EXPECT_TRUE(std::equal(now.data(), now.data() + a.layout.size(), expected.data()));
}

TEST(Arrange, points_of_kept_shapes_have_the_bits_of_new_ones) {
  Arranged a;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> u(-0.4, 0.4);
  std::size_t mirrored = 0;
  for (std::size_t i = 0; i < a.parcels.size(); ++i) {
    Site& s = a.parcels.site(i);
    s.x = a.grid.box.wrap(0, s.x + a.grid.spacing(0) * u(random));
    s.y = a.grid.box.wrap(1, s.y + a.grid.spacing(1) * u(random));
    s.z += a.grid.spacing(2) * u(random);
    mirrored += s.z < a.grid.box.lower[2] || s.z > a.grid.box.lower[2] + a.grid.box.extent[2] ? 1 : 0;
  }
  EXPECT_GT(mirrored, 100U);
  reflect(a.parcels, a.grid.box);
  const std::vector<double> kept = gathered(a, a.transfer, a.parcels, Shapes::kept);
  Transfer fresh(a.alone, a.whole, {});
  const std::vector<double> made = gathered(a, fresh, a.parcels, Shapes::changed);
  EXPECT_EQ(kept, made);
}

TEST(Arrange, kept_shapes_are_not_looked_at) {
  Arranged a;
  const std::vector<double> expected = gathered(a, a.transfer, a.parcels, Shapes::kept);
  for (std::size_t i = 0; i < a.parcels.size(); ++i) a.parcels.row(i)[5] *= 1.01;
  EXPECT_EQ(gathered(a, a.transfer, a.parcels, Shapes::kept), expected);
  EXPECT_NE(gathered(a, a.transfer, a.parcels, Shapes::changed), expected);
}

TEST(Arrange, ascending_ids_need_no_sorting) {
  Arranged a;
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> u(-0.4, 0.4);
  for (std::size_t i = 0; i < a.parcels.size(); ++i) {
    Site& s = a.parcels.site(i);
    s.x = a.grid.box.wrap(0, s.x + a.grid.spacing(0) * u(random));
    s.y = a.grid.box.wrap(1, s.y + a.grid.spacing(1) * u(random));
  }
  const std::vector<double> sorted = gathered(a, a.transfer, a.parcels, Shapes::changed);
  EXPECT_EQ(gathered(a, a.transfer, a.parcels, Shapes::changed, IdOrder::ascending), sorted);
  a.transfer.locate(a.parcels, Shapes::changed, IdOrder::ascending);
  const double mean = a.transfer.vorticity_sums(a.parcels).mean()[0];
  a.transfer.locate(a.parcels);
  EXPECT_EQ(a.transfer.vorticity_sums(a.parcels).mean()[0], mean);
}

TEST(Arrange, wants_parcels_that_are_located) {
  Arranged a;
  a.parcels.resize(a.parcels.size() - 1);
  EXPECT_THROW(a.transfer.arrange(a.parcels), UsageError);
}

TEST(Arrange, refuses_what_is_no_ellipsoid_and_leaves_the_parcels) {
  Arranged a;
  a.parcels.row(17)[5] = -1;
  a.transfer.locate(a.parcels);
  const Parcels as_given = a.parcels;
  EXPECT_THROW(a.transfer.arrange(a.parcels), InputError);
  EXPECT_EQ(a.parcels.id(17), as_given.id(17));
}

}  // namespace
