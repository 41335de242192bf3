/// Tests of gather_forest(): complete, sorted, the same for any number of ranks.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/msf/linkage.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf;
using namespace merganser::test;
using comm::Transport;

class GatherForestTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, GatherForestTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// A path with weights that come again; edge v on a rank by a number.
Forest share(std::uint64_t vertices, std::uint64_t seed, const Transport& t) {
  Forest mine{vertices, graphs::WeightKind::unsigned_integer, {}};
  for (std::uint64_t v = 1; v < vertices; ++v) {
    Random random(seed, 1, static_cast<std::uint32_t>(v));
    const graphs::Edge24 edge{v - 1, v, random.below(10)};
    Random place(seed, 2, static_cast<std::uint32_t>(v));
    if (static_cast<int>(place.below(static_cast<std::uint64_t>(t.size()))) == t.rank()) mine.edges.push_back(edge);
  }
  return mine;
}

TEST_P(GatherForestTest, rank_0_gets_every_edge_once_in_order_and_the_others_none) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const std::uint64_t vertices : {0U, 1U, 2U, 100U, 20'000U}) {
      const Forest mine = share(vertices, 7, t);
      const Edges expected = sorted(gathered(mine.edges, t));
      const Forest all = gather_forest(mine, t);
      EXPECT_EQ(all.vertices, vertices);
      EXPECT_EQ(all.kind, mine.kind);
      EXPECT_EQ(all.edges, t.rank() == 0 ? expected : Edges{});
    }
  });
}

TEST_P(GatherForestTest, ranks_that_differ_and_too_many_vertices_are_refused_on_every_rank) {
  on_ranks(GetParam(), [](Transport& t) {
    Forest mine{kMaxLinkageVertices + 1, graphs::WeightKind::float64, {}};
    EXPECT_THROW((void)gather_forest(mine, t), InputError);
    mine.vertices = static_cast<std::uint64_t>(t.rank());
    if (t.size() > 1) {
      EXPECT_THROW((void)gather_forest(mine, t), UsageError);
    }
  });
}

}  // namespace
