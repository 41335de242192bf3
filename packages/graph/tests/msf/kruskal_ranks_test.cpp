// Tests of Kruskal's method over ranks: what its communication sends where, and forests whose light edges are joined in batches.
#include "src/msf/kruskal_ranks.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/msf/thread_setups.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class KruskalRanksTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, KruskalRanksTest, testing::ValuesIn(thread_setups("chaos:4")),
                         setup_name<testing::TestParamInfo<Setup>>);

/// The edges that rank `rank` begins with: none on every third rank.
Edges edges_of_rank(int rank) {
  if (rank % 3 == 1) return {};
  return random_shape(static_cast<std::uint64_t>(rank) + 50, 40, 60 + static_cast<std::size_t>(rank), 9).edges;
}

TEST_P(KruskalRanksTest, count_and_samples_are_of_all_ranks_in_their_order) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    msf::KruskalRanks ranks(t, report);
    EXPECT_EQ(ranks.rank(), t.rank());
    EXPECT_EQ(ranks.size(), t.size());
    Edges all;
    for (int r = 0; r < t.size(); ++r) {
      const Edges theirs = edges_of_rank(r);
      all.insert(all.end(), theirs.begin(), theirs.end());
    }
    EXPECT_EQ(ranks.count(edges_of_rank(t.rank()).size()), all.size());
    EXPECT_EQ(ranks.gather(edges_of_rank(t.rank())), all);
  });
}

TEST_P(KruskalRanksTest, the_lowest_rank_that_refuses_is_heard_by_all) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    msf::KruskalRanks ranks(t, report);
    ranks.agree([] {});
    const int first = t.size() / 2;
    std::string told;
    try {
      ranks.agree([&] {
        if (t.rank() >= first) throw InputError("rank " + std::to_string(t.rank()));
      });
    } catch (const InputError& e) {
      told = e.what();
    }
    EXPECT_NE(told.find("rank " + std::to_string(first)), std::string::npos) << told;
  });
}

/// An edge that equals a splitter belongs to the range that it ends.
TEST_P(KruskalRanksTest, edges_go_to_the_rank_of_their_range) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    msf::KruskalRanks ranks(t, report);
    Edges splitters;
    const Edges by_weight = sorted(edges_of_rank(0));
    for (int r = 1; r < t.size(); ++r)
      splitters.push_back(
          by_weight[by_weight.size() * static_cast<std::size_t>(r) / static_cast<std::size_t>(t.size())]);
    if (t.size() > 3) splitters[1] = splitters[0];  // a range of nothing
    for (const auto& limits : {splitters, Edges{}}) {
      Edges expected;
      for (int r = 0; r < t.size(); ++r) {
        for (const auto& e : edges_of_rank(r)) {
          int owner = 0;
          while (owner < static_cast<int>(limits.size()) && limits[static_cast<std::size_t>(owner)] < e) ++owner;
          if (owner == t.rank()) expected.push_back(e);
        }
      }
      msf::Buffer<graphs::Edge24> batch;
      batch.append(edges_of_rank(t.rank()));
      const auto range = ranks.distribute(std::move(batch), limits);
      EXPECT_EQ(Edges(range.span().begin(), range.span().end()), expected);
    }
    EXPECT_EQ(report.phases().size(), 1U);
    EXPECT_EQ(report.phases()[0].name, "merge");
    EXPECT_EQ(report.phases()[0].calls, 2);
  });
}

TEST_P(KruskalRanksTest, all_ranks_join_the_same_trees_and_each_is_told_of_its_own_edges) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    msf::KruskalRanks ranks(t, report);
    msf::UnionFind sets(40);
    std::vector<std::size_t> expected;
    std::int64_t edges = 0;
    std::int64_t all_joined = 0;
    msf::UnionFind plain(40);
    for (int r = 0; r < t.size(); ++r) {
      const Edges theirs = sorted(edges_of_rank(r));
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (!plain.join(static_cast<std::uint32_t>(theirs[i].low), static_cast<std::uint32_t>(theirs[i].high)))
          continue;
        ++all_joined;
        if (r == t.rank()) expected.push_back(i);
      }
      edges += static_cast<std::int64_t>(theirs.size());
    }
    std::vector<std::size_t> joined;
    const Edges mine = sorted(edges_of_rank(t.rank()));
    const auto count =
        ranks.join(sets, std::span<const graphs::Edge24>(mine), [&](std::size_t i) { joined.push_back(i); });
    EXPECT_EQ(joined, expected);
    EXPECT_EQ(static_cast<std::int64_t>(count.edges), edges);
    EXPECT_EQ(static_cast<std::int64_t>(count.joined), all_joined);
    for (std::uint32_t v = 0; v < 40; ++v) ASSERT_EQ(sets.find(v), plain.find(v));
  });
}

TEST_P(KruskalRanksTest, work_is_reported_as_local_or_as_merging) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    msf::KruskalRanks ranks(t, report);
    { const msf::KruskalRanks::Scope scope(ranks, true); }
    { const msf::KruskalRanks::Scope scope(ranks, false); }
    { const msf::KruskalRanks::Scope scope(ranks, true); }
    ASSERT_EQ(report.phases().size(), 2U);
    EXPECT_EQ(report.phases()[0].name, "local forest");
    EXPECT_EQ(report.phases()[0].calls, 2);
    EXPECT_EQ(report.phases()[1].name, "merge");
    EXPECT_EQ(report.phases()[1].calls, 1);
  });
}

msf::Forest kruskal_forest(const graphs::EdgeList& graph, comm::Transport& t, msf::Sense sense, int threads = 1) {
  msf::ForestOptions options;
  options.method = msf::ForestMethod::kruskal;
  options.sense = sense;
  options.threads = threads;
  msf::Report report;
  return msf::minimum_spanning_forest(graph, t, options, report);
}

void expect_whole_forest(const Edges& mine, const Edges& expected, comm::Transport& t, const std::string& what) {
  const Edges found = gathered(mine, t);
  EXPECT_EQ(found.size(), expected.size()) << what;
  EXPECT_TRUE(sorted(found) == expected) << what;
}

TEST_P(KruskalRanksTest, light_edges_are_joined_in_batches_to_the_same_forest) {
  if (!GetParam().decorators.empty()) GTEST_SKIP() << "large: once is enough";
  Shape shape = random_shape(61, 135'000, 420'000, std::uint64_t{1} << 31);
  const Edges least = sorted(plain_kruskal(shape.edges, shape.vertices));
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const auto graph = distribute_as<graphs::Edge12>(shape, t, 3);
    expect_whole_forest(kruskal_forest(graph, t, msf::Sense::minimum).edges, least, t, "dealt");
  });
  for (auto& e : shape.edges) e.weight %= 3;  // ties, and all edges on the last rank
  const Edges greatest = sorted(plain_kruskal(shape.edges, shape.vertices, msf::Sense::maximum));
  on_ranks(GetParam(), [&](comm::Transport& t) {
    graphs::EdgeList graph{shape.vertices, graphs::WeightKind::unsigned_integer, std::vector<graphs::Edge16>{}};
    if (t.rank() == t.size() - 1) {
      std::vector<graphs::Edge16> all;
      for (const auto& e : shape.edges) all.push_back(graphs::make_edge<graphs::Edge16>(e.low, e.high, e.weight));
      graph.edges = std::move(all);
    }
    expect_whole_forest(kruskal_forest(graph, t, msf::Sense::maximum, 2).edges, greatest, t, "on one rank");
  });
}

/// Every rank sorts a range of its own: no rank has much more of the forest's edges than another, but where edges are few.
TEST_P(KruskalRanksTest, ranges_of_ranks_follow_each_other_within_a_round) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape few = random_shape(9, 700, 4'000, 500);
    const auto at_first = kruskal_forest(distribute(few, t, 2), t, msf::Sense::minimum).edges;
    EXPECT_TRUE(at_first.empty() || t.rank() == 0);  // a few edges are one batch of rank 0
    const Shape many = random_shape(9, 7'000, 40'000, std::uint64_t{1} << 40);
    const auto mine = kruskal_forest(distribute(many, t, 2), t, msf::Sense::minimum).edges;
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    const auto size = static_cast<std::int64_t>(mine.size());
    EXPECT_EQ(t.all_reduce(size, comm::Op::sum), static_cast<std::int64_t>(plain_kruskal(many.edges, 7'000).size()));
    EXPECT_GT(size, 6'999 / (20 * t.size()));
  });
}

TEST_P(KruskalRanksTest, an_end_that_is_no_vertex_is_named_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const std::size_t edges : {std::size_t{1}, std::size_t{30'000}}) {
      graphs::EdgeList graph{50, graphs::WeightKind::unsigned_integer, std::vector<graphs::Edge12>{}};
      if (t.rank() == t.size() - 1) {
        std::vector<graphs::Edge12> mine(edges, {1, 2, 3});
        mine.back() = {2, 50, 4'000'000'000};
        graph.edges = mine;
      }
      std::string told;
      try {
        (void)kruskal_forest(graph, t, msf::Sense::minimum);
      } catch (const InputError& e) {
        told = e.what();
      }
      EXPECT_NE(told.find("an edge ends in vertex 50; allowed: below 50, the number of vertices"), std::string::npos)
          << told;
    }
  });
}

}  // namespace
