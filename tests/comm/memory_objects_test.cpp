/// Tests of the Stream and the Segment in one-sided memory, with a test that plays the neighbours: what is put where
/// and after which completion, rounds that are ahead, wrong counts, the test of memory at start.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/comm/detail/one_sided.hpp"
#include "tests/comm/fake_link.hpp"
#include "tests/comm/fake_memory.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Graph;
using comm::detail::StreamSlots;

constexpr std::uint64_t kRound = std::uint64_t{1} << 32;

struct TakenSlot {
  std::size_t arc;
  std::size_t slot;
  std::uint32_t value;
  friend bool operator==(const TakenSlot&, const TakenSlot&) = default;
};

/// Stream of rank 0 to ranks 1 and 0, from ranks 0 and 1, with two slots for each arc. The slots of its arcs begin at 8
/// in its block, those that it puts into at 16 in the block of rank 1.
struct MemoryStreamFixture {
  MemoryStreamFixture() {
    auto memory = std::make_shared<FakeMemory>(blocks, 0, &calls);
    stream = comm::detail::memory_stream(place.place(0, "Stream 1"), Graph{{1, 0}, {0, 1}},
                                         std::make_unique<FakeLink>(wire), memory, StreamSlots{8, 2, {16, 8}});
  }
  std::size_t take() {
    return stream->take([&](std::size_t arc, std::size_t slot, std::uint32_t value) {
      taken.push_back({arc, slot, value});
    });
  }
  void open(std::vector<std::size_t> out, std::vector<std::size_t> in) { stream->open(out, in); }
  /// The word of the round of the arc from rank 1 (slot -1), and its slots.
  std::uint64_t& from_one(int slot) { return blocks->word(0, 8 + 24 + 8 * static_cast<std::size_t>(slot + 1)); }
  std::uint64_t& at_one(int slot) { return blocks->word(1, 16 + 8 * static_cast<std::size_t>(slot + 1)); }

  std::shared_ptr<FakeBlocks> blocks = std::make_shared<FakeBlocks>(std::vector<std::size_t>{64, 64}, 1);
  std::vector<std::string> calls;
  std::shared_ptr<FakeWire> wire = std::make_shared<FakeWire>();
  FakePlace place;
  std::unique_ptr<comm::Stream> stream;
  std::vector<TakenSlot> taken;
};

TEST(MemoryStreamTest, a_record_is_the_round_and_the_value_in_one_word) {
  MemoryStreamFixture f;
  for (std::uint64_t round = 1; round <= 2; ++round) {
    f.open({2, 0}, {0, 0});
    f.stream->send(0, 1, 0xFFFFFFFF);
    f.stream->send(0, 0, 5);
    EXPECT_EQ(f.take(), 0U);
    f.stream->finish();
    f.blocks->deliver(0, true);
    EXPECT_EQ(f.at_one(-1), round * kRound + 2);
    EXPECT_EQ(f.at_one(0), round * kRound + 5);
    EXPECT_EQ(f.at_one(1), round * kRound + 0xFFFFFFFF);
  }
  EXPECT_EQ(f.place.counters.puts, 4);
  EXPECT_EQ(f.place.counters.bytes, 32);
  EXPECT_EQ(f.place.counters.records, 4);
  EXPECT_TRUE(f.wire->sent.empty());
}

TEST(MemoryStreamTest, what_is_put_is_committed_before_a_rank_waits) {
  for (const bool waits : {true, false}) {
    MemoryStreamFixture f;
    f.open({1, 0}, {0, waits ? 1U : 0U});
    f.stream->send(0, 0, 5);
    f.calls.clear();
    if (waits) {
      f.wire->when_idle = [&] {
        EXPECT_EQ(std::count(f.calls.begin(), f.calls.end(), "commit"), 1);
        f.from_one(-1) = kRound + 1;
        f.from_one(0) = kRound + 1;
      };
      f.stream->wait();
      EXPECT_EQ(f.wire->idled, 1U);
    } else {
      f.stream->finish();
    }
    EXPECT_EQ(std::count(f.calls.begin(), f.calls.end(), "commit"), 1);
  }
}

TEST(MemoryStreamTest, slots_are_taken_when_their_round_has_come_and_only_once) {
  MemoryStreamFixture f;
  f.open({0, 0}, {0, 2});
  f.from_one(-1) = kRound + 2;
  EXPECT_EQ(f.take(), 2U);
  f.from_one(1) = kRound + 71;
  EXPECT_EQ(f.take(), 1U);
  EXPECT_EQ(f.take(), 1U);
  f.from_one(0) = kRound + 70;
  EXPECT_EQ(f.take(), 0U);
  f.stream->finish();
  EXPECT_EQ(f.taken, (std::vector<TakenSlot>{{1, 1, 71}, {1, 0, 70}}));
  f.open({0, 0}, {0, 2});  // the words of the first round are still there
  EXPECT_EQ(f.take(), 2U);
  f.from_one(-1) = 2 * kRound + 2;
  f.from_one(0) = 2 * kRound;
  f.from_one(1) = 2 * kRound + 1;
  EXPECT_EQ(f.take(), 0U);
  f.stream->finish();
  EXPECT_EQ(f.taken.size(), 4U);
}

TEST(MemoryStreamTest, records_beyond_the_slots_and_own_ones_go_by_message) {
  struct Record {
    std::uint32_t slot;
    std::uint32_t value;
  };
  MemoryStreamFixture f;
  f.open({3, 1}, {1, 3});
  f.stream->send(0, 2, 9);
  f.stream->send(1, 0, 4);
  f.stream->send(0, 1, 8);
  f.stream->send(0, 0, 7);
  f.from_one(-1) = kRound + 3;
  f.from_one(0) = kRound + 10;
  f.from_one(1) = kRound + 11;
  f.wire->arrive(1, Record{1, 3}, Record{2, 12});
  EXPECT_EQ(f.take(), 0U);
  f.stream->finish();
  EXPECT_EQ(f.taken, (std::vector<TakenSlot>{{1, 0, 10}, {1, 1, 11}, {0, 0, 4}, {1, 2, 12}}));
  FakeWire expected;
  expected.arrive(0, Record{1, 3}, Record{2, 9});
  ASSERT_EQ(f.wire->sent.size(), 1U);
  EXPECT_EQ(f.wire->sent[0], expected.incoming[0]);
  EXPECT_EQ(f.place.counters.puts, 2);
  EXPECT_EQ(f.place.counters.messages, 1);
  for (const std::string& call : f.calls)
    EXPECT_FALSE(call.starts_with("put_word 0 ")) << "its own records are no puts";
}

TEST(MemoryStreamTest, messages_are_polled_for_if_either_end_has_more_records_than_slots) {
  MemoryStreamFixture in;
  in.open({1, 0}, {0, 3});
  in.stream->send(0, 0, 5);
  in.from_one(-1) = kRound + 3;
  in.from_one(0) = kRound + 10;
  in.from_one(1) = kRound + 11;
  in.wire->arrive(1, std::uint32_t{1}, std::uint32_t{3}, std::uint32_t{2}, std::uint32_t{12});
  EXPECT_EQ(in.take(), 0U);
  EXPECT_EQ(in.taken.size(), 3U);
  in.stream->finish();
  MemoryStreamFixture out;
  out.open({3, 0}, {0, 1});
  for (const std::size_t slot : {0U, 1U, 2U}) out.stream->send(0, slot, 5);
  EXPECT_EQ(out.take(), 1U);
  EXPECT_EQ(out.wire->sent.size(), 1U) << "the record beyond the slots has left";
  EXPECT_GT(std::count(out.calls.begin(), out.calls.end(), "progress"), 0) << "nothing has come, so the library works";
}

TEST(MemoryStreamTest, a_sender_may_begin_its_next_round_when_all_records_are_taken) {
  MemoryStreamFixture f;
  f.open({0, 0}, {0, 1});
  f.from_one(-1) = kRound + 1;
  f.from_one(0) = kRound + 6;
  EXPECT_EQ(f.take(), 0U);
  f.from_one(-1) = 2 * kRound + 2;
  f.from_one(0) = 2 * kRound + 7;
  f.stream->finish();
  f.open({0, 0}, {0, 2});
  EXPECT_EQ(f.take(), 1U);
  EXPECT_EQ(f.taken, (std::vector<TakenSlot>{{1, 0, 6}, {1, 0, 7}}));
}

TEST(MemoryStreamTest, counts_that_differ_and_rounds_that_are_ahead_are_refused) {
  const auto refused = [](std::uint64_t round_word, std::uint64_t slot_word, std::size_t expected) {
    MemoryStreamFixture f;
    f.open({0, 0}, {0, expected});
    f.from_one(-1) = round_word;
    f.from_one(0) = slot_word;
    return refusal<CommError>([&] {
      f.stream->wait();
      (void)f.take();
      f.stream->finish();
    });
  };
  const std::string ahead =
      "Stream: rank 1 has sent records of its next round over records not taken on rank 0; rounds must be separated by "
      "a "
      "Mailbox step";
  EXPECT_EQ(refused(kRound + 2, kRound, 1), "Stream: rank 1 sends 2 records in this round, but rank 0 expects 1");
  EXPECT_EQ(refused(2 * kRound + 1, kRound, 1), ahead);
  EXPECT_EQ(refused(0, 2 * kRound, 1), "the object waits for a message that nobody sends");
  EXPECT_EQ(refused(kRound + 1, kRound, 1), "nothing was thrown");
  MemoryStreamFixture f;
  f.open({0, 0}, {0, 1});
  f.from_one(0) = 2 * kRound;  // the word of the round is late
  EXPECT_EQ(refusal<CommError>([&] { (void)f.take(); }), ahead);
}

TEST(MemoryStreamTest, a_count_that_differs_is_found_at_the_end_too) {
  MemoryStreamFixture f;
  f.open({0, 0}, {0, 1});
  f.from_one(-1) = kRound + 1;
  f.from_one(0) = kRound + 1;
  EXPECT_EQ(f.take(), 0U);
  f.from_one(-1) = kRound + 2;
  EXPECT_EQ(refusal<CommError>([&] { f.stream->finish(); }),
            "Stream: rank 1 sends 2 records in this round, but rank 0 expects 1");
}

/// Segment of rank 1 of three words of 4 bytes, with neighbours 0 and 2: it puts into both, rank 2 into it.
struct MemorySegmentFixture {
  MemorySegmentFixture() {
    comm::detail::SegmentParts parts;
    parts.words = std::make_shared<FakeMemory>(words, 1, &calls, "words ");
    auto own = std::make_shared<FakeMemory>(control, 1, &calls, "control ");
    control_memory = own.get();
    parts.control = std::move(own);
    parts.remote_words = {5, 2};
    parts.neighbours = {0, 2};
    parts.their_place = {8, 16};
    parts.any = [this](bool mine) {
      calls.emplace_back(mine ? "any 1" : "any 0");
      return true;
    };
    body = comm::detail::memory_segment(place.place(1, "Segment 6"), Graph{{2, 0}, {2}}, std::move(parts), 3, 4);
  }

  std::shared_ptr<FakeBlocks> words = std::make_shared<FakeBlocks>(std::vector<std::size_t>{16, 16, 24}, 2);
  std::shared_ptr<FakeBlocks> control = std::make_shared<FakeBlocks>(std::vector<std::size_t>{24, 24, 24}, 3);
  std::vector<std::string> calls;
  FakeMemory* control_memory = nullptr;
  FakePlace place;
  std::unique_ptr<comm::SegmentBody> body;
};

using Calls = std::vector<std::string>;

TEST(MemorySegmentTest, a_sync_completes_the_words_before_it_says_so_and_waits_for_every_neighbour) {
  MemorySegmentFixture f;
  EXPECT_EQ(f.calls, Calls{"words begin_phase"});
  for (std::uint64_t phase = 1; phase <= 3; ++phase) {
    f.calls.clear();
    int polls = 0;
    f.control_memory->on_progress([&] {
      ++polls;
      if (polls == 2) f.control->word(1, 8) = phase + 1;  // rank 2 is a phase ahead
      if (polls == 4) f.control->word(1, 0) = phase;
      ASSERT_LT(polls, 5);
    });
    f.control->word(1, 8) = phase - 1;
    f.body->sync();
    EXPECT_EQ(polls, 4);
    std::erase(f.calls, "control progress");
    const std::string said = std::to_string(phase);
    EXPECT_EQ(f.calls,
              (Calls{"words complete", "words end_phase", "control put_word 0 8 " + said,
                     "control put_word 2 16 " + said, "control commit", "words progress", "words begin_phase"}));
    f.control->deliver(1, true);
    EXPECT_EQ(f.control->word(0, 8), phase);
    EXPECT_EQ(f.control->word(2, 16), phase);
  }
  EXPECT_EQ(f.place.counters.syncs, 3);
}

TEST(MemorySegmentTest, a_sync_of_all_ranks_reduces_after_the_words_are_complete) {
  MemorySegmentFixture f;
  f.calls.clear();
  EXPECT_TRUE(f.body->sync_any(true));
  EXPECT_EQ(f.calls, (Calls{"words complete", "words end_phase", "any 1", "words progress", "words begin_phase"}));
  EXPECT_EQ(f.place.counters.syncs, 1);
  EXPECT_EQ(f.place.counters.collectives, 1);
}

TEST(MemorySegmentTest, operations_go_to_the_words_of_their_owner) {
  MemorySegmentFixture f;
  const std::uint32_t word = 0xFFFFFFFE;
  std::uint32_t old = 7;
  std::uint32_t got[2] = {1, 1};
  f.body->put(2, 4, &word);
  f.body->put(1, 2, &word);  // its own
  f.body->get(0, 0, 2, got);
  f.body->get(0, 2, 0, nullptr);
  f.body->fetch_or(1, 2, &word, &old);
  EXPECT_EQ(old, word);
  EXPECT_EQ(f.calls, (Calls{"words begin_phase", "words put_word 2 16 4294967294", "words get 0 0 8",
                            "words fetch_or 1 8 4294967294"}));
  EXPECT_EQ(f.place.counters.puts, 1);
  EXPECT_EQ(f.place.counters.gets, 2);
  EXPECT_EQ(f.place.counters.bytes, 4);
  EXPECT_EQ(f.place.counters.bytes_got, 8);
  f.words->word(0, 0) = 0x0000000900000008;
  EXPECT_TRUE(f.body->sync_any(false));
  EXPECT_EQ(got[0], 8U);
  EXPECT_EQ(got[1], 9U);
}

TEST(MemorySegmentTest, words_that_are_not_there_are_refused_by_the_numbers_of_their_owner) {
  MemorySegmentFixture f;
  const std::uint32_t word = 1;
  const auto put = [&](int rank, std::size_t index) {
    return refusal<CommError>([&] { f.body->put(rank, index, &word); });
  };
  EXPECT_EQ(put(2, 5), "Segment: 1 words from word 5 on asked of rank 2, which has 5");
  EXPECT_EQ(put(0, 2), "Segment: 1 words from word 2 on asked of rank 0, which has 2");
  EXPECT_EQ(put(1, 3), "Segment: 1 words from word 3 on asked of rank 1, which has 3");
  EXPECT_EQ(put(3, 0), "Segment: rank 3 is no out-neighbour of rank 1");
  EXPECT_EQ(f.place.counters, comm::Counters());
}

/// Memory of one rank that is its own neighbour, with one fault.
class FaultyMemory final : public comm::detail::Memory {
 public:
  enum class Fault { none, half, whole, ored, got, old };
  explicit FaultyMemory(Fault fault) : fault_(fault) {}
  [[nodiscard]] std::byte* data() noexcept override { return reinterpret_cast<std::byte*>(words_.data()); }
  void put(int, std::size_t, const void*, std::size_t) override {}
  void put_word(int, std::size_t offset, std::uint64_t word, std::size_t bytes) override {
    if (fault_ == (bytes == 4 ? Fault::half : Fault::whole)) return;
    std::memcpy(data() + offset, &word, bytes);
  }
  void get(int, std::size_t offset, void* to, std::size_t bytes) override {
    if (fault_ != Fault::got) std::memcpy(to, data() + offset, bytes);
  }
  void fetch_or(int, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) override {
    if (fault_ != Fault::old) std::memcpy(old, data() + offset, bytes);
    if (fault_ != Fault::ored) std::memcpy(data() + offset, &operand, bytes);
  }
  void complete() override {}
  void progress() override {}
  void free() override {}

 private:
  Fault fault_;
  std::array<std::uint64_t, 3> words_{};
};

TEST(MemoryTest, each_fault_is_found_and_described) {
  using Fault = FaultyMemory::Fault;
  const auto found = [](Fault fault) {
    FaultyMemory memory(fault);
    int barriers = 0;
    const std::string text = comm::detail::test_memory(memory, 0, 1, [&] { ++barriers; });
    EXPECT_EQ(barriers, 2);
    return text;
  };
  const std::string where = " put by rank 0 into 24 bytes of remote memory is 0, expected is ";
  EXPECT_EQ(found(Fault::none), "");
  EXPECT_EQ(found(Fault::half), "half a word" + where + "16843009");
  EXPECT_EQ(found(Fault::ored), "a word ORed" + where + "72340172838076673");
  EXPECT_EQ(found(Fault::got), "a word got from rank 0 is 0, expected is 72340172838076673");
  EXPECT_EQ(found(Fault::old), "a word of rank 0 before it was ORed is 1, expected is 0");
  EXPECT_NE(found(Fault::whole).find("is 0, expected is 72340172838076673"), std::string::npos);
}

TEST(MemoryTest, blocks_of_the_test_differ_between_ranks) {
  EXPECT_EQ(comm::detail::memory_test_bytes(0), 24U);
  EXPECT_EQ(comm::detail::memory_test_bytes(5), 64U);
}

}  // namespace
