/// Search of several nearest parcels of a point in the cell list, compared with all distances, sorted.
#include "merganser/nearest/several_nearest.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "tests/geometry/boxes.hpp"
#include "tests/nearest/clouds.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Returns the `count` least parcels, by (distance2, id), that are less than a bound, then copies of it; vertices are positions in the
/// container. @param self  parcel that is no candidate
std::vector<nearest::Best> all_sorted(const Cloud& cloud, const Vec3& at, std::int64_t self, std::size_t count,
                                      const nearest::Best& bound) {
  std::vector<nearest::Best> out;
  const auto less = [](const nearest::Best& a, const nearest::Best& b) {
    return std::tie(a.distance2, a.id) < std::tie(b.distance2, b.id);
  };
  for (std::size_t j = 0; j < cloud.parcels.size(); ++j) {
    const nearest::Best b{cloud.box.distance2(at, position(cloud.parcels, j)), cloud.parcels.id(j),
                          static_cast<std::uint32_t>(j)};
    if (static_cast<std::int64_t>(j) != self && less(b, bound)) out.push_back(b);
  }
  std::sort(out.begin(), out.end(), less);
  out.resize(count, bound);
  return out;
}

/// Compares the search around a point with all_sorted().
void compare(nearest::SeveralNearest& search, const Cloud& cloud, const Sorted& sorted, const Vec3& at,
             std::uint32_t self, std::size_t count, const nearest::Best& bound) {
  std::vector<nearest::Best> got(count);
  search.find({at, self}, bound, got);
  const auto want = all_sorted(cloud, at, sorted.container(self), count, bound);
  for (std::size_t i = 0; i < count; ++i) {
    RC_ASSERT(bits(got[i].distance2) == bits(want[i].distance2));
    RC_ASSERT(got[i].id == want[i].id);
    RC_ASSERT(sorted.container(got[i].vertex) ==
              (want[i].vertex == links::kNone ? -1 : static_cast<std::int64_t>(want[i].vertex)));
  }
}

/// Compares searches around one of each `step` small parcels with what the search around all has found.
void compare_some(nearest::SeveralNearest& search, const Sorted& sorted, double most2, std::uint32_t step,
                  const std::vector<std::vector<nearest::Near>>& of_all) {
  std::vector<std::uint32_t> some;
  for (std::uint32_t v = 0; v < of_all.size(); ++v)
    if (v % step == 0 && sorted.cells().is_small(v)) some.push_back(v);
  std::vector<std::uint32_t> taken;
  (void)search.find_some(some, most2, [&](std::uint32_t v, std::span<const nearest::Near> got) {
    taken.push_back(v);
    ASSERT_EQ(got.size(), of_all[v].size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(bits(got[i].distance2), bits(of_all[v][i].distance2));
      ASSERT_EQ(got[i].vertex, of_all[v][i].vertex);
    }
  });
  std::sort(taken.begin(), taken.end());
  ASSERT_EQ(taken, some);
}

/// Compares the search around all small parcels at once with all_sorted(), for each of `part` vertices one. @param most2  greatest
/// squared distance
void compare_small(nearest::SeveralNearest& search, const Cloud& cloud, const Sorted& sorted, std::size_t count,
                   double most2, std::uint32_t part = 1) {
  std::vector<int> taken(cloud.parcels.size(), 0);
  std::vector<std::vector<nearest::Near>> of_all(cloud.parcels.size());
  const nearest::Best bound{std::nextafter(most2, std::numeric_limits<double>::infinity()),
                            std::numeric_limits<std::int64_t>::min()};
  search.find_all(most2, [&](std::uint32_t v, std::span<const nearest::Near> got) {
    ++taken[v];
    of_all[v].assign(got.begin(), got.end());
    if (v % part != 0) return;
    const Site& s = sorted.cells().sites()[v];
    const auto want = all_sorted(cloud, {s.x, s.y, s.z}, sorted.container(v), count, bound);
    const auto all = std::count_if(want.begin(), want.end(), [](const auto& b) { return b.vertex != links::kNone; });
    ASSERT_EQ(static_cast<std::ptrdiff_t>(got.size()), all);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(bits(got[i].distance2), bits(want[i].distance2));
      ASSERT_EQ(sorted.container(got[i].vertex), static_cast<std::int64_t>(want[i].vertex));
    }
  });
  for (std::uint32_t v = 0; v < taken.size(); ++v) ASSERT_EQ(taken[v], sorted.cells().is_small(v) ? 1 : 0);
  for (const std::uint32_t step : {1, 3, 100}) compare_some(search, sorted, most2, step, of_all);
}

/// Compares searches around all small parcels of a cloud at once, without a bound and within distances to some of its parcels, inclusive.
void compare_all_small(nearest::SeveralNearest& search, const Cloud& cloud, const Sorted& sorted, std::size_t count) {
  compare_small(search, cloud, sorted, count, std::numeric_limits<double>::infinity());
  for (const std::size_t j : {0, 7, 21})
    if (j + 1 < cloud.parcels.size())
      compare_small(search, cloud, sorted, count,
                    cloud.box.distance2(position(cloud.parcels, j), position(cloud.parcels, j + 1)));
  RC_ASSERT(!testing::Test::HasFailure());
}

/// Compares searches in a cloud: around each of its parcels, around other points, and with bounds.
void compare_all(const Cloud& cloud) {
  const auto count = *rc::gen::element<std::size_t>(1, 2, 4, 16);
  const Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, any_cut());
  nearest::SeveralNearest search(sorted.cells(), sorted.ids(), count);
  for (std::uint32_t v = 0; v < cloud.parcels.size(); ++v) {
    const Site& s = sorted.cells().sites()[v];
    compare(search, cloud, sorted, {s.x, s.y, s.z}, v, count, {});
  }
  compare_all_small(search, cloud, sorted, count);
  const Cloud others = any_cloud(cloud.box, 10);
  for (std::size_t i = 0; i < others.parcels.size(); ++i) {
    const Vec3 at = position(others.parcels, i);
    compare(search, cloud, sorted, at, links::kNone, count, {});
    if (cloud.parcels.size() == 0) continue;
    const std::size_t j = i % cloud.parcels.size();
    for (const std::int64_t more : {-1, 0, 1})
      compare(search, cloud, sorted, at, links::kNone, count,
              {cloud.box.distance2(at, position(cloud.parcels, j)), cloud.parcels.id(j) + more});
  }
}

TEST(SeveralNearest, are_the_first_of_all_sorted_by_distance_and_id) {
  EXPECT_TRUE(rc::check("clouds", [] { compare_all(any_cloud(any_box(), *rc::gen::element(150, 900))); }));
}

TEST(SeveralNearest, are_right_where_parcels_crowd) {
  EXPECT_TRUE(rc::check("crowds", [] { compare_all(any_crowd(any_box(), 300)); }));
}

/// Compares searches around some parcels of a cloud.
void compare_some(const Cloud& cloud, const Sorted& sorted, std::size_t count) {
  nearest::SeveralNearest search(sorted.cells(), sorted.ids(), count);
  for (std::uint32_t v = 0; v < cloud.parcels.size(); v += 7) {
    const Site& s = sorted.cells().sites()[v];
    std::vector<nearest::Best> got(count);
    search.find({{s.x, s.y, s.z}, v}, {}, got);
    const auto want = all_sorted(cloud, {s.x, s.y, s.z}, sorted.container(v), count, {});
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(bits(got[i].distance2), bits(want[i].distance2));
      ASSERT_EQ(got[i].id, want[i].id);
      ASSERT_EQ(sorted.container(got[i].vertex), static_cast<std::int64_t>(want[i].vertex));
    }
  }
}

TEST(SeveralNearest, are_right_in_many_cells_of_a_uniform_cloud_with_every_instruction_set) {
  std::mt19937_64 random(3);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (const bool periodic : {false, true}) {
    Cloud cloud{cube(periodic), {}};
    for (int i = 0; i < 2000; ++i) {
      const double x = next();
      const double y = next();
      add_point(cloud.parcels, i, {x, y, next()}, i % 2 == 0);
    }
    const Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
    EXPECT_GT(sorted.cells().cell_count(), 100);
    for (const std::size_t count : {1, 4, 16}) {
      for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        compare_some(cloud, sorted, count);
        nearest::SeveralNearest search(sorted.cells(), sorted.ids(), count);
        for (const double most : {0.01, 0.1, 1e9}) compare_small(search, cloud, sorted, count, most * most, 20);
      }
      hwy::SetSupportedTargetsForTest(0);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
  }
}

/// Returns the `count` nearest other parcels of vertex v, or all there are, by their distance in position and more coordinates.
std::vector<nearest::Best> all_sorted_in_more_axes(const Sorted& sorted, const Box& box, const nearest::MoreAxes& more,
                                                   std::uint32_t v, std::size_t count, double most2) {
  std::vector<nearest::Best> out;
  const Site* const sites = sorted.cells().sites();
  for (std::uint32_t w = 0; w < sorted.cells().size(); ++w) {
    double d2 = box.distance2({sites[v].x, sites[v].y, sites[v].z}, {sites[w].x, sites[w].y, sites[w].z});
    if (w == v || d2 > most2) continue;
    for (std::size_t a = 0; a < more.count; ++a) {
      const double d = more.values[v * more.count + a] - more.values[w * more.count + a];
      d2 = d2 + d * d;
    }
    out.push_back({d2, sorted.ids()[w], w});
  }
  std::sort(out.begin(), out.end(), [](const nearest::Best& a, const nearest::Best& b) {
    return std::tie(a.distance2, a.id) < std::tie(b.distance2, b.id);
  });
  out.resize(std::min(out.size(), count));
  return out;
}

// Coordinates of few values, so that distances are equal; where they differ by more than the positions, the search gives up.
TEST(SeveralNearest, are_right_with_more_axes_with_every_instruction_set) {
  std::mt19937_64 random(4);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Cloud cloud{cube(true), {}};
  for (int i = 0; i < 1500; ++i) {
    const auto coordinate = [&] { return static_cast<double>(random() % 64) / 64; };
    const double x = coordinate();
    const double y = coordinate();
    add_point(cloud.parcels, i, {x, y, coordinate()}, i % 2 == 0);
  }
  const Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
  for (const double width : {0.05, 30.0})
    for (const std::size_t axes : {1, 2, 3}) {
      std::vector<double> values(axes * cloud.parcels.size());
      for (double& x : values) x = std::floor(8 * next()) / 8 * width;
      const nearest::MoreAxes more{values.data(), axes};
      for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        for (const std::size_t count : {1, 4})
          for (const double most2 : {0.004, 1e9}) {
            SCOPED_TRACE(hwy::TargetName(target));
            hwy::SetSupportedTargetsForTest(target);
            hwy::GetChosenTarget().Update(hwy::SupportedTargets());
            nearest::SeveralNearest search(sorted.cells(), sorted.ids(), count, more);
            std::vector<int> taken(cloud.parcels.size(), 0);
            const auto given_up = search.find_all(most2, [&](std::uint32_t v, std::span<const nearest::Near> got) {
              ++taken[v];
              if (v % 5 != 0) return;
              const auto want = all_sorted_in_more_axes(sorted, cloud.box, more, v, count, most2);
              ASSERT_EQ(got.size(), want.size());
              for (std::size_t i = 0; i < got.size(); ++i) {
                ASSERT_EQ(bits(got[i].distance2), bits(want[i].distance2));
                ASSERT_EQ(got[i].vertex, want[i].vertex);
              }
            });
            for (const std::uint32_t v : given_up) ++taken[v];
            for (std::uint32_t v = 0; v < taken.size(); ++v) ASSERT_EQ(taken[v], sorted.cells().is_small(v) ? 1 : 0);
            if (width < 1) {
              EXPECT_LT(given_up.size(), 200);
            } else if (most2 > 1) {
              EXPECT_GT(given_up.size(), 200);
            }
          }
      hwy::SetSupportedTargetsForTest(0);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
}

/// Compares searches of the nearest around small parcels by positions and other coordinates, `axes` numbers of each parcel.
/// @param decided  most must be found, and not left to other searches
void compare_in_more_axes(const Cloud& cloud, const std::vector<double>& coordinates, std::size_t axes, bool decided) {
  const Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels,
                      {.parcels_per_cell = nearest::SeveralNearest::parcels_per_cell(3)});
  std::vector<double> values(coordinates.size());
  for (std::uint32_t v = 0; v < cloud.parcels.size(); ++v)
    std::copy_n(coordinates.begin() + sorted.container(v) * static_cast<std::ptrdiff_t>(axes), axes,
                values.begin() + v * static_cast<std::ptrdiff_t>(axes));
  const nearest::MoreAxes more{values.data(), axes};
  for (const double most2 : {0.004, 0.02, 1e9}) {
    std::vector<std::vector<nearest::Best>> want(cloud.parcels.size());
    for (std::uint32_t v = 0; v < want.size(); v += 2)
      want[v] = all_sorted_in_more_axes(sorted, cloud.box, more, v, 1, most2);
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      SCOPED_TRACE(hwy::TargetName(target));
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      nearest::SeveralNearest search(sorted.cells(), sorted.ids(), 1, more);
      std::size_t taken = 0;
      const auto given_up = search.find_all(most2, [&](std::uint32_t v, std::span<const nearest::Near> got) {
        ++taken;
        if (v % 2 != 0) return;
        ASSERT_EQ(got.size(), want[v].size());
        if (got.empty()) return;
        ASSERT_EQ(bits(got[0].distance2), bits(want[v][0].distance2));
        ASSERT_EQ(got[0].vertex, want[v][0].vertex);
      });
      std::size_t small = 0;
      for (std::uint32_t v = 0; v < want.size(); ++v) small += sorted.cells().is_small(v) ? 1 : 0;
      EXPECT_EQ(taken + given_up.size(), small);
      if (decided) {
        EXPECT_LT(given_up.size(), small / 4);
      }
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

TEST(SeveralNearest, finds_nothing_without_parcels) {
  const Box box{{0, 0, 0}, {1, 1, 1}, {false, false, false}};
  const Sorted sorted(box, whole(box), Parcels(), {.parcels_per_cell = nearest::SeveralNearest::parcels_per_cell(3)});
  for (const std::size_t axes : {0, 1, 3}) {
    nearest::SeveralNearest search(sorted.cells(), sorted.ids(), 1, {nullptr, axes});
    EXPECT_TRUE(search.find_all(1, [](auto, auto) { FAIL(); }).empty());
  }
}

// The filter compares the other coordinates too, and where it cannot tell which parcel is nearest, distances do: most lie at random, some
// on a lattice. With the greatest width they are too far from each other for it.
TEST(SeveralNearest, are_right_with_more_axes_that_lie_at_random) {
  std::mt19937_64 random(8);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (const std::size_t axes : {1, 2, 3})
    for (const double width : {0.0, 1e-5, 0.05, 0.4, 2.0}) {
      Cloud cloud{cube(axes != 2), {}};
      std::vector<double> coordinates;
      for (int i = 0; i < 1501; ++i) {
        const bool lattice = random() % 4 == 0;
        const auto coordinate = [&] { return lattice ? std::floor(16 * next()) / 16 : next(); };
        const double x = coordinate();
        const double y = coordinate();
        add_point(cloud.parcels, i, {x, y, coordinate()}, i % 2 == 0);
        for (std::size_t a = 0; a < axes; ++a) coordinates.push_back(coordinate() * width - 1e3);
      }
      compare_in_more_axes(cloud, coordinates, axes, width < 0.1);
    }
}

// Six parcels around each differ in distance by little more or less than the filter is wrong.
TEST(SeveralNearest, are_right_with_more_axes_where_distances_hardly_differ) {
  std::mt19937_64 random(9);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (const std::size_t axes : {1, 2, 3})
    for (const double jitter : {2e-4, 1e-3, 4e-3})
      for (const int edge : {9, 12}) {
        Cloud cloud{cube(true), {}};
        std::vector<double> coordinates;
        for (int i = 0; i < edge * edge * edge; ++i) {
          const auto place = [&](int k) { return (k + 0.5 + jitter * (next() - 0.5)) / edge; };
          const double x = place(i % edge);
          const double y = place(i / edge % edge);
          add_point(cloud.parcels, i, {x, y, place(i / edge / edge)}, i % 3 == 0);
          for (std::size_t a = 0; a < axes; ++a) coordinates.push_back(0.05 * std::sqrt(jitter) * next());
        }
        compare_in_more_axes(cloud, coordinates, axes, false);
      }
}

/// Compares searches around all small parcels of a cloud, in cells that hold as many parcels as suits the number searched. Returns the
/// number of cells.
std::int64_t compare_in_cells(const Cloud& cloud, std::size_t count) {
  const Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels,
                      {.parcels_per_cell = nearest::SeveralNearest::parcels_per_cell(count)});
  nearest::SeveralNearest search(sorted.cells(), sorted.ids(), count);
  compare_small(search, cloud, sorted, count, std::numeric_limits<double>::infinity());
  return sorted.cells().cell_count();
}

// In fixed point the parcels around one are as near as each other.
TEST(SeveralNearest, are_right_where_distances_hardly_differ) {
  std::mt19937_64 random(5);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (int edge = 8; edge <= 13; ++edge) {
    Cloud cloud{cube(false), {}};
    for (int i = 0; i < edge * edge * edge; ++i) {
      const auto place = [&](int k) { return (k + 0.5 + 2e-4 * (next() - 0.5)) / edge; };
      const double x = place(i % edge);
      const double y = place(i / edge % edge);
      add_point(cloud.parcels, i, {x, y, place(i / edge / edge)}, i % 3 == 0);
    }
    for (const std::size_t count : {2, 3, 7, 10}) compare_in_cells(cloud, count);
  }
}

// Around each of the small parcels others lie on a sphere, of other radius for each: for some the filter's first limit lies among them.
TEST(SeveralNearest, are_right_where_the_limit_of_the_filter_lies_among_equally_near_ones) {
  constexpr int kEdge = 10;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Cloud cloud{cube(false), {}};
  for (int i = 0; i < kEdge * kEdge * kEdge; ++i) {
    const Vec3 centre{(i % kEdge + 0.5) / kEdge, (i / kEdge % kEdge + 0.5) / kEdge, (i / kEdge / kEdge + 0.5) / kEdge};
    add_point(cloud.parcels, 16 * i, centre, true);
    for (int k = 1; k <= 12; ++k) {
      const double x = normal(random);
      const double y = normal(random);
      const double z = normal(random);
      const double radius = (0.43485 + 1.2e-7 * i) * (1 + 1e-5 * k) / kEdge / std::sqrt(x * x + y * y + z * z);
      add_point(cloud.parcels, 16 * i + k, {centre[0] + radius * x, centre[1] + radius * y, centre[2] + radius * z},
                false);
    }
  }
  compare_in_cells(cloud, 2);
}

// Cells are confined to a slab that hardly touches the periodic faces: beyond them there are images of parcels.
TEST(SeveralNearest, are_right_beside_periodic_faces_without_cells) {
  std::mt19937_64 random(6);
  const auto next = [&](double least, double most) {
    return least + (most - least) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  for (int cloud_number = 0; cloud_number < 3; ++cloud_number) {
    Cloud cloud{cube(true), {}};
    for (int i = 0; i < 1'500; ++i) {
      const double x = next(0.02, 0.98);
      const double y = next(0.02, 0.98);
      add_point(cloud.parcels, i, {x, y, next(0.55, 0.6)}, true);
    }
    for (const std::size_t count : {2, 4, 8})
      EXPECT_GE(compare_in_cells(cloud, count), 64) << "too few for a search by blocks";
  }
}

}  // namespace
