// Cutting cycles of three and more links against a walk round each of them.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/links/distribute_links.hpp"
#include "tests/links/oracles.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class CyclesTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, CyclesTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// Checks that after the cut every rank holds exactly the links of `cut`, numbered alike at both ends, and that pruning
/// gives the stars of `cut`.
void expect_cut(const LinkGraph& graph, Wiring& wiring, const std::vector<int>& owner, unsigned seed) {
  const auto [cut, cycles] = without_long_cycles(graph);
  const int rank = wiring.channels.transport.rank();
  PartOfGraph part = distribute_links(graph, owner, rank, wiring.neighbours, seed);
  const PartOfGraph wanted = distribute_links(cut, owner, rank, wiring.neighbours, seed);
  ASSERT_EQ(cut_long_cycles(part.links, part.ids(), part.distance2, wiring.channels), cycles);
  ASSERT_EQ(part.links.target, wanted.links.target);
  const auto expect_same = [](const auto& list, const auto& other) {
    ASSERT_EQ(list.size(), other.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      ASSERT_EQ(list[i].vertex, other[i].vertex);
      ASSERT_EQ(list[i].remote_vertex, other[i].remote_vertex);
      ASSERT_EQ(list[i].arc, other[i].arc);
      ASSERT_EQ(list[i].slot, other[i].slot);
      ASSERT_EQ(list[i].remote_id, other[i].remote_id);
    }
  };
  ASSERT_NO_FATAL_FAILURE(expect_same(part.links.out, wanted.links.out));
  ASSERT_NO_FATAL_FAILURE(expect_same(part.links.in, wanted.links.in));

  const Kept kept = closed_form(cut);
  prune_single_pass(part.links, part.ids(), wiring.channels);
  for (std::size_t v = 0; v < part.vertex.size(); ++v) {
    ASSERT_EQ(part.links.target[v] != links::kNone, kept[part.vertex[v]]);
  }
  wiring.channels.mailbox.step();
}

TEST_P(CyclesTest, random_links_lose_the_largest_of_each_long_cycle) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Wiring wiring(t);
    for (unsigned seed = 0; seed < 300; ++seed) {
      SCOPED_TRACE("graph " + std::to_string(seed));
      Random random(seed);
      const LinkGraph graph = any_links(random, 1 + below(random, 40));
      const auto owner = random_owners(random, graph.size(), t.size());
      ASSERT_NO_FATAL_FAILURE(expect_cut(graph, wiring, owner, random()));
    }
  });
}

TEST_P(CyclesTest, one_cycle_over_all_vertices_is_cut_once) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Wiring wiring(t);
    for (int n : {3, 4, 5, 64, 65}) {
      Random random(static_cast<unsigned>(n));
      LinkGraph graph = chain(n);
      graph.target.back() = 0;
      for (double& d2 : graph.distance2) d2 = below(random, 3);
      const auto owner = random_owners(random, n, t.size());
      ASSERT_NO_FATAL_FAILURE(expect_cut(graph, wiring, owner, random()));
    }
  });
}

TEST_P(CyclesTest, a_token_that_falls_into_another_cycle_dies) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Wiring wiring(t);
    // 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 3: an ascent at 1, then a cycle of smaller links.
    LinkGraph graph = make_graph({1, 2, 3, 4, 5, 3});
    graph.distance2 = {8, 9, 7, 1, 2, 3};
    std::vector<int> owner;
    for (int v = 0; v < graph.size(); ++v) owner.push_back(v % t.size());
    ASSERT_NO_FATAL_FAILURE(expect_cut(graph, wiring, owner, 1));
  });
}

TEST_P(CyclesTest, nearest_neighbours_have_none) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Wiring wiring(t);
    for (unsigned seed = 0; seed < 30; ++seed) {
      Random random(seed);
      const LinkGraph graph = nearest_neighbours(random, 1 + below(random, 60));
      ASSERT_EQ(without_long_cycles(graph).second, 0);
      const auto owner = random_owners(random, graph.size(), t.size());
      ASSERT_NO_FATAL_FAILURE(expect_cut(graph, wiring, owner, random()));
    }
  });
}

TEST_P(CyclesTest, bad_links_are_refused_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Wiring wiring(t);
    links::Links links;
    links.target.assign(3, links::kNone);
    if (t.rank() == t.size() - 1) links.target[1] = 3;
    const std::vector<std::int64_t> id{0, 1, 2};
    const links::Ids ids{reinterpret_cast<const std::byte*>(id.data())};
    EXPECT_THROW(cut_long_cycles(links, ids, {1, 1, 1}, wiring.channels), InputError);
    EXPECT_THROW(cut_long_cycles(links, ids, {1, 1}, wiring.channels), InputError);
    links.target[1] = 1;
    EXPECT_THROW(cut_long_cycles(links, ids, {1, 1, 1}, wiring.channels), InputError);
  });
}

}  // namespace
