/// Exchange kernels round after round without a pause between: what a completion class promises holds in each, and no more.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "merganser/comm/runtime.hpp"
#include "tests/kernels/exchange_support.hpp"

namespace {

using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;

class ExchangeRoundTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ExchangeRoundTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

bool tells_receivers(const KernelInfo& info) {
  return info.completion == Completion::notified || info.completion == Completion::global;
}

/// Makes so many rounds in two buffers that take turns, without quiescing in between, and compares every byte.
void expect_rounds(Transport& t, Exchange& exchange, unsigned rounds) {
  exchange.quiesce();
  std::size_t wrong = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    fill_zones(t, exchange, round % 2, round);
    exchange.iterate(round % 2);
    wrong += wrong_bytes(t, exchange, round % 2, round);
  }
  exchange.quiesce();
  EXPECT_EQ(wrong, 0U) << exchange.info().name;
}

// Between neighbours in both directions a rank that has round k cannot be two rounds behind any of them, so two buffers suffice.
TEST_P(ExchangeRoundTest, every_round_shows_its_own_content_without_quiescing) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Graph& graph : {chain(t), star(t), complete(t)}) {
      const auto sizes =
          sizes_by_arc(t, graph, [](int from, int to) { return static_cast<std::size_t>(1 + 700 * (from + to)); });
      for (const auto& info : usable_kernels(t)) {
        if (!tells_receivers(info)) continue;
        const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 2});
        expect_rounds(t, *exchange, 20);
      }
    }
  });
}

// Over arcs of one way no record tells a sender that its last ones were taken; objects of a Transport hold it back all the same.
TEST_P(ExchangeRoundTest, senders_that_nobody_answers_overwrite_nothing_over_objects_of_a_transport) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Graph& graph : {funnel(t), ring(t)}) {
      const auto sizes = equal_sizes(graph, 6);
      for (const auto& info : usable_kernels(t)) {
        if (!is_over_transport(info)) continue;
        const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 2});
        expect_rounds(t, *exchange, 60);
      }
    }
  });
}

TEST(ExchangeRounds, over_a_checked_transport_are_separated_as_it_demands) {
  if (merganser::comm::launched()) GTEST_SKIP() << "threads only";
  merganser::comm::run({.backend = "threads", .ranks = 3, .decorators = "checked,chaos:5"}, [](Transport& t) {
    for (const Graph& graph : {chain(t), funnel(t)}) {
      const auto sizes = equal_sizes(graph, 10);
      for (const char* kernel : {"threads.mailbox", "threads.stream"}) {
        const auto exchange = make_exchange(t, kernel, {graph, sizes.out, sizes.in, 1});
        for (unsigned round = 0; round < 5; ++round) expect_round(t, *exchange, 0, round);
      }
    }
  });
}

TEST_P(ExchangeRoundTest, a_kernel_that_tells_nobody_does_not_wait_for_anybody) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto sizes = equal_sizes(graph, 500);
    for (const auto& info : usable_kernels(t)) {
      if (tells_receivers(info)) continue;
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      fill_zones(t, *exchange, 0, 9);
      exchange->quiesce();
      for (int turn = 0; turn < t.size(); ++turn) {
        if (t.rank() == turn) exchange->iterate(0);
        t.barrier();  // an iteration that waited for others would never let them come here
      }
      exchange->quiesce();
      EXPECT_EQ(wrong_bytes(t, *exchange, 0, 9), 0U) << info.name;
    }
  });
}

TEST_P(ExchangeRoundTest, an_exchange_without_arcs_of_a_rank_does_not_make_it_wait) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 3) return;
    // Ranks from 1 on form a chain; rank 0 has no arc.
    Graph graph = chain(t);
    if (t.rank() == 0) graph = {};
    if (t.rank() == 1) graph = Graph::symmetric({2});
    const auto sizes = equal_sizes(graph, 40);
    for (const auto& info : usable_kernels(t)) {
      if (info.completion == Completion::global || info.model == "neighborhood") continue;
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      fill_zones(t, *exchange, 0, 3);
      exchange->quiesce();
      if (t.rank() == 0) exchange->iterate(0);
      t.barrier();
      if (t.rank() != 0) exchange->iterate(0);
      t.barrier();
      exchange->quiesce();
      EXPECT_EQ(wrong_bytes(t, *exchange, 0, 3), 0U) << info.name;
      // The other way round: the others do not wait for rank 0.
      fill_zones(t, *exchange, 0, 4);
      exchange->quiesce();
      if (t.rank() != 0) exchange->iterate(0);
      t.barrier();
      if (t.rank() == 0) exchange->iterate(0);
      exchange->quiesce();
      EXPECT_EQ(wrong_bytes(t, *exchange, 0, 4), 0U) << info.name;
    }
  });
}

// Rank 0 counts itself in before each iteration; a rank that leaves an iteration must find all of them counted.
TEST_P(ExchangeRoundTest, a_global_kernel_ends_nowhere_before_every_rank_has_come) {
  if (GetParam().backend != "threads") GTEST_SKIP() << "ranks are processes here, which share no counter";
  std::atomic<int> entered{0};
  std::atomic<int> early{0};
  on_ranks(GetParam(), [&](Transport& t) {
    const Graph graph = ring(t);
    const auto sizes = equal_sizes(graph, 8);
    const auto exchange = make_exchange(t, "threads.copy-barrier", {graph, sizes.out, sizes.in, 1});
    exchange->quiesce();
    for (int round = 1; round <= 60; ++round) {
      ++entered;
      exchange->iterate(0);
      if (entered < round * t.size()) ++early;
    }
    exchange->quiesce();
  });
  EXPECT_EQ(early, 0);
  EXPECT_EQ(entered, 60 * GetParam().ranks);
}

// A flag that were set before the copy has ended would show a part of the round before: 256 KiB take longer than the flag.
TEST_P(ExchangeRoundTest, a_flag_is_seen_after_the_whole_copy) {
  if (GetParam().backend != "threads") GTEST_SKIP() << "ranks are processes here";
  on_ranks(GetParam(), [](Transport& t) {
    constexpr std::size_t kWords = 32'768;
    const Graph graph = complete(t);
    const auto sizes = equal_sizes(graph, kWords * 8);
    for (const char* name : {"threads.copy-flag", "threads.copy-barrier"}) {
      const auto exchange = make_exchange(t, name, {graph, sizes.out, sizes.in, 2});
      exchange->quiesce();
      std::uint64_t wrong = 0;
      for (std::uint64_t round = 1; round <= 8; ++round) {
        const std::size_t buffer = round % 2;
        for (std::size_t arc = 0; arc < graph.out.size(); ++arc) {
          auto* words = reinterpret_cast<std::uint64_t*>(exchange->source(arc, buffer).data());
          std::fill(words, words + kWords, round);
        }
        exchange->iterate(buffer);
        for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
          const auto* words = reinterpret_cast<const std::uint64_t*>(exchange->landing(arc, buffer).data());
          for (std::size_t i = kWords; i-- > 0;) wrong += words[i] != round;  // the last word is copied last
        }
      }
      exchange->quiesce();
      EXPECT_EQ(wrong, 0U) << name;
    }
  });
}

}  // namespace
