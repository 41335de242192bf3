/// Tests of spanning trees and core distances of points where ranks, places and numbers are extreme, and of what is
/// refused in which words.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/prim.hpp"
#include "src/msf/euclidean/given.hpp"
#include "tests/msf/swarms.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class EuclideanCorners : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, EuclideanCorners, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// This rank's points where only the ranks of `owners`, in turn, have any.
msf::Points on_some(const Swarm& swarm, const comm::Transport& t, const std::vector<int>& owners) {
  msf::Points points{swarm.space, {}, {}};
  for (std::size_t i = 0; i < swarm.at.size(); ++i) {
    if (owners[i % owners.size()] != t.rank()) continue;
    points.ids.push_back(swarm.at.size() - 1 - i);
    points.coordinates.insert(points.coordinates.end(), swarm.at[i].begin(), swarm.at[i].end());
  }
  return points;
}
Swarm backwards(Swarm swarm) {
  std::reverse(swarm.at.begin(), swarm.at.end());
  return swarm;
}

void expect_tree_and_cores(const Swarm& swarm, int min_samples, comm::Transport& t, const std::vector<int>& owners) {
  msf::EuclideanOptions options;
  options.min_samples = min_samples;
  options.leaf = 5;
  options.neighbours = 2;
  const auto points = on_some(swarm, t, owners);
  msf::Report report;
  const auto forest = msf::euclidean_forest(points, t, options, report);
  ASSERT_EQ(forest.vertices, swarm.at.size());
  ASSERT_EQ(forest.kind, graphs::WeightKind::float64);
  const auto numbered = backwards(swarm);
  ASSERT_EQ(sorted(gathered(forest.edges, t)), compute_tree(numbered, min_samples)) << swarm.name;
  const auto cores = msf::core_distances(points, min_samples, t, options, report);
  const auto expected = compute_cores(numbered, min_samples);
  ASSERT_EQ(cores.size(), points.size());
  for (std::size_t i = 0; i < cores.size(); ++i)
    ASSERT_EQ(cores[i], swarm.weight(expected[points.ids[i]])) << swarm.name << ' ' << min_samples;
}

TEST_P(EuclideanCorners, everything_on_one_rank_or_on_the_first_and_last_is_exact_for_every_shape) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    std::uint64_t seed = 0;
    for (const auto* shape : {"uniform", "lattice", "heaps", "equal", "line", "clusters"})
      for (const int min_samples : {1, 2, 6}) {
        const auto swarm = make_swarm(shape, 3, 90, ++seed);
        expect_tree_and_cores(swarm, min_samples, t, {t.size() - 1});
        expect_tree_and_cores(swarm, min_samples, t, {0, t.size() - 1});
        expect_tree_and_cores(swarm, min_samples, t, {0, 0, 0, 0, 0, 0, 0, t.size() / 2});
      }
  });
}

TEST_P(EuclideanCorners, groups_of_exactly_min_samples_equal_points_and_one_more_or_less_are_exact) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const int min_samples : {2, 3, 5})
      for (const int more : {-1, 0, 1, 7}) {
        Swarm swarm{"groups of " + std::to_string(min_samples + more), {}, {}};
        for (int place = 0; place < 12; ++place)
          for (int i = 0; i < min_samples + more; ++i)
            swarm.at.push_back({0.25 * (place % 4), 0.5 * (place / 4), place == 5 ? 1.0 : 0.0});
        expect_tree_and_cores(swarm, min_samples, t, {0, t.size() - 1, t.size() / 2});
      }
  });
}

TEST_P(EuclideanCorners, single_points_beside_heaps_of_other_ranks_count_all_points_of_a_heap) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const int min_samples : {3, 5})
      for (const int more : {-1, 0, 4}) {
        Swarm swarm{"singles beside heaps of " + std::to_string(min_samples + more), {1, {}, {}, {}}, {}};
        for (int place = 0; place < 24; ++place)
          for (int i = 0; i < (place % 2 == 0 ? 1 : min_samples + more); ++i)
            swarm.at.push_back({place + 0.125 * (place % 3)});
        expect_tree_and_cores(swarm, min_samples, t, {0, t.size() - 1, t.size() / 2});
      }
  });
}

TEST_P(EuclideanCorners, as_many_samples_as_points_make_the_farthest_one_count) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto* shape : {"uniform", "lattice", "equal"})
      for (const std::size_t n : {1U, 2U, 3U, 40U})
        expect_tree_and_cores(make_swarm(shape, 2, n, n), static_cast<int>(n), t, {0, t.size() - 1});
  });
}

TEST_P(EuclideanCorners, the_greatest_and_the_least_coordinates_keep_their_order) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Swarm swarm{"extremes", {1, msf::Distance::euclidean, {}, {}}, {}};
    swarm.at = {{1e150}, {-1e150}, {0}, {1e-140}, {-1e-139}, {1e-70}, {1e70}, {3e-140}, {1}, {5e149}};
    expect_tree_and_cores(swarm, 1, t, {0, t.size() - 1});
    expect_tree_and_cores(swarm, 3, t, {0, t.size() - 1});
    swarm.space.metric = msf::Distance::chebyshev;
    expect_tree_and_cores(swarm, 2, t, {t.size() / 2});
  });
}

TEST_P(EuclideanCorners, coordinates_nearer_to_zero_than_can_be_squared_are_zero) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const bool first = t.rank() == 0;
    const msf::Points points{
        {2}, first ? std::vector<double>{9e-141, 0, -9e-141, 0, 0, -0.0, 1e-140, 0} : std::vector<double>{}, {}};
    msf::Report report;
    const auto edges = sorted(gathered(msf::euclidean_forest(points, t, {}, report).edges, t));
    const auto zero = graphs::ordered_bits(0.0);
    ASSERT_EQ(edges, sorted({{0, 1, zero}, {0, 2, zero}, {0, 3, graphs::ordered_bits(std::sqrt(1e-140 * 1e-140))}}));
  });
}

TEST_P(EuclideanCorners, points_on_a_line_are_joined_to_the_next_ones_also_where_every_point_asks_other_ranks) {
  // Two far groups of one component each: no list and no ceiling says which of 21,000 points is nearest to the other rank.
  on_ranks(GetParam(), [](comm::Transport& t) {
    constexpr std::uint64_t kPoints = 21'000;
    std::vector<double> at;
    double x = 0;
    for (std::uint64_t i = 0; i < kPoints; ++i) {
      Random random(4, i, 0);
      at.push_back(x += i == kPoints / 2 ? 1e6 : 1 + std::floor(random.uniform() * 4096) / 4096);
    }
    msf::Points points{{1}, {}, {}};
    for (std::uint64_t i = 0; i < kPoints; ++i) {
      if (static_cast<int>(i * 7919 % 1000) % t.size() != t.rank()) continue;
      points.ids.push_back(i);
      points.coordinates.push_back(at[i]);
    }
    Edges expected;
    for (std::uint64_t i = 1; i < kPoints; ++i) expected.push_back({i - 1, i, graphs::ordered_bits(at[i] - at[i - 1])});
    msf::Report report;
    const auto forest = msf::euclidean_forest(points, t, {}, report);
    ASSERT_EQ(sorted(gathered(forest.edges, t)), sorted(expected));
  });
}

TEST_P(EuclideanCorners, the_report_counts_rounds_and_phases_and_progress_comes_on_rank_0_alone) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto points = distribute(make_swarm("uniform", 3, 400, 2), t, 3);
    msf::Report report;
    std::vector<std::string> heard;
    report.progress = [&](std::string_view what, double share) {
      EXPECT_GE(share, 0);
      EXPECT_LE(share, 1);
      if (heard.empty() || heard.back() != what) heard.emplace_back(what);
    };
    msf::EuclideanOptions options;
    options.min_samples = 3;
    (void)msf::euclidean_forest(points, t, options, report);
    std::vector<std::string> phases;
    for (const auto& phase : report.phases()) phases.push_back(phase.name);
    std::vector<std::string> expected{"distribute", "tree", "neighbours", "local rounds"};
    if (t.size() > 1) expected.emplace_back("global rounds");
    EXPECT_EQ(phases, expected);
    EXPECT_EQ(report.phases()[2].calls, 2) << "core distances, then lists";
    if (t.rank() > 0) {
      EXPECT_TRUE(heard.empty());
    } else {
      expected.erase(expected.begin(), expected.begin() + 2);
      EXPECT_EQ(heard, expected);
    }
    std::map<std::string, std::int64_t> facts(report.facts().begin(), report.facts().end());
    EXPECT_GE(facts.at("euclidean_local_rounds"), 1);
    EXPECT_EQ(facts.contains("euclidean_global_rounds"), t.size() > 1);
    if (t.size() > 1) {
      EXPECT_GE(facts.at("euclidean_global_components"), 2);
      EXPECT_GE(facts.at("euclidean_global_rounds"), 1);
      EXPECT_LE(facts.at("euclidean_global_rounds"), 9);
      EXPECT_GE(t.all_reduce(facts.at("euclidean_questions"), comm::Op::sum), 1);
    }
  });
}

// Components of this set join in pairs, which halves their number and no more, until a rank has few; one at each cut is not sure.
TEST_P(EuclideanCorners, components_that_join_in_pairs_are_contracted_before_the_global_rounds) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Swarm all{"pairs of pairs", {1}, {}};
    for (std::uint32_t k = 0; k < 1 << 12; ++k) {
      double x = 0;
      for (int bit = 0; bit < 12; ++bit) x += (k >> bit) % 2 == 0 ? 0 : std::ldexp(1, 2 * bit);
      all.at.push_back({x});
    }
    msf::Report report;
    const auto forest = msf::euclidean_forest(distribute(all, t, 3), t, {}, report);
    const std::map<std::string, std::int64_t> facts(report.facts().begin(), report.facts().end());
    if (t.size() > 1) {
      EXPECT_LE(facts.at("euclidean_global_components"), 40 * t.size());
    }
    double weight = 0;
    for (const auto& edge : forest.edges) weight += graphs::weight_from_bits(graphs::WeightKind::float64, edge.weight);
    EXPECT_EQ(t.all_reduce(weight, comm::Op::sum), all.at.back()[0]);  // on one axis all gaps
  });
}

TEST_P(EuclideanCorners, what_cannot_be_is_refused_with_the_value_and_what_is_allowed_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const bool last = t.rank() == t.size() - 1;
    msf::Report report;
    const auto option = [&](msf::EuclideanOptions options) {
      const msf::Points points{{1}, last ? std::vector<double>{1, 2, 3} : std::vector<double>{}, {}};
      return refusal<UsageError>([&] { (void)msf::euclidean_forest(points, t, options, report); });
    };
    EXPECT_NE(option({.threads = 0}).find("threads 0; allowed: 1 to 1024"), std::string::npos);
    EXPECT_NE(option({.threads = 1025}).find("threads 1025; allowed: 1 to 1024"), std::string::npos);
    EXPECT_NE(option({.leaf = 3}).find("leaf 3; allowed: 4 to 64"), std::string::npos);
    EXPECT_NE(option({.leaf = 65}).find("leaf 65; allowed: 4 to 64"), std::string::npos);
    EXPECT_NE(option({.leaf = -1}).find("leaf -1; allowed: 4 to 64"), std::string::npos);
    EXPECT_NE(option({.neighbours = 0}).find("neighbours 0; allowed: 1 to 32"), std::string::npos);
    EXPECT_NE(option({.neighbours = 33}).find("neighbours 33; allowed: 1 to 32"), std::string::npos);
    EXPECT_NE(option({.min_samples = 0}).find("min-samples 0; allowed: 1 to 1048576"), std::string::npos);
    EXPECT_EQ(option({.leaf = 4, .neighbours = 32, .min_samples = 3}), "nothing was thrown");
    EXPECT_EQ(option({.threads = 2, .leaf = 64, .neighbours = 1}), "nothing was thrown");
    if (t.size() > 1) {
      EXPECT_NE(option({.neighbours = last ? 3 : 4}).find("neighbours"), std::string::npos) << "unlike on ranks";
    }
    const auto points = [&](const msf::PointSpace& space, const std::vector<double>& at,
                            const std::vector<std::uint64_t>& ids = {}, int min_samples = 1) {
      const msf::Points mine{space, last ? at : std::vector<double>{}, last ? ids : std::vector<std::uint64_t>{}};
      return refusal<InputError>([&] { (void)msf::euclidean_forest(mine, t, {.min_samples = min_samples}, report); });
    };
    const auto expect_part = [](const std::string& text, const std::string& part) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    using msf::Distance;
    using msf::Angle;
    expect_part(points({1}, {1, 2}, {}, 3), "min-samples 3 of 2 points; allowed: up to their number");
    EXPECT_EQ(points({1}, {}, {}, 3), "nothing was thrown") << "of no points";
    expect_part(points({0}, {}), "points of dimension 0; allowed: 1 to 65536");
    expect_part(points({65537}, {}), "points of dimension 65537; allowed: 1 to 65536");
    expect_part(points({2}, {1, 2, 3}), "3 coordinates of 1 points; allowed: 2 per point");
    expect_part(points({2}, {1, 2}, {0, 1}), "2 coordinates of 2 points; allowed: 2 per point");
    expect_part(points({1}, {1, 2}, {0, 2}), "point 2 of 2; allowed: every number below that once");
    expect_part(points({1}, {1, 2}, {1, 1}), "a point is there twice; allowed: every number below 2 once");
    EXPECT_EQ(points({1}, {1, 2}, {1, 0}), "nothing was thrown");
    expect_part(points({1}, {std::nextafter(1e150, 1e151)}), "allowed: finite, within +-1e150");
    EXPECT_EQ(points({1}, {1e150, -1e150}), "nothing was thrown");
    const msf::PointSpace earth{2, Distance::great_circle, Angle::degrees, {}};
    expect_part(points(earth, {1, 1, 90.5, 0}), "latitude 90.5 of point 1; allowed: -90 to 90 degrees");
    EXPECT_EQ(points(earth, {90, 1, -90, 1e9}), "nothing was thrown");
    expect_part(points({2, Distance::great_circle}, {-1.75, 0}), "latitude -1.75 of point 0; allowed: -pi/2 to pi/2");
    expect_part(points({3, Distance::great_circle}, {}),
                "of points of dimension 3; allowed: 2, latitude and longitude");
    expect_part(points({2, Distance::great_circle, {}, {{1, 0, 1}}}, {}), "with periodic axes; allowed: none");
    const auto period = [&](const msf::Period& p) { return points({2, {}, {}, {{0, 0, 1}, p}}, {}); };
    expect_part(period({2, 0, 1}), "a period of axis 2; allowed: 0 to 1");
    expect_part(period({-1, 0, 1}), "a period of axis -1; allowed: 0 to 1");
    expect_part(period({0, 0, 2}), "two periods of axis 0; allowed: one");
    expect_part(period({1, 0, 1e-140}), "a period of 1e-140 from 0; allowed: above 1e-140, up to 1e150");
    expect_part(period({1, 2e150, 3}), "a period of 3 from 2e+150; allowed: above 1e-140, up to 1e150");
    EXPECT_EQ(period({1, -1e150, 1e150}), "nothing was thrown");
    if (t.size() > 1) {
      const msf::Points mixed{
          {1}, {static_cast<double>(t.rank())}, last ? std::vector<std::uint64_t>{0} : std::vector<std::uint64_t>{}};
      expect_part(refusal<InputError>([&] { (void)msf::prim(mixed, t); }),
                  "ids of the points of some ranks only; allowed: on all ranks or on none");
      const msf::Points unlike{{last ? 1 : 2}, {}, {}};
      EXPECT_NE(refusal<UsageError>([&] { (void)msf::euclidean_forest(unlike, t, {}, report); }).find("dimension"),
                std::string::npos);
    }
  });
}

TEST_P(EuclideanCorners, the_reference_of_the_library_is_the_same_tree_on_rank_0) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const std::size_t n : {0U, 1U, 2U, 70U})
      for (const int min_samples : {1, 2, 5})
        for (const auto* shape : {"uniform", "lattice", "equal"}) {
          if (n < static_cast<std::size_t>(min_samples)) continue;
          const auto swarm = make_swarm(shape, 2, n, 3);
          const auto forest = msf::prim(on_some(swarm, t, {0, t.size() - 1}), t, min_samples);
          ASSERT_EQ(forest.vertices, n);
          if (t.rank() == 0) {
            ASSERT_EQ(sorted(forest.edges), n == 0 ? Edges{} : compute_tree(backwards(swarm), min_samples));
          } else {
            ASSERT_TRUE(forest.edges.empty());
          }
        }
  });
}

TEST(PeriodicCorners, points_across_the_seam_are_neighbours_in_every_norm_and_number_of_axes) {
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const int dimension : {1, 2, 3, 6, 17})
      for (const int ranks : {1, 3}) {
        auto swarm = make_swarm("uniform", dimension, 80, static_cast<std::uint64_t>(dimension));
        swarm.space.metric = metric;
        for (int a = 0; a < dimension; a += 2) swarm.space.periods.push_back({a, 0, 1});
        for (auto& p : swarm.at) p[0] = p[0] < 0.5 ? p[0] / 8 : 1 - (1 - p[0]) / 8;  // near the seam
        on_threads(ranks, [&](comm::Transport& t) { expect_tree_and_cores(swarm, 3, t, {0, t.size() - 1}); });
      }
}

TEST(PeriodicCorners, the_upper_end_of_a_period_is_its_lower_end) {
  on_threads(1, [](comm::Transport& t) {
    msf::Report report;
    const auto weights = [&](const std::vector<double>& at, const msf::Period& period) {
      std::vector<double> all;
      const msf::Points points{{1, {}, {}, {period}}, at, {}};
      for (const auto& e : msf::euclidean_forest(points, t, {}, report).edges)
        all.push_back(graphs::weight_from_bits(graphs::WeightKind::float64, e.weight));
      std::sort(all.begin(), all.end());
      return all;
    };
    EXPECT_EQ(weights({3, 5, 7, 1, -9}, {0, 3, 2}), std::vector<double>(4, 0));
    EXPECT_EQ(weights({3, 4.75}, {0, 3, 2}), std::vector<double>{0.25});
    EXPECT_EQ(weights({3.25, 4.25}, {0, 3, 2}), std::vector<double>{1}) << "half a period";
    EXPECT_EQ(weights({2.75, 4.5}, {0, 3, 2}), std::vector<double>{0.25}) << "2.75 is 4.75";
    EXPECT_EQ(weights({-1e-17, 0}, {0, 0, 1}), std::vector<double>{0}) << "rounded up to the end";
  });
}

TEST(PeriodicCorners, a_coordinate_that_is_rounded_up_to_the_length_is_zero) {
  on_threads(1, [](comm::Transport& t) {
    const msf::Points points{{1, {}, {}, {{0, -0x1p-54, 1}}}, {1 - 0x1p-53, 0.5, -0x1p-54}, {}};
    const msf::PointSet view = points;
    const msf::euclidean::CheckedPoints given(view, t);
    std::vector<double> at(3);
    for (std::size_t i = 0; i < 3; ++i) given.write_coordinates(i, &at[i]);
    EXPECT_EQ(at, (std::vector<double>{0, 0.5, 0}));
  });
}

TEST(PeriodicCorners, the_periodic_axes_of_a_box_are_those_of_its_first_axes) {
  const Box box{{1, 2, 3}, {4, 5, 6}, {true, false, true}};
  EXPECT_EQ(msf::periodic_axes(box, 3), (std::vector<msf::Period>{{0, 1, 4}, {2, 3, 6}}));
  EXPECT_EQ(msf::periodic_axes(box, 2), (std::vector<msf::Period>{{0, 1, 4}}));
  EXPECT_EQ(msf::periodic_axes(box, 9).size(), 2U);
  EXPECT_TRUE(msf::periodic_axes(box, 0).empty());
}

}  // namespace
