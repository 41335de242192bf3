/// Multi-hop messages: reach, number of hops, copies, against distances in the grid.
#include "merganser/blocks/multi_hop.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "merganser/base/error.hpp"
#include "tests/blocks/blocks.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::blocks;
using namespace merganser::test;

class MultiHopTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, MultiHopTest,
                         testing::ValuesIn(setups({""}, {"chaos:1", "chaos:2", "chaos:3,checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

MultiHop::Counts total(comm::Transport& t, const MultiHop::Counts& mine) {
  std::array<std::int64_t, 4> n{mine.sent, mine.forwarded, mine.delivered, mine.dropped};
  t.all_reduce(n, comm::Op::sum);
  return {n[0], n[1], n[2], n[3]};
}

/// Sends one multi-hop message from block `origin` and makes steps until it has been delivered everywhere. @return numbers of
/// messages
MultiHop::Counts one_message(comm::Transport& t, const BlockGrid& grid, std::int64_t origin, int reach,
                             MultiHop::Farthest farthest) {
  MultiHop hops(t, grid, place_blocks(grid, t.rank(), t.size(), Placing::turns), farthest);
  const int word = 77;
  if (place_blocks(grid, t.rank(), t.size(), Placing::turns).owner(origin) == t.rank())
    hops.send(hops.exchange().local(origin), std::as_bytes(std::span(&word, 1)), reach);
  for (int step = 0; step <= reach; ++step) hops.step();
  EXPECT_TRUE(hops.is_idle());
  return total(t, hops.counts());
}

std::int64_t power(std::int64_t base, int n) { return n == 0 ? 1 : base * power(base, n - 1); }

TEST_P(MultiHopTest, forwarding_takes_16_messages_in_a_plane_and_98_in_space) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid plane{{7, 7, 1}, {false, false, false}};
    const BlockGrid space{{5, 5, 5}, {false, false, false}};
    const auto one_way = MultiHop::Farthest::one_way;
    EXPECT_EQ(one_message(t, plane, plane.number({3, 3, 0}), 2, one_way), (MultiHop::Counts{8, 16, 24, 0}));
    EXPECT_EQ(one_message(t, space, space.number({2, 2, 2}), 2, one_way), (MultiHop::Counts{26, 98, 124, 0}));
    EXPECT_EQ(one_message(t, space, space.number({2, 2, 2}), 1, one_way), (MultiHop::Counts{26, 0, 26, 0}));
    for (const int reach : {1, 2, 3}) {
      const auto all = power(2 * reach + 1, 2) - 1;
      EXPECT_EQ(one_message(t, plane, plane.number({3, 3, 0}), reach, one_way), (MultiHop::Counts{8, all - 8, all, 0}));
    }
  });
}

TEST_P(MultiHopTest, odd_rings_have_no_copies_and_even_ones_as_many_as_the_formula_says) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const int dimension : {1, 2, 3})
      for (const int n : {1, 2, 3, 4, 5, 6}) {
        if (power(n, dimension) > 70) continue;
        BlockGrid grid;
        for (int axis = 0; axis < dimension; ++axis) {
          grid.blocks[static_cast<std::size_t>(axis)] = n;
          grid.periodic[static_cast<std::size_t>(axis)] = true;
        }
        const std::int64_t others = grid.count() - 1;
        const auto one_way = one_message(t, grid, grid.count() / 2, n + 1, MultiHop::Farthest::one_way);
        EXPECT_EQ(one_way.delivered, others);
        EXPECT_EQ(one_way.dropped, 0);
        EXPECT_EQ(one_way.sent + one_way.forwarded, others);
        // A block that is farthest along k axes gets 2^k copies: over all blocks, each axis has n + 1 offsets, not n.
        const std::int64_t copies = n % 2 == 0 ? power(n + 1, dimension) - 1 - others : 0;
        const auto both = one_message(t, grid, grid.count() / 2, n + 1, MultiHop::Farthest::both_ways);
        EXPECT_EQ(both.delivered, others);
        EXPECT_EQ(both.dropped, copies) << n << " blocks, dimension " << dimension;
      }
  });
}

/// Returns the blocks that a multi-hop message from block `origin` must reach, with the number of steps to each.
std::map<std::int64_t, int> expected(const BlockGrid& grid, std::int64_t origin, int reach) {
  std::map<std::int64_t, int> out;
  for (std::int64_t b = 0; b < grid.count(); ++b) {
    int hops = 0;
    bool near = b != origin;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      int least = reach + 1;
      for (const int d : offsets(grid, axis, grid.index(origin)[axis], grid.index(b)[axis], reach))
        least = std::min(least, std::abs(d));
      near = near && least <= reach;
      hops = std::max(hops, least);
    }
    if (near) out[b] = hops;
  }
  return out;
}

TEST_P(MultiHopTest, messages_of_all_blocks_reach_each_block_in_range_once_and_in_time) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto& grid : grids())
      for (const auto farthest : {MultiHop::Farthest::one_way, MultiHop::Farthest::both_ways}) {
        MultiHop hops(t, grid, place_blocks(grid, t.rank(), t.size(), Placing::hash), farthest);
        const auto reach_of = [](std::int64_t origin, std::int64_t number) {
          return static_cast<int>(1 + (origin + 2 * number) % 3);
        };
        std::map<std::array<std::int64_t, 3>, int> got;  // origin, number, block: step
        const auto before = t.counters();
        for (int step = 0; step < 7; ++step) {
          for (std::size_t i = 0; i < hops.blocks().size() && step < 3; ++i) {
            const std::string text =
                std::to_string(hops.blocks()[i]) + std::string(static_cast<std::size_t>(step), '!');
            hops.send(i, std::as_bytes(std::span(text)), reach_of(hops.blocks()[i], step));
          }
          hops.step();
          for (std::size_t i = 0; i < hops.blocks().size(); ++i)
            for (const auto& m : hops.delivered(i)) {
              const auto number = static_cast<std::int64_t>(m.number);
              ASSERT_TRUE(got.emplace(std::array{m.origin, number, hops.blocks()[i]}, m.hops).second);
              ASSERT_EQ(step, number + m.hops - 1);
              const std::string text(reinterpret_cast<const char*>(m.payload.data()), m.payload.size());
              ASSERT_EQ(text, std::to_string(m.origin) + std::string(m.number, '!'));
            }
        }
        EXPECT_EQ((t.counters() - before).collectives, 0);
        std::map<std::array<std::int64_t, 3>, int> all;
        for (std::int64_t origin = 0; origin < grid.count(); ++origin)
          for (std::int64_t number = 0; number < 3; ++number)
            for (const auto& [b, steps] : expected(grid, origin, reach_of(origin, number)))
              if (place_blocks(grid, t.rank(), t.size(), Placing::hash).owner(b) == t.rank())
                all[{origin, number, b}] = steps;
        ASSERT_EQ(got, all);
      }
  });
}

TEST_P(MultiHopTest, a_reach_below_one_is_refused) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    MultiHop hops(t, {{3, 1, 1}, {}}, contiguous_placement({{3, 1, 1}, {}}, t.rank(), t.size()));
    if (!hops.blocks().empty()) {
      EXPECT_THROW(hops.send(0, {}, 0), UsageError);
    }
    EXPECT_TRUE(hops.is_idle());
  });
}

}  // namespace
