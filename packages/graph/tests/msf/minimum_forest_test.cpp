// Tests of minimum_spanning_forest(): every method and policy against plain Kruskal, over every communication model.
#include "merganser/msf/minimum_forest.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
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
