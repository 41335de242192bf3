// Cell list: sorting of parcels by cells, choice of cells, and refusal of parcels outside of the region.
#include "merganser/nearest/cell_list.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "merganser/base/error.hpp"
#include "tests/geometry/boxes.hpp"
#include "tests/nearest/clouds.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

const Box kBox{{0, 0, 0}, {1, 1, 1}, {true, true, false}};

/// Checks that every parcel is listed once, cell by cell, the small ones of a cell first, with its site.
void expect_sorted(const Sorted& sorted, const Parcels& parcels) {
  const nearest::CellList& cells = sorted.cells();
  ASSERT_EQ(cells.size(), parcels.size());
  std::set<std::uint32_t> seen;
  std::int64_t small = 0;
  const auto half_cells = 2 * static_cast<std::size_t>(cells.cell_count());
  ASSERT_EQ(cells.start(0), 0U);
  ASSERT_EQ(cells.start(half_cells), parcels.size());
  for (std::size_t h = 0; h < half_cells; ++h) {
    ASSERT_LE(cells.start(h), cells.start(h + 1));
    for (std::uint32_t v = cells.start(h); v < cells.start(h + 1); ++v) {
      const std::size_t i = cells.order()[v];
      seen.insert(cells.order()[v]);
      const bool is_small = parcels.site(i).volume < kSmall;
      small += is_small ? 1 : 0;
      EXPECT_EQ(is_small, h % 2 == 0);
      EXPECT_EQ(std::memcmp(&cells.sites()[v], &parcels.site(i), sizeof(Site)), 0);
    }
  }
  EXPECT_EQ(seen.size(), parcels.size());
  EXPECT_EQ(sorted.small(), small);
}

TEST(CellList, holds_every_parcel_once_with_the_small_ones_of_a_cell_first) {
  EXPECT_TRUE(rc::check("sorted", [] {
    const Cloud cloud = any_cloud(any_box(), 200);
    const Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, any_cut());
    expect_sorted(sorted, cloud.parcels);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(CellList, has_about_as_many_parcels_per_cell_as_asked_for_also_in_flat_and_long_regions) {
  std::mt19937_64 random(1);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (const Vec3& extent :
       {Vec3{1, 1, 1}, Vec3{1, 1, 1e-6}, Vec3{1e-6, 1, 1e-6}, Vec3{1, 1000, 1}, Vec3{1e-9, 1e9, 1}}) {
    Box box{{0, 0, 0}, extent, {true, true, true}};
    Parcels parcels;
    for (int i = 0; i < 9000; ++i) {
      const double x = next() * extent[0];
      const double y = next() * extent[1];
      add_point(parcels, i, {x, y, next() * extent[2]}, true);
    }
    const Sorted sorted(box, whole(box), parcels, {});
    EXPECT_GT(sorted.cells().cell_count(), 500) << extent[0] << " " << extent[1] << " " << extent[2];
    EXPECT_LT(sorted.cells().cell_count(), 3000) << extent[0] << " " << extent[1] << " " << extent[2];
  }
}

TEST(CellList, can_be_filled_again_with_more_and_with_fewer_parcels) {
  std::mt19937_64 random(2);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Sorted sorted(kBox, whole(kBox), Parcels(), {});
  for (const int n : {10, 1000, 3, 0, 500}) {
    Parcels parcels;
    for (int i = 0; i < n; ++i) {
      const double x = next();
      const double y = next();
      add_point(parcels, i, {x, y, next()}, i % 2 == 0);
    }
    sorted.fill(parcels, {});
    expect_sorted(sorted, parcels);
    (void)sorted.search();
    for (std::uint32_t v = 0; v < parcels.size(); ++v) {
      const std::size_t i = sorted.cells().order()[v];
      const Nearest expected = oracle(kBox, parcels, i, [](std::size_t) { return true; });
      EXPECT_EQ(sorted.target(v), i % 2 == 0 ? expected.index : -1);
    }
  }
}

TEST(CellList, refuses_a_parcel_that_is_not_in_its_region_and_names_it) {
  for (const Vec3& p : {Vec3{0.5, 0.5, 1.01}, Vec3{-0.01, 0.5, 0.5}, Vec3{NAN, 0.5, 0.5}, Vec3{0.5, INFINITY, 0.5}}) {
    Parcels parcels;
    add_point(parcels, 1, {0.5, 0.5, 0.5}, true);
    add_point(parcels, 77, p, true);
    try {
      Sorted sorted(kBox, whole(kBox), parcels, {});
      ADD_FAILURE() << "accepted " << p[0] << " " << p[1] << " " << p[2];
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("id 77"), std::string::npos) << e.what();
    }
  }
}

TEST(CellList, accepts_a_parcel_on_the_faces_of_its_region) {
  Parcels parcels;
  add_point(parcels, 1, {0, 0, 0}, true);
  add_point(parcels, 2, {1, 1, 1}, true);
  const Sorted sorted(kBox, whole(kBox), parcels, {});
  EXPECT_EQ(sorted.small(), 2);
}

TEST(CellList, names_the_vector_target_it_uses) { EXPECT_STRNE(nearest::CellList::vector_target(), ""); }

}  // namespace
