// Tests of forests on more ranks than exchange messages directly: the same bits as with direct messages, and far fewer messages.
#include <gtest/gtest.h>

#include <algorithm>

#include "merganser/msf/labels.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "merganser/msf/partition.hpp"
#include "src/msf/boruvka.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using msf::ForestMethod;

class ManyRanksTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Threads, ManyRanksTest,
                         testing::Values(Setup{"threads", 33, ""}, Setup{"threads", 40, ""}, Setup{"threads", 64, ""},
                                         Setup{"threads", 33, "chaos:5"}, Setup{"threads", 33, "checked"}),
                         setup_name<testing::TestParamInfo<Setup>>);

struct Contracted {
  Edges forest;
  std::vector<std::uint64_t> parent;
  comm::Counters counts;
};

Contracted contracted(const Shape& shape, comm::Transport& t, int most_direct, std::uint64_t base_case) {
  const auto graph = distribute(shape, t, 4);
  Contracted done;
  msf::Peers peers(t, most_direct);
  EXPECT_EQ(peers.is_direct(), most_direct >= t.size());
  msf::Components components(msf::balanced_ranges(graph, t), peers);
  msf::Report report;
  msf::Boruvka<graphs::Edge24> boruvka(components, peers, {links::Policy::trees, base_case}, report);
  const auto before = t.counters();
  boruvka.run(std::get<Edges>(graph.edges), done.forest);
  done.counts = t.counters() - before;
  components.flatten();
  done.parent = components.parent();
  return done;
}

TEST_P(ManyRanksTest, contraction_has_the_bits_of_the_direct_way) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const Shape& shape : {random_shape(1, 900, 3000, 5), grid_shape(25, 1000), skewed_shape(2, 9, 4000, 3)}) {
      for (const std::uint64_t base_case : {0, 20}) {
        const auto direct = contracted(shape, t, t.size(), base_case);
        const auto routed = contracted(shape, t, msf::Peers::kMaxDirectRanks, base_case);
        ASSERT_EQ(routed.forest, direct.forest) << shape.name;  // in the same order, on the same rank
        ASSERT_EQ(routed.parent, direct.parent) << shape.name;
      }
    }
  });
}

TEST_P(ManyRanksTest, contraction_sends_a_few_messages_a_wave_instead_of_one_to_each_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = random_shape(7, 4000, 40000, ~0ULL);
    const auto direct = contracted(shape, t, t.size(), 0);
    const auto routed = contracted(shape, t, msf::Peers::kMaxDirectRanks, 0);
    EXPECT_EQ(routed.counts.waves, 2 * direct.counts.waves);
    EXPECT_LE(routed.counts.messages, routed.counts.waves * (comm::RankGrid(t.size()).columns() - 1));
    std::int64_t sums[] = {direct.counts.messages, routed.counts.messages};
    t.all_reduce(sums, comm::Op::sum);
    EXPECT_LT(3 * sums[1], 2 * sums[0]) << "direct: " << sums[0];
  });
}

TEST_P(ManyRanksTest, every_method_finds_the_forest_of_plain_kruskal) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto expect_forest = [&]<class Edge>(const Shape& shape, const msf::ForestOptions& options, Edge) {
      msf::Report report;
      const auto forest = msf::minimum_spanning_forest(distribute_as<Edge>(shape, t, 3), t, options, report);
      ASSERT_EQ(sorted(gathered(forest.edges, t)), sorted(plain_kruskal(shape.edges, shape.vertices, options.sense)))
          << shape.name << ", method " << static_cast<int>(options.method);
    };
    for (const auto method : {ForestMethod::automatic, ForestMethod::kruskal, ForestMethod::boruvka,
                              ForestMethod::filter, ForestMethod::local}) {
      for (const std::uint64_t base_case : {0, 9}) {
        msf::ForestOptions options;
        options.method = method;
        options.base_case = base_case;
        options.policy = base_case == 0 ? links::Policy::trees : links::Policy::stars;  // stars go directly
        options.sense = base_case == 0 ? msf::Sense::minimum : msf::Sense::maximum;
        expect_forest(random_shape(3, 300, 9000, 1U << 31), options, graphs::Edge12());
        expect_forest(path_shape(500), options, graphs::Edge16());
        expect_forest(triangles_shape(30, true), options, graphs::Edge24());
        expect_forest({"nothing", 0, {}}, options, graphs::Edge24());
      }
    }
  });
}

TEST_P(ManyRanksTest, edges_come_home_in_the_order_of_their_senders_in_bundles_or_directly) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto ranks = static_cast<std::size_t>(t.size());
    // Few edges travel in bundles; so many that each rank has pages for each other one do not.
    for (const std::size_t edges : {std::size_t{500}, std::size_t{33 * 33 * 90}}) {
      const Shape shape = random_shape(2, 400, edges, 1000);
      const auto mine = distribute(shape, t);
      const auto ranges = graphs::Ranges::even(shape.vertices, t.size());
      std::vector<Edges> to(ranks);
      for (const auto& e : std::get<Edges>(mine.edges)) {
        if (e.low == e.high) continue;
        to[static_cast<std::size_t>(ranges.owner(e.low))].push_back(e);
        if (ranges.owner(e.low) != ranges.owner(e.high))
          to[static_cast<std::size_t>(ranges.owner(e.high))].push_back(e);
      }
      const auto before = t.counters();
      const auto home = msf::distribute_edges(mine, ranges, t);
      const auto waves = (t.counters() - before).waves;
      EXPECT_EQ(waves, edges == 500 || ranks > 33 ? 2 : 0);
      ASSERT_EQ(std::get<Edges>(home.edges), comm::all_to_all(t, to).flat());
    }
  });
}

TEST_P(ManyRanksTest, ranges_of_far_ids_begin_where_the_degrees_reach_their_share) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = random_shape(6, std::uint64_t{1} << 40, 700, 5);
    std::vector<std::uint64_t> ends;
    for (const auto& e : shape.edges) ends.insert(ends.end(), {e.low, e.high});
    std::sort(ends.begin(), ends.end());
    std::vector<std::uint64_t> expected = {0};
    const auto ranks = static_cast<std::size_t>(t.size());
    for (std::size_t r = 1; r < ranks; ++r) expected.push_back(ends[(ends.size() * r + ranks - 1) / ranks - 1] + 1);
    expected.push_back(shape.vertices);
    EXPECT_EQ(msf::balanced_ranges(distribute(shape, t), t).first, expected);
  });
}

TEST_P(ManyRanksTest, labels_are_the_least_vertices_of_trees) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = triangles_shape(70, true);
    const auto labels = msf::component_labels(
        {shape.vertices, graphs::WeightKind::unsigned_integer, std::get<Edges>(distribute(shape, t).edges)}, t);
    const auto ranges = graphs::Ranges::even(shape.vertices, t.size());
    for (std::size_t i = 0; i < labels.size(); ++i)
      ASSERT_EQ(labels[i], (ranges.first[static_cast<std::size_t>(t.rank())] + i) % 70);
  });
}

}  // namespace
