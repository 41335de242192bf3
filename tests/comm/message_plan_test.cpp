/// Tests of the Plan and the Segment over messages, with a test that plays the neighbours: chunks, two stages in
/// flight, chunks of a later pull, logs and replies.
#include <gtest/gtest.h>

#include <numeric>

#include "merganser/base/random.hpp"
#include "tests/comm/fake_link.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Graph;
using comm::Pattern;
using comm::Plan;
using comm::detail::Bytes;

using Words = std::vector<std::uint32_t>;

/// What a callback of a Plan gets.
struct Chunk {
  std::size_t arc;
  std::size_t first;
  Words words;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

/// Plan of rank 2 with arcs to ranks 5 and 2, and from ranks 2 and 0.
struct PlanFixture {
  PlanFixture(Pattern pattern, std::size_t chunk)
      : plan(comm::detail::message_plan(place.place(2, "Plan 4"), Graph{{5, 2}, {2, 0}},
                                        std::make_unique<FakeLink>(wire), std::move(pattern),
                                        {.element_bytes = 4, .chunk_elements = chunk})) {}

  void pull(const Words& local) {
    chunks.clear();
    plan->pull(std::as_bytes(std::span(local)), [&](const Plan::Chunk& c) {
      Words words(c.data.size() / 4);
      std::memcpy(words.data(), c.data.data(), c.data.size());
      chunks.push_back({c.arc, c.first, std::move(words)});
    });
  }
  [[nodiscard]] std::vector<Words> sent() const {
    std::vector<Words> all;
    for (const auto& [arc, message] : wire->sent) {
      EXPECT_EQ(arc, 0U) << "what a rank sends itself must not leave";
      all.emplace_back(message.size() / 4);
      std::memcpy(all.back().data(), message.data(), message.size());
    }
    return all;
  }

  std::shared_ptr<FakeWire> wire = std::make_shared<FakeWire>();
  FakePlace place;
  std::unique_ptr<Plan> plan;
  std::vector<Chunk> chunks;
};

TEST(MessagePlanTest, elements_leave_in_chunks_in_the_order_of_the_pattern) {
  PlanFixture f({{{4, 0, 4, 2, 1}, {}}, {0, 0}}, 2);
  f.pull({100, 101, 102, 103, 104});
  EXPECT_EQ(f.sent(), (std::vector<Words>{{104, 100}, {104, 102}, {101}}));
  EXPECT_EQ(f.place.counters.messages, 3);
  EXPECT_EQ(f.place.counters.bytes, 20);
}

TEST(MessagePlanTest, own_elements_come_in_chunks_too_and_are_not_counted) {
  PlanFixture f({{{}, {2, 1, 0}}, {3, 0}}, 2);
  f.pull({7, 8, 9});
  EXPECT_EQ(f.chunks, (std::vector<Chunk>{{0, 0, {9, 8}}, {0, 2, {7}}}));
  EXPECT_TRUE(f.sent().empty());
  EXPECT_EQ(f.place.counters, comm::Counters());
  PlanFixture both({{{1}, {0, 2}}, {2, 0}}, 2);  // with a neighbour that is sent to as well
  both.pull({7, 8, 9});
  EXPECT_EQ(both.chunks, (std::vector<Chunk>{{0, 0, {7, 9}}}));
  EXPECT_EQ(both.sent(), std::vector<Words>{{8}});
}

TEST(MessagePlanTest, chunks_come_with_their_places_and_those_of_the_next_pull_wait) {
  PlanFixture f({{{}, {}}, {0, 3}}, 2);
  f.wire->arrive(1, 10U, 11U);
  f.wire->arrive(1, 12U);
  f.pull({});
  EXPECT_EQ(f.chunks, (std::vector<Chunk>{{1, 0, {10, 11}}, {1, 2, {12}}}));
  f.wire->polls_until_sent = 0;
  f.wire->arrive(1, 20U, 21U);
  f.wire->arrive(1, 22U);
  f.pull({});
  EXPECT_EQ(f.chunks, (std::vector<Chunk>{{1, 0, {20, 21}}, {1, 2, {22}}}));
}

TEST(MessagePlanTest, a_neighbour_that_is_pulls_ahead_while_this_rank_still_sends) {
  PlanFixture f({{{0}, {}}, {0, 2}}, 1);
  f.wire->polls_until_sent = 6;
  f.wire->when_idle = [] {};
  for (const std::uint32_t value : {10U, 11U, 20U, 21U, 30U, 31U}) f.wire->arrive(1, value);
  f.pull({1});
  EXPECT_EQ(f.chunks, (std::vector<Chunk>{{1, 0, {10}}, {1, 1, {11}}}));
  EXPECT_TRUE(f.wire->incoming.empty()) << "a rank that waits for its sends must keep receiving";
  f.pull({2});
  EXPECT_EQ(f.chunks, (std::vector<Chunk>{{1, 0, {20}}, {1, 1, {21}}}));
  f.pull({3});
  EXPECT_EQ(f.chunks, (std::vector<Chunk>{{1, 0, {30}}, {1, 1, {31}}}));
  EXPECT_EQ(f.sent(), (std::vector<Words>{{1}, {2}, {3}}));
}

TEST(MessagePlanTest, buffers_of_chunks_are_not_used_again_before_they_have_left) {
  constexpr std::size_t kElements = 23;
  std::vector<std::size_t> all(kElements);
  std::iota(all.begin(), all.end(), std::size_t{0});
  PlanFixture f({{all, {}}, {0, 0}}, 3);
  for (std::uint32_t round = 1; round <= 3; ++round) {
    Words local(kElements);
    std::iota(local.begin(), local.end(), 100 * round);
    f.wire->when_idle = [] {};
    f.wire->polls_until_sent = 5;
    f.wire->sent.clear();
    f.pull(local);
    Words came;
    for (const Words& chunk : f.sent()) came.insert(came.end(), chunk.begin(), chunk.end());
    EXPECT_EQ(came, local);
  }
}

TEST(MessagePlanTest, an_element_that_is_not_there_is_refused_before_anything_leaves) {
  PlanFixture f({{{1}, {2}}, {1, 0}}, 4);
  EXPECT_EQ(refusal<CommError>([&] { f.pull({1, 2}); }), "Plan::pull: the pattern sends element 2, but there are 2");
  EXPECT_TRUE(f.sent().empty() && f.chunks.empty());
  f.pull({1, 2, 3});
  EXPECT_EQ(f.chunks, (std::vector<Chunk>{{0, 0, {3}}}));
  f.place.liveness->end();
  EXPECT_NE(refusal<CommError>([&] { f.pull({1, 2, 3}); }).find("Plan::pull: the run that"), std::string::npos);
}

/// Segment of rank 1 of 6 words of 4 bytes, with out-neighbours 4 (of 9 words) and 1, in-neighbours 1 and 0; what it logs
/// passes through one wire, what it replies through another.
struct MessageSegmentFixture {
  MessageSegmentFixture() {
    comm::detail::SegmentLogs logs;
    logs.scratch = scratch;
    const auto quiet = [&](const char* name) {
      return comm::detail::Place{1, scratch.get(), nullptr, place.liveness, name};
    };
    logs.forward = std::make_unique<comm::detail::MessageMailbox>(quiet("f"), Graph{{4, 1}, {1, 0}},
                                                                  std::make_unique<FakeLink>(out));
    logs.backward = std::make_unique<comm::detail::MessageMailbox>(quiet("b"), Graph{{1, 0}, {4, 1}},
                                                                   std::make_unique<FakeLink>(back));
    logs.remote_words = {9, 6};
    logs.any = [this](bool mine) {
      reduced.push_back(mine);
      return true;
    };
    body = comm::detail::message_segment(place.place(1, "Segment 3"), std::move(logs), 6, 4, Bytes(24));
  }
  Words words() {
    Words all(6);
    std::memcpy(all.data(), body->local(), 24);
    return all;
  }

  std::shared_ptr<FakeWire> out = std::make_shared<FakeWire>();
  std::shared_ptr<FakeWire> back = std::make_shared<FakeWire>();
  std::shared_ptr<comm::Counters> scratch = std::make_shared<comm::Counters>();
  FakePlace place;
  std::vector<bool> reduced;
  std::unique_ptr<comm::SegmentBody> body;
};

/// Entry of a log, as in message_segment.cpp: index and kind (0 put, 1 get, 2 or) in one word, then the operand.
struct Entry {
  std::uint64_t index_and_kind;
  std::uint64_t operand;
};
Entry put_entry(std::uint64_t index, std::uint64_t word) { return {4 * index, word}; }
Entry get_entry(std::uint64_t index, std::uint64_t words) { return {4 * index + 1, words}; }
Entry or_entry(std::uint64_t index, std::uint64_t word) { return {4 * index + 2, word}; }

TEST(MessageSegmentTest, operations_are_logged_and_replies_fill_what_was_asked_for) {
  MessageSegmentFixture f;
  const std::uint32_t value = 0xFFFFFFFF;
  const std::uint32_t bits = 6;
  Words got(3, 1);
  std::uint32_t old = 1;
  f.body->put(4, 8, &value);
  f.body->get(4, 6, 3, got.data());
  f.body->fetch_or(4, 0, &bits, &old);
  f.body->get(4, 9, 0, nullptr);
  f.out->arrive(1, put_entry(0, 5));
  f.back->arrive(0, 60U, 61U, 62U, 77U);
  f.body->sync();
  FakeWire expected;
  expected.arrive(0, put_entry(8, 0xFFFFFFFF), get_entry(6, 3), or_entry(0, 6), get_entry(9, 0));
  EXPECT_EQ(f.out->sent.at(0), expected.incoming[0]);
  EXPECT_EQ(got, (Words{60, 61, 62}));
  EXPECT_EQ(old, 77U);
  EXPECT_EQ(f.words(), (Words{5, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(f.back->sent.empty()) << "rank 0 has asked for nothing";
  got = {1, 1, 1};
  f.out->arrive(1);
  f.body->sync();  // asks for nothing, so that nothing comes
  EXPECT_EQ(got, (Words{1, 1, 1}));
}

TEST(MessageSegmentTest, logs_of_others_are_applied_in_their_order_and_answered) {
  MessageSegmentFixture f;
  f.out->arrive(1, put_entry(1, 3), or_entry(1, 4), get_entry(0, 3), put_entry(1, 9), get_entry(1, 1));
  f.body->sync();
  FakeWire expected;
  expected.arrive(1, 3U, 0U, 7U, 0U, 9U);
  ASSERT_EQ(f.back->sent.size(), 1U);
  EXPECT_EQ(f.back->sent[0], expected.incoming[0]);
  EXPECT_EQ(f.words(), (Words{0, 9, 0, 0, 0, 0}));
  f.out->arrive(1);
  f.body->sync();
  EXPECT_EQ(f.back->sent.size(), 1U) << "a phase without questions has no replies";
}

TEST(MessageSegmentTest, own_words_are_written_at_once_and_nothing_is_counted) {
  MessageSegmentFixture f;
  std::uint32_t word = 12;
  std::uint32_t old = 99;
  Words got(2);
  f.body->put(1, 5, &word);
  word = 3;
  f.body->fetch_or(1, 5, &word, &old);
  f.body->get(1, 4, 2, got.data());
  EXPECT_EQ(old, 12U);
  EXPECT_EQ(got, (Words{0, 15}));
  EXPECT_EQ(f.place.counters, comm::Counters());
}

TEST(MessageSegmentTest, counts_words_and_bytes_and_the_messages_that_carry_them) {
  MessageSegmentFixture f;
  const std::uint32_t word = 1;
  Words got(4);
  std::uint32_t old = 0;
  f.body->put(4, 0, &word);
  f.body->get(4, 0, 4, got.data());
  f.body->fetch_or(4, 1, &word, &old);
  f.out->arrive(1, get_entry(0, 2));
  f.back->arrive(0, 0U, 0U, 0U, 0U, 0U);
  f.body->sync();
  comm::Counters expected;
  expected.puts = 2;
  expected.gets = 5;
  expected.bytes = 8;
  expected.bytes_got = 20;
  expected.syncs = 1;
  expected.messages = 2;  // a log to rank 4 and a reply to rank 0
  EXPECT_EQ(f.place.counters, expected);
  EXPECT_EQ(f.place.traffic.peer(4)[comm::Move::message].operations, 1);
  EXPECT_EQ(f.place.traffic.peer(4)[comm::Move::message].bytes, 0);
  EXPECT_EQ(f.place.traffic.peer(0)[comm::Move::message].operations, 1);
  EXPECT_EQ(f.place.traffic.peer(4)[comm::Move::get].operations, 2);
  f.body->put(4, 0, &word);
  f.out->arrive(1);
  f.body->sync();
  EXPECT_EQ(f.place.counters.messages, 3);
}

TEST(MessageSegmentTest, a_sync_of_all_ranks_is_a_sync_and_a_reduction) {
  MessageSegmentFixture f;
  f.out->arrive(1, put_entry(3, 8));
  EXPECT_TRUE(f.body->sync_any(false));
  EXPECT_EQ(f.reduced, std::vector<bool>{false});
  EXPECT_EQ(f.words()[3], 8U);
  EXPECT_EQ(f.place.counters.collectives, 1);
  EXPECT_EQ(f.place.counters.syncs, 1);
}

TEST(MessageSegmentTest, targets_that_are_not_there_are_refused_with_what_there_is) {
  MessageSegmentFixture f;
  const std::uint32_t word = 1;
  const auto put = [&](int rank, std::size_t index) {
    return refusal<CommError>([&] { f.body->put(rank, index, &word); });
  };
  EXPECT_EQ(put(4, 9), "Segment: 1 words from word 9 on asked of rank 4, which has 9");
  EXPECT_EQ(put(1, 6), "Segment: 1 words from word 6 on asked of rank 1, which has 6");
  EXPECT_EQ(put(0, 0), "Segment: rank 0 is no out-neighbour of rank 1");
  EXPECT_EQ(refusal<CommError>([&] { f.body->get(4, 8, 2, nullptr); }),
            "Segment: 2 words from word 8 on asked of rank 4, which has 9");
  EXPECT_EQ(f.place.counters, comm::Counters());
  EXPECT_NO_THROW(comm::detail::check_words(0, 0, 9, 9));
  EXPECT_NO_THROW(comm::detail::check_words(0, 9, 0, 9));
  EXPECT_THROW(comm::detail::check_words(0, 10, 0, 9), CommError);
  EXPECT_THROW(comm::detail::check_words(0, 1, SIZE_MAX, 9), CommError);
}

}  // namespace
