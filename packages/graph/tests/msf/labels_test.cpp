// Tests of component labels against union-find over all edges.
#include "merganser/msf/labels.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class LabelsTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, LabelsTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(LabelsTest, are_the_least_vertex_of_each_tree) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const Shape& shape : shapes()) {
      const auto tree = plain_kruskal(shape.edges, shape.vertices);
      std::vector<std::uint64_t> expected(shape.vertices);
      std::iota(expected.begin(), expected.end(), 0);
      for (bool again = true; again;) {
        again = false;
        for (const auto& e : tree) {
          const auto least = std::min(expected[e.low], expected[e.high]);
          again = again || expected[e.low] != expected[e.high];
          expected[e.low] = expected[e.high] = least;
        }
      }
      msf::Forest forest{shape.vertices, graphs::WeightKind::unsigned_integer, {}};
      for (std::size_t i = 0; i < tree.size(); ++i)  // dealt in turn
        if (static_cast<int>(i) % t.size() == t.rank()) forest.edges.push_back(tree[i]);
      const auto mine = msf::component_labels(forest, t);
      const auto range = graphs::Ranges::even(shape.vertices, t.size());
      ASSERT_EQ(mine.size(), range.size(t.rank())) << shape.name;
      const auto first = range.first[static_cast<std::size_t>(t.rank())];
      for (std::size_t v = 0; v < mine.size(); ++v)
        ASSERT_EQ(mine[v], expected[first + v]) << shape.name << ' ' << first + v;
    }
  });
}

TEST_P(LabelsTest, an_edge_of_one_rank_that_ends_at_no_vertex_is_refused_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const std::uint64_t end : {std::uint64_t{4}, std::uint64_t{5}, std::uint64_t{1000}}) {
      msf::Forest forest{4, graphs::WeightKind::unsigned_integer, {{0, 1, 1}}};
      if (t.rank() > 0) forest.edges.clear();
      if (t.rank() == t.size() - 1) forest.edges = {{0, end, 1}};
      EXPECT_EQ(refusal<InputError>([&] { (void)msf::component_labels(forest, t); }),
                "edge (0, " + std::to_string(end) +
                    ") of a forest of 4 vertices; allowed: ends below the number of vertices");
    }
  });
}

}  // namespace
