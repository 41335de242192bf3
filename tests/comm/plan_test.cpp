/// Contract tests of Plan, over every model.
#include <gtest/gtest.h>

#include <random>

#include "merganser/base/error.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using merganser::CommError;
using merganser::comm::Graph;
using merganser::comm::Pattern;
using merganser::comm::Plan;
using merganser::comm::Transport;
using namespace merganser::test;

class PlanTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, PlanTest,
                         testing::ValuesIn(with_parts(setups({"", "checked,chaos:2"}, {"chaos:1", "checked"}))),
                         setup_name<testing::TestParamInfo<Setup>>);

constexpr std::size_t kElements = 5000;

std::vector<std::size_t> wanted(int from, int to, std::size_t most) {
  std::minstd_rand numbers(static_cast<unsigned>(from * 1009 + to * 13 + 1));
  numbers.discard(2);
  std::vector<std::size_t> elements(most == 0 ? 0 : numbers() % most);
  for (auto& element : elements) element = numbers() % kElements;
  return elements;
}

Pattern pattern_of(const Transport& t, const Graph& graph, std::size_t most) {
  Pattern pattern;
  for (const int to : graph.out) pattern.out.push_back(wanted(t.rank(), to, most));
  for (const int from : graph.in) pattern.in.push_back(wanted(from, t.rank(), most).size());
  return pattern;
}

template <class Element>
void pull_and_check(Transport& t, const Graph& graph, std::size_t most, std::size_t chunk) {
  const auto plan =
      t.plan(graph, pattern_of(t, graph, most), {.element_bytes = sizeof(Element), .chunk_elements = chunk});
  std::vector<Element> local(kElements);
  std::vector<std::vector<std::size_t>> expected;
  for (const int from : graph.in) expected.push_back(wanted(from, t.rank(), most));
  for (int round = 0; round < 6; ++round) {
    for (std::size_t i = 0; i < kElements; ++i)
      local[i] = static_cast<Element>(t.rank() * 10'000'000 + round * 100'000 + static_cast<int>(i));
    std::vector<std::vector<Element>> got(graph.in.size());
    std::vector<std::size_t> came(graph.in.size());
    for (std::size_t arc = 0; arc < got.size(); ++arc) got[arc].resize(expected[arc].size());
    plan->pull(std::as_bytes(std::span(local)), [&](const Plan::Chunk& c) {
      ASSERT_EQ(c.data.size() % sizeof(Element), 0U);
      ASSERT_LE(c.first * sizeof(Element) + c.data.size(), got[c.arc].size() * sizeof(Element));
      std::memcpy(got[c.arc].data() + c.first, c.data.data(), c.data.size());
      came[c.arc] += c.data.size() / sizeof(Element);
    });
    for (std::size_t arc = 0; arc < got.size(); ++arc) {
      ASSERT_EQ(came[arc], expected[arc].size());
      const int base = graph.in[arc] * 10'000'000 + round * 100'000;
      for (std::size_t i = 0; i < expected[arc].size(); ++i)
        ASSERT_EQ(got[arc][i], static_cast<Element>(base + static_cast<int>(expected[arc][i])));
    }
  }
}

TEST_P(PlanTest, every_ghost_arrives_in_its_place_each_round) {
  on_ranks(GetParam(), [](Transport& t) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      const Graph graph = random_graph(t, seed);
      pull_and_check<double>(t, graph, 3000, 256);
      pull_and_check<std::int32_t>(t, graph, 100, 7);
    }
  });
}

TEST_P(PlanTest, big_patterns_go_in_chunks) {
  on_ranks(GetParam(), [](Transport& t) { pull_and_check<std::int64_t>(t, complete(t), 60'000, 4096); });
}

TEST_P(PlanTest, an_empty_pattern_is_fine) {
  on_ranks(GetParam(), [](Transport& t) {
    pull_and_check<double>(t, complete(t), 0, 1);
    pull_and_check<double>(t, {}, 0, 1);
  });
}

TEST_P(PlanTest, ends_that_disagree_are_refused_on_every_rank) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = ring(t);
    Pattern pattern{{{0, 1, 2}}, {3}};
    EXPECT_THROW((void)t.plan(graph, {{{0}}, {2}}, {}), CommError);
    EXPECT_THROW((void)t.plan(graph, {{}, {3}}, {}), CommError);
    EXPECT_THROW((void)t.plan(graph, pattern, {.element_bytes = 0}), CommError);
    EXPECT_THROW((void)t.plan(graph, pattern, {.chunk_elements = 0}), CommError);
    if (t.size() > 1) {
      const std::size_t bytes = t.rank() == 0 ? 8 : 4;
      EXPECT_THROW((void)t.plan(graph, pattern, {.element_bytes = bytes}), CommError);
    }
    const auto plan = t.plan(graph, pattern, {});
    const std::vector<double> short_by_one(2);
    EXPECT_THROW(plan->pull(std::as_bytes(std::span(short_by_one)), [](const Plan::Chunk&) {}), CommError);
  });
}

}  // namespace
