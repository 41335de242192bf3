// Positions outside of the box: periodic axes wrap, walls refuse, by every interface.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/star_finder.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "tests/cluster/star_clouds.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Returns the cloud moved by whole periods, another number for each point, and wrapped again, which differs from it by
/// rounding.
struct Moved {
  Cloud outside;
  Cloud inside;
  explicit Moved(const Cloud& cloud) : outside(cloud), inside(cloud) {
    const Box& box = cloud.grid.box;
    for (std::size_t i = 0; i < cloud.size(); ++i)
      for (std::size_t a = 0; a < 2; ++a) {
        const double periods = static_cast<double>((i + a) % 5) - 2.0 * static_cast<double>(i % 2);
        outside.xyz[3 * i + a] = cloud.xyz[3 * i + a] + periods * box.extent[a];
        inside.xyz[3 * i + a] = box.wrap(static_cast<int>(a), outside.xyz[3 * i + a]);
      }
  }
};

void on_threads(int ranks, const std::function<void(comm::Transport&)>& body) { comm::run({"threads", ranks}, body); }

TEST(WrappedPoints, give_the_stars_of_points_that_the_caller_has_wrapped_to_the_bit) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  const Cloud all = random_cloud(600, 15, 16);
  for (const int ranks : {1, 2, 4})
    on_threads(ranks, [&](comm::Transport& t) {
      const Decomposition d(all.grid, t.size());
      const Moved moved(Share(all, d, t.rank()).cloud);
      StarFinder finder(t, d);
      const auto find = [&](const Cloud& cloud) {
        finder.find(PointView::rows(cloud.xyz.data(), cloud.size()), cloud.small, cloud.ids);
        return std::vector<StarLink>(finder.links().begin(), finder.links().end());
      };
      const std::vector<StarLink> want = find(moved.inside);
      const std::vector<double> given = moved.outside.xyz;
      const std::vector<StarLink> got = find(moved.outside);
      EXPECT_EQ(moved.outside.xyz, given);
      ASSERT_EQ(got.size(), want.size());
      ASSERT_FALSE(want.empty());
      EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof want[0]), 0);
    });
}

TEST(WrappedPoints, just_below_a_box_and_on_its_upper_face_are_at_its_lower_face) {
  const Box box{{0, 0, 0}, {50, 50, 1}, {true, true, false}};
  comm::run({"threads", 1}, [&](comm::Transport& t) {
    StarFinder finder(t, Decomposition(Grid{box}, 1));
    const std::uint8_t small[] = {1, 0};
    for (const double x : {-1e-17, 50.0, 100.0, -50.0}) {
      const double xyz[] = {x, 1, 0.5, 51, 1, 0.5};
      finder.find(PointView::rows(xyz, 2), small);
      ASSERT_EQ(finder.links().size(), 1U) << x;
      EXPECT_EQ(finder.links()[0].distance2, 1) << x;
    }
  });
}

TEST(WrappedPoints, on_the_upper_face_belong_to_the_rank_whose_block_begins_at_the_lower_face) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  const Grid grid{{{0, 0, 0}, {4, 1, 1}, {true, false, false}}, {4, 1, 1}};
  on_threads(2, [&](comm::Transport& t) {
    const Decomposition d(grid, 2, "2x1x1");
    const double xyz[] = {t.rank() == 0 ? 4.0 : 3.75, 0.5, 0.5};
    const std::uint8_t small = t.rank() == 0 ? 1 : 0;
    StarFinder finder(t, d);
    finder.find(PointView::rows(xyz, 1), {&small, 1});
    ASSERT_EQ(finder.links().size(), static_cast<std::size_t>(small));
    if (small != 0) {
      EXPECT_EQ(finder.links()[0].distance2, 0.0625);
    }
    if (t.rank() == 0) return;
    const double face[] = {4.0, 0.5, 0.5};
    const std::string what = refusal<InputError>([&] { finder.check(PointView::rows(face, 1), {&small, 1}); });
    EXPECT_NE(what.find(" at (4, 0.5, 0.5) is outside of its rank's block, (2, 0, 0) to (4, 1, 1)"), std::string::npos)
        << what;
    EXPECT_NE(what.find("once periodic axes are wrapped; this one is then at (0, 0.5, 0.5)"), std::string::npos)
        << what;
  });
}

/// Returns a cloud with points on the upper faces of its periodic axes, and near both faces.
Cloud cloud_on_faces() {
  Cloud cloud = random_cloud(700, 21);
  cloud.grid.box.lower = {0.1, -0.7, 2};
  cloud.grid.box.extent = {0.7, 1.1, 2};
  const Box& box = cloud.grid.box;
  const Cloud unit = random_cloud(700, 22);
  for (std::size_t i = 0; i < cloud.size(); ++i)
    for (std::size_t a = 0; a < 3; ++a) {
      const double share = (unit.xyz[3 * i + a] - unit.grid.box.lower[a]) / unit.grid.box.extent[a];
      double& x = cloud.xyz[3 * i + a];
      x = box.lower[a] + share * box.extent[a];
      if (a == 2) continue;
      if ((i + a) % 3 == 0) x = box.wrap(static_cast<int>(a), box.lower[a] + (share - 0.5) * 0.05 * box.extent[a]);
      if ((i + 2 * a) % 5 == 0) x = box.lower[a] + box.extent[a];
      if ((i + 2 * a) % 35 == 0) x = std::nextafter(box.lower[a] + box.extent[a], 100.0);
    }
  return cloud;
}

/// Result of merging, by id: the links with their distances, and the points that are left, all as bits.
struct Merged {
  std::map<std::int64_t, std::pair<std::int64_t, std::uint64_t>> links;
  std::map<std::int64_t, std::vector<std::uint64_t>> left;
  bool operator==(const Merged&) const = default;
};

Merged merge_cloud(const Cloud& all, int ranks, std::size_t which) {
  Merged merged;
  std::mutex mutex;
  on_threads(ranks, [&](comm::Transport& t) {
    const Decomposition d = decompositions(all.grid, ranks)[which];
    Cloud mine;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (d.owner(wrapped(all.grid.box, all.at(i))) == t.rank()) mine.add(all.at(i), all.small[i] != 0, all.ids[i]);
    StarFinder finder(t, d);
    finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small, mine.ids);
    const std::vector<StarLink> links(finder.links().begin(), finder.links().end());
    std::vector<double> volume;
    for (const std::int64_t id : mine.ids) volume.push_back(1 + 0.01 * static_cast<double>(std::abs(id % 7)));
    const std::vector<std::int64_t> ids = mine.ids;
    Columns columns;
    columns.x = {&mine.xyz[0], 3};
    columns.y = {&mine.xyz[1], 3};
    columns.z = {&mine.xyz[2], 3};
    columns.volume = {volume.data()};
    columns.ids = mine.ids;
    columns.size = mine.size();
    const Schema schema(std::vector<Attribute>{});
    const MergeRules rules(schema, all.grid.box);
    const std::size_t left = finder.merge(rules, columns);
    const std::lock_guard lock(mutex);
    for (const StarLink& l : links)
      merged.links[ids[l.source]] = {l.centre_id, std::bit_cast<std::uint64_t>(l.distance2)};
    for (std::size_t i = 0; i < left; ++i)
      for (const double x : {mine.xyz[3 * i], mine.xyz[3 * i + 1], mine.xyz[3 * i + 2], volume[i]})
        merged.left[mine.ids[i]].push_back(std::bit_cast<std::uint64_t>(x));
  });
  return merged;
}

TEST(WrappedPoints, on_upper_faces_give_the_same_bits_for_any_number_of_ranks) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  const Cloud cloud = cloud_on_faces();
  const Merged want = merge_cloud(cloud, 1, 0);
  ASSERT_GT(want.links.size(), 100U);
  for (const int ranks : {1, 2, 3, 4, 7})
    for (std::size_t which = 0; which < decompositions(cloud.grid, ranks).size(); ++which)
      EXPECT_TRUE(merge_cloud(cloud, ranks, which) == want) << ranks << " ranks, decomposition " << which;
}

Parcels parcels_at(double z) {
  Parcels parcels((Schema(std::vector<Attribute>{})));
  const double row[] = {std::bit_cast<double>(std::int64_t{5}), 0};
  parcels.append({51, -1e-17, z, 1}, row);
  return parcels;
}

TEST(WrappedParcels, come_into_the_box_and_those_outside_of_a_wall_are_refused_unless_by_rounding) {
  const Box box{{0, 0, 0}, {50, 50, 1}, {true, true, false}};
  const Grid grid{box, {2, 2, 2}};
  comm::run({"threads", 1}, [&](comm::Transport& t) {
    const Decomposition d(grid, 1);
    Parcels parcels = parcels_at(1 + 4e-16);
    distribute(parcels, d, t);
    EXPECT_EQ(parcels.site(0).x, 1);
    EXPECT_EQ(parcels.site(0).y, 0);
    EXPECT_EQ(parcels.site(0).z, 1);
    const std::string want =
        "parcel id 5 at (51, -1e-17, 1.25) is outside of a wall of the box [0, 50) x [0, 50) x [0, 1], periodic in x "
        "and y; "
        "allowed: positions between the walls; periodic axes are wrapped";
    parcels = parcels_at(1.25);
    EXPECT_EQ(refusal<InputError>([&] { distribute(parcels, d, t); }), want);
    // Between steps parcels may move beyond a wall.
    Clusterer clusterer(t, d, parcels.schema(), {});
    parcels = parcels_at(1.25);
    (void)clusterer.redistribute(parcels);
    EXPECT_EQ(parcels.site(0).z, 1);
  });
}

}  // namespace
