// Contraction by both policies against walks over the whole graph, distributed to any number of ranks over every model.
#include "merganser/links/contract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "merganser/base/error.hpp"
#include "tests/links/distribute_links.hpp"
#include "tests/links/oracles.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using links::Policy;

class ContractTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ContractTest, testing::ValuesIn(setups({"", "chaos:5"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns the links that a policy keeps: trees keep all but the one of the lower id of each dual link.
Kept expected_kept(Policy policy, const LinkGraph& graph) {
  if (policy == Policy::stars) return published_sweeps(graph);
  Kept kept(static_cast<std::size_t>(graph.size()));
  for (int v = 0; v < graph.size(); ++v)
    kept[v] = graph.target[v] >= 0 && !(graph.dual(v) && graph.id[v] < graph.id[graph.target[v]]);
  return kept;
}

/// Returns the numbers of all vertices of a rank.
std::vector<std::uint32_t> all_vertices(const PartOfGraph& part) {
  std::vector<std::uint32_t> all(part.vertex.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

/// Returns the vertices of a rank that are given to contract(): all, in a random order; or those with a link, and few others.
std::vector<std::uint32_t> live_vertices(const PartOfGraph& part, unsigned seed) {
  Random random(seed);
  std::vector<std::uint32_t> live;
  for (const std::uint32_t v : all_vertices(part))
    if (seed % 2 == 0 || part.links.target[v] != links::kNone || below(random, 5) == 0) live.push_back(v);
  std::shuffle(live.begin(), live.end(), random);
  return live;
}

void expect_contraction(Policy policy, const LinkGraph& graph, const std::vector<int>& owner, unsigned seed,
                        const Wiring& wiring, const std::string& where) {
  const Kept kept = expected_kept(policy, graph);
  const int ranks = wiring.channels.transport.size();
  std::vector<PartOfGraph> parts;
  for (int r = 0; r < ranks; ++r) {
    std::vector<int> others;
    for (int i = 1; i < ranks; ++i) others.push_back((r + i) % ranks);
    parts.push_back(distribute_links(graph, owner, r, others, seed));
  }
  PartOfGraph& mine = parts[static_cast<std::size_t>(wiring.channels.transport.rank())];
  const auto live = live_vertices(mine, seed);
  const auto roots = links::contract(policy, mine.links, live, mine.ids(), wiring.channels);
  ASSERT_EQ(roots.size(), live.size()) << where;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    int expected = mine.vertex[live[i]];
    while (kept[expected]) expected = graph.target[expected];
    const auto& there = parts[static_cast<std::size_t>(roots[i].rank)].vertex;
    ASSERT_LT(roots[i].vertex, there.size()) << where;
    ASSERT_EQ(there[roots[i].vertex], expected) << where << ", vertex " << mine.vertex[live[i]];
  }
  for (std::size_t v = 0; v < mine.vertex.size(); ++v)
    ASSERT_EQ(mine.links.target[v] != links::kNone, kept[mine.vertex[v]]) << where << ", vertex " << mine.vertex[v];
  wiring.channels.mailbox.step();  // separates the rounds of the Stream
}

TEST_P(ContractTest, every_vertex_finds_the_root_of_its_tree_or_star) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Wiring wiring(t);
    const int graphs = GetParam().backend == "threads" ? 100 : 25;
    for (const Policy policy : {Policy::trees, Policy::stars}) {
      for (unsigned seed = 0; seed < static_cast<unsigned>(graphs); ++seed) {
        Random random(seed);
        const LinkGraph graph = random_graph(random, 1 + below(random, seed % 5 == 0 ? 200 : 20));
        const auto owner = random_owners(random, graph.size(), t.size());
        ASSERT_NO_FATAL_FAILURE(
            expect_contraction(policy, graph, owner, random(), wiring, "graph " + std::to_string(seed)));
      }
    }
  });
}

TEST_P(ContractTest, long_chains_over_ranks_take_rounds_by_their_logarithm) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Wiring wiring(t);
    const int n = 300;
    std::vector<int> owner(n);
    for (int v = 0; v < n; ++v) owner[v] = v % t.size();
    PartOfGraph part = distribute_links(chain(n), owner, t.rank(), wiring.neighbours, 1);
    links::ContractStatistics statistics;
    const auto roots =
        links::contract(Policy::trees, part.links, all_vertices(part), part.ids(), wiring.channels, &statistics);
    for (const auto& root : roots) EXPECT_EQ(root, roots.front());
    if (t.size() == 1) {
      EXPECT_EQ(statistics.rounds, 0);
    } else {
      EXPECT_LE(statistics.rounds, 2 + 9);  // 2^9 > 300
      EXPECT_GE(statistics.rounds, 8);
    }
  });
}

TEST_P(ContractTest, a_cycle_of_three_is_refused) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Wiring wiring(t);
    LinkGraph graph = make_graph({1, 2, 0});
    std::vector<int> owner{0, 1 % t.size(), 2 % t.size()};
    PartOfGraph part = distribute_links(graph, owner, t.rank(), wiring.neighbours, 0);
    if (t.size() == 1) {
      EXPECT_THROW((void)links::contract(Policy::trees, part.links, all_vertices(part), part.ids(), wiring.channels),
                   InputError);
    } else if (t.size() >= 3) {
      EXPECT_THROW((void)links::contract(Policy::trees, part.links, all_vertices(part), part.ids(), wiring.channels),
                   InputError);
    }
  });
}

TEST_P(ContractTest, links_of_vertices_that_are_not_live_are_refused) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Wiring wiring(t);
    for (const Policy policy : {Policy::trees, Policy::stars}) {
      const std::vector<int> owner(6, t.rank());  // each rank has a graph of its own, and refuses it
      const auto error = [&](std::vector<std::uint32_t> live) -> std::string {
        PartOfGraph part = distribute_links(chain(6), owner, t.rank(), wiring.neighbours, 1);
        try {
          (void)links::contract(policy, part.links, live, part.ids(), wiring.channels);
        } catch (const InputError& e) {
          return e.what();
        }
        return "accepted";
      };
      const PartOfGraph part = distribute_links(chain(6), owner, t.rank(), wiring.neighbours, 1);
      const auto linked = 6 - std::count(part.links.target.begin(), part.links.target.end(), links::kNone);
      EXPECT_NE(error({0, 1, 6}).find("live vertex 6; allowed: below 6"), std::string::npos);
      EXPECT_NE(error({0, 1, 2, 3, 4, 4}).find("live vertex 4 is listed twice; allowed: once"), std::string::npos);
      EXPECT_NE(error({}).find(std::to_string(linked) + " links, 0 of them of live vertices"), std::string::npos);
    }
  });
}

}  // namespace
