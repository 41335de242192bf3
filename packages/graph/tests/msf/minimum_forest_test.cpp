// Tests of minimum_spanning_forest(): every method and policy against plain Kruskal, over every communication model.
#include "merganser/msf/minimum_forest.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/msf/local_shapes.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using links::Policy;
using msf::ForestMethod;

class MinimumForestTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, MinimumForestTest, testing::ValuesIn(setups({""}, {"chaos:3"})),
                         setup_name<testing::TestParamInfo<Setup>>);

std::vector<msf::ForestOptions> all_options() {
  std::vector<msf::ForestOptions> all;
  for (const ForestMethod method : {ForestMethod::automatic, ForestMethod::kruskal, ForestMethod::boruvka,
                                    ForestMethod::filter, ForestMethod::local}) {
    for (const Policy policy : {Policy::trees, Policy::stars}) {
      for (const std::uint64_t base : {0, 9}) {
        msf::ForestOptions o;
        o.method = method;
        o.policy = policy;
        o.base_case = base;
        if (method != ForestMethod::kruskal || (policy == Policy::trees && base == 0)) all.push_back(o);
      }
    }
  }
  return all;
}

template <class Edge>
void expect_forest(const Shape& shape, const msf::ForestOptions& options, comm::Transport& t, std::uint64_t seed) {
  const auto graph = distribute_as<Edge>(shape, t, seed);
  msf::Report report;
  const msf::Forest forest = msf::minimum_spanning_forest(graph, t, options, report);
  EXPECT_EQ(forest.vertices, shape.vertices);
  auto expected = plain_kruskal(shape.edges, shape.vertices, options.sense);
  ASSERT_EQ(sorted(gathered(forest.edges, t)), sorted(std::move(expected)))
      << shape.name << ", method " << static_cast<int>(options.method) << ", policy "
      << static_cast<int>(options.policy) << ", base case " << options.base_case;
}

TEST_P(MinimumForestTest, is_that_of_plain_kruskal_for_every_method_and_policy) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    // Models and decorators differ in what carries, not in what is carried.
    const std::uint64_t every = GetParam().backend != "threads" ? 5 : GetParam().decorators.empty() ? 1 : 7;
    std::uint64_t seed = 0;
    for (const Shape& shape : shapes()) {
      for (const auto& options : all_options()) {
        if (++seed % every != 0) continue;
        ASSERT_NO_FATAL_FAILURE(expect_forest<graphs::Edge24>(shape, options, t, seed));
      }
    }
  });
}

TEST_P(MinimumForestTest, is_found_where_edges_are_filtered_and_contracted_in_many_rounds) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (auto options : all_options()) {
      const bool plain = GetParam().backend == "threads" && GetParam().decorators.empty();
      if (!plain && (options.policy == Policy::stars) == (options.base_case == 0)) continue;
      options.sense = options.base_case == 0 ? msf::Sense::minimum : msf::Sense::maximum;
      options.threads = 2;
      ASSERT_NO_FATAL_FAILURE(expect_forest<graphs::Edge12>(random_shape(1, 300, 9000, 1U << 31), options, t, 1));
      ASSERT_NO_FATAL_FAILURE(expect_forest<graphs::Edge16>(skewed_shape(2, 9, 8000, 3), options, t, 2));
      ASSERT_NO_FATAL_FAILURE(expect_forest<graphs::Edge12>(grid_shape(40, 1000), options, t, 3));
    }
  });
}

/// Computes the forest of a shape by Kruskal's method over ranks, and checks it, and that ranks hold ascending shares of it.
template <class Edge>
void expect_kruskal(const Shape& shape, comm::Transport& t, msf::Sense sense) {
  const auto graph = distribute_as<Edge>(shape, t, 5);
  msf::ForestOptions options;
  options.method = ForestMethod::kruskal;
  options.sense = sense;
  msf::Report report;
  const msf::Forest forest = msf::minimum_spanning_forest(graph, t, options, report);
  const auto expected = sorted(plain_kruskal(shape.edges, shape.vertices, sense));
  ASSERT_EQ(sorted(gathered(forest.edges, t)), expected) << shape.name;
  const bool ascending = std::is_sorted(forest.edges.begin(), forest.edges.end());
  EXPECT_TRUE(ascending || sense == msf::Sense::maximum) << shape.name;
}

TEST_P(MinimumForestTest, of_kruskal_is_found_by_pivots_and_splitters_of_all_ranks) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (!GetParam().decorators.empty()) return;
    for (const auto sense : {msf::Sense::minimum, msf::Sense::maximum}) {
      // Many weights, three weights, one weight; a giant tree, trees of no giant, and one edge in 40,000 copies.
      ASSERT_NO_FATAL_FAILURE(expect_kruskal<graphs::Edge12>(random_shape(1, 900, 40'000, 1U << 31), t, sense));
      ASSERT_NO_FATAL_FAILURE(expect_kruskal<graphs::Edge16>(random_shape(2, 9000, 40'000, 3), t, sense));
      ASSERT_NO_FATAL_FAILURE(expect_kruskal<graphs::Edge12>(skewed_shape(3, 12, 40'000, 1), t, sense));
      ASSERT_NO_FATAL_FAILURE(expect_kruskal<graphs::Edge24>(complete_shape(200, 5), t, sense));
      // Many light edges, most of which lie within one tree.
      ASSERT_NO_FATAL_FAILURE(expect_kruskal<graphs::Edge12>(random_shape(4, 20'000, 150'000, 1U << 31), t, sense));
      ASSERT_NO_FATAL_FAILURE(expect_kruskal<graphs::Edge16>(skewed_shape(5, 15, 200'000, 3), t, sense));
      Shape copies{"copies", 70, {}};
      for (int i = 0; i < 40'000; ++i) copies.add(3, 66, 7);
      ASSERT_NO_FATAL_FAILURE(expect_kruskal<graphs::Edge12>(copies, t, sense));
      Shape cliques{"cliques", 100 * 30, {}};  // no tree has an eighth of the vertices until heavy edges join them
      for (std::uint64_t c = 0; c < 100; ++c) {
        for (std::uint64_t a = 0; a < 30; ++a)
          for (std::uint64_t b = 0; b < a; ++b) cliques.add(30 * c + a, 30 * c + b, 1 + (a * b + c) % 50);
        cliques.add(30 * c, (30 * c + 30) % 3000, 1000 + c);
      }
      ASSERT_NO_FATAL_FAILURE(expect_kruskal<graphs::Edge16>(cliques, t, sense));
    }
  });
}

TEST_P(MinimumForestTest, of_kruskal_is_found_where_ranks_contract_their_interiors) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto sense : {msf::Sense::minimum, msf::Sense::maximum}) {
      const Shape shape = local_shape(80, sense == msf::Sense::minimum ? 1U << 31 : 3, 2);
      const auto graph = in_blocks<graphs::Edge12>(shape, t);
      msf::Report report;
      const msf::Forest forest = msf::minimum_spanning_forest(graph, t, {.sense = sense}, report);
      ASSERT_TRUE(sorted(gathered(forest.edges, t)) == sorted(plain_kruskal(shape.edges, shape.vertices, sense)));
    }
  });
}

TEST_P(MinimumForestTest, the_greatest_forest_is_found_too) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (auto options : all_options()) {
      options.sense = msf::Sense::maximum;
      ASSERT_NO_FATAL_FAILURE(expect_forest<graphs::Edge24>(random_shape(3, 60, 200, 3), options, t, 1));
    }
  });
}

TEST_P(MinimumForestTest, an_end_that_is_no_vertex_is_refused_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const ForestMethod method : {ForestMethod::automatic, ForestMethod::filter}) {
      graphs::EdgeList graph;
      graph.vertices = 5;
      std::vector<graphs::Edge12> mine;
      if (t.rank() == t.size() - 1) mine.push_back({2, 5, 1});
      graph.edges = mine;
      msf::ForestOptions options;
      options.method = method;
      msf::Report report;
      EXPECT_THROW((void)msf::minimum_spanning_forest(graph, t, options, report), InputError);
    }
  });
}

TEST_P(MinimumForestTest, totals_do_not_depend_on_who_holds_the_edges) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = random_shape(5, 80, 400, ~0ULL);
    msf::Report report;
    const auto graph = distribute(shape, t, 9);
    const auto oracle = msf::totals(oracle_forest(graph, t), t);
    msf::ForestOptions options;
    options.method = ForestMethod::boruvka;
    options.base_case = 0;
    const auto found = msf::totals(msf::minimum_spanning_forest(graph, t, options, report), t);
    EXPECT_EQ(found.digest, oracle.digest);
    EXPECT_EQ(found.weight, oracle.weight);
    EXPECT_EQ(found.edges, oracle.edges);
    EXPECT_EQ(found.components, oracle.components);
  });
}

TEST_P(MinimumForestTest, ranks_that_are_asked_different_things_are_told_so) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (t.size() == 1) return;
    const bool other = t.rank() == t.size() - 1;
    msf::Report report;
    const auto expect_refusal = [&](const msf::ForestOptions& options, std::uint64_t vertices) {
      graphs::EdgeList graph;
      graph.vertices = vertices;
      EXPECT_THROW((void)msf::minimum_spanning_forest(graph, t, options, report), UsageError);
    };
    expect_refusal({.method = other ? ForestMethod::boruvka : ForestMethod::kruskal}, 5);
    expect_refusal({.policy = other ? links::Policy::stars : links::Policy::trees}, 5);
    expect_refusal({.base_case = other ? 7U : 8U}, 5);
    expect_refusal({.sense = other ? msf::Sense::maximum : msf::Sense::minimum}, 5);
    expect_refusal({}, other ? 6 : 5);
    expect_refusal({.method = other ? static_cast<ForestMethod>(77) : ForestMethod::kruskal}, 5);
    expect_refusal({.threads = other ? 0 : 1}, 5);
    t.barrier();
  });
}

}  // namespace
