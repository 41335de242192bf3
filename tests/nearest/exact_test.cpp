/// Exact search of a rank that owns the box against the quadratic search: same partner, same bits.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "merganser/links/links.hpp"
#include "src/nearest/block_search.hpp"
#include "src/nearest/cell_keys.hpp"
#include "tests/geometry/boxes.hpp"
#include "tests/nearest/clouds.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Calls an action with every vector target that this machine can run, one after the other.
template <class Action>
void on_every_target(Action&& action) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(nearest::CellList::vector_target());
    action(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(ExactSearch, keys_of_points_in_rows_of_four_numbers_are_those_of_rows_of_three) {
  const nearest::CellArithmetic cells{{0, -1, 2}, {3, 4, 5}, {5, 8, 11}, {0, -1, 2}, {1.7, 1, 4.2}};
  on_every_target([&](std::int64_t) {
    std::mt19937 random(4);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (const std::size_t n : {1U, 2U, 8U, 9U, 16U, 17U, 100U}) {
      std::vector<double> three, four;
      std::vector<std::uint8_t> small(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double place[] = {1.7 * uniform(random), 2 * uniform(random) - 1, 2 + 2.2 * uniform(random)};
        three.insert(three.end(), place, place + 3);
        four.insert(four.end(), place, place + 3);
        if (i + 1 < n) four.push_back(1e300);  // nothing is behind the last point
        small[i] = random() % 2;
      }
      const nearest::PointSet of_three(PointView::rows(three.data(), n), small.data(), nullptr, 0, 2);
      const nearest::PointSet of_four({four.data(), four.data() + 1, four.data() + 2, 4, n}, small.data(), nullptr, 0,
                                      2);
      for (const std::size_t first : {std::size_t{0}, n / 2})
        for (const std::size_t count : {n - first, (n - first) / 2}) {
          std::vector<std::uint32_t> want(count), got(count);
          ASSERT_TRUE(nearest::cell_keys(cells, of_three, first, count, want.data()));
          ASSERT_TRUE(nearest::cell_keys(cells, of_four, first, count, got.data()));
          EXPECT_EQ(got, want) << first << " " << count;
        }
      four[0] = 1.8;
      std::vector<std::uint32_t> keys(n);
      EXPECT_FALSE(nearest::cell_keys(cells, of_four, 0, n, keys.data()));
    }
  });
}

TEST(ExactSearch, finds_the_partner_of_the_quadratic_search_in_any_cloud) {
  EXPECT_TRUE(rc::check("any cloud", [] {
    const Cloud cloud = any_cloud(any_box(), 300);
    RC_ASSERT(difference(cloud, any_cut()) == "");
  }));
}

TEST(ExactSearch, runs_on_the_vector_target_that_was_chosen_and_finds_the_same_on_each) {
  on_every_target([](std::int64_t target) {
    ASSERT_STREQ(nearest::CellList::vector_target(), hwy::TargetName(target));
    std::mt19937_64 random(5);
    for (const bool periodic : {false, true}) {
      Cloud cloud{cube(periodic), {}};
      for (int i = 0; i < 2000; ++i) {
        const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
        const double x = next();
        const double y = next();
        add_point(cloud.parcels, i, {x, y, next()}, i % 2 == 0);
      }
      EXPECT_EQ(difference(cloud, {}), "");
    }
  });
}

/// Points of a lattice have up to six nearest ones at exactly the same distance: the ids decide.
TEST(ExactSearch, decides_exact_ties_of_lattices_by_ids) {
  for (const int mask : {0, 1, 5, 7})
    for (const int n : {1, 2, 3, 4, 5, 8}) {
      Cloud cloud{{{0, 0, 0}, {1, 1, 1}, {(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0}}, {}};
      for (int k = 0; k < n * n * n; ++k)
        add_point(cloud.parcels, (k * 7919) % 1009, {double(k % n) / n, double(k / n % n) / n, double(k / n / n) / n},
                  true);
      for (const double per_cell : {9.0, 1.0, 0.2, 8.0}) {
        nearest::CellList::Cut cut;
        cut.parcels_per_cell = per_cell;
        EXPECT_EQ(difference(cloud, cut), "") << n << " per axis, axes " << mask << ", " << per_cell << " per cell";
      }
    }
}

TEST(ExactSearch, decides_ties_of_many_parcels_at_one_point_by_ids) {
  for (const bool periodic : {false, true})
    for (const Vec3& p : {Vec3{0, 0, 0}, Vec3{0.5, 0.5, 0.5}, Vec3{0.3, 0.999, 0}})
      for (const int n : {2, 3, 255, 256, 257, 700}) {
        Cloud cloud{cube(periodic), {}};
        for (int i = 0; i < n; ++i) add_point(cloud.parcels, (i * 7919) % 1009, p, i % 3 != 0);
        EXPECT_EQ(difference(cloud, {}), "") << n;
      }
}

TEST(ExactSearch, has_one_two_or_three_cells_on_an_axis_around_which_it_wraps) {
  EXPECT_TRUE(rc::check("few cells", [] {
    Box box = cube(true);
    box.extent = {1, *rc::gen::element(1.0, 1e-3, 1e3), *rc::gen::element(1.0, 1e-6, 1e6)};
    const Cloud cloud = any_cloud(box, 60);
    nearest::CellList::Cut cut;
    cut.parcels_per_cell = *rc::gen::element(2.0, 5.0, 9.0, 30.0);
    RC_ASSERT(difference(cloud, cut) == "");
  }));
}

TEST(ExactSearch, works_in_tiny_and_huge_boxes) {
  EXPECT_TRUE(rc::check("units", [] {
    const double unit = *rc::gen::element(1e-100, 1e-45, 1e-20, 1e20, 1e45, 1e100);
    Box box{{-unit, 0, 3 * unit}, {unit, 2 * unit, 0.1 * unit}, {true, false, *rc::gen::arbitrary<bool>()}};
    RC_ASSERT(difference(any_cloud(box, 100), any_cut()) == "");
  }));
}

TEST(ExactSearch, works_far_from_the_origin) {
  EXPECT_TRUE(rc::check("offset", [] {
    Box box{{1e9, -1e9, 1e7}, {1, 2, 3}, {true, *rc::gen::arbitrary<bool>(), false}};
    RC_ASSERT(difference(any_cloud(box, 150), any_cut()) == "");
  }));
}

/// Clusters of 1e-12 beside empty space: cells with hundreds of parcels, and cells far from any.
TEST(ExactSearch, finds_partners_in_dense_clusters_and_across_empty_space) {
  std::mt19937_64 random(11);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (const bool periodic : {false, true}) {
    Cloud cloud{cube(periodic), {}};
    for (int i = 0; i < 1500; ++i) {
      const double scale = std::pow(10.0, -(i % 5) * 3);
      const double c = 0.05 + 0.9 * (i % 7) / 7;
      add_point(cloud.parcels, i, {c + 0.05 * scale * next(), c + 0.05 * scale * next(), 0.5 + 0.05 * scale * next()},
                true);
    }
    add_point(cloud.parcels, 5000, {0.999, 0.001, 0.001}, true);
    EXPECT_EQ(difference(cloud, {}), "");
  }
}

/// Along a row of nodes the candidates are kept in a buffer that is used again: rows with many more parcels than it holds, cells
/// with none, with a few and with more than one search compares, beside each other.
TEST(ExactSearch, finds_partners_in_long_rows_of_cells_that_differ) {
  on_every_target([](std::int64_t) {
    std::mt19937_64 random(17);
    const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    for (const int axis : {0, 1}) {
      Cloud cloud{{{0, 0, 0}, {0.1, 0.1, 0.1}, {axis == 0, true, false}}, {}};
      cloud.box.extent[static_cast<std::size_t>(axis)] = 100;
      for (int i = 0; i < 2500; ++i) {
        // A quarter in dense places, of which some have hundreds; the rest anywhere, ties by rounding to a lattice.
        const double along = i % 4 == 0 ? 10 * std::floor(10 * next()) + 0.02 * next() : 100 * next();
        Vec3 p{0.1 * next(), 0.1 * next(), 0.1 * next()};
        p[static_cast<std::size_t>(axis)] = i % 8 == 1 ? std::floor(along * 8) / 8 : along;
        add_point(cloud.parcels, (i * 7919) % 10007, p, i % 3 != 0);
      }
      for (const double per_cell : {nearest::kParcelsPerCell, 60.0}) {
        nearest::CellList::Cut cut;
        cut.parcels_per_cell = per_cell;
        EXPECT_EQ(difference(cloud, cut), "") << axis << ", " << per_cell << " per cell";
      }
    }
  });
}

TEST(ExactSearch, settles_nearly_all_of_a_uniform_cloud_without_a_second_look) {
  std::mt19937_64 random(3);
  const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Cloud cloud{cube(true), {}};
  for (int i = 0; i < 20000; ++i) {
    const double x = next();
    const double y = next();
    add_point(cloud.parcels, i, {x, y, next()}, i % 2 == 0);
  }
  Sorted sorted(cloud.box, whole(cloud.box), cloud.parcels, {});
  EXPECT_EQ(sorted.small(), 10000);
  EXPECT_LT(sorted.search().size(), 3500U);
}

/// Returns the arguments of block_search() for one row of cells of a cell edge along x within walls, without the arrays of parcels.
nearest::BlockSearch row_of_cells(int cells) {
  nearest::BlockSearch s{};
  for (int a = 0; a < 3; ++a) {
    s.cells[a] = a == 0 ? cells : 1;
    s.width[a] = nearest::kFilterUnits;
    s.far[a][1] = std::numeric_limits<double>::infinity();
    s.far[a][0] = -s.far[a][1];
  }
  return s;
}

// Before a parcel that has no other around it, copied candidates fill the room: places behind the last one are no candidates. Builds
// with checks of bounds tell of a read beyond the room.
TEST(ExactSearch, reads_no_vertex_beyond_the_room_of_candidates) {
  on_every_target([](std::int64_t) {
    constexpr std::uint32_t kCells = 64;
    constexpr std::uint32_t kFull = 18;  // cells of 50 parcels each
    constexpr std::uint32_t kAt = 25;    // cell of the parcel alone
    std::vector<std::uint16_t> x;
    std::vector<std::uint32_t> cell_start;
    for (std::uint32_t c = 0; c < kCells; ++c) {
      cell_start.push_back(static_cast<std::uint32_t>(x.size()));
      const std::uint32_t n = c < kFull ? 50 : c == kAt ? 1 : 0;
      for (std::uint32_t k = 0; k < n; ++k) x.push_back(static_cast<std::uint16_t>(32768 * c + 9830 + 160 * k));
      cell_start.push_back(static_cast<std::uint32_t>(x.size()));
    }
    const auto parcels = static_cast<std::uint32_t>(x.size());
    cell_start.insert(cell_start.end(), 2, parcels);
    x.resize(parcels + 64, 0);  // beyond the last, for whole vectors
    const std::vector<std::uint16_t> others(parcels + 64, 6554);
    std::vector<std::uint32_t> node_start(4 * (kCells + 1) + 1, 1);
    std::fill_n(node_start.begin(), kAt + 1, 0);
    const std::vector<std::uint32_t> by_node{parcels - 1};
    std::vector<std::uint32_t> target(parcels, 0);
    std::vector<nearest::BlockSearch::Open> open, contenders;
    nearest::BlockSearch s = row_of_cells(kCells);
    s.x = x.data();
    s.y = s.z = others.data();
    s.cell_start = cell_start.data();
    s.node_start = node_start.data();
    s.by_node = by_node.data();
    s.target = target.data();
    s.open = &open;
    s.contenders = &contenders;
    nearest::block_search(s);
    ASSERT_EQ(open.size(), 1U);
    EXPECT_TRUE(contenders.empty());
    EXPECT_EQ(open[0].vertex, parcels - 1);
    EXPECT_EQ(open[0].candidate, links::kNone);
  });
}

/// Two candidates at a distance from a parcel at the middle of two cells, along x: which of them the filter finds, if any.
struct TwoCandidates {
  int first;            // of the candidates, in units, from the parcel
  int second;           // the same
  std::uint32_t found;  // 1 or 2; kEither: both are contenders; kNone: left open
};
constexpr std::uint32_t kEither = 3;

// Differences of coordinates wrap around at one cell edge, and have errors of a unit: what they cannot tell is left open.
TEST(ExactSearch, leaves_open_what_fixed_point_numbers_cannot_tell) {
  const TwoCandidates cases[] = {
      {6000, -9000, 1},
      {-9000, 6000, 2},
      {6000, -6001, kEither},
      {6000, -6025, kEither},  // squared distances of the filter differ by 9
      {6000, -6028, 1},        // by 10
      {6000, -6100, 1},
      {0, 6000, kEither},  // two parcels at one place
      {16300, -20000, 1},
      {16380, -20000, links::kNone},  // half an edge
      {30000, -31000, links::kNone},
      {40000, -48000, links::kNone},  // -48000 wraps around to 17536
  };
  on_every_target([&](std::int64_t) {
    for (const TwoCandidates& c : cases) {
      constexpr int kAt = 2 * 32768;  // the node in the middle of four cells; the parcel is left or right of it
      const int at = kAt + (c.second < -32768 ? 16000 : c.first > 32768 ? -16000 : 0);
      const int place[3] = {at, at + c.first, at + c.second};
      std::vector<std::uint32_t> vertex{0, 1, 2};
      std::sort(vertex.begin(), vertex.end(), [&](auto a, auto b) { return place[a] / 32768 < place[b] / 32768; });
      std::vector<std::uint16_t> x(3 + 64, 0);
      std::vector<std::uint32_t> cell_start(10, 3);
      for (int cell = 3; cell >= 0; --cell)
        for (std::uint32_t v = 3; v-- > 0;)
          if (place[vertex[v]] / 32768 >= cell) cell_start[2 * cell] = cell_start[2 * cell + 1] = v;
      for (std::uint32_t v = 0; v < 3; ++v) x[v] = static_cast<std::uint16_t>(place[vertex[v]]);
      const auto own = static_cast<std::uint32_t>(std::find(vertex.begin(), vertex.end(), 0U) - vertex.begin());
      const std::vector<std::uint16_t> others(3 + 64, 100);
      std::vector<std::uint32_t> node_start(4 * 5 + 1, 1);
      std::fill_n(node_start.begin(), 3, 0);
      const std::vector<std::uint32_t> by_node{own};
      std::vector<std::uint32_t> target(3, 77);
      std::vector<nearest::BlockSearch::Open> open, contenders;
      nearest::BlockSearch s = row_of_cells(4);
      s.x = x.data();
      s.y = s.z = others.data();
      s.cell_start = cell_start.data();
      s.node_start = node_start.data();
      s.by_node = by_node.data();
      s.target = target.data();
      s.open = &open;
      s.contenders = &contenders;
      nearest::block_search(s);
      std::uint32_t found = !open.empty() ? links::kNone : vertex[target[own]];
      if (!contenders.empty()) {
        found = 0;
        for (const auto [v, candidate] : contenders) found |= v == own ? vertex[candidate] : 4;
        EXPECT_EQ(contenders.size(), 2U);
      }
      EXPECT_EQ(found, c.found) << c.first << ", " << c.second;
      EXPECT_EQ(open.size(), c.found == links::kNone ? 1U : 0U) << c.first << ", " << c.second;
    }
  });
}

/// Coordinates of the filter and nodes, by vectors of any length, against their definitions.
TEST(ExactSearch, computes_filter_coordinates_and_nodes) {
  on_every_target([](std::int64_t) {
    std::mt19937_64 random(23);
    const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    const nearest::FilterMap map{{-3, 0.5, 1e6}, 2 * nearest::kFilterUnits, {2, 2.5, 4}, {1000, 7, 3}};
    for (const std::size_t count : {1U, 2U, 3U, 7U, 8U, 9U, 31U, 100U}) {
      std::vector<Site> sites;
      for (std::size_t i = 0; i < count; ++i)
        sites.push_back({-3 + 500 * next(), 0.5 + 2.8 * next(), 1e6 + 0.75 * next(), 1});
      sites.back().x = -3 - 1e-13;  // outside by rounding
      std::vector<std::uint16_t> at[3];
      for (auto& axis : at) axis.assign(count + 1, 4711);
      std::vector<std::uint32_t> node(count + 1, 4711);
      nearest::filter_coordinates(map, sites.data(), count, {{at[0].data(), at[1].data(), at[2].data()}, node.data()});
      for (std::size_t i = 0; i < count; ++i) {
        const double place[3] = {sites[i].x, sites[i].y, sites[i].z};
        std::int64_t index[3];
        for (std::size_t a = 0; a < 3; ++a) {
          const double exact = (place[a] - map.lower[a]) * map.scale;
          const auto off = static_cast<std::uint16_t>(at[a][i] - static_cast<std::uint16_t>(std::llround(exact)) + 1);
          EXPECT_LE(off, 2) << exact;
          index[a] = std::max<std::int64_t>(
              0, static_cast<std::int64_t>((place[a] - map.lower[a]) * map.inverse_width[a] + 0.5));
        }
        EXPECT_EQ(node[i], (index[2] * 8 + index[1]) * 1001 + index[0]);
      }
      for (const auto& axis : at) EXPECT_EQ(axis[count], 4711);
      EXPECT_EQ(node[count], 4711U);
    }
  });
}

TEST(ExactSearch, of_nothing_one_and_two_parcels) {
  for (const bool periodic : {false, true}) {
    Cloud cloud{cube(periodic), {}};
    EXPECT_EQ(difference(cloud, {}), "");
    add_point(cloud.parcels, 4, {0.9, 0.5, 0}, true);
    EXPECT_EQ(difference(cloud, {}), "");
    Sorted alone(cloud.box, whole(cloud.box), cloud.parcels, {});
    const auto open = alone.search();
    ASSERT_EQ(open.size(), 1U);
    EXPECT_EQ(open[0].best.vertex, links::kNone);
    add_point(cloud.parcels, 3, {0.1, 0.5, 0}, false);
    EXPECT_EQ(difference(cloud, {}), "");
    Sorted two(cloud.box, whole(cloud.box), cloud.parcels, {});
    nearest::Best best;
    two.cells().nearest({{0.9, 0.5, 0}, two.cells().order()[0] == 0 ? 0U : 1U}, two.ids(), best);
    EXPECT_EQ(best.id, 3);
    const double apart = periodic ? std::fabs(1 - (0.9 - 0.1)) : 0.9 - 0.1;
    EXPECT_EQ(best.distance2, apart * apart);
  }
}

}  // namespace
