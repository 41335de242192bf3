/// Tests of calls that break the communication contract: each throws, on every rank that makes it, with a message that gives
/// what is allowed, and the ranks can continue.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/kernels/gather.hpp"
#include "src/comm/detail/transport_base.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Transport;
using namespace merganser::test;

constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kNone = 99;

const auto kDrop = [](std::size_t, std::size_t, std::uint32_t) {};

struct Misuse {
  const char* name;
  const char* message;  // part of it
  void (*body)(Transport&);
};

std::vector<Misuse> mailboxes() {
  return {
      {"post_to_no_arc", "out-arc 99; allowed: 0 to 0", [](Transport& t) { t.mailbox(ring(t))->post(kNone, 1); }},
      {"outbox_of_no_arc", "out-arc 1; allowed: 0 to 0", [](Transport& t) { (void)t.mailbox(ring(t))->outbox(1); }},
      {"outbox_where_there_is_none", "out-arc 0; there is none", [](Transport& t) { (void)t.mailbox({})->outbox(0); }},
      {"inbox_of_no_arc", "in-arc 7; allowed: 0 to 0", [](Transport& t) { (void)t.mailbox(ring(t))->inbox(7); }},
      {"records_of_no_arc", "in-arc 7", [](Transport& t) { (void)t.mailbox(ring(t))->records<int>(7); }},
      {"records_that_do_not_fit", "does not hold whole records of 8",
       [](Transport& t) {
         const auto box = t.mailbox(ring(t));
         box->post(0, std::uint32_t{1});
         box->step();
         (void)box->records<std::uint64_t>(0);
       }},
      {"marks_for_other_arcs", "2 out- and 1 in-arcs marked; the graph has 1 and 1",
       [](Transport& t) {
         const std::vector<std::uint8_t> two(2, 1);
         t.mailbox(ring(t))->step(two, std::span(two).first(1));
       }},
      {"no_marks", "0 out- and 0 in-arcs marked", [](Transport& t) { t.mailbox(ring(t))->step({}, {}); }},
      {"a_message_on_an_arc_that_is_not_active", "but its arc is not active",
       [](Transport& t) {
         const std::vector<std::uint8_t> none(1, 0);
         const auto box = t.mailbox(ring(t));
         box->post(0, 1);
         box->step(none, none);
       }},
      {"a_neighbour_below_0", "out-neighbour -1; allowed: 0 to",
       [](Transport& t) {
         (void)t.mailbox({{-1}, {}});
       }},
      {"a_neighbour_beyond_the_last", "in-neighbour",
       [](Transport& t) {
         (void)t.mailbox({{}, {t.size()}});
       }},
      {"a_neighbour_far_beyond_the_last", "in-neighbour 2147483647; allowed: 0 to",
       [](Transport& t) {
         (void)t.mailbox({{}, {std::numeric_limits<int>::max()}});
       }},
      {"a_neighbour_named_twice", "out-neighbour 0 is there twice",
       [](Transport& t) {
         (void)t.mailbox({{0, 0}, {}});
       }},
      {"an_arc_that_its_target_does_not_know", "graph: ",
       [](Transport& t) {
         (void)t.mailbox(t.rank() == 0 ? comm::Graph{{t.size() - 1}, {}} : comm::Graph{});
       }},
  };
}

std::vector<Misuse> segments() {
  return {
      {"a_put_beyond_the_words", "1 words from word 3 on",
       [](Transport& t) { t.segment<std::uint64_t>(ring(t), 3).put((t.rank() + 1) % t.size(), 3, 1); }},
      {"a_put_at_the_largest_index", "1 words from word 18446744073709551615 on",
       [](Transport& t) { t.segment<std::uint64_t>(ring(t), 3).put((t.rank() + 1) % t.size(), kHuge, 1); }},
      {"a_get_whose_end_wraps_around", "words from word 2 on",
       [](Transport& t) {
         std::uint32_t to = 0;
         t.segment<std::uint32_t>(ring(t), 3).get((t.rank() + 1) % t.size(), 2, kHuge, &to);
       }},
      {"an_or_beyond_the_words", "which has 0",
       [](Transport& t) {
         std::uint32_t old = 0;
         t.segment<std::uint32_t>(ring(t), 0).fetch_or((t.rank() + 1) % t.size(), 0, 1, &old);
       }},
      {"a_put_to_a_rank_below_0", "rank -1 is no out-neighbour",
       [](Transport& t) { t.segment<std::uint64_t>(ring(t), 3).put(-1, 0, 1); }},
      {"a_put_to_a_rank_beyond_the_last", "is no out-neighbour",
       [](Transport& t) { t.segment<std::uint64_t>(ring(t), 3).put(t.size(), 0, 1); }},
      {"a_get_from_no_neighbour", "is no out-neighbour",
       [](Transport& t) {
         std::uint64_t to = 0;
         t.segment<std::uint64_t>({}, 3).get(t.rank() + 1, 0, 1, &to);
       }},
      {"words_beyond_all_memory", "Segment: number of words is 2305843009213693952; allowed: 0 to",
       [](Transport& t) { (void)t.segment<std::uint64_t>(ring(t), std::size_t{1} << 61); }},
      {"words_of_three_bytes", "Segment: words of 3 bytes; allowed: 4 and 8",
       [](Transport& t) { (void)t.segment_body(ring(t), 1, 3, comm::Epoch::lifetime); }},
      {"an_epoch_that_is_none", "Segment: epoch is 9; allowed",
       [](Transport& t) { (void)t.segment<std::uint64_t>(ring(t), 1, static_cast<comm::Epoch>(9)); }},
  };
}

std::vector<Misuse> streams() {
  return {
      {"a_record_before_a_round", "no round is open", [](Transport& t) { t.stream(ring(t), {})->send(0, 0, 1); }},
      {"a_record_along_no_arc", "there are 1 out-arcs",
       [](Transport& t) {
         const std::vector<std::size_t> one(1, 1);
         const auto stream = t.stream(ring(t), {});
         stream->open(one, one);
         stream->send(kNone, 0, 1);
       }},
      {"a_record_in_no_slot", "this round has 1 records on this arc",
       [](Transport& t) {
         const std::vector<std::size_t> one(1, 1);
         const auto stream = t.stream(ring(t), {});
         stream->open(one, one);
         stream->send(0, 1, 1);
       }},
      {"a_record_in_the_last_slot_of_all", "this round has 1 records on this arc",
       [](Transport& t) {
         const std::vector<std::size_t> one(1, 1);
         const auto stream = t.stream(ring(t), {});
         stream->open(one, one);
         stream->send(0, kHuge, 1);
       }},
      {"counts_for_other_arcs", "counts for 2 out- and 1 in-arcs; the graph has 1 and 1",
       [](Transport& t) {
         const std::vector<std::size_t> two(2, 0);
         t.stream(ring(t), {})->open(two, std::span(two).first(1));
       }},
      {"more_records_than_a_round_can_count", "4294967296 records on an arc; allowed: up to 4294967295",
       [](Transport& t) {
         const std::vector<std::size_t> many(1, std::size_t{1} << 32);
         t.stream(ring(t), {})->open(many, many);
       }},
      {"an_end_before_all_is_sent", "records",
       [](Transport& t) {
         const std::vector<std::size_t> one(1, 1);
         const std::vector<std::size_t> none(1, 0);
         const auto stream = t.stream(ring(t), {});
         stream->open(one, none);
         stream->finish();
       }},
      {"an_end_before_all_is_taken", "have not been taken",
       [](Transport& t) {
         const std::vector<std::size_t> one(1, 1);
         const std::vector<std::size_t> none(1, 0);
         const auto stream = t.stream(ring(t), {});
         stream->open(none, one);
         stream->finish();
       }},
      {"a_round_within_a_round", "have not been taken",
       [](Transport& t) {
         const std::vector<std::size_t> one(1, 1);
         const std::vector<std::size_t> none(1, 0);
         const auto stream = t.stream(ring(t), {});
         stream->open(none, one);
         stream->open(none, one);
       }},
      {"more_slots_than_memory", "Stream: slots_per_arc is 18446744073709551615; allowed: 0 to",
       [](Transport& t) { (void)t.stream(ring(t), {.slots_per_arc = kHuge}); }},
      {"ends_that_count_differently", "sends 2 records in this round, but rank",
       [](Transport& t) {
         const std::vector<std::size_t> two(1, 2);
         const std::vector<std::size_t> five(1, 5);
         const auto stream = t.stream(ring(t), {});
         stream->open(two, five);
         for (std::size_t slot = 0; slot < 2; ++slot) stream->send(0, slot, 1);
         if (t.size() == 1) throw CommError("sends 2 records in this round, but rank 0 waits for itself");
         while (stream->take(kDrop) > 0) stream->wait();
       }},
  };
}

/// The ring's pattern: elements `out` along the arc, `in` of them come.
comm::Pattern pattern(std::vector<std::size_t> out, std::size_t in) { return {{std::move(out)}, {in}}; }

std::vector<Misuse> plans() {
  return {
      {"elements_of_no_bytes", "Plan: element_bytes is 0; allowed: 1 to",
       [](Transport& t) { (void)t.plan(ring(t), pattern({0}, 1), {.element_bytes = 0}); }},
      {"chunks_of_no_elements", "Plan: chunk_elements is 0; allowed: 1 to",
       [](Transport& t) { (void)t.plan(ring(t), pattern({0}, 1), {.chunk_elements = 0}); }},
      {"an_element_beyond_all_memory", "Plan: index of an element is 18446744073709551615; allowed: 0 to",
       [](Transport& t) { (void)t.plan(ring(t), pattern({kHuge}, 1), {}); }},
      {"elements_longer_than_memory", "Plan: element_bytes is 18446744073709551615; allowed: 1 to",
       [](Transport& t) { (void)t.plan(ring(t), pattern({0}, 1), {.element_bytes = kHuge}); }},
      {"a_pattern_for_other_arcs", "pattern for 1 out- and 0 in-arcs; the graph has 1 and 1",
       [](Transport& t) {
         (void)t.plan(ring(t), {{{0}}, {}}, {});
       }},
      {"ends_that_expect_other_numbers_of_elements", "sends 1 elements of 8 bytes",
       [](Transport& t) { (void)t.plan(ring(t), pattern({0}, 2), {}); }},
      {"an_element_that_is_not_there", "sends element 5, but there are 2",
       [](Transport& t) {
         const std::vector<std::byte> local(16);
         t.plan(ring(t), pattern({5}, 1), {})->pull(local, [](const comm::Plan::Chunk&) {});
       }},
  };
}

std::vector<Misuse> collectives() {
  return {
      {"messages_for_other_ranks", "all_to_all: messages for",
       [](Transport& t) {
         (void)t.all_to_all(std::vector<std::vector<std::byte>>(static_cast<std::size_t>(t.size()) + 1));
       }},
      {"a_reduction_that_is_none", "an unknown Op of 1 integers on rank 0; allowed: Op::sum, Op::min, Op::max",
       [](Transport& t) { (void)t.all_reduce(std::int64_t{1}, static_cast<comm::Op>(9)); }},
      {"reductions_that_differ", "all_reduce: sum of 1 integers on rank 0, but max of 1 integers on rank",
       [](Transport& t) {
         if (t.size() == 1) throw CommError("all_reduce: sum of 1 integers on rank 0, but max of 1 integers on rank 0");
         (void)t.all_reduce(std::int64_t{1}, t.rank() == t.size() - 1 ? comm::Op::max : comm::Op::sum);
       }},
      {"reductions_of_different_lengths", "all_reduce: sum of 1 doubles on rank 0",
       [](Transport& t) {
         if (t.size() == 1) throw CommError("all_reduce: sum of 1 doubles on rank 0");
         std::vector<double> values(t.rank() == 0 ? 1 : 2);
         t.all_reduce(values, comm::Op::sum);
       }},
      {"reductions_of_different_types", "but sum of 1 doubles on rank",
       [](Transport& t) {
         double value = 1;
         if (t.size() == 1) throw CommError("but sum of 1 doubles on rank 0");
         if (t.rank() == 0) (void)t.all_reduce(std::int64_t{1}, comm::Op::sum);
         if (t.rank() != 0) t.all_reduce({&value, 1}, comm::Op::sum);
       }},
      {"values_that_must_be_the_same", "things: depth is 0 on rank 0 and depth is 1 on rank",
       [](Transport& t) {
         if (t.size() == 1) throw CommError("things: depth is 0 on rank 0 and depth is 1 on rank 0");
         comm::check_uniform_across_ranks(t, "things",
                                          {{"width", "3"}, {"depth", std::to_string(t.rank() == t.size() - 1)}});
       }},
      {"a_gather_of_parts_beyond_all_bounds", "parts of more than 2147483647 bytes",
       [](Transport& t) { (void)kernels::make_gather(t, kernels::GatherKind::blocking, kHuge); }},
      {"a_gather_that_is_none", "GatherKind is 9; allowed: 0 to 2",
       [](Transport& t) { (void)kernels::make_gather(t, static_cast<kernels::GatherKind>(9), 8); }},
  };
}

std::vector<Misuse> all_misuses() {
  std::vector<Misuse> all;
  for (const auto& some : {mailboxes(), segments(), streams(), plans(), collectives()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class MisuseTest : public testing::TestWithParam<Setup> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MisuseTest);
INSTANTIATE_TEST_SUITE_P(Models, MisuseTest, testing::ValuesIn(setups({""}, {"checked", "chaos:3"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(MisuseTest, is_refused_with_a_message_on_every_rank_and_all_go_on) {
  for (const Misuse& misuse : all_misuses()) {
    SCOPED_TRACE(misuse.name);
    on_ranks(GetParam(), [&](Transport& t) {
      std::string message = "nothing was thrown";
      try {
        misuse.body(t);
      } catch (const Error& e) {
        message = e.what();
      }
      EXPECT_NE(message.find(misuse.message), std::string::npos) << misuse.name << ": " << message;
      if (t.size() > 1 && std::string(misuse.name).starts_with("reductions_that_")) {
        EXPECT_TRUE(comm::detail::was_agreed(CommError(message))) << "a rank that ends with it would end the job";
      }
      EXPECT_EQ(t.all_reduce(std::int64_t{1}, comm::Op::sum), t.size());
    });
  }
}

TEST_P(MisuseTest, chunks_longer_than_everything_are_one_chunk) {
  on_ranks(GetParam(), [](Transport& t) {
    const std::vector<std::byte> local(24, std::byte{5});
    const auto plan = t.plan(ring(t), pattern({2, 0}, 2), {.chunk_elements = std::numeric_limits<std::int64_t>::max()});
    std::size_t came = 0;
    plan->pull(local, [&](const comm::Plan::Chunk& chunk) { came += chunk.data.size(); });
    EXPECT_EQ(came, 16U);
  });
}

}  // namespace
