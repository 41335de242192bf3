/// Exact search among crowded parcels: it stays exact, and fast enough for the time limit of this test.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "tests/geometry/boxes.hpp"
#include "tests/nearest/clouds.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr int kMany = 300000;  // a quadratic search takes minutes for them

std::int64_t shuffled(std::int64_t i) { return i * 7919 % 1000003; }

/// Returns the squared distance from the parcel at a container position to its target.
double distance2_to_target(const Cloud& cloud, const Sorted& sorted, std::uint32_t vertex) {
  const auto i = static_cast<std::size_t>(sorted.container(vertex));
  return cloud.box.distance2(position(cloud.parcels, i),
                             position(cloud.parcels, static_cast<std::size_t>(sorted.target(vertex))));
}

/// Compares every `step`-th parcel with the quadratic search.
void expect_as_quadratic(const Cloud& cloud, const Sorted& sorted, std::uint32_t step) {
  for (std::uint32_t v = 0; v < cloud.parcels.size(); v += step) {
    const auto i = static_cast<std::size_t>(sorted.container(v));
    ASSERT_EQ(sorted.target(v), oracle(cloud.box, cloud.parcels, i, [](std::size_t) { return true; }).index);
  }
}

TEST(Crowds, have_the_partners_of_the_quadratic_search) {
  EXPECT_TRUE(rc::check("crowds", [] {
    const Cloud cloud = any_crowd(any_box(), 900);
    RC_ASSERT(difference(cloud, any_cut()) == "");
  }));
}

TEST(Crowds, at_three_points_each_have_the_lowest_id_of_their_point_as_partner) {
  for (const bool periodic : {false, true}) {
    Cloud cloud{cube(periodic), {}};
    std::array<std::vector<std::int64_t>, 3> ids;
    cloud.parcels.reserve(kMany);
    for (int i = 0; i < kMany; ++i) {
      const auto point = static_cast<std::size_t>(i % 3);
      const double at[] = {0, 0.3, 0.9};
      add_point(cloud.parcels, shuffled(i), {at[point], 0.7 * at[point], 0.5}, i % 5 != 0);
      ids[point].push_back(shuffled(i));
    }
    for (auto& list : ids) std::partial_sort(list.begin(), list.begin() + 2, list.end());
    Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
    (void)sorted.search();
    for (std::uint32_t v = 0; v < kMany; ++v) {
      const auto i = static_cast<std::size_t>(sorted.container(v));
      const auto& list = ids[i % 3];
      if (i % 5 == 0) {
        ASSERT_EQ(sorted.target(v), -1);
        continue;
      }
      const std::int64_t expected = cloud.parcels.id(i) == list[0] ? list[1] : list[0];
      ASSERT_EQ(cloud.parcels.id(static_cast<std::size_t>(sorted.target(v))), expected);
    }
  }
}

/// Neighbours on a line follow from its order. A line along an axis and one across.
TEST(Crowds, on_a_line_have_the_next_on_it_as_partner) {
  for (const bool across : {false, true}) {
    std::mt19937_64 random(1);
    Cloud cloud{cube(false), {}};
    cloud.parcels.reserve(kMany);
    std::vector<double> sorted_line;
    for (int i = 0; i < kMany; ++i) {
      const double t = static_cast<double>(random() >> 11) * 0x1p-53;
      add_point(cloud.parcels, shuffled(i), {t, across ? t : 0.3, across ? t : 0.7}, true);
      sorted_line.push_back(t);
    }
    std::sort(sorted_line.begin(), sorted_line.end());
    Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
    (void)sorted.search();
    for (std::uint32_t v = 0; v < kMany; ++v) {
      const double t = sorted.cells().sites()[v].x;
      const auto at = std::lower_bound(sorted_line.begin(), sorted_line.end(), t);
      double expected = INFINITY;
      const auto compare = [&](double other) {
        const Vec3 p{t, across ? t : 0, across ? t : 0};
        expected = std::min(expected, cloud.box.distance2(p, {other, across ? other : 0, across ? other : 0}));
      };
      if (at != sorted_line.begin()) compare(at[-1]);
      if (at + 1 != sorted_line.end()) compare(at[1]);
      ASSERT_EQ(bits(distance2_to_target(cloud, sorted, v)), bits(expected));
    }
  }
}

/// Two blobs, so that no single box of cells suits them, and some parcels all over the region.
TEST(Crowds, in_dense_blobs_amid_sparse_parcels_have_the_partners_of_the_quadratic_search) {
  for (const bool periodic : {false, true})
    for (const double size : {0.05, 1e-4, 1e-13}) {
      std::mt19937_64 random(2);
      const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
      Cloud cloud{cube(periodic), {}};
      cloud.parcels.reserve(kMany);
      for (int i = 0; i < kMany; ++i) {
        const double scale = i % 100 == 0 ? 1 : size;
        const double at = i % 100 == 0 ? 0 : (i % 2 == 0 ? 0.001 : 0.6);
        const double x = at + scale * next();
        const double y = at + scale * next();
        add_point(cloud.parcels, shuffled(i), {x, y, at + scale * next()}, true);
      }
      Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
      (void)sorted.search();
      expect_as_quadratic(cloud, sorted, 6007);
    }
}

TEST(Crowds, in_a_small_part_of_the_region_are_searched_by_cells_cut_over_that_part) {
  std::mt19937_64 random(3);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Cloud cloud{cube(true), {}};
  cloud.parcels.reserve(kMany);
  for (int i = 0; i < kMany; ++i) {
    const double x = 0.7 + 1e-5 * next();
    const double y = 0.9999 + 1e-5 * next();
    add_point(cloud.parcels, shuffled(i), {x, y, 1e-3 * next()}, i % 2 == 0);
  }
  Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
  std::uint32_t most = 0;
  for (std::size_t h = 0; h < 2 * static_cast<std::size_t>(sorted.cells().cell_count()); ++h)
    most = std::max(most, sorted.cells().start(h + 1) - sorted.cells().start(h));
  EXPECT_LT(most, 40U);
  EXPECT_LT(sorted.search().size(), 1000U);
  for (std::uint32_t v = 0; v < kMany; v += 3001) {
    const auto i = static_cast<std::size_t>(sorted.container(v));
    const Nearest expected = oracle(cloud.box, cloud.parcels, i, [](std::size_t) { return true; });
    ASSERT_EQ(sorted.target(v), i % 2 == 0 ? expected.index : -1);
  }
}

/// Six partners at exactly the same distance: the least id of them.
TEST(Crowds, on_a_lattice_in_a_corner_have_the_lowest_id_beside_them_as_partner) {
  constexpr int kEdge = 64;
  const double step = 1.0 / 4096;
  Cloud cloud{cube(true), {}};
  cloud.parcels.reserve(kEdge * kEdge * kEdge + 1);
  const auto number = [](int x, int y, int z) { return (z * kEdge + y) * kEdge + x; };
  for (int k = 0; k < kEdge * kEdge * kEdge; ++k)
    add_point(cloud.parcels, shuffled(k), {step * (k % kEdge), step * (k / kEdge % kEdge), step * (k / kEdge / kEdge)},
              true);
  for (const bool lone : {false, true}) {
    // One parcel far away: cells over all parcels do not suit the lattice.
    if (lone) add_point(cloud.parcels, -1, {0.5, 0.5, 0.5}, false);
    Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
    (void)sorted.search();
    for (std::uint32_t v = 0; v < cloud.parcels.size(); ++v) {
      const auto k = static_cast<int>(sorted.container(v));
      if (k == kEdge * kEdge * kEdge) continue;
      const std::array<int, 3> c{k % kEdge, k / kEdge % kEdge, k / kEdge / kEdge};
      std::int64_t expected = INT64_MAX;
      for (std::size_t a = 0; a < 3; ++a)
        for (const int d : {-1, 1}) {
          auto n = c;
          n[a] += d;
          if (n[a] >= 0 && n[a] < kEdge) expected = std::min(expected, shuffled(number(n[0], n[1], n[2])));
        }
      ASSERT_EQ(cloud.parcels.id(static_cast<std::size_t>(sorted.target(v))), expected);
    }
  }
}

/// Queries as other ranks send them: from points that are no parcels, near the crowd and far from it.
TEST(Crowds, answer_questions_from_elsewhere) {
  std::mt19937_64 random(4);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (const bool periodic : {false, true}) {
    Cloud cloud{cube(periodic), {}};
    cloud.parcels.reserve(kMany);
    for (int i = 0; i < kMany; ++i) {
      const double size = i % 2 == 0 ? 0 : 1e-3;
      const double x = 0.1 + size * next();
      const double y = 0.8 + size * next();
      add_point(cloud.parcels, shuffled(i), {x, y, i % 7 == 0 ? 0.5 : 0.4 + size * next()}, true);
    }
    const Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
    for (int i = 0; i < 20000; ++i) {
      const double spread = i % 2 == 0 ? 1 : 2e-3;
      const double x = (i % 2 == 0 ? 0 : 0.1) + spread * next();
      const double y = (i % 2 == 0 ? 0 : 0.8) + spread * next();
      const Vec3 p{x, y, (i % 2 == 0 ? 0 : 0.4) + spread * next()};
      nearest::Best best;
      sorted.cells().nearest({p}, sorted.ids(), best);
      ASSERT_NE(best.vertex, links::kNone);
      if (i % 1000 > 1) continue;
      nearest::Best expected;
      for (std::size_t j = 0; j < cloud.parcels.size(); ++j) {
        const double d2 = cloud.box.distance2(p, position(cloud.parcels, j));
        if (d2 < expected.distance2 || (d2 == expected.distance2 && cloud.parcels.id(j) < expected.id))
          expected = {d2, cloud.parcels.id(j), links::kNone};
      }
      ASSERT_EQ(bits(best.distance2), bits(expected.distance2));
      ASSERT_EQ(best.id, expected.id);
    }
  }
}

}  // namespace
