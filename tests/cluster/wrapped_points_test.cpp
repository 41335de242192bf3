// One rule for positions outside of the box: periodic axes wrap, walls refuse.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/star_finder.hpp"
#include "merganser/comm/collectives.hpp"
#include "tests/cluster/star_clouds.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// The cloud moved by whole periods, another number for each point, and wrapped again, which differs from it by rounding.
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

TEST(WrappedPoints, on_the_upper_face_may_be_given_by_the_rank_whose_block_ends_there) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  const Grid grid{{{0, 0, 0}, {4, 1, 1}, {true, false, false}}, {4, 1, 1}};
  on_threads(2, [&](comm::Transport& t) {
    const Decomposition d(grid, 2, "2x1x1");
    const double xyz[] = {t.rank() == 0 ? 0.25 : 4.0, 0.5, 0.5};
    const std::uint8_t small = t.rank() == 1 ? 1 : 0;
    StarFinder finder(t, d);
    finder.find(PointView::rows(xyz, 1), {&small, 1});
    ASSERT_EQ(finder.links().size(), static_cast<std::size_t>(small));
    if (small != 0) {
      EXPECT_EQ(finder.links()[0].distance2, 0.0625);
    }
  });
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
