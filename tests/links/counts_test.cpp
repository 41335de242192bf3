// Communication counters of both prunings against the numbers that follow from the algorithms.
#include <gtest/gtest.h>

#include "tests/links/distribute_links.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using links::PruneStatistics;

class CountsTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, CountsTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(CountsTest, the_single_pass_sends_one_record_per_cross_rank_link_and_nothing_else) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Wiring wiring(t);
    links::SinglePass pruner;
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const LinkGraph graph = random_graph(random, 50);
      const auto owner = random_owners(random, graph.size(), t.size());
      PartOfGraph part = distribute_links(graph, owner, t.rank(), wiring.neighbours, seed);
      const auto crossing = static_cast<std::int64_t>(part.links.out.size());
      const comm::Counters before = t.counters();
      PruneStatistics statistics;
      pruner.prune(part.links, part.ids(), wiring.channels, &statistics);
      const comm::Counters done = t.counters() - before;
      EXPECT_EQ(done.records, crossing);
      EXPECT_LE(done.puts, crossing);
      EXPECT_EQ(done.gets, 0);
      EXPECT_EQ(done.syncs, 0);
      EXPECT_EQ(done.collectives, 0);
      EXPECT_EQ(done.waves, 0);
      EXPECT_EQ(statistics.words_written, crossing);
      EXPECT_EQ(statistics.words_read, 0);
      EXPECT_EQ(statistics.syncs, 0);
      EXPECT_EQ(statistics.reductions, 0);
      wiring.channels.mailbox.step();
    }
  });
}

/// Returns the sums of Algorithm 1's counters over all ranks; rounds and numbers derived from them are the same on
/// each.
PruneStatistics count_sweeps(comm::Transport& t, const LinkGraph& graph, const std::vector<int>& owner) {
  Wiring wiring(t);
  PartOfGraph part = distribute_links(graph, owner, t.rank(), wiring.neighbours, 1);
  PruneStatistics statistics;
  const comm::Counters before = t.counters();
  links::IterativePruner pruner;
  pruner.prune(part.links, part.ids(), wiring.channels, &statistics);
  EXPECT_EQ((t.counters() - before).puts, statistics.words_written);
  EXPECT_EQ((t.counters() - before).gets, statistics.words_read);
  statistics.words_written = t.all_reduce(statistics.words_written, comm::Op::sum);
  statistics.words_read = t.all_reduce(statistics.words_read, comm::Op::sum);
  return statistics;
}

std::int64_t published_syncs(const comm::Transport& t, std::int64_t rounds) {
  return rounds * (t.capabilities().one_sided ? 3 : 4) + 2;
}

TEST_P(CountsTest, algorithm_one_on_a_chain_counts_as_by_hand) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (t.size() < 2) return;
    // 0 -> 1 -> 2 with both links between ranks. Round 1: available 2, leaf 2, not available 1 (vertex 1 is no leaf),
    // merged 1 (0 into 1): 6 puts, 2 gets. Round 2 finds no link left. Then the check of the merged leaf: 1 get.
    const PruneStatistics counted = count_sweeps(t, chain(3), {0, 1, 0});
    EXPECT_EQ(counted.rounds, 2);
    EXPECT_EQ(counted.words_written, 6);
    EXPECT_EQ(counted.words_read, 3);
    EXPECT_EQ(counted.reductions, 2);
    EXPECT_EQ(counted.syncs, published_syncs(t, 2));
  });
}

TEST_P(CountsTest, algorithm_one_on_an_isolated_dual_link_counts_as_by_hand) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (t.size() < 2) return;
    // Round 1: available 2, leaf 2, not available 2; 2 gets; nothing merges. Then each asks twice for the other.
    const PruneStatistics counted = count_sweeps(t, dual_with_leaves(0, 0), {0, 1});
    EXPECT_EQ(counted.rounds, 1);
    EXPECT_EQ(counted.words_written, 6);
    EXPECT_EQ(counted.words_read, 6);
    EXPECT_EQ(counted.reductions, 1);
    EXPECT_EQ(counted.syncs, published_syncs(t, 1));
  });
}

TEST_P(CountsTest, algorithm_one_on_a_dual_link_with_a_leaf_counts_as_by_hand) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (t.size() < 2) return;
    // 0 <-> 1, 2 -> 0, vertex 0 on the other rank. Round 1: available 3, leaf 3, not available 2; 3 gets; 0 is not
    // available, so nothing merges. Then 2 makes 0 available: 1 put; 1 asks for 0, 0 asks for nothing: 1 get.
    const PruneStatistics counted = count_sweeps(t, dual_with_leaves(1, 0), {1, 0, 0});
    EXPECT_EQ(counted.rounds, 1);
    EXPECT_EQ(counted.words_written, 9);
    EXPECT_EQ(counted.words_read, 4);
    EXPECT_EQ(counted.syncs, published_syncs(t, 1));
  });
}

TEST_P(CountsTest, ranks_without_links_make_no_synchronisation_where_they_may_stay_out) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (t.size() < 3 || !t.capabilities().sub_transports) return;
    Wiring wiring(t);
    PartOfGraph part = distribute_links(chain(4), {0, 1, 0, 1}, t.rank(), wiring.neighbours, 1);
    PruneStatistics statistics;
    links::IterativePruner pruner({.sub_communicator = true, .epoch = comm::Epoch::per_operation});
    pruner.prune(part.links, part.ids(), wiring.channels, &statistics);
    EXPECT_EQ(statistics.rounds > 0, t.rank() < 2);
    EXPECT_EQ(statistics.syncs > 0, t.rank() < 2);
  });
}

}  // namespace
