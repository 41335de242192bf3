// Both prunings against two oracles, on graphs distributed to any number of ranks over every model.
#include <gtest/gtest.h>

#include <functional>

#include "merganser/base/error.hpp"
#include "tests/links/distribute_links.hpp"
#include "tests/links/oracles.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using links::Stars;

/// Checks that links and stars of one rank are the part of `kept` that belongs to it.
void expect_kept(const LinkGraph& graph, const Kept& kept, const PartOfGraph& part, const Stars& stars,
                 const std::string& where) {
  std::int64_t count = 0;
  for (std::size_t v = 0; v < part.vertex.size(); ++v) {
    const int source = part.vertex[v];
    count += kept[source];
    ASSERT_EQ(part.links.target[v] != links::kNone, kept[source]) << where << ", vertex " << source;
    if (!kept[source] || (part.links.target[v] & links::kAway) != 0) continue;
    ASSERT_EQ(part.vertex[part.links.target[v]], graph.target[source]) << where << ", vertex " << source;
  }
  ASSERT_EQ(stars.kept, count) << where;
  ASSERT_EQ(stars.out_kept.size(), part.out_source.size()) << where;
  ASSERT_EQ(stars.in_kept.size(), part.in_source.size()) << where;
  for (std::size_t k = 0; k < part.out_source.size(); ++k) {
    ASSERT_EQ(stars.out_kept[k] != 0, kept[part.out_source[k]]) << where << ", out of " << part.out_source[k];
  }
  for (std::size_t i = 0; i < part.in_source.size(); ++i) {
    ASSERT_EQ(stars.in_kept[i] != 0, kept[part.in_source[i]]) << where << ", in from " << part.in_source[i];
  }
}

/// The two prunings of one rank, made once and used for many graphs.
struct Pruners {
  explicit Pruners(comm::Transport& transport, const links::IterativeOptions& options = {})
      : wiring(transport), iterative(options) {}

  void expect_stars(const LinkGraph& graph, const std::vector<int>& owner, unsigned seed, const std::string& where) {
    const Kept kept = published_sweeps(graph);
    ASSERT_EQ(kept, closed_form(graph)) << where;
    ASSERT_TRUE(are_stars(graph, kept)) << where;
    const int rank = wiring.channels.transport.rank();
    PartOfGraph part = distribute_links(graph, owner, rank, wiring.neighbours, seed);
    const links::Links before = part.links;
    const Stars& single = single_pass.prune(part.links, part.ids(), wiring.channels);
    expect_kept(graph, kept, part, single, where + ", single pass");
    if (testing::Test::HasFatalFailure()) return;
    part.links = before;
    const Stars sweeps = iterative.prune(part.links, part.ids(), wiring.channels);
    expect_kept(graph, kept, part, sweeps, where + ", iterative");
    wiring.channels.mailbox.step();  // separates the rounds of the Stream
  }

  Wiring wiring;
  links::SinglePass single_pass;
  links::IterativePruner iterative;
};

class PruneTest : public testing::TestWithParam<Setup> {
 protected:
  static void on_random_graphs(const test::Setup& setup, int count, int largest, unsigned seed,
                               const links::IterativeOptions& options = {}) {
    on_ranks(setup, [&](comm::Transport& t) {
      Pruners pruners(t, options);
      for (int i = 0; i < count; ++i) {
        Random random(seed + static_cast<unsigned>(i));
        const LinkGraph graph = random_graph(random, 1 + below(random, largest));
        const auto owner = random_owners(random, graph.size(), t.size());
        ASSERT_NO_FATAL_FAILURE(pruners.expect_stars(graph, owner, random(), "graph " + std::to_string(seed + i)));
      }
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Models, PruneTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST(Oracles, give_the_stars_of_the_papers_first_figure) {
  const Kept kept = published_sweeps(figure_one());
  //                        A     B     C     D      E     F      G     H      I      J     K     L
  EXPECT_EQ(kept, (Kept{true, true, true, false, true, false, true, false, false, true, true, true}));
}

TEST(Oracles, agree_on_thousands_of_graphs) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const LinkGraph graph = random_graph(random, 1 + below(random, 60));
    const Kept kept = published_sweeps(graph);
    ASSERT_EQ(kept, closed_form(graph)) << seed;
    ASSERT_TRUE(are_stars(graph, kept)) << seed;
  }
}

TEST_P(PruneTest, special_graphs_become_the_stars_of_the_oracles) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Pruners pruners(t);
    const std::vector<LinkGraph> graphs{make_graph({}),
                                        make_graph({-1}),
                                        make_graph({-1, -1, -1}),
                                        figure_one(),
                                        chain(2),
                                        chain(3),
                                        chain(50),
                                        chain(51),
                                        star(2, false),
                                        star(30, false),
                                        star(2, true),
                                        star(30, true),
                                        dual_with_leaves(0, 0),
                                        dual_with_leaves(3, 0),
                                        dual_with_leaves(0, 1),
                                        dual_with_leaves(2, 5)};
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      for (unsigned deal = 0; deal < 10; ++deal) {
        Random random(deal);
        LinkGraph graph = graphs[i];
        if (deal > 0) shuffle_ids(graph, random);
        const auto owner = random_owners(random, graph.size(), t.size());
        const std::string where = "graph " + std::to_string(i) + ", deal " + std::to_string(deal);
        ASSERT_NO_FATAL_FAILURE(pruners.expect_stars(graph, owner, random(), where));
      }
    }
  });
}

TEST_P(PruneTest, small_random_graphs_become_the_stars_of_the_oracles) {
  on_random_graphs(GetParam(), GetParam().backend == "threads" ? 2000 : 300, 20, 1000);
}

TEST_P(PruneTest, larger_random_graphs_become_the_stars_of_the_oracles) { on_random_graphs(GetParam(), 40, 300, 5000); }

TEST_P(PruneTest, ranks_without_links_may_stay_out) {
  on_random_graphs(GetParam(), 40, 20, 8000, {.sub_communicator = true, .epoch = comm::Epoch::per_operation});
}

TEST_P(PruneTest, epochs_may_last_a_phase) {
  on_random_graphs(GetParam(), 40, 30, 9000, {.sub_communicator = false, .epoch = comm::Epoch::per_phase});
}

TEST_P(PruneTest, the_free_functions_do_the_same) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Wiring wiring(t);
    Random random(5);
    const LinkGraph graph = random_graph(random, 40);
    const Kept kept = published_sweeps(graph);
    const auto owner = random_owners(random, graph.size(), t.size());
    PartOfGraph part = distribute_links(graph, owner, t.rank(), wiring.neighbours, 1);
    const links::Links before = part.links;
    Stars stars = prune_single_pass(part.links, part.ids(), wiring.channels);
    ASSERT_NO_FATAL_FAILURE(expect_kept(graph, kept, part, stars, "single pass"));
    part.links = before;
    stars = prune_iterative(part.links, part.ids(), wiring.channels);
    ASSERT_NO_FATAL_FAILURE(expect_kept(graph, kept, part, stars, "iterative"));
  });
}

TEST_P(PruneTest, a_chain_over_all_ranks_takes_as_many_waves_as_links) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (t.size() < 2) return;
    Wiring wiring(t);
    const LinkGraph graph = chain(t.size());
    std::vector<int> owner(graph.target.size());
    std::iota(owner.begin(), owner.end(), 0);
    PartOfGraph part = distribute_links(graph, owner, t.rank(), wiring.neighbours, 1);
    links::PruneStatistics statistics;
    prune_single_pass(part.links, part.ids(), wiring.channels, &statistics);
    EXPECT_EQ(statistics.rounds, t.rank());
  });
}

class ChaosTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ChaosTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(ChaosTest, any_order_and_delay_gives_the_same_stars) {
  const int seeds = GetParam().backend == "threads" ? 60 : 5;
  for (int seed = 1; seed <= seeds; ++seed) {
    auto setup = GetParam();
    setup.decorators = "chaos:" + std::to_string(seed);
    on_ranks(setup, [&](comm::Transport& t) {
      Pruners pruners(t);
      for (int i = 0; i < 4; ++i) {
        Random random(static_cast<unsigned>(100 * seed + i));
        const LinkGraph graph = random_graph(random, 1 + below(random, 40));
        const auto owner = random_owners(random, graph.size(), t.size());
        ASSERT_NO_FATAL_FAILURE(pruners.expect_stars(graph, owner, random(), setup.decorators));
      }
    });
    if (HasFailure()) return;
  }
}

TEST_P(ChaosTest, phases_are_kept) {
  auto setup = GetParam();
  setup.decorators = "checked";
  on_ranks(setup, [&](comm::Transport& t) {
    Pruners pruners(t);
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const LinkGraph graph = random_graph(random, 1 + below(random, 40));
      const auto owner = random_owners(random, graph.size(), t.size());
      ASSERT_NO_FATAL_FAILURE(pruners.expect_stars(graph, owner, random(), "graph " + std::to_string(seed)));
    }
  });
}

}  // namespace
