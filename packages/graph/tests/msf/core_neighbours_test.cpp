/// Tests of the lists of edges that weigh the core distance of a point, against all pairs, and of the sort of lists.
#include "src/msf/euclidean/core_neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "merganser/base/random.hpp"
#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/grow.hpp"
#include "src/msf/euclidean/row_sort.hpp"
#include "tests/msf/swarms.hpp"
#include "tests/support/vectors.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf;
using namespace merganser::test;

/// Ids of the points that a list should have: those within the core distance of a point, with no greater core distance.
std::vector<std::uint32_t> expected_list(const Swarm& swarm, const std::vector<double>& cores, std::size_t v) {
  std::vector<std::uint32_t> list;
  for (std::size_t u = 0; u < swarm.at.size(); ++u)
    if (u != v && std::max(cores[u], swarm.weight(swarm.compared(v, u))) <= cores[v])
      list.push_back(static_cast<std::uint32_t>(u));
  return list;
}

/// Counts the points with a list, after comparing it with all pairs.
int check_lists(const euclidean::CoreNeighbours& lists, const Swarm& swarm, const std::vector<double>& cores) {
  int known = 0;
  for (std::size_t v = 0; v < swarm.at.size(); ++v) {
    if (lists.of(v).empty()) continue;
    ++known;
    std::vector<std::uint32_t> list;
    for (const std::uint32_t place : lists.of(v)) list.push_back(lists.ids()[place]);
    std::sort(list.begin(), list.end());
    EXPECT_EQ(list, expected_list(swarm, cores, v)) << v;
  }
  return known;
}

struct Known {
  int from_tree = 0;
  int searched = 0;
  int all = 0;  ///< points with edges that weigh their core distance
};

/// Compares the lists that the forest finds, and those that are searched on gathered points, with all pairs.
Known compare(const Swarm& swarm, int samples) {
  Known known;
  on_threads(1, [&](comm::Transport& t) {
    Report report;
    EuclideanOptions options;
    options.min_samples = samples;
    const auto points = distribute(swarm, t, 3);
    std::vector<double> mine;
    euclidean::NeighboursPointer lists;
    (void)euclidean_forest(points, t, options, report, &mine, &lists);
    const auto gathered = gather_points(points, mine, t, options);
    const auto& cores = gathered.core_distances;
    EXPECT_EQ(lists != nullptr, samples > 1 && samples < 15 && swarm.space.dimension <= kMaxTreeDimension);
    if (lists) known.from_tree = check_lists(*lists, swarm, cores);
    known.searched = check_lists({*gathered.sites, cores, samples}, swarm, cores);
    for (std::size_t v = 0; v < swarm.at.size(); ++v) known.all += expected_list(swarm, cores, v).empty() ? 0 : 1;
  });
  return known;
}

TEST(CoreNeighboursTest, lists_have_all_edges_that_weigh_the_core_distance) {
  std::uint64_t seed = 0;
  for (const auto metric : {Distance::euclidean, Distance::manhattan, Distance::chebyshev})
    for (const int dimension : {1, 2, 3, 4, 5, 8, 16})
      for (const auto* shape : {"uniform", "lattice", "heaps", "equal"})
        for (const int samples : {2, 5, 14, 15, 20}) {
          Swarm swarm = make_swarm(shape, dimension, 90, ++seed);
          swarm.space.metric = metric;
          if (dimension == 4) swarm.space.periods = {{1, 0, 1}};
          SCOPED_TRACE(std::string(shape) + " " + distances().name(metric) + " " + std::to_string(dimension) + " " +
                       std::to_string(samples));
          const Known known = compare(swarm, samples);
          if (samples < 15) {
            EXPECT_EQ(known.from_tree, known.searched);  // or the steps of grow() would depend on the ranks
          }
          if (std::string_view(shape) != "uniform") continue;
          EXPECT_GT(known.all, 60);
          EXPECT_EQ(known.searched, known.all);
          EXPECT_EQ(known.from_tree, samples < 15 ? known.all : 0);
        }
}

/// What threads share on one rank, of points with core distances.
struct Shared {
  std::vector<double> cores;
  euclidean::NeighboursPointer lists;
  Growth growth;
};

TEST(CoreNeighboursTest, threads_change_neither_lists_nor_core_distances_nor_the_order_of_edges) {
  for (const auto* shape : {"uniform", "lattice", "heaps", "equal"})
    for (const std::size_t n : {4096U, 6001U}) {  // from 4096 on threads share
      SCOPED_TRACE(std::string(shape) + " " + std::to_string(n));
      const Swarm swarm = make_swarm(shape, 3, n, n);
      const auto find = [&](int threads) {
        Shared found;
        on_threads(1, [&](comm::Transport& t) {
          Report report;
          EuclideanOptions options;
          options.min_samples = 5;
          options.threads = threads;
          const auto points = distribute(swarm, t, 3);
          const auto forest = euclidean_forest(points, t, options, report, &found.cores, &found.lists);
          const auto gathered = gather_points(points, found.cores, t, options, found.lists);
          EXPECT_EQ(gathered.threads, threads);
          found.growth = grow(gather_forest(forest, t), gathered);
        });
        return found;
      };
      const Shared one = find(1);
      EXPECT_TRUE(one.growth.exact);
      for (const int threads : {2, 3}) {
        const Shared more = find(threads);
        EXPECT_EQ(more.cores, one.cores);
        EXPECT_TRUE(std::ranges::equal(more.lists->ids(), one.lists->ids()));
        for (std::size_t v = 0; v < n; ++v) EXPECT_TRUE(std::ranges::equal(more.lists->of(v), one.lists->of(v))) << v;
        EXPECT_EQ(more.growth.edges, one.growth.edges);
        EXPECT_EQ(more.growth.exact, one.growth.exact);
      }
    }
}

TEST(CoreNeighboursTest, there_are_none_of_plain_distances_in_many_dimensions_and_of_too_many_samples) {
  EXPECT_EQ(compare(make_swarm("uniform", 5, 60, 1), 1).searched, 0);
  EXPECT_EQ(compare(make_swarm("uniform", 19, 60, 1), 5).searched, 0);
  const auto most = static_cast<int>(euclidean::CoreNeighbours::kMax);
  EXPECT_EQ(compare(make_swarm("uniform", 5, 90, 1), most + 1).searched, 0);
  EXPECT_GT(compare(make_swarm("uniform", 5, 90, 1), most).searched, 60);
}

TEST(SortRowTest, sorts_as_the_standard_sort_does) {
  test::with_all_vectors([] {
    Random random(5, 0, 0);
    for (int i = 0; i < 2000; ++i) {
      std::array<std::uint64_t, euclidean::kMaxRow> row;
      const bool near = i % 2 == 0;
      for (auto& number : row) number = near ? random.below(40) : random.below(std::uint64_t{1} << 63);
      if (i % 3 == 0) row[3] = (std::uint64_t{1} << 63) - 1;
      std::array<std::uint64_t, euclidean::kMaxRow> sorted;
      sorted.fill(0);
      auto count = static_cast<std::uint32_t>(random.below(euclidean::kMaxRow + 1));
      while (std::set<std::uint64_t>(row.begin(), row.begin() + count).size() < count) --count;
      auto expected = row;
      std::sort(expected.begin(), expected.begin() + count);
      euclidean::sort_row(row.data(), count, sorted.data());
      EXPECT_TRUE(std::equal(sorted.begin(), sorted.begin() + count, expected.begin())) << i;
      EXPECT_EQ(std::count(sorted.begin() + count, sorted.end(), 0U),
                static_cast<std::ptrdiff_t>(euclidean::kMaxRow - count));
    }
  });
}

}  // namespace
