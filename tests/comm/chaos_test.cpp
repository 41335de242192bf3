/// One small program over all four objects gives the same answer under every seed of `chaos`.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Transport;
using namespace merganser::test;

constexpr std::uint64_t kFactor = 1099511628211U;

/// What one rank has seen, in an order that does not depend on that of arrival.
std::uint64_t program(Transport& t) {
  const comm::Graph graph = complete(t);
  const auto box = t.mailbox(graph);
  const auto stream = t.stream(graph, {.slots_per_arc = 4});
  auto words = t.segment<std::uint64_t>(graph, static_cast<std::size_t>(t.size()));
  const std::size_t arcs = graph.out.size();
  const comm::Pattern pattern{std::vector<std::vector<std::size_t>>(arcs, {2, 0, 1}),
                              std::vector<std::size_t>(arcs, 3)};
  const auto plan = t.plan(graph, pattern, {.element_bytes = sizeof(std::uint64_t), .chunk_elements = 2});

  auto mine = static_cast<std::uint64_t>(t.rank() + 1);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t arc = 0; arc < arcs; ++arc) {
      for (int i = 0; i < graph.out[arc]; ++i) box->post(arc, mine + static_cast<std::uint64_t>(i));
    }
    box->step();
    std::uint64_t sum = mine;
    for (std::size_t arc = 0; arc < arcs; ++arc) {
      for (const auto value : box->records<std::uint64_t>(arc)) sum = sum * kFactor + value;
    }

    const std::vector<std::size_t> counts(arcs, 6);
    stream->open(counts, counts);
    for (std::size_t arc = 0; arc < arcs; ++arc) {
      for (std::size_t slot = 0; slot < 6; ++slot) stream->send(arc, slot, static_cast<std::uint32_t>(sum + slot));
    }
    const auto add = [&](std::size_t arc, std::size_t slot, std::uint32_t value) {
      sum += kFactor * value * static_cast<std::uint64_t>(graph.in[arc] + 1) * (slot + 1);
    };
    const std::uint64_t before = sum;
    while (stream->take(add) > 0) stream->wait();
    stream->finish();

    for (int to = 0; to < t.size(); ++to) words.put(to, static_cast<std::size_t>(t.rank()), sum ^ before);
    words.sync();
    std::vector<std::uint64_t> got(static_cast<std::size_t>(t.size()));
    words.get((t.rank() + 1) % t.size(), 0, got.size(), got.data());
    words.sync();
    for (const auto value : got) sum = sum * kFactor + value;

    const std::uint64_t local[] = {sum, sum + 1, sum * 3};
    plan->pull(std::as_bytes(std::span(local)), [&](const comm::Plan::Chunk& chunk) {
      for (std::size_t i = 0; i < chunk.data.size() / 8; ++i) {
        std::uint64_t value = 0;
        std::memcpy(&value, chunk.data.data() + 8 * i, 8);
        sum += value * (chunk.arc * 3 + chunk.first + i + 7);
      }
    });
    mine = sum;
    words.sync();
  }
  return mine;
}

std::vector<std::uint64_t> answers(const std::string& decorators, int ranks) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
  on_ranks({"threads", ranks, decorators}, [&](Transport& t) { all[static_cast<std::size_t>(t.rank())] = program(t); });
  return all;
}

TEST(ChaosTest, a_thousand_seeds_give_the_same_answer) {
  for (const int ranks : {1, 2, 3, 4}) {
    const auto expected = answers("", ranks);
    for (int seed = ranks; seed <= 1000; seed += 4) {
      ASSERT_EQ(answers("chaos:" + std::to_string(seed), ranks), expected) << ranks << " ranks, seed " << seed;
    }
    ASSERT_EQ(answers("checked", ranks), expected);
    ASSERT_EQ(answers("chaos:3,checked,chaos:4", ranks), expected);
  }
}

/// The order in which records of one round are handed over.
std::vector<std::size_t> order_of_records(const std::string& seed) {
  std::vector<std::size_t> order;
  on_ranks({"threads", 1, "chaos:" + seed}, [&](Transport& t) {
    const auto stream = t.stream(complete(t), {});
    const std::vector<std::size_t> counts(1, 50);
    stream->open(counts, counts);
    for (std::size_t slot = 0; slot < 50; ++slot) stream->send(0, slot, 0);
    const auto note = [&](std::size_t, std::size_t slot, std::uint32_t) { order.push_back(slot); };
    while (stream->take(note) > 0) stream->wait();
    stream->finish();
  });
  return order;
}

TEST(ChaosTest, a_seed_can_be_replayed_and_another_one_differs) {
  EXPECT_EQ(order_of_records("11"), order_of_records("11"));
  EXPECT_NE(order_of_records("11"), order_of_records("12"));
}

TEST(ChaosTest, unknown_decorators_and_bad_seeds_are_refused) {
  const auto nothing = [](Transport&) {};
  for (const char* bad :
       {"caos:1", "chaos", "chaos:", "chaos:-1", "chaos:1x", "checked:1", "chaos:99999999999999999999"}) {
    comm::RunOptions options;
    options.backend = "threads";
    options.decorators = bad;
    EXPECT_THROW(comm::run(options, nothing), UsageError) << bad;
  }
}

}  // namespace
