/// Exchange kernels of every model: bytes delivered over many graphs, counters, synchronised start.
#include "merganser/kernels/exchange.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "merganser/base/error.hpp"
#include "tests/kernels/exchange_support.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;
using merganser::UsageError;

/// Tests with a control transport of every model, since kernels of all models can be made with any.
class ControlTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ControlTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

class ExchangeTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ExchangeTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns the bytes of an arc, by its ends: zero, odd, and longer than libraries send eagerly are among them.
std::size_t arc_bytes(int from, int to, unsigned salt) {
  static constexpr std::size_t sizes[] = {1, 0, 7, 64, 65, 1023, 4096, 20001};
  return sizes[(static_cast<unsigned>(from) * 5U + static_cast<unsigned>(to) * 3U + salt) % std::size(sizes)];
}

ArcSizes arc_sizes(const Transport& t, const Graph& graph, unsigned salt) {
  return sizes_by_arc(t, graph, [salt](int from, int to) { return arc_bytes(from, to, salt); });
}

TEST_P(ExchangeTest, every_kernel_delivers_every_byte_over_every_graph) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graphs[] = {{}, chain(t), complete(t), funnel(t), ring(t), random_graph(t, 5)};
    for (const auto& info : usable_kernels(t)) {
      unsigned salt = 0;
      for (const auto& graph : graphs) {
        const auto [out, in] = arc_sizes(t, graph, salt++);
        const auto exchange = make_exchange(t, info.name, {graph, out, in, 2});
        EXPECT_EQ(exchange->info().name, info.name);
        for (unsigned round = 0; round < 4; ++round) expect_round(t, *exchange, round % 2, round);
      }
    }
  });
}

TEST_P(ExchangeTest, iterations_may_follow_each_other_without_quiescing) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = random_graph(t, 9);
    const auto [out, in] = arc_sizes(t, graph, 3);
    for (const auto& info : usable_kernels(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, out, in, 3});
      for (std::size_t buffer = 0; buffer < 3; ++buffer)
        fill_zones(t, *exchange, buffer, static_cast<unsigned>(buffer));
      exchange->quiesce();
      for (std::size_t i = 0; i < 60; ++i) exchange->iterate(i % 3);
      exchange->quiesce();
      for (std::size_t buffer = 0; buffer < 3; ++buffer) {
        EXPECT_EQ(wrong_bytes(t, *exchange, buffer, static_cast<unsigned>(buffer)), 0U) << info.name;
      }
    }
  });
}

TEST_P(ExchangeTest, what_a_notified_kernel_delivers_is_there_without_quiescing) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto [out, in] = arc_sizes(t, graph, 1);
    for (const auto& info : usable_kernels(t)) {
      if (info.completion != Completion::notified && info.completion != Completion::global) continue;
      const auto exchange = make_exchange(t, info.name, {graph, out, in, 1});
      for (unsigned round = 0; round < 5; ++round) {
        fill_zones(t, *exchange, 0, round);
        exchange->quiesce();
        exchange->iterate(0);
        EXPECT_EQ(wrong_bytes(t, *exchange, 0, round), 0U) << info.name;
        exchange->quiesce();
      }
    }
  });
}

TEST_P(ControlTest, kernels_may_be_interleaved_and_freed_in_any_order) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto infos = usable_kernels(t);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    const Graph graph = chain(t);
    const auto [out, in] = arc_sizes(t, graph, 2);
    const auto start = make_start(t);
    for (const auto& info : infos) exchanges.push_back(make_exchange(t, info.name, {graph, out, in, 1}));
    for (const auto& exchange : exchanges) {
      fill_zones(t, *exchange, 0, 1);
      exchange->quiesce();
    }
    for (std::size_t i = 0; i < 5 * exchanges.size(); ++i) {
      start->wait();
      exchanges[i * 7 % exchanges.size()]->iterate(0);
    }
    for (const auto& exchange : exchanges) expect_round(t, *exchange, 0, 2);
    // Each rank destroys them in another order; the next make_exchange() frees those that all ranks have destroyed.
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      exchanges[(i + static_cast<std::size_t>(t.rank())) % exchanges.size()].reset();
      if (i == exchanges.size() / 2) expect_round(t, *make_exchange(t, infos.front().name, {graph, out, in, 1}), 0, 3);
    }
    for (const auto& info : infos) expect_round(t, *make_exchange(t, info.name, {graph, out, in, 1}), 0, 4);
  });
}

TEST_P(ExchangeTest, a_smaller_size_leaves_the_bytes_behind_it_alone) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const ArcSizes most = equal_sizes(graph, 3000);
    const ArcSizes less = equal_sizes(graph, 1001);
    for (const auto& info : usable_kernels(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, most.out, most.in, 2});
      expect_round(t, *exchange, 0, 0);
      expect_round(t, *exchange, 1, 1);
      exchange->resize(less.out, less.in);
      expect_round(t, *exchange, 1, 2);
      exchange->quiesce();
      exchange->resize(most.out, most.in);
      std::size_t wrong = 0;
      for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
        const auto other = exchange->landing(arc, 0);
        const auto landing = exchange->landing(arc, 1);
        for (std::size_t at = 0; at < landing.size(); ++at) {
          wrong += landing[at] != test_byte(graph.in[arc], t.rank(), at < 1001 ? 2 : 1, at);
          wrong += other[at] != test_byte(graph.in[arc], t.rank(), 0, at);
        }
      }
      EXPECT_EQ(wrong, 0U) << info.name;
      expect_round(t, *exchange, 0, 3);
    }
  });
}

TEST_P(ExchangeTest, what_an_iteration_does_is_counted) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto [out, in] = equal_sizes(graph, 100);
    const auto others = t.size() - 1;  // arcs to oneself are not counted
    for (const auto& info : usable_kernels(t)) {
      const Counters counters = make_exchange(t, info.name, {graph, out, in, 1})->per_iteration();
      EXPECT_EQ(counters.bytes, 100 * others) << info.name;
      EXPECT_EQ(counters.gets, info.pulls ? others : 0) << info.name;
      EXPECT_EQ(counters.collectives > 0, info.completion == Completion::global) << info.name;
      if (info.name == "rma.put-notify" || info.name == "shmem.put-signal") {
        EXPECT_EQ(counters.puts, 2 * others);
      }
      if (info.name == "rma.lock") {
        EXPECT_EQ(counters.epochs, others);
      }
      if (info.model == "p2p") {
        EXPECT_EQ(counters.messages, others);
      }
    }
  });
}

TEST_P(ControlTest, nobody_starts_before_the_last_one) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto start = make_start(t);
    const auto other = make_start(t);
    EXPECT_EQ(start->waits_for(), -1);
    for (int i = 0; i < 50; ++i) (i % 3 == 0 ? other : start)->wait();
    if (t.size() < 2) return;
    t.barrier();
    if (t.rank() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      start->wait();
    } else {
      const auto before = std::chrono::steady_clock::now();
      start->wait();
      EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(20));
    }
    EXPECT_EQ(start->waits_for(), -1);
  });
}

TEST_P(ControlTest, what_works_here_is_found_by_trying) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto unusable = probe_kernels(t);
    std::size_t of_this_kind = 0;
    for (const auto& one : unusable) {
      EXPECT_FALSE(one.reason.empty());
      EXPECT_NO_THROW((void)kernel(one.kernel));
      const bool processes = kernel(one.kernel).model != "threads";
      if (processes == t.capabilities().processes) ++of_this_kind;
      if (processes == t.capabilities().processes) {
        EXPECT_EQ(one.kernel, "shmem.put-signal-native") << one.reason;
      }
    }
    EXPECT_LE(of_this_kind, 1U);
  });
}

TEST_P(ControlTest, kernels_work_on_some_of_the_ranks) {
  on_ranks(GetParam(), [](Transport& t) {
    if (!t.capabilities().sub_transports) return;
    const auto part = t.subset(t.size() == 1 || t.rank() > 0);
    if (!part) return t.barrier();
    const Graph graph = complete(*part);
    const auto sizes = arc_sizes(*part, graph, 4);
    const ExchangeSpec spec{graph, sizes.out, sizes.in, 1};
    const auto try_out = [&](std::string_view model, const auto& action) {
      const bool possible = model != "shmem" || part->size() == t.size();
      EXPECT_EQ(refusal<UsageError>(action) == "nothing was thrown", possible) << model;
    };
    try_out(t.name(), [&] { make_start(*part)->wait(); });
    for (const auto& info : usable_kernels(*part)) {
      try_out(info.model, [&] { expect_round(*part, *make_exchange(*part, info.name, spec), 0, 1); });
    }
    t.barrier();
  });
}

}  // namespace
