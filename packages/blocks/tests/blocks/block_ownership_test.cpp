/// Directory of blocks: exhaustive small cases of its rule, and equality over ranks while blocks come and go.
#include "merganser/blocks/block_ownership.hpp"

#include <gtest/gtest.h>

#include <random>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/comm/collectives.hpp"
#include "tests/blocks/blocks.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::blocks;
using namespace merganser::test;
using Kind = BlockEvent::Kind;

const BlockGrid kPair{{2, 1, 1}, {}};

/// Returns the events that two ranks can announce in one step about two positions of the block directory.
std::vector<BlockEvent> all_events() {
  std::vector<BlockEvent> out;
  for (const int rank : {0, 1})
    for (const std::int64_t block : {0, 1}) {
      for (const std::int64_t by : {0, 1}) out.push_back({Kind::create, rank, block, by, 0});
      for (const std::int64_t generation : {0, 1}) out.push_back({Kind::remove, rank, block, generation, 0});
    }
  return out;
}

/// Expects that applied events leave at most one block at a position, that the changes explain the new directory, and that loads
/// are right.
void check(const BlockDirectory& before, const std::vector<BlockEvent>& events, const BlockDirectory& after,
           const std::vector<BlockChange>& changes) {
  auto blocks = before.all_blocks();
  for (const auto& c : changes) {
    if (c.kind == BlockChange::Kind::removed) {
      ASSERT_TRUE(blocks.contains(c.block));
      ASSERT_EQ(blocks[c.block], (BlockDirectory::Block{c.owner, c.generation}));
      blocks.erase(c.block);
    } else {
      ASSERT_FALSE(blocks.contains(c.block)) << "created twice";
      for (const auto& [block, entry] : blocks) ASSERT_NE(entry.generation, c.generation);
      blocks[c.block] = {c.owner, c.generation};
    }
  }
  ASSERT_EQ(blocks, after.all_blocks());
  std::vector<std::int64_t> loads(2);
  for (const auto& [block, entry] : blocks) ++loads[static_cast<std::size_t>(entry.owner)];
  for (const int rank : {0, 1}) ASSERT_EQ(after.load(rank), loads[static_cast<std::size_t>(rank)]);
  // A position with a valid proposal is not left empty.
  for (const auto& e : events)
    if (e.kind == Kind::create) {
      ASSERT_TRUE(after.exists(e.block));
    }
}

TEST(BlockDirectory, every_order_of_every_few_events_gives_the_same_single_owner) {
  if (elsewhere()) GTEST_SKIP();
  const auto universe = all_events();
  std::int64_t orders = 0;
  for (const auto rule : {BlockDirectory::Owner::proposer, BlockDirectory::Owner::least_loaded})
    for (std::uint32_t start = 0; start < 4; ++start) {
      BlockDirectory before(kPair, 2, rule);
      for (const std::int64_t block : {0, 1})
        if ((start >> block & 1U) != 0) before.insert(block, static_cast<int>(1 - block));
      for (std::uint32_t bits = 0; bits < (1U << universe.size()); ++bits) {
        if (__builtin_popcount(bits) > 4) continue;
        std::vector<BlockEvent> events;
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < universe.size(); ++i)
          if ((bits >> i & 1U) != 0) {
            order.push_back(i);
            events.push_back(universe[i]);
          }
        BlockDirectory first = before;
        const auto changes = first.apply(events);
        ASSERT_NO_FATAL_FAILURE(check(before, events, first, changes));
        while (std::next_permutation(order.begin(), order.end())) {
          for (std::size_t i = 0; i < order.size(); ++i) events[i] = universe[order[i]];
          BlockDirectory other = before;
          ASSERT_EQ(other.apply(events), changes);
          ASSERT_EQ(other, first);
          ++orders;
        }
      }
    }
  EXPECT_GT(orders, 10000);
}

TEST(BlockDirectory, the_lowest_needing_block_wins_and_a_removal_makes_room) {
  BlockDirectory directory({{4, 1, 1}, {}}, 3, BlockDirectory::Owner::proposer);
  directory.insert(0, 0);
  directory.insert(2, 1);
  EXPECT_EQ(directory.apply({{Kind::create, 1, 1, 2, 5}, {Kind::create, 0, 1, 0, 6}}),
            (std::vector<BlockChange>{{BlockChange::Kind::created, 1, 2, 0, 6}}));
  EXPECT_EQ(directory.counts(), (BlockDirectory::Counts{1, 0, 1, 0}));
  // Events: by rank 2, which is not the owner; of a generation that has ended; then a valid one, and a proposal for the position.
  EXPECT_TRUE(directory.apply({{Kind::remove, 2, 1, 2, 0}, {Kind::remove, 0, 1, 1, 0}}).empty());
  EXPECT_EQ(
      directory.apply({{Kind::create, 1, 1, 2, 9}, {Kind::remove, 0, 1, 2, 0}}),
      (std::vector<BlockChange>{{BlockChange::Kind::removed, 1, 2, 0, 0}, {BlockChange::Kind::created, 1, 3, 1, 9}}));
  EXPECT_EQ(directory.counts(), (BlockDirectory::Counts{2, 1, 1, 2}));
}

TEST(BlockDirectory, the_least_loaded_rank_gets_the_block) {
  BlockDirectory directory({{6, 1, 1}, {}}, 3, BlockDirectory::Owner::least_loaded);
  directory.insert(0, 0);
  std::vector<BlockEvent> events;
  for (const std::int64_t b : {5, 4, 3, 2, 1}) events.push_back({Kind::create, 0, b, 0, 0});
  std::vector<int> owners;
  for (const auto& c : directory.apply(events)) owners.push_back(c.owner);
  EXPECT_EQ(owners, (std::vector<int>{1, 2, 0, 1, 2}));
}

TEST(BlockDirectory, what_does_not_exist_is_refused) {
  EXPECT_THROW(BlockDirectory(kPair, 0, BlockDirectory::Owner::proposer), UsageError);
  EXPECT_THROW(BlockDirectory({{0, 1, 1}, {}}, 1, BlockDirectory::Owner::proposer), InputError);
  BlockDirectory directory(kPair, 2, BlockDirectory::Owner::proposer);
  directory.insert(0, 1);
  EXPECT_THROW(directory.insert(0, 0), UsageError);
  EXPECT_THROW(directory.insert(2, 0), UsageError);
  EXPECT_THROW(directory.insert(1, 2), UsageError);
  EXPECT_THROW((void)directory.apply({{Kind::create, 2, 1, 0, 0}}), CommError);
  EXPECT_THROW((void)directory.apply({{Kind::create, 0, 7, 0, 0}}), CommError);
  EXPECT_THROW((void)directory.apply({{static_cast<Kind>(3), 0, 1, 0, 0}}), CommError);
  EXPECT_EQ(directory.all_blocks().size(), 1U);
}

class BlockOwnershipTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, BlockOwnershipTest,
                         testing::ValuesIn(setups({""}, {"chaos:1", "chaos:2", "chaos:3,checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Report of a rank on its copy of the block directory and on the generations of the blocks that it owns.
struct Claim {
  std::uint64_t digest;
  std::int64_t blocks;
};

std::uint64_t digest(const BlockDirectory& directory) {
  std::uint64_t d = 1;
  for (const auto& [block, entry] : directory.all_blocks())
    for (const auto word : {block, static_cast<std::int64_t>(entry.owner), entry.generation})
      d = (d ^ static_cast<std::uint64_t>(word)) * 0x100000001B3U;
  return d;
}

TEST_P(BlockOwnershipTest, random_schedules_never_create_a_block_twice) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid grid{{4, 3, 1}, {true, false, false}};
    for (const auto rule : {BlockDirectory::Owner::proposer, BlockDirectory::Owner::least_loaded}) {
      announce::AnnouncementNetwork network(t, *announce::make_network("manhattan", t.size(), 2));
      BlockOwnership ownership(network, grid, rule);
      for (const std::int64_t b : {0, 6, 11}) ownership.directory().insert(b, static_cast<int>(b) % t.size());
      for (std::uint32_t step = 0; step < 60; ++step) {
        Random random(3, static_cast<std::uint64_t>(t.rank()), step);
        const std::map<std::int64_t, BlockDirectory::Block> now = ownership.directory().all_blocks();
        for (const auto& [block, entry] : now) {
          if (entry.owner != t.rank()) continue;
          for (const std::int64_t other : grid.neighbours(block, 1))
            if (random.below(6) == 0) ownership.propose(other, block, random.bits());
          if (random.below(5) == 0 && now.size() > 2) ownership.remove(block);
        }
        const auto before = t.counters();
        network.step();
        const auto changes = ownership.update();
        EXPECT_EQ((t.counters() - before).collectives, 0);
        for (const auto& c : changes)
          EXPECT_EQ(ownership.directory().exists(c.block), [&] {
            bool there = false;  // by the last change of this position
            for (const auto& d : changes)
              if (d.block == c.block) there = d.kind == BlockChange::Kind::created;
            return there;
          }());
        // Every rank has the same directory, and each block is claimed by one rank.
        std::int64_t claimed = 0;
        for (std::int64_t b = 0; b < grid.count(); ++b) claimed += ownership.is_mine(b) ? 1 : 0;
        const Claim mine{digest(ownership.directory()), claimed};
        std::int64_t all = 0;
        for (const Claim& other : comm::all_gather_value(t, mine)) {
          ASSERT_EQ(other.digest, mine.digest);
          all += other.blocks;
        }
        ASSERT_EQ(all, static_cast<std::int64_t>(ownership.directory().all_blocks().size()));
      }
      EXPECT_GT(ownership.directory().counts().created, 5);
      EXPECT_GT(ownership.directory().counts().removed, 5);
      EXPECT_EQ(ownership.directory().counts().refused, 0);
      if (t.size() > 1) {
        EXPECT_GT(ownership.directory().counts().lost, 0);
      }
    }
  });
}

TEST_P(BlockOwnershipTest, a_proposal_is_decided_when_everybody_knows_it) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid grid{{3, 1, 1}, {}};
    announce::AnnouncementNetwork network(t, *announce::make_network("manhattan", t.size(), 2));
    BlockOwnership ownership(network, grid, BlockDirectory::Owner::proposer);
    ownership.directory().insert(0, 0);
    if (t.rank() == 0) {
      EXPECT_TRUE(ownership.propose(1, 0, 55));
      EXPECT_FALSE(ownership.propose(1, 0, 55));
      EXPECT_FALSE(ownership.propose(0, 0, 55));
      EXPECT_TRUE(ownership.remove(0));
      EXPECT_FALSE(ownership.remove(0));
      EXPECT_TRUE(ownership.is_leaving(0));
    } else {
      EXPECT_THROW(ownership.propose(1, 0, 55), UsageError);
      EXPECT_THROW(ownership.remove(0), UsageError);
    }
    for (int step = 1; step <= network.time_to_live(); ++step) {
      network.step();
      const auto changes = ownership.update();
      ASSERT_EQ(changes.size(), step == network.time_to_live() ? 2U : 0U);
    }
    EXPECT_EQ(ownership.directory().owner(0), -1);
    EXPECT_EQ(ownership.directory().owner(1), 0);
    const auto placement = ownership.directory().placement(t.rank());
    EXPECT_EQ(placement.mine, t.rank() == 0 ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{});
    EXPECT_EQ(placement.owner(0), -1);
    EXPECT_EQ(placement.owner(1), 0);
  });
}

}  // namespace
