/// Tests of ProcessGraph: rows, properties, quotient graphs, digests.
#include "merganser/graphs/process_graph.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;
using graphs::ProcessGraph;
using Rows = std::vector<std::vector<ProcessGraph::Arc>>;

std::string refusal(Rows rows) {
  try {
    const ProcessGraph g(std::move(rows));
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(ProcessGraph, a_new_one_has_no_ranks) {
  const ProcessGraph g;
  EXPECT_EQ(g.ranks(), 0);
  EXPECT_EQ(g.arcs(), 0);
  EXPECT_EQ(g, ProcessGraph(Rows{}));
  EXPECT_EQ(g.mean_degree(), 0);
  EXPECT_TRUE(g.is_symmetric());
}

TEST(ProcessGraph, sorts_rows_and_joins_equal_heads) {
  const ProcessGraph g(Rows{{{2, 5}, {1, 1}, {2, 7}}, {}, {{0, 3}}});
  ASSERT_EQ(g.row(0).size(), 2U);
  EXPECT_EQ(g.row(0)[0], (ProcessGraph::Arc{1, 1}));
  EXPECT_EQ(g.row(0)[1], (ProcessGraph::Arc{2, 12}));
  EXPECT_EQ(g.arcs(), 3);
  EXPECT_EQ(std::vector<std::int64_t>(g.offsets().begin(), g.offsets().end()), (std::vector<std::int64_t>{0, 2, 2, 3}));
  EXPECT_EQ(g.max_degree(), 2);
  EXPECT_EQ(g.mean_degree(), 1);
  EXPECT_TRUE(g.is_weighted());
  EXPECT_FALSE(ProcessGraph(Rows{{{1}}, {}}).is_weighted());
}

TEST(ProcessGraph, refuses_arcs_that_make_no_sense_and_names_them) {
  EXPECT_EQ(refusal({{{2}}, {}}), "the arc from rank 0 to rank 2 leaves the graph; allowed: ranks 0 to 1");
  EXPECT_EQ(refusal({{}, {{-1}}}), "the arc from rank 1 to rank -1 leaves the graph; allowed: ranks 0 to 1");
  EXPECT_EQ(refusal({{}, {{1}}}), "the arc from rank 1 to rank 1 is a loop; allowed: arcs between two ranks");
  EXPECT_EQ(refusal({{{1, -2}}, {}}), "the arc from rank 0 to rank 1 has the weight -2; allowed: finite numbers >= 0");
  EXPECT_NE(refusal({{{1, std::numeric_limits<double>::quiet_NaN()}}, {}}), "");
  EXPECT_NE(refusal({{{1, std::numeric_limits<double>::infinity()}}, {}}), "");
  const double most = std::numeric_limits<double>::max();
  EXPECT_NE(refusal({{{1, most}, {1, most}}, {}}).find("add up"), std::string::npos);
}

TEST(ProcessGraph, is_symmetric_if_every_arc_has_its_reverse) {
  EXPECT_TRUE(ProcessGraph(Rows{{{1, 4}}, {{0, 9}}}).is_symmetric());
  EXPECT_FALSE(ProcessGraph(Rows{{{1}}, {{2}}, {{0}}}).is_symmetric());
}

TEST(ProcessGraph, shows_each_rank_its_own_arcs) {
  const ProcessGraph g(Rows{{{1}, {3}}, {{0}}, {{0}}, {}});
  const comm::Graph zero = g.local(0), three = g.local(3);
  EXPECT_EQ(zero.out, (std::vector<int>{1, 3}));
  EXPECT_EQ(zero.in, (std::vector<int>{1, 2}));
  EXPECT_TRUE(three.out.empty());
  EXPECT_EQ(three.in, (std::vector<int>{0}));
  EXPECT_THROW((void)g.row(4), UsageError);
  EXPECT_THROW((void)g.local(-1), UsageError);
}

TEST(ProcessGraph, tells_the_weight_of_an_arc) {
  const ProcessGraph g(Rows{{{1, 0.5}}, {}});
  EXPECT_EQ(g.bytes(0, 1), 0.5);
  EXPECT_THROW((void)g.bytes(1, 0), UsageError);
}

TEST(ProcessGraph, becomes_coarser_by_blocks_of_consecutive_ranks) {
  // Five ranks in two blocks: 0 1 | 2 3 4.
  const ProcessGraph g(Rows{{{1, 1}, {2, 2}}, {{4, 4}}, {{3, 8}}, {{0, 16}}, {{1, 32}}});
  EXPECT_EQ(g.coarsened(2), ProcessGraph(Rows{{{1, 6}}, {{0, 48}}}));
  EXPECT_EQ(g.coarsened(5), g);
  EXPECT_EQ(g.coarsened(1).arcs(), 0);
  EXPECT_THROW((void)g.coarsened(0), UsageError);
  EXPECT_THROW((void)g.coarsened(6), UsageError);
}

TEST(ProcessGraph, blocks_begin_where_the_header_says) {
  for (int fine = 1; fine <= 12; ++fine) {
    for (int coarse = 1; coarse <= fine; ++coarse) {
      // A chain over the fine ranks: arcs of the coarse graph lie exactly where a block begins.
      Rows chain(static_cast<std::size_t>(fine));
      for (int r = 0; r + 1 < fine; ++r) chain[static_cast<std::size_t>(r)].push_back({r + 1, 1.0 + r});
      const ProcessGraph g = ProcessGraph(chain).coarsened(coarse);
      ASSERT_EQ(g.ranks(), coarse);
      for (int b = 1; b < coarse; ++b) EXPECT_EQ(g.bytes(b - 1, b), fine * b / coarse) << fine << ' ' << coarse;
    }
  }
}

TEST(ProcessGraph, digests_of_different_graphs_differ) {
  std::set<std::string> seen;
  const std::vector<Rows> all{{},
                              {{}},
                              {{}, {}},
                              {{{1}}, {}},
                              {{}, {{0}}},
                              {{{1}}, {{0}}},
                              {{{1, 2}}, {}},
                              {{{1}}, {}, {}},
                              {{{2}}, {}, {}},
                              {{}, {{2}}, {}},
                              {{{1, 0}}, {}}};
  for (const Rows& rows : all) {
    const std::string digest = ProcessGraph(rows).digest();
    EXPECT_EQ(digest.size(), 32U);
    EXPECT_EQ(digest.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(seen.insert(digest).second) << digest;
  }
  EXPECT_EQ(ProcessGraph(Rows{{{1, -0.0}}, {}}).digest(), ProcessGraph(Rows{{{1, 0.0}}, {}}).digest());
  EXPECT_EQ(ProcessGraph(Rows{{{2}, {1}}, {}, {}}).digest(), ProcessGraph(Rows{{{1}, {2}}, {}, {}}).digest());
}

}  // namespace
