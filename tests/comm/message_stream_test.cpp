/// Tests of the Stream over messages, with a test that plays its neighbours: rounds that are ahead, the wrap-around of their
/// numbers, the size of messages, wrong counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "merganser/base/random.hpp"
#include "tests/comm/fake_link.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Graph;
using comm::detail::MessageStream;

constexpr std::size_t kFullBytes = 16384;  // as in message_stream.cpp: a message of this size leaves at once

struct TakenRecord {
  std::size_t arc;
  std::size_t slot;
  std::uint32_t value;
  friend bool operator==(const TakenRecord&, const TakenRecord&) = default;
};
struct RoundHeader {
  std::uint32_t round;
  std::uint32_t count;
};
struct SlotAndValue {
  std::uint32_t slot;
  std::uint32_t value;
};

/// Stream whose arcs have carried so many rounds before.
class AgedStream final : public MessageStream {
 public:
  AgedStream(comm::detail::Place place, Graph graph, std::unique_ptr<comm::detail::Link> link, std::uint32_t rounds)
      : MessageStream(std::move(place), std::move(graph), std::move(link)) {
    for (auto& arc : out_) arc.round = rounds;
    for (auto& arc : in_) arc.round = rounds;
  }
};

/// Stream of rank 1 that sends to ranks 2 and 1, and receives from ranks 1 and 0.
struct Fixture {
  explicit Fixture(std::uint32_t rounds = 0)
      : stream(place.place(1, "Stream 2"), Graph{{2, 1}, {1, 0}}, std::make_unique<FakeLink>(wire), rounds) {}

  std::size_t take() {
    return stream.take([&](std::size_t arc, std::size_t slot, std::uint32_t value) {
      taken.push_back({arc, slot, value});
    });
  }
  void open(std::vector<std::size_t> out, std::vector<std::size_t> in) { stream.open(out, in); }

  std::shared_ptr<FakeWire> wire = std::make_shared<FakeWire>();
  FakePlace place;
  AgedStream stream;
  std::vector<TakenRecord> taken;
};

TEST(MessageStreamTest, records_are_sent_together_behind_the_round_and_the_count) {
  Fixture f;
  f.open({3, 0}, {0, 0});
  for (const std::uint32_t slot : {2U, 0U, 1U}) f.stream.send(0, slot, 100 + slot);
  EXPECT_TRUE(f.wire->sent.empty()) << "records are buffered until take(), wait() or finish()";
  EXPECT_EQ(f.take(), 0U);
  FakeWire expected;
  expected.arrive(0, RoundHeader{1, 3}, SlotAndValue{2, 102}, SlotAndValue{0, 100}, SlotAndValue{1, 101});
  ASSERT_EQ(f.wire->sent.size(), 1U);
  EXPECT_EQ(f.wire->sent[0], expected.incoming[0]);
  EXPECT_EQ(f.place.counters.messages, 1);
  EXPECT_EQ(f.place.counters.bytes, 24) << "the header is no payload";
  EXPECT_EQ(f.place.counters.records, 3);
  f.stream.finish();
}

TEST(MessageStreamTest, a_full_message_leaves_before_the_round_is_over) {
  Fixture f;
  constexpr std::size_t kFull = (kFullBytes - sizeof(RoundHeader)) / sizeof(SlotAndValue);
  f.open({2 * kFull + 1, 0}, {0, 0});
  for (std::size_t slot = 0; slot < 2 * kFull + 1; ++slot) {
    f.stream.send(0, slot, 7);
    EXPECT_EQ(f.place.counters.messages, static_cast<std::int64_t>((slot + 1) / kFull)) << slot;
  }
  f.stream.finish();
  ASSERT_EQ(f.wire->sent.size(), 3U);
  EXPECT_EQ(f.wire->sent[0].second.size(), kFullBytes);
  EXPECT_EQ(f.wire->sent[2].second.size(), sizeof(RoundHeader) + sizeof(SlotAndValue));
}

TEST(MessageStreamTest, a_round_that_is_ahead_is_kept_until_it_is_opened) {
  Fixture f;
  f.open({0, 0}, {0, 2});
  f.wire->arrive(1, RoundHeader{1, 2}, SlotAndValue{0, 10});
  f.wire->arrive(1, RoundHeader{2, 1}, SlotAndValue{0, 20});  // of the round after
  EXPECT_EQ(f.take(), 1U);
  f.wire->arrive(1, RoundHeader{1, 2}, SlotAndValue{1, 11});
  EXPECT_EQ(f.take(), 0U);
  f.stream.finish();
  EXPECT_EQ(f.taken, (std::vector<TakenRecord>{{1, 0, 10}, {1, 1, 11}}));
  f.open({0, 0}, {0, 1});
  EXPECT_EQ(f.take(), 0U);
  f.stream.finish();
  EXPECT_EQ(f.taken.back(), (TakenRecord{1, 0, 20}));
}

// Rank 0 is a round ahead of rank 2: what was ahead is part of the next round, which needs one more message.
TEST(MessageStreamTest, a_round_is_complete_with_what_was_ahead_and_with_what_comes) {
  const auto wire = std::make_shared<FakeWire>();
  FakePlace place;
  AgedStream stream(place.place(1, "Stream 2"), Graph{{}, {0, 2}}, std::make_unique<FakeLink>(wire), 0);
  const std::vector<std::size_t> none;
  const std::vector<std::size_t> one_each{1, 1};
  std::size_t taken = 0;
  const auto take = [&] { return stream.take([&](std::size_t, std::size_t, std::uint32_t) { ++taken; }); };
  stream.open(none, one_each);
  wire->arrive(0, RoundHeader{1, 1}, SlotAndValue{0, 10});
  wire->arrive(0, RoundHeader{2, 1}, SlotAndValue{0, 20});
  wire->arrive(1, RoundHeader{1, 1}, SlotAndValue{0, 11});
  EXPECT_EQ(take(), 0U);
  EXPECT_EQ(wire->probes, 3U) << "no probe once the round is complete";
  stream.finish();
  stream.open(none, one_each);
  EXPECT_EQ(take(), 1U);
  wire->arrive(1, RoundHeader{2, 1}, SlotAndValue{0, 21});
  EXPECT_EQ(take(), 0U);
  EXPECT_EQ(taken, 4U);
  stream.finish();
}

// A neighbour may be unable to complete its sends before this rank receives them, so finish() takes what it does not need yet.
TEST(MessageStreamTest, the_end_of_a_round_receives_what_is_ahead_while_own_messages_leave) {
  Fixture f;
  f.open({1, 0}, {0, 0});
  f.stream.send(0, 0, 7);
  f.wire->polls_until_sent = 1;
  f.wire->arrive(1, RoundHeader{1, 1}, SlotAndValue{0, 9});
  f.stream.finish();
  EXPECT_TRUE(f.wire->incoming.empty());
  f.open({0, 0}, {0, 1});
  EXPECT_EQ(f.take(), 0U);
  EXPECT_EQ(f.taken.size(), 1U);
}

TEST(MessageStreamTest, rounds_that_an_arc_leaves_out_do_not_count_on_it) {
  Fixture f;
  for (int round = 0; round < 3; ++round) {
    f.open({0, 0}, {0, 0});
    EXPECT_EQ(f.take(), 0U);
    f.stream.finish();
  }
  f.open({1, 0}, {0, 1});
  f.stream.send(0, 0, 5);
  f.wire->arrive(1, RoundHeader{1, 1}, SlotAndValue{0, 6});
  f.wire->arrive(1, RoundHeader{2, 1}, SlotAndValue{0, 7});  // of the round after
  EXPECT_EQ(f.take(), 0U);
  f.stream.finish();
  EXPECT_EQ(f.taken, (std::vector<TakenRecord>{{1, 0, 6}}));
  FakeWire expected;
  expected.arrive(0, RoundHeader{1, 1}, SlotAndValue{0, 5});
  EXPECT_EQ(f.wire->sent.at(0), expected.incoming[0]);
}

TEST(MessageStreamTest, what_a_callback_sends_leaves_with_the_same_take) {
  Fixture f;
  f.open({1, 0}, {0, 1});
  f.wire->arrive(1, RoundHeader{1, 1}, SlotAndValue{0, 6});
  EXPECT_EQ(f.stream.take([&](std::size_t, std::size_t, std::uint32_t value) { f.stream.send(0, 0, value + 1); }), 0U);
  FakeWire expected;
  expected.arrive(0, RoundHeader{1, 1}, SlotAndValue{0, 7});
  ASSERT_EQ(f.wire->sent.size(), 1U) << "the others may wait for it, and this rank need not call again";
  EXPECT_EQ(f.wire->sent[0], expected.incoming[0]);
}

TEST(MessageStreamTest, numbers_of_rounds_wrap_around) {
  for (const std::uint32_t before : {0xFFFFFFFDU, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
    Fixture f(before);
    f.open({1, 0}, {0, 1});
    f.stream.send(0, 0, 7);
    f.wire->arrive(1, RoundHeader{before + 1, 1}, SlotAndValue{0, 8});
    f.wire->arrive(1, RoundHeader{before + 2, 1}, SlotAndValue{0, 9});  // early, of the next one
    EXPECT_EQ(f.take(), 0U) << before;
    f.stream.finish();
    f.open({0, 0}, {0, 1});
    EXPECT_EQ(f.take(), 0U) << before;
    f.stream.finish();
    FakeWire expected;
    expected.arrive(0, RoundHeader{before + 1, 1}, SlotAndValue{0, 7});
    EXPECT_EQ(f.wire->sent.at(0), expected.incoming[0]);
    EXPECT_EQ(f.taken, (std::vector<TakenRecord>{{1, 0, 8}, {1, 0, 9}}));
  }
}

TEST(MessageStreamTest, own_records_do_not_leave_and_may_follow_from_callbacks) {
  Fixture f;
  f.open({0, 4}, {4, 0});
  f.stream.send(1, 0, 1);
  std::vector<TakenRecord> taken;
  const std::size_t left = f.stream.take([&](std::size_t arc, std::size_t slot, std::uint32_t value) {
    taken.push_back({arc, slot, value});
    if (slot < 3) f.stream.send(1, slot + 1, value * 10);
  });
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(taken, (std::vector<TakenRecord>{{0, 0, 1}, {0, 1, 10}, {0, 2, 100}, {0, 3, 1000}}));
  f.stream.finish();
  EXPECT_TRUE(f.wire->sent.empty());
  EXPECT_EQ(f.place.counters.messages, 0);
  EXPECT_EQ(f.place.counters.records, 4);
}

TEST(MessageStreamTest, more_own_records_than_are_expected_are_refused) {
  Fixture f;
  f.open({0, 2}, {1, 0});
  f.stream.send(1, 0, 1);
  f.stream.send(1, 1, 1);
  EXPECT_EQ(refusal<CommError>([&] { (void)f.take(); }), "Stream: this rank sends itself more records than it expects");
}

TEST(MessageStreamTest, a_count_or_number_of_records_that_differs_is_refused_with_both) {
  Fixture other_count;
  other_count.open({0, 0}, {0, 3});
  other_count.wire->arrive(1, RoundHeader{1, 4}, SlotAndValue{0, 1});
  EXPECT_EQ(refusal<CommError>([&] { (void)other_count.take(); }),
            "Stream: rank 0 sends 4 records in this round, but rank 1 expects 3");
  EXPECT_TRUE(other_count.taken.empty());
  Fixture too_many;
  too_many.open({0, 0}, {0, 1});
  too_many.wire->arrive(1, RoundHeader{1, 1}, SlotAndValue{0, 1}, SlotAndValue{0, 2});
  EXPECT_EQ(refusal<CommError>([&] { (void)too_many.take(); }),
            "Stream: rank 0 sends 1 records in this round, but rank 1 expects 1");
}

TEST(MessageStreamTest, buffers_stay_unchanged_until_they_have_left) {
  Fixture f;
  constexpr std::size_t kEach = 2100;  // one full message and a rest
  for (std::uint32_t round = 1; round <= 4; ++round) {
    f.open({kEach, 0}, {0, 0});
    f.wire->polls_until_sent = 3;
    for (std::size_t slot = 0; slot < kEach; ++slot) {
      f.stream.send(0, slot, static_cast<std::uint32_t>(1000 * round + slot));
      if (slot % 700 == 0) (void)f.take();
    }
    f.wire->when_idle = [] {};
    f.stream.finish();
    std::vector<std::uint32_t> values;
    for (const auto& [arc, message] : f.wire->sent) {
      EXPECT_EQ(comm::detail::read<RoundHeader>(message).round, round);
      for (std::size_t at = sizeof(RoundHeader); at < message.size(); at += sizeof(SlotAndValue))
        values.push_back(comm::detail::read<SlotAndValue>(message, at).value);
    }
    ASSERT_EQ(values.size(), kEach);
    for (std::size_t slot = 0; slot < kEach; ++slot) ASSERT_EQ(values[slot], 1000 * round + slot);
    f.wire->sent.clear();
  }
}

TEST(MessageStreamTest, wait_returns_with_the_first_record_and_sends_what_is_buffered) {
  Fixture f;
  f.open({1, 0}, {0, 2});
  f.stream.send(0, 0, 9);
  f.wire->when_idle = [&] {
    EXPECT_EQ(f.wire->sent.size(), 1U) << "wait() sends what is buffered before it blocks";
    if (f.wire->idled == 3) f.wire->arrive(1, RoundHeader{1, 2}, SlotAndValue{0, 1});
    ASSERT_LT(f.wire->idled, 4U);
  };
  f.stream.wait();
  EXPECT_EQ(f.wire->idled, 3U);
  EXPECT_EQ(f.wire->sent.size(), 1U);
  f.stream.wait();  // a record is there already
  EXPECT_EQ(f.wire->idled, 3U);
  EXPECT_EQ(f.take(), 1U);
  f.wire->arrive(1, RoundHeader{1, 2}, SlotAndValue{1, 2});
  EXPECT_EQ(f.take(), 0U);
  f.stream.wait();  // nothing is still to come
  f.stream.finish();
}

TEST(MessageStreamTest, misuse_says_what_is_left) {
  Fixture f;
  const auto send = [&](std::size_t arc, std::size_t slot) {
    return refusal<CommError>([&] { f.stream.send(arc, slot, 1); });
  };
  EXPECT_EQ(send(0, 0), "Stream::send: arc 0, slot 0, but no round is open");
  f.open({2, 0}, {0, 1});
  EXPECT_EQ(send(2, 0), "Stream::send: arc 2, slot 0, but there are 2 out-arcs");
  EXPECT_EQ(send(0, 2), "Stream::send: arc 0, slot 2, but this round has 2 records on this arc, 2 of them not sent");
  f.stream.send(0, 0, 1);
  EXPECT_EQ(refusal<CommError>([&] { f.stream.finish(); }),
            "Stream::finish: 1 of 2 records to rank 2 have not been sent");
  f.stream.send(0, 1, 1);
  EXPECT_EQ(send(0, 1), "Stream::send: arc 0, slot 1, but this round has 2 records on this arc, 0 of them not sent");
  EXPECT_EQ(refusal<CommError>([&] { f.stream.finish(); }), "Stream::finish: 1 records have not been taken");
  EXPECT_EQ(refusal<CommError>([&] {
              f.open({0, 0}, {0, 0});
            }),
            "Stream::open: 1 records of the round before have not been taken");
  EXPECT_EQ(f.place.counters.records, 2) << "refused records must not count";
  f.wire->arrive(1, RoundHeader{1, 1}, SlotAndValue{0, 3});
  EXPECT_EQ(f.take(), 0U);
  f.stream.finish();
  EXPECT_EQ(send(0, 0), "Stream::send: arc 0, slot 0, but no round is open");
  constexpr std::size_t kMaxCount = 0xFFFFFFFF;
  EXPECT_EQ(refusal<CommError>([&] {
              f.open({0, 0}, {0, kMaxCount + 1});
            }),
            "Stream::open: 4294967296 records on an arc; allowed: up to 4294967295");
  f.open({kMaxCount, 0}, {0, 0});
}

TEST(MessageStreamTest, random_rounds_in_random_pieces_deliver_each_record_once) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed, 1, 0);
    auto round = static_cast<std::uint32_t>(0xFFFFFFF0 + random.below(32));
    Fixture f(round);
    for (int turn = 0; turn < 12; ++turn) {
      const std::size_t count = random.below(3) == 0 ? 0 : 1 + random.below(40);
      const std::size_t own = random.below(5);
      if (count > 0) ++round;
      std::vector<TakenRecord> expected;
      std::vector<SlotAndValue> records;
      for (std::uint32_t slot = 0; slot < count; ++slot) {
        records.push_back({slot, static_cast<std::uint32_t>(random.bits())});
        expected.push_back({1, slot, records.back().value});
      }
      for (std::size_t slot = 0; slot < own; ++slot) expected.push_back({0, slot, static_cast<std::uint32_t>(slot)});
      f.open({0, own}, {own, count});
      for (std::size_t at = 0; at < records.size();) {
        const std::size_t piece = std::min<std::size_t>(1 + random.below(9), records.size() - at);
        comm::detail::Bytes message = comm::detail::to_bytes(RoundHeader{round, static_cast<std::uint32_t>(count)});
        for (std::size_t i = 0; i < piece; ++i) comm::detail::append(message, records[at++]);
        f.wire->incoming.emplace_back(1, std::move(message));
      }
      f.taken.clear();
      for (std::size_t slot = own; slot-- > 0;) f.stream.send(1, slot, static_cast<std::uint32_t>(slot));
      ASSERT_EQ(f.take(), 0U);
      f.stream.finish();
      const auto order = [](const TakenRecord& a, const TakenRecord& b) {
        return std::tie(a.arc, a.slot) < std::tie(b.arc, b.slot);
      };
      std::sort(f.taken.begin(), f.taken.end(), order);
      std::sort(expected.begin(), expected.end(), order);
      ASSERT_EQ(f.taken, expected) << "seed " << seed << ", turn " << turn;
    }
  }
}

}  // namespace
