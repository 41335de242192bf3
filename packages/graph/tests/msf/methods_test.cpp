// Tests of how the methods for forests of graphs get there: Boruvka's algorithm in stages and its base case, what ranks contract on
// their own, which method is chosen, what is reported and what is refused.
#include <gtest/gtest.h>

#include <set>

#include "merganser/base/error.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "merganser/msf/partition.hpp"
#include "src/msf/boruvka.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/msf/thread_setups.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using links::Policy;
using msf::ForestMethod;

class MethodsTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, MethodsTest, testing::ValuesIn(thread_setups("chaos:7")),
                         setup_name<testing::TestParamInfo<Setup>>);

std::int64_t fact_of(const msf::Report& report, const std::string& name) {
  for (const auto& [known, value] : report.facts())
    if (known == name) return value;
  return -1;
}

/// Boruvka's algorithm with all that it needs.
struct Rounds {
  Rounds(comm::Transport& t, std::uint64_t vertices, Policy policy, std::uint64_t base_case)
      : peers(t, t.size()),
        components(graphs::Ranges::even(vertices, t.size()), peers),
        boruvka(components, peers, {policy, base_case}, report) {}
  msf::Report report;
  msf::Peers peers;
  msf::Components components;
  msf::Boruvka<graphs::Edge24> boruvka;
  Edges forest;
};

Edges dealt(const Edges& all, const Shape& shape, comm::Transport& t) {
  return std::get<Edges>(distribute({"part", shape.vertices, all}, t, 6).edges);
}

/// Three stages of edges of rising weights, each after a filter: every stage must find the forest so far.
TEST_P(MethodsTest, boruvka_goes_on_from_components_that_are_joined_already) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto& shape : {random_shape(1, 150, 500, 4), grid_shape(11, 1'000), triangles_shape(30, true)}) {
      for (const auto policy : {Policy::trees, Policy::stars}) {
        for (const std::uint64_t base_case : {0, 25, 1'000}) {
          Rounds rounds(t, shape.vertices, policy, base_case);
          const Edges all = sorted(shape.edges);
          for (std::size_t stage = 1; stage <= 3; ++stage) {
            const Edges upto(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() * stage / 3));
            const Edges expected = plain_kruskal(upto, shape.vertices);
            msf::UnionFind before(shape.vertices);
            for (const auto& e : gathered(rounds.forest, t))
              before.join(static_cast<std::uint32_t>(e.low), static_cast<std::uint32_t>(e.high));
            const Edges mine = dealt(upto, shape, t);
            const Edges between = rounds.boruvka.between_components(mine);
            Edges kept;
            for (const auto& e : mine)
              if (before.find(static_cast<std::uint32_t>(e.low)) != before.find(static_cast<std::uint32_t>(e.high)))
                kept.push_back(e);
            ASSERT_EQ(between, kept) << shape.name << ", stage " << stage;
            rounds.boruvka.run(stage == 2 ? between : mine, rounds.forest);
            ASSERT_EQ(sorted(gathered(rounds.forest, t)), sorted(expected)) << shape.name << ", stage " << stage;
          }
          rounds.components.flatten();
          msf::UnionFind sets(shape.vertices);
          for (const auto& e : gathered(rounds.forest, t))
            sets.join(static_cast<std::uint32_t>(e.low), static_cast<std::uint32_t>(e.high));
          const auto roots = comm::all_gather(t, rounds.components.parent()).flat();
          for (std::uint32_t v = 0; v < shape.vertices; ++v) {
            ASSERT_EQ(sets.find(v), sets.find(static_cast<std::uint32_t>(roots[v])));
            ASSERT_EQ(roots[v], roots[sets.find(v)]) << shape.name;
          }
        }
      }
    }
  });
}

TEST_P(MethodsTest, edges_lie_with_the_owners_of_components_or_after_the_base_case_on_the_first_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto ranges = graphs::Ranges::even(84, t.size());  // even lengths for 1, 2, 3 and 7 ranks; 4 divides 84 too
    const auto length = static_cast<std::uint64_t>(84 / t.size());
    Shape pairs{"pairs", 84, {}};
    for (std::uint64_t r = 0; r < 84; r += length)
      for (std::uint64_t v = 0; v + 1 < length; v += 2) pairs.add(r + v, r + v + 1, 1 + v % 3);
    for (const auto policy : {Policy::trees, Policy::stars}) {
      Rounds rounds(t, 84, policy, 0);
      rounds.boruvka.run(dealt(pairs.edges, pairs, t), rounds.forest);
      Edges own;
      for (const auto& e : pairs.edges)
        if (ranges.owner(e.low) == t.rank()) own.push_back(e);
      EXPECT_EQ(sorted(rounds.forest), sorted(own));
      EXPECT_EQ(fact_of(rounds.report, "rounds"), 1);
      EXPECT_EQ(fact_of(rounds.report, "base case components"), -1);
    }
    const auto components = 2 * pairs.edges.size();
    for (const std::uint64_t base_case : {components - 1, components, components + 1}) {
      Rounds rounds(t, 84, Policy::trees, base_case);
      rounds.boruvka.run(dealt(pairs.edges, pairs, t), rounds.forest);
      const bool base = base_case >= components;
      EXPECT_EQ(fact_of(rounds.report, "base case components"), base ? static_cast<std::int64_t>(components) : -1);
      EXPECT_EQ(fact_of(rounds.report, "rounds"), base ? -1 : 1);
      EXPECT_TRUE(!base || sorted(rounds.forest) == (t.rank() == 0 ? sorted(pairs.edges) : Edges{}));
    }
  });
}

/// Runs minimum_spanning_forest(), checks the forest, and returns what was reported.
msf::Report reported(const graphs::EdgeList& graph, const Shape& shape, comm::Transport& t,
                     const msf::ForestOptions& options) {
  msf::Report report;
  const auto forest = msf::minimum_spanning_forest(graph, t, options, report);
  EXPECT_EQ(sorted(gathered(forest.edges, t)), sorted(plain_kruskal(shape.edges, shape.vertices, options.sense)))
      << shape.name;
  EXPECT_EQ(forest.kind, graph.kind);
  return report;
}

/// A path in 40 vertices, pairs of distant vertices, and with two ranks graphs with a quarter and a fifth of their edges cut.
TEST_P(MethodsTest, the_method_is_chosen_by_ranks_vertices_and_cut_edges) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto method = [&](const Shape& shape, std::uint64_t base_case) {
      msf::ForestOptions options;
      options.base_case = base_case;
      return static_cast<ForestMethod>(fact_of(reported(distribute(shape, t, 3), shape, t, options), "method"));
    };
    const bool one = t.size() == 1;
    const Shape path = path_shape(100);
    EXPECT_EQ(method(path, 100), ForestMethod::kruskal);
    EXPECT_EQ(method(path, 99), one ? ForestMethod::kruskal : ForestMethod::local);
    Shape far{"far", 200, {}};
    for (std::uint64_t v = 0; v < 100; ++v) far.add(v, 199 - v, v);
    EXPECT_EQ(method(far, 0), one ? ForestMethod::kruskal : ForestMethod::filter);
    if (t.size() == 2) {
      Shape quarter{"quarter", 6, {{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {3, 4, 4}}};
      EXPECT_EQ(method(quarter, 0), ForestMethod::filter);
      quarter.add(4, 5, 5);
      EXPECT_EQ(method(quarter, 0), ForestMethod::local);
    }
  });
}

TEST_P(MethodsTest, the_share_of_cut_edges_is_told) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto cut = [&](const Shape& shape) {
      msf::ForestOptions options;
      options.method = ForestMethod::filter;
      return fact_of(reported(distribute(shape, t, 3), shape, t, options), "cut permille");
    };
    EXPECT_EQ(cut(path_shape(100)), 1000 * (t.size() - 1) / 99);
    EXPECT_EQ(cut({"nothing", 30, {}}), 0);
    Shape far{"far", 200, {}};
    for (std::uint64_t v = 0; v < 100; ++v) far.add(v, v + 100, v);
    EXPECT_EQ(cut(far), t.size() == 1 ? 0 : 1000);
  });
}

TEST_P(MethodsTest, kruskal_merges_over_ranks_only_where_there_are_others) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = random_shape(1, 100, 400, 9);
    msf::ForestOptions options;
    options.method = ForestMethod::kruskal;
    const auto report = reported(distribute(shape, t, 3), shape, t, options);
    std::set<std::string> phases;
    for (const auto& phase : report.phases()) phases.insert(phase.name);
    EXPECT_EQ(phases.count("local forest"), 1U);
    EXPECT_EQ(phases.count("merge"), t.size() > 1 ? 1U : 0U);
  });
}

/// A rank whose edges are at least half as many as the vertices takes only their own forest into the rounds; others take all of them.
TEST_P(MethodsTest, filter_reduces_the_edges_of_ranks_that_have_many) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto sense : {msf::Sense::minimum, msf::Sense::maximum}) {
      for (const std::size_t edges : {100, 2'000}) {
        const Shape shape = random_shape(edges, 150, edges, 5);
        const auto graph = distribute(shape, t, 3);
        const Edges& mine = std::get<Edges>(graph.edges);
        msf::ForestOptions options;
        options.method = ForestMethod::filter;
        options.base_case = 0;
        options.sense = sense;
        const auto report = reported(graph, shape, t, options);
        const Edges own = plain_kruskal(mine, shape.vertices, sense);
        const std::size_t taken = 2 * mine.size() >= shape.vertices ? own.size() : mine.size();
        EXPECT_EQ(fact_of(report, "local edges"), static_cast<std::int64_t>(taken));
      }
    }
  });
}

/// A path in which the edges between ranks come last in the order of edges, or first.
TEST_P(MethodsTest, ranks_contract_what_others_cannot_affect) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const bool late : {true, false}) {
      for (const int way : {0, 1, 2, 3, 4, 5}) {
        const int order = way % 3;  // weights within a rank: equal, rising or falling along the path
        const auto sense = way < 3 ? msf::Sense::minimum : msf::Sense::maximum;

        Shape path = path_shape(91);
        const auto ranges = msf::balanced_ranges(distribute(path, t), t);
        const bool great = late == (sense == msf::Sense::minimum);
        for (auto& e : path.edges)
          e.weight = ranges.owner(e.low) != ranges.owner(e.high) ? (great ? 1'000 : 1)
                     : order == 0                                ? 500
                     : order == 1                                ? 500 + e.low
                                                                 : 500 - e.low;
        msf::ForestOptions options;
        options.method = ForestMethod::local;
        options.base_case = 0;
        options.sense = sense;
        const auto report = reported(distribute(path, t, 4), path, t, options);
        const auto found = t.all_reduce(fact_of(report, "local edges"), comm::Op::sum);
        // Late edges between ranks stop nothing; early ones stop both components at their ends, to which others are still joined.
        EXPECT_EQ(found, t.size() == 1 ? 90 : late ? 91 - t.size() : 91 - 2 * (t.size() - 1));
      }
    }
  });
}

TEST_P(MethodsTest, heavy_edges_are_filtered_and_progress_rises) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = random_shape(1, 3'000, 60'000, 1U << 31);
    for (const auto method : {ForestMethod::filter, ForestMethod::local}) {
      msf::ForestOptions options;
      options.method = method;
      options.base_case = 0;
      msf::Report report;
      std::vector<double> shares;
      report.progress = [&](std::string_view what, double share) {
        EXPECT_EQ(what, "edges filtered");
        EXPECT_TRUE(share >= 0 && share <= 1) << share;
        shares.push_back(share);
      };
      (void)msf::minimum_spanning_forest(distribute(shape, t, 2), t, options, report);
      const auto count = t.all_reduce(std::max<std::int64_t>(0, fact_of(report, "filtered")), comm::Op::sum);
      // Every rank begins with its own forest, so that only beyond 4 ranks more than 4 edges a vertex are left, and filtered.
      if (method == ForestMethod::filter) {
        EXPECT_GE(count, t.size() > 4 ? 3'000 * (t.size() - 3) : 0);
        EXPECT_LE(count, t.size() > 4 ? 60'000 : 0);
      }
      EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
      EXPECT_TRUE(shares.empty() || shares.back() <= 1);
      EXPECT_EQ(shares.empty(), t.rank() > 0 || count == 0);
    }
  });
}

/// Six ranks have edges of their own, rank 0 has none of which a share could be filtered.
TEST_P(MethodsTest, progress_is_a_share_where_the_first_rank_has_no_edges) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = random_shape(2, 3'000, 60'000, 1U << 31);
    auto graph = distribute(shape, t, 2);
    if (t.rank() == 0) std::get<Edges>(graph.edges).clear();
    msf::ForestOptions options;
    options.method = ForestMethod::filter;
    options.base_case = 0;
    msf::Report report;
    int calls = 0;
    report.progress = [&](std::string_view, double share) {
      EXPECT_TRUE(share >= 0 && share <= 1) << share;
      ++calls;
    };
    (void)msf::minimum_spanning_forest(graph, t, options, report);
    EXPECT_EQ(calls > 0, t.rank() == 0 && t.size() > 5);
  });
}

TEST_P(MethodsTest, options_out_of_range_are_named_with_what_is_allowed) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto told = [&](const msf::ForestOptions& options) -> std::string {
      graphs::EdgeList graph;
      graph.vertices = 4;
      msf::Report report;
      try {
        (void)msf::minimum_spanning_forest(graph, t, options, report);
      } catch (const UsageError& e) {
        return e.what();
      }
      return "accepted";
    };
    const auto expect = [&](const msf::ForestOptions& options, const std::string& text) {
      EXPECT_NE(told(options).find(text), std::string::npos) << told(options);
    };
    for (const int threads : {-1, 0, 1'025})
      expect({.threads = threads}, "threads: " + std::to_string(threads) + "; allowed: 1 to 1024");
    expect({.method = ForestMethod::boruvka, .threads = 1'024}, "accepted");
    expect({.method = static_cast<ForestMethod>(5)}, "method: 5; allowed: a value of its enumeration, 0 to 4");
    expect({.policy = static_cast<Policy>(2)}, "policy: 2; allowed: a value of its enumeration, 0 to 1");
    expect({.sense = static_cast<msf::Sense>(2)}, "sense: 2; allowed: a value of its enumeration, 0 to 1");
  });
}

TEST_P(MethodsTest, edges_go_to_the_owners_of_any_ranges) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = random_shape(7, 50, 300, 9);
    for (const bool at_first : {true, false}) {  // one rank owns all
      graphs::Ranges ranges{std::vector<std::uint64_t>(static_cast<std::size_t>(t.size()) + 1, at_first ? 50 : 0)};
      ranges.first.front() = 0;
      ranges.first.back() = 50;
      auto graph = distribute_as<graphs::Edge16>(shape, t);
      graph.kind = graphs::WeightKind::signed_integer;
      const auto mine = msf::distribute_edges(graph, ranges, t);
      EXPECT_EQ(mine.kind, graph.kind);
      EXPECT_EQ(mine.vertices, 50U);
      Edges expected;
      for (const auto& e : shape.edges)
        if (e.low != e.high) expected.push_back(e);
      const bool owner = t.rank() == (at_first ? 0 : t.size() - 1);
      EXPECT_EQ(sorted(widened(mine)), owner ? sorted(expected) : Edges{});
    }
  });
}

TEST_P(MethodsTest, bad_edges_and_too_many_vertices_are_refused_before_the_partition) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto told = [&](std::uint64_t vertices, const Edges& edges) -> std::string {
      graphs::EdgeList graph{vertices, graphs::WeightKind::unsigned_integer, Edges{}, {}};
      if (t.rank() == t.size() / 2) graph.edges = edges;
      try {
        (void)msf::balanced_ranges(graph, t);
      } catch (const InputError& e) {
        return e.what();
      }
      return "accepted";
    };
    const std::string allowed = "; allowed: ends in order and below the number of vertices";
    const auto expect = [&](std::uint64_t vertices, const Edges& edges, const std::string& text) {
      EXPECT_NE(told(vertices, edges).find(text), std::string::npos) << told(vertices, edges);
    };
    expect(9, {{1, 2, 3}, {4, 3, 1}}, "edge (4, 3) of a graph of 9 vertices" + allowed);
    expect(9, {{9, 9, 3}}, "edge (9, 9) of a graph of 9 vertices" + allowed);
    expect(9, {{8, 8, 3}}, "accepted");
    constexpr std::uint64_t kMax = std::uint64_t{1} << 63;
    expect(kMax, {}, "accepted");
    expect(kMax + 1, {}, "a graph of 9223372036854775809 vertices; allowed: 0 to 9223372036854775808");
  });
}

TEST_P(MethodsTest, one_rank_with_many_edges_makes_no_rounds) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const std::uint64_t vertices = 1000;
    for (const ForestMethod method : {ForestMethod::filter, ForestMethod::local})
      for (const std::size_t edges : {std::size_t{2000}, std::size_t{400}}) {
        const Shape shape = random_shape(3, vertices, edges, 50);
        const auto report = reported(distribute(shape, t, 3), shape, t, {.method = method, .base_case = 0});
        std::set<std::string> phases;
        for (const auto& phase : report.phases()) phases.insert(phase.name);
        EXPECT_EQ(phases.contains("choose"), t.size() > 1 || 2 * edges < vertices);
      }
  });
}

TEST_P(MethodsTest, few_edges_of_many_vertices_give_the_forest_of_the_reference) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Shape shape = random_shape(4, 100'000, 100, 9);
    for (const ForestMethod method : {ForestMethod::boruvka, ForestMethod::filter, ForestMethod::local})
      for (const std::uint64_t base_case : {0, 1'000'000})
        (void)reported(distribute(shape, t, 3), shape, t, {.method = method, .base_case = base_case});
  });
}

}  // namespace
