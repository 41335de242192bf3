/// Tests of queries by new points: nearest points and joints against all pairs.
#include "merganser/msf/new_points.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/msf/swarms.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

msf::EuclideanOptions small_leaves() {
  msf::EuclideanOptions options;
  options.leaf = 5;
  return options;
}

/// A set and new points behind it in one swarm.
struct NewPoints {
  Swarm all;
  std::size_t set = 0;

  [[nodiscard]] Swarm points() const {
    Swarm part{all.name, all.space, {all.at.begin(), all.at.begin() + static_cast<std::ptrdiff_t>(set)}};
    return part;
  }
  /// Points of the set by (what is compared, id) from a new one.
  [[nodiscard]] std::vector<std::pair<double, std::uint64_t>> from(std::size_t fresh) const {
    std::vector<std::pair<double, std::uint64_t>> near;
    for (std::size_t i = 0; i < set; ++i) near.emplace_back(all.compared(fresh, i), i);
    std::sort(near.begin(), near.end());
    return near;
  }
  /// This rank's new points: each third one, or those of one rank only.
  [[nodiscard]] std::vector<std::size_t> mine(const comm::Transport& t, bool uneven) const {
    std::vector<std::size_t> out;
    for (std::size_t i = set; i < all.at.size(); ++i)
      if (uneven ? t.rank() == t.size() - 1 : static_cast<int>(i) % t.size() == t.rank()) out.push_back(i);
    return out;
  }
  [[nodiscard]] msf::Points fresh(const std::vector<std::size_t>& which) const {
    msf::Points points{all.space, {}, {}};
    for (const auto i : which) points.coordinates.insert(points.coordinates.end(), all.at[i].begin(), all.at[i].end());
    return points;
  }
};

std::vector<NewPoints> cases() {
  std::vector<NewPoints> out;
  std::uint64_t seed = 0;
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const auto* shape : {"uniform", "lattice", "clusters", "heaps", "equal"})
      for (const int dimension : {1, 2, 3, 7, 16, 21}) {
        NewPoints made{make_swarm(shape, dimension, 150, ++seed), 120};
        made.all.space.metric = metric;
        if (dimension == 2) made.all.space.periods = {{1, 0, 1}};
        out.push_back(std::move(made));
      }
  return out;
}

TEST(NewPoints, find_the_nearest_of_the_set) {
  for (const NewPoints& made : cases())
    for (const int ranks : {1, 3})
      on_threads(ranks, [&](comm::Transport& t) {
        const int k = 6;
        const auto which = made.mine(t, false);
        msf::Report report;
        const auto rows =
            msf::nearest_points(distribute(made.points(), t, 1), made.fresh(which), k, t, small_leaves(), report);
        ASSERT_EQ(rows.size(), which.size() * k);
        for (std::size_t i = 0; i < which.size(); ++i) {
          const auto expected = made.from(which[i]);
          for (std::size_t j = 0; j < k; ++j)
            ASSERT_EQ(rows[i * k + j], (msf::NearPoint{made.all.weight(expected[j].first), expected[j].second}))
                << made.all.name << ", " << ranks << " ranks";
        }
      });
}

TEST(NewPoints, join_where_the_mutual_reachability_is_least) {
  for (const NewPoints& made : cases()) {
    const int k = 4;
    const auto squares = compute_cores(made.points(), k);
    for (const int ranks : {1, 2, 4})
      on_threads(ranks, [&](comm::Transport& t) {
        const auto points = distribute(made.points(), t, 3);
        std::vector<double> cores;
        for (const auto id : points.ids) cores.push_back(made.all.weight(squares[id]));
        const auto which = made.mine(t, ranks == 4);
        msf::Report report;
        const auto joints = msf::join_points(points, cores, made.fresh(which), k, t, small_leaves(), report);
        ASSERT_EQ(joints.size(), which.size());
        for (std::size_t i = 0; i < which.size(); ++i) {
          const auto near = made.from(which[i]);
          const double core = made.all.weight(near[k - 1].first);
          msf::Joint best{0, INFINITY, core, INFINITY};
          for (const auto& [compared, id] : near) {
            const double distance = made.all.weight(compared);
            const double reach = std::max({distance, core, made.all.weight(squares[id])});
            if (std::tuple(reach, distance, id) < std::tuple(best.reachability, best.distance, best.id))
              best = {id, distance, core, reach};
          }
          ASSERT_EQ(joints[i], best) << made.all.name << ", " << ranks << " ranks";
        }
      });
  }
}

TEST(NewPoints, on_the_sphere_go_by_the_angle) {
  on_threads(2, [](comm::Transport& t) {
    msf::PointSpace space{2, msf::Distance::great_circle, msf::Angle::degrees, {}};
    const msf::Points points{space, t.rank() == 0 ? std::vector<double>{0, 0, 0, 10} : std::vector<double>{80, 0}, {}};
    const msf::Points fresh{space, t.rank() == 1 ? std::vector<double>{0, 9, 80, 180} : std::vector<double>(), {}};
    msf::Report report;
    const auto rows = msf::nearest_points(points, fresh, 1, t, {}, report);
    ASSERT_EQ(rows.size(), t.rank() == 1 ? 2U : 0U);
    if (rows.empty()) return;
    EXPECT_EQ(rows[0].id, 1U);
    EXPECT_NEAR(rows[0].distance, 3.14159265358979 / 180, 1e-14);
    EXPECT_EQ(rows[1].id, 2U);
    EXPECT_NEAR(rows[1].distance, 20 * 3.14159265358979 / 180, 1e-14);
  });
}

TEST(NewPoints, of_another_space_or_k_are_refused_on_every_rank) {
  const Swarm swarm = make_swarm("uniform", 3, 30, 1);
  on_threads(2, [&](comm::Transport& t) {
    const auto points = distribute(swarm, t, 1);
    const std::vector<double> cores(points.size(), 0);
    msf::Report report;
    msf::Points other{{2}, {1, 2}, {}};
    EXPECT_THROW((void)msf::nearest_points(points, other, 1, t, {}, report), UsageError);
    other = {points, {1, 2, 3}, {}};
    EXPECT_THROW((void)msf::nearest_points(points, other, 0, t, {}, report), UsageError);
    EXPECT_THROW((void)msf::nearest_points(points, other, -1, t, {}, report), UsageError);
    EXPECT_THROW((void)msf::nearest_points(points, other, 31, t, {}, report), InputError);
    EXPECT_THROW((void)msf::join_points(points, std::span(cores).first(t.rank() == 0 ? cores.size() : 0), other, 1, t,
                                        {}, report),
                 InputError);
    std::vector<double> wrong = cores;
    if (t.rank() == 1) wrong[0] = std::nan("");
    EXPECT_THROW((void)msf::join_points(points, wrong, other, 1, t, {}, report), InputError);
    other.coordinates[1] = std::nan("");
    EXPECT_THROW((void)msf::nearest_points(points, other, 1, t, {}, report), InputError);
  });
}

}  // namespace
