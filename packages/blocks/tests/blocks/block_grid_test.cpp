/// Grids of blocks: numbering, neighbours, placement; and the exchange of packages between blocks.
#include "merganser/blocks/block_grid.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/blocks/block_exchange.hpp"
#include "tests/blocks/blocks.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::blocks;
using namespace merganser::test;

TEST(BlockGrid, numbers_and_coordinates_belong_together) {
  for (const auto& grid : grids())
    for (std::int64_t b = 0; b < grid.count(); ++b) EXPECT_EQ(grid.number(grid.index(b)), b);
}

TEST(BlockGrid, neighbours_are_all_other_blocks_within_reach) {
  if (elsewhere()) GTEST_SKIP();
  for (const auto& grid : grids())
    for (const int reach : {1, 2, 3})
      for (std::int64_t b = 0; b < grid.count(); ++b) {
        std::vector<std::int64_t> expected;
        for (std::int64_t o = 0; o < grid.count(); ++o) {
          bool near = o != b;
          for (std::size_t axis = 0; axis < 3; ++axis)
            near = near && !offsets(grid, axis, grid.index(b)[axis], grid.index(o)[axis], reach).empty();
          if (near) expected.push_back(o);
        }
        EXPECT_EQ(grid.neighbours(b, reach), expected);
      }
}

TEST(BlockGrid, inner_blocks_have_8_and_26_or_24_and_124_neighbours) {
  const BlockGrid plane{{7, 7, 1}, {false, false, false}};
  const BlockGrid space{{5, 5, 5}, {true, true, true}};
  EXPECT_EQ(plane.neighbours(plane.number({3, 3, 0}), 1).size(), 8U);
  EXPECT_EQ(plane.neighbours(plane.number({3, 3, 0}), 2).size(), 24U);
  EXPECT_EQ(plane.neighbours(0, 1).size(), 3U);
  EXPECT_EQ(space.neighbours(0, 1).size(), 26U);
  EXPECT_EQ(space.neighbours(0, 2).size(), 124U);
}

TEST(BlockGrid, the_width_of_a_set_is_that_of_its_least_window) {
  if (elsewhere()) GTEST_SKIP();
  for (const auto& grid : grids()) {
    if (grid.count() > 20) continue;
    for (std::uint32_t bits = 1; bits<(1U << grid.count()); bits += grid.count()> 12 ? 7 : 1) {
      std::set<std::int64_t> members;
      for (std::int64_t b = 0; b < grid.count(); ++b)
        if ((bits >> b & 1U) != 0) members.insert(b);
      const std::vector<std::int64_t> list(members.begin(), members.end());
      int width = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) width = std::max(width, grid.width(list, axis));
      ASSERT_TRUE(fits(grid, members, width));
      ASSERT_FALSE(fits(grid, members, width - 1));
    }
  }
}

TEST(BlockGrid, placements_give_every_block_to_one_rank_evenly) {
  for (const auto& grid : grids())
    for (const int ranks : {1, 2, 3, 7, 100}) {
      std::int64_t next = 0;
      for (int r = 0; r < ranks; ++r) {
        const auto p = contiguous_placement(grid, r, ranks);
        EXPECT_LE(static_cast<std::int64_t>(p.mine.size()), grid.count() / ranks + 1);
        for (const std::int64_t b : p.mine) {
          EXPECT_EQ(b, next++);
          EXPECT_EQ(p.owner(b), r);
        }
      }
      EXPECT_EQ(next, grid.count());
    }
}

TEST(BlockGrid, bad_grids_are_refused) {
  EXPECT_THROW((BlockGrid{{0, 1, 1}, {}}.check()), InputError);
  EXPECT_THROW((BlockGrid{{3, -1, 1}, {}}.check()), InputError);
  EXPECT_THROW((BlockGrid{{2000000, 2000000, 1}, {}}.check()), InputError);
  EXPECT_THROW((void)contiguous_placement({}, 2, 2), UsageError);
}

class BlockExchangeTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, BlockExchangeTest, testing::ValuesIn(setups({""}, {"chaos:3", "chaos:4,checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Every block sends every neighbour a text that names both and the round; rounds without text are interleaved.
void talk(BlockExchange& exchange, int round) {
  for (std::size_t i = 0; i < exchange.blocks().size(); ++i)
    for (std::size_t s = 0; s < exchange.neighbours(i).size(); ++s)
      if (round % 3 != 0)
        append(exchange.package(i, s),
               std::array<std::int64_t, 3>{exchange.blocks()[i], exchange.neighbours(i)[s], round});
  exchange.step();
  for (std::size_t i = 0; i < exchange.blocks().size(); ++i)
    for (std::size_t s = 0; s < exchange.neighbours(i).size(); ++s) {
      auto package = exchange.received(i, s);
      ASSERT_EQ(package.size(), round % 3 != 0 ? 24U : 0U);
      if (package.empty()) continue;
      const std::array<std::int64_t, 3> expected{exchange.neighbours(i)[s], exchange.blocks()[i], round};
      ASSERT_EQ((extract<std::array<std::int64_t, 3>>(package)), expected);
    }
}

TEST_P(BlockExchangeTest, every_package_arrives_at_its_block) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto& grid : grids())
      for (const Placing how : {Placing::runs, Placing::turns, Placing::last}) {
        BlockExchange exchange(t, grid, place_blocks(grid, t.rank(), t.size(), how), how == Placing::turns ? 2 : 1);
        const auto before = t.counters();
        for (int round = 0; round < 4; ++round) talk(exchange, round);
        EXPECT_EQ((t.counters() - before).collectives, 0);
        EXPECT_EQ((t.counters() - before).waves, 4);
      }
  });
}

TEST_P(BlockExchangeTest, blocks_may_move_between_ranks) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid grid{{4, 5, 1}, {true, true, false}};
    BlockExchange exchange(t, grid, place_blocks(grid, t.rank(), t.size(), Placing::runs), 1,
                           BlockExchange::Wiring::any_rank);
    const auto before = t.counters();
    for (int round = 0; round < 24; ++round) {
      // Some blocks do not exist; the others change their owner.
      BlockPlacement p;
      p.owner = [&t, round](std::int64_t b) {
        return (b + round) % 5 < 2 ? -1 : static_cast<int>((b * 3 + round) % t.size());
      };
      for (std::int64_t b = 0; b < grid.count(); ++b)
        if (p.owner(b) == t.rank()) p.mine.push_back(b);
      exchange.set_placement(p);
      talk(exchange, round);
    }
    EXPECT_EQ((t.counters() - before).collectives, 0);
  });
}

TEST_P(BlockExchangeTest, wrong_placements_are_refused_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid grid{{3, 2, 1}, {true, false, false}};
    const auto good = place_blocks(grid, t.rank(), t.size(), Placing::runs);
    const auto refused = [&](BlockGrid g, BlockPlacement p, int reach) {
      EXPECT_THROW(BlockExchange(t, g, std::move(p), reach), InputError);
    };
    refused(grid, good, 0);
    refused(BlockGrid{{0, 2, 1}, {}}, good, 1);
    auto bad = good;
    if (t.rank() == t.size() - 1) std::reverse(bad.mine.begin(), bad.mine.end());
    if (t.size() < 4) refused(grid, bad, 1);
    bad = good;
    if (t.rank() == 0) bad.mine.push_back(99);
    refused(grid, bad, 1);
    bad = good;
    bad.owner = [](std::int64_t) { return 1 << 20; };
    refused(grid, bad, 1);
    BlockExchange exchange(t, grid, good, 1);
    EXPECT_THROW(exchange.set_placement(good), UsageError);
    EXPECT_THROW((void)exchange.local(99), UsageError);
  });
}

}  // namespace
