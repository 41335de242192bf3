/// Tests of the counters of traffic by peer, over every model.
#include "merganser/comm/traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser::comm;
using namespace merganser::test;

class TrafficTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, TrafficTest,
                         testing::ValuesIn(with_parts(setups({"", "checked,chaos:3"}, {"chaos:1", "checked"}))),
                         setup_name<testing::TestParamInfo<Setup>>);

MoveCount total(const TrafficCount& traffic, Move move) {
  MoveCount sum;
  for (const auto& peer : traffic.peers()) sum += peer.traffic[move];
  return sum;
}

/// The promise of the header, for what has happened since.
void expect_sums(Transport& t, const Counters& counters_before, const TrafficCount& before) {
  const Counters counters = t.counters() - counters_before;
  const TrafficCount traffic = t.traffic().since(before);
  EXPECT_EQ(total(traffic, Move::message).bytes + total(traffic, Move::put).bytes, counters.bytes);
  EXPECT_EQ(total(traffic, Move::message).operations, counters.messages);
  EXPECT_EQ(total(traffic, Move::put).operations, counters.puts);
  for (const auto& peer : traffic.peers()) {
    EXPECT_NE(peer.rank, t.rank());
    for (const MoveCount& count : peer.traffic.moves) {
      std::int64_t operations = 0;
      for (const std::int64_t n : count.sizes) operations += n;
      EXPECT_EQ(operations, count.operations);
    }
  }
}

TEST(SizeClass, holds_a_power_of_two_up_to_the_next) {
  EXPECT_EQ(size_class(0), 0U);
  EXPECT_EQ(size_class(1), 1U);
  for (unsigned c = 2; c < 40; ++c) {
    EXPECT_EQ(size_class(std::uint64_t{1} << (c - 1)), c);
    EXPECT_EQ(size_class((std::uint64_t{1} << c) - 1), c);
  }
  EXPECT_EQ(size_class(~std::uint64_t{0}), kSizeClasses - 1);
}

TEST_P(TrafficTest, messages_of_a_mailbox_are_counted_by_receiver_and_size) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(random_graph(t, 5));
    const Counters counters = t.counters();
    const TrafficCount before = t.traffic();
    std::vector<MoveCount> truth(static_cast<std::size_t>(t.size()));
    for (std::size_t wave = 0; wave < 12; ++wave) {
      for (std::size_t arc = 0; arc < box->graph().out.size(); ++arc) {
        const int to = box->graph().out[arc];
        const std::size_t bytes = (wave * 37 + static_cast<std::size_t>(to) * 1001) % 3000 * (wave % 3);
        box->outbox(arc).resize(bytes);
        if (bytes > 0 && to != t.rank()) truth[static_cast<std::size_t>(to)].add(bytes);
      }
      box->step();
    }
    const TrafficCount traffic = t.traffic().since(before);
    std::size_t others = 0;
    for (const auto& peer : traffic.peers()) {
      EXPECT_EQ(peer.traffic[Move::message], truth[static_cast<std::size_t>(peer.rank)]) << "to rank " << peer.rank;
      others += peer.traffic[Move::message].operations > 0 ? 1 : 0;
    }
    EXPECT_EQ(static_cast<std::ptrdiff_t>(others),
              std::count_if(truth.begin(), truth.end(), [](const MoveCount& m) { return m.operations > 0; }));
    expect_sums(t, counters, before);
  });
}

TEST_P(TrafficTest, puts_and_gets_of_a_segment_are_counted_by_owner) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Epoch epoch : {Epoch::lifetime, Epoch::per_phase, Epoch::per_operation}) {
      auto words = t.segment<std::uint64_t>(complete(t), 100, epoch);
      const Counters counters = t.counters();
      const TrafficCount before = t.traffic();
      std::vector<std::uint64_t> got(50);
      std::uint64_t old = 0;
      for (int to = 0; to < t.size(); ++to) {
        for (int i = 0; i <= to; ++i) words.put(to, 60 + static_cast<std::size_t>(t.rank()), 1);
        words.get(to, 0, 50, got.data());
        words.get(to, 0, 0, got.data());
      }
      words.sync();
      words.fetch_or((t.rank() + 1) % t.size(), 99, 1, &old);
      words.sync();
      const TrafficCount traffic = t.traffic().since(before);
      for (const auto& peer : traffic.peers()) {
        const int also = peer.rank == (t.rank() + 1) % t.size() ? 1 : 0;
        if (peer.traffic[Move::put].operations == 0) continue;  // asked this rank only
        EXPECT_EQ(peer.traffic[Move::put].operations, peer.rank + 1 + also);
        EXPECT_EQ(peer.traffic[Move::put].bytes, 8 * (peer.rank + 1 + also));
        EXPECT_EQ(peer.traffic[Move::get].operations, 1 + also);
        EXPECT_EQ(peer.traffic[Move::get].bytes, 400 + 8 * also);
        EXPECT_EQ(peer.traffic[Move::get].sizes[size_class(400)], 1);
      }
      EXPECT_EQ(total(traffic, Move::get).bytes, 8 * (t.counters() - counters).gets);
      EXPECT_EQ(static_cast<int>(traffic.peers().size()), t.size() - 1);
      expect_sums(t, counters, before);
    }
  });
}

TEST_P(TrafficTest, records_of_a_stream_and_chunks_of_a_plan_add_up_to_the_counters) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto stream = t.stream(graph, {.slots_per_arc = 10});
    const auto box = t.mailbox(graph);
    Pattern pattern;
    for (const int to : graph.out) pattern.out.emplace_back(static_cast<std::size_t>(5 + 3 * to), 2);
    pattern.in.assign(graph.in.size(), static_cast<std::size_t>(5 + 3 * t.rank()));
    const auto plan = t.plan(graph, pattern, {.element_bytes = 8, .chunk_elements = 4});
    const Counters counters = t.counters();
    const TrafficCount before = t.traffic();
    const std::vector<std::size_t> counts(graph.out.size(), 25);  // more than there are slots
    for (int round = 0; round < 3; ++round) {
      stream->open(counts, counts);
      for (std::size_t arc = 0; arc < counts.size(); ++arc) {
        for (std::size_t slot = 0; slot < counts[arc]; ++slot) stream->send(arc, slot, 7);
      }
      while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
      stream->finish();
      box->step();
    }
    const std::vector<double> values(10, 1.0);
    plan->pull(std::as_bytes(std::span(values)), [](const Plan::Chunk&) {});
    expect_sums(t, counters, before);
    for (const auto& peer : t.traffic().since(before).peers()) {
      // 75 records of 8 bytes, whatever carried them, and 5 + 3 * rank elements.
      EXPECT_EQ(peer.traffic[Move::message].bytes + peer.traffic[Move::put].bytes, 75 * 8 + 8 * (5 + 3 * peer.rank));
    }
  });
}

TEST(TrafficCount, a_copy_taken_before_is_restored_and_sums_add_up) {
  TrafficCount a;
  a.peer(3).add(Move::put, 100);
  const TrafficCount before = a;
  PeerTraffic& kept = a.peer(3);
  kept.add(Move::get, 7);
  a.peer(1).add(Move::message, 0);
  const TrafficCount later = a.since(before);
  ASSERT_EQ(later.peers().size(), 2U);
  EXPECT_EQ(later.peers()[0].rank, 1);
  EXPECT_EQ(later.peers()[1].traffic[Move::get].bytes, 7);
  EXPECT_EQ(later.peers()[1].traffic[Move::put].bytes, 0);
  TrafficCount sum = before;
  sum += later;
  EXPECT_EQ(sum.peer(3), a.peer(3));
  a.restore(before);
  ASSERT_EQ(a.peers().size(), 1U);
  EXPECT_EQ(&a.peer(3), &kept);
  EXPECT_EQ(kept[Move::get].operations, 0);
}

}  // namespace
