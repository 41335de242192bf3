/// Tests of the decorators: their list, the rules that they check before anything is sent, and each violation that
/// `checked` finds and an ordinary model may not; what `chaos` leaves as it is.
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/comm/open.hpp"
#include "src/comm/decorators/decorator.hpp"
#include "src/comm/decorators/decorators.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;
using comm::detail::parse_decorators;

const auto kForget = [](std::size_t, std::size_t, std::uint32_t) {};

TEST(ParseDecoratorsTest, names_and_seeds_come_in_their_order) {
  const auto list = parse_decorators("chaos:18446744073709551615,checked,,chaos:0,");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].name, "chaos");
  EXPECT_EQ(list[0].seed, ~std::uint64_t{0});
  EXPECT_EQ(list[1].name, "checked");
  EXPECT_EQ(list[2].seed, 0U);
  EXPECT_TRUE(parse_decorators("").empty());
  EXPECT_TRUE(parse_decorators(",").empty());
}

TEST(ParseDecoratorsTest, what_cannot_be_is_refused_with_what_is_allowed) {
  const auto why = [](const std::string& list) { return refusal<UsageError>([&] { (void)parse_decorators(list); }); };
  EXPECT_EQ(why("checked,Checked"), "unknown decorator 'Checked'; known: checked chaos:SEED");
  EXPECT_EQ(why("chaos"), "decorator 'chaos': a seed is needed, as in chaos:1");
  EXPECT_EQ(why("checked:3"), "decorator 'checked:3': takes no seed: checked");
  for (const std::string bad :
       {"chaos:", "chaos:-1", "chaos:1 ", "chaos: 1", "chaos:0x1", "chaos:18446744073709551616"})
    EXPECT_EQ(why(bad), "decorator '" + bad + "': the seed must be a number from 0 to 2^64 - 1");
}

TEST(DecoratorTest, shares_the_counters_and_the_identity_of_the_model) {
  for (const std::string list : {"checked", "chaos:4", "chaos:4,checked,chaos:5"}) {
    const auto t = comm::open_alone(list);
    EXPECT_EQ(t->name(), "threads");
    EXPECT_EQ(t->capabilities().checked, list.find("checked") != std::string::npos);
    EXPECT_TRUE(t->capabilities().sub_transports);
    t->barrier();
    (void)t->all_gather({});
    EXPECT_EQ(t->counters().collectives, 2) << list;
    const auto part = t->subset(true);
    EXPECT_EQ(part->capabilities().checked, t->capabilities().checked) << "a part has the decorators of the whole";
    EXPECT_EQ(t->subset(false), nullptr);
  }
}

TEST(SendRulesTest, each_slot_may_be_sent_once_in_a_round) {
  comm::detail::SendRules rules;
  const auto send = [&](std::size_t arc, std::size_t slot) {
    return refusal<CommError>([&] { rules.send(arc, slot); });
  };
  const std::string fine = "nothing was thrown";
  EXPECT_EQ(send(0, 0), "Stream::send: arc 0, slot 0, but no round is open");
  rules.open(std::vector<std::size_t>{2, 0});
  EXPECT_EQ(send(2, 0), "Stream::send: arc 2, slot 0, but there are 2 out-arcs");
  EXPECT_EQ(send(1, 0), "Stream::send: arc 1, slot 0, but this round has 0 records on this arc");
  EXPECT_EQ(send(0, 2), "Stream::send: arc 0, slot 2, but this round has 2 records on this arc");
  EXPECT_EQ(send(0, 1), fine);
  EXPECT_EQ(send(0, 1), "Stream::send: arc 0, slot 1 has been sent in this round");
  EXPECT_EQ(send(0, 0), fine);
  rules.close();
  EXPECT_EQ(send(0, 0), "Stream::send: arc 0, slot 0, but no round is open");
  rules.open(std::vector<std::size_t>{2, 1});
  EXPECT_EQ(send(0, 1), fine) << "marks are of one round";
  EXPECT_EQ(send(1, 0), fine);
}

TEST(WordLimitsTest, are_those_of_each_owner_and_gathering_them_is_not_counted) {
  on_ranks({"threads", 3, ""}, [](Transport& t) {
    const comm::detail::WordLimits limits(t, ring(t), static_cast<std::size_t>(t.rank()) + 4);
    EXPECT_EQ(t.counters(), comm::Counters());
    const int next = (t.rank() + 1) % 3;
    const int other = (t.rank() + 2) % 3;
    const auto check = [&](int rank, std::size_t index, std::size_t count) {
      return refusal<CommError>([&] { limits.check(rank, index, count); });
    };
    const auto words = [](int rank) { return static_cast<std::size_t>(rank) + 4; };
    EXPECT_EQ(check(next, 0, words(next)), "nothing was thrown");
    EXPECT_EQ(check(t.rank(), words(t.rank()) - 1, 1), "nothing was thrown");
    EXPECT_EQ(check(next, 1, words(next)), "Segment: " + std::to_string(words(next)) +
                                               " words from word 1 on asked of rank " + std::to_string(next) +
                                               ", which has " + std::to_string(words(next)));
    for (const int rank : {other, -1, 3})
      EXPECT_EQ(check(rank, 0, 1),
                "Segment: rank " + std::to_string(rank) + " is no out-neighbour of rank " + std::to_string(t.rank()));
  });
}

/// What run() throws when so many checked ranks run `body`; empty if nothing.
std::string checked_complaint(int ranks, const std::function<void(Transport&)>& body) {
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = ranks;
  options.decorators = "checked";
  const std::string what = refusal<CommError>([&] { comm::run(options, body); });
  return what == "nothing was thrown" ? "" : what;
}

TEST(CheckedDecoratorTest, a_wave_that_one_end_has_left_out_is_found_by_its_number) {
  // Rank 0 has sent 1 in a wave of its own before, which rank 1 marks later as another one.
  const auto what = checked_complaint(2, [](Transport& t) {
    const auto box = t.mailbox(complete(t));  // arc 0 leads to the rank itself, arc 1 to the other
    const std::vector<std::uint8_t> to_other{0, 1};
    const std::vector<std::uint8_t> none{0, 0};
    if (t.rank() == 0) box->step(to_other, none);
    box->step();
  });
  EXPECT_EQ(
      what,
      "Mailbox::step: the message from rank 0 to rank 1 belongs to a partial wave, but this wave is full: the ends of "
      "the arc have not marked it in the same waves");
}

TEST(CheckedDecoratorTest, messages_keep_their_bytes_and_alignment_behind_the_header) {
  EXPECT_EQ(checked_complaint(2,
                              [](Transport& t) {
                                const auto box = t.mailbox(complete(t));
                                for (int wave = 0; wave < 5; ++wave) {
                                  box->post(1, 0.5 * wave);
                                  box->step();
                                  ASSERT_EQ(box->records<double>(1).size(), 1U);
                                  EXPECT_EQ(box->records<double>(1)[0], 0.5 * wave);
                                  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(box->inbox(1).data()) % alignof(double),
                                            0U);
                                  EXPECT_TRUE(box->inbox(0).empty());
                                  EXPECT_TRUE(box->outbox(1).empty());
                                }
                                EXPECT_EQ(t.counters().messages, 5);
                                EXPECT_EQ(t.counters().bytes, 40) << "headers must not count";
                              }),
            "");
}

TEST(CheckedDecoratorTest, values_that_one_rank_puts_twice_differ_too) {
  const auto puts = [](std::uint64_t second, bool next_phase) {
    return checked_complaint(2, [=](Transport& t) {
      auto words = t.segment<std::uint64_t>(complete(t), 2);
      if (t.rank() == 0) words.put(1, 1, 3);
      if (next_phase) words.sync();
      if (t.rank() == 0) words.put(1, 1, second);
      words.sync();
    });
  };
  EXPECT_EQ(puts(3, false), "");
  EXPECT_EQ(puts(4, true), "");
  EXPECT_EQ(puts(4, false), "Segment: in one phase word 1 of rank 1 is put 0x3 by rank 0 and 0x4 by rank 0");
}

TEST(CheckedDecoratorTest, the_owner_s_own_operations_conflict_with_those_of_others) {
  EXPECT_EQ(checked_complaint(2,
                              [](Transport& t) {
                                auto words = t.segment<std::uint64_t>(complete(t), 2);
                                std::uint64_t old = 0;
                                if (t.rank() == 0) words.put(0, 1, 5);
                                if (t.rank() == 1) words.fetch_or(0, 1, 5, &old);
                                words.sync();
                              }),
            "Segment: in one phase word 1 of rank 0 is put and or-ed, by ranks 1 and 0");
  EXPECT_EQ(checked_complaint(2,
                              [](Transport& t) {
                                auto words = t.segment<std::uint64_t>(complete(t), 2);
                                std::uint64_t old = 0;
                                words.fetch_or(0, 0, 1U << t.rank(), &old);
                                words.put(0, 1, 7);
                                EXPECT_FALSE(words.sync_any(false));
                              }),
            "")
      << "ORs of different bits and puts of one value are allowed";
}

TEST(CheckedDecoratorTest, an_owner_may_write_a_word_that_it_has_put_itself) {
  EXPECT_EQ(checked_complaint(2,
                              [](Transport& t) {
                                auto words = t.segment<std::uint32_t>(complete(t), 1);
                                words.put(t.rank(), 0, 5);
                                words.local()[0] = 6;
                                words.sync();
                                EXPECT_EQ(words.local()[0], 6U);
                              }),
            "");
}

TEST(CheckedDecoratorTest, a_record_after_the_end_of_a_round_is_refused_by_every_decorator) {
  for (const std::string list : {"checked", "chaos:1"}) {
    const auto t = comm::open_alone(list);
    const auto stream = t->stream(ring(*t), {});
    const std::vector<std::size_t> one(1, 1);
    stream->open(one, one);
    stream->send(0, 0, 1);
    while (stream->take(kForget) > 0) stream->wait();
    stream->finish();
    EXPECT_EQ(refusal<CommError>([&] { stream->send(0, 0, 1); }), "Stream::send: arc 0, slot 0, but no round is open")
        << list;
  }
}

TEST(CheckedDecoratorTest, a_conflict_before_a_sync_of_all_ranks_is_found) {
  EXPECT_EQ(checked_complaint(2,
                              [](Transport& t) {
                                auto words = t.segment<std::uint32_t>(complete(t), 1);
                                words.put(0, 0, 10U + static_cast<std::uint32_t>(t.rank()));
                                (void)words.sync_any(true);
                              }),
            "Segment: in one phase word 0 of rank 0 is put 0xb by rank 1 and 0xa by rank 0");
}

TEST(CheckedDecoratorTest, a_word_that_its_owner_writes_in_the_next_phase_is_no_conflict) {
  EXPECT_EQ(checked_complaint(2,
                              [](Transport& t) {
                                auto words = t.segment<std::uint32_t>(complete(t), 1);
                                for (std::uint32_t phase = 1; phase < 6; ++phase) {
                                  words.put(1 - t.rank(), 0, phase);
                                  words.sync();
                                  EXPECT_EQ(words.local()[0], phase);
                                  words.sync();
                                  words.local()[0] = 100 + phase;
                                  words.sync();
                                }
                              }),
            "");
}

TEST(CheckedDecoratorTest, results_come_with_the_sync_and_read_as_a_pattern_before) {
  EXPECT_EQ(checked_complaint(2,
                              [](Transport& t) {
                                auto words = t.segment<std::uint32_t>(complete(t), 3);
                                words.local()[2] = 7;
                                words.sync();
                                std::uint32_t got[2] = {1, 1};
                                std::uint32_t old = 1;
                                words.get(1 - t.rank(), 1, 2, got);
                                words.fetch_or(1 - t.rank(), 0, 4, &old);
                                EXPECT_EQ(got[0], 0xA5A5A5A5U);
                                EXPECT_EQ(old, 0xA5A5A5A5U);
                                words.sync();
                                EXPECT_EQ(got[0], 0U);
                                EXPECT_EQ(got[1], 7U);
                                EXPECT_EQ(old, 0U);
                                got[1] = 1;
                                words.sync();
                                EXPECT_EQ(got[1], 1U) << "a result is delivered once";
                              }),
            "");
}

/// Rounds that go to the next rank and to the one before in turns, with a step after every second one or without.
std::string rounds_in_turns(bool steps) {
  return checked_complaint(3, [=](Transport& t) {
    const auto box = t.mailbox(complete(t));
    const auto stream = t.stream(comm::Graph::symmetric({(t.rank() + 1) % 3, (t.rank() + 2) % 3}), {});
    for (std::size_t round = 0; round < 4; ++round) {
      const std::size_t arc = round % 2;
      std::vector<std::size_t> out(2, 0);
      std::vector<std::size_t> in(2, 0);
      out[arc] = 1;
      in[1 - arc] = 1;
      stream->open(out, in);
      stream->send(arc, 0, 5);
      while (stream->take(kForget) > 0) stream->wait();
      stream->finish();
      if (steps && arc == 1) box->step();
    }
  });
}

TEST(CheckedDecoratorTest, only_arcs_that_carry_records_need_a_step_between_two_rounds) {
  EXPECT_EQ(rounds_in_turns(true), "");
  EXPECT_NE(rounds_in_turns(false).find("carries a second round without a Mailbox step in between"), std::string::npos);
}

TEST(CheckedDecoratorTest, a_stream_that_waits_takes_no_record_from_the_callback) {
  EXPECT_EQ(checked_complaint(2,
                              [](Transport& t) {
                                const auto stream = t.stream(ring(t), {.slots_per_arc = 1});
                                const std::vector<std::size_t> three(1, 3);
                                stream->open(three, three);
                                for (std::size_t slot = 0; slot < 3; ++slot) stream->send(0, slot, 10);
                                std::multiset<std::size_t> slots;
                                stream->wait();
                                stream->wait();
                                while (stream->take([&](std::size_t arc, std::size_t slot, std::uint32_t value) {
                                  EXPECT_EQ(arc, 0U);
                                  EXPECT_EQ(value, 10U);
                                  slots.insert(slot);
                                }) > 0)
                                  stream->wait();
                                stream->finish();
                                EXPECT_EQ(slots, (std::multiset<std::size_t>{0, 1, 2}));
                              }),
            "");
}

TEST(ChaosDecoratorTest, a_wave_is_one_wave_however_it_is_split) {
  for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
    on_ranks({"threads", 3, std::string("chaos:") + seed}, [](Transport& t) {
      const auto box = t.mailbox(complete(t));
      const std::vector<std::uint8_t> all(3, 1);
      for (int wave = 1; wave <= 20; ++wave) {
        for (std::size_t arc = 0; arc < 3; ++arc) box->post(arc, t.rank() * 100 + wave);
        if (wave % 5 == 0) {
          box->step(all, all);
        } else {
          box->step();
        }
        EXPECT_EQ(t.counters().waves, wave);
        EXPECT_EQ(t.counters().messages, 2 * wave);
        for (std::size_t arc = 0; arc < 3; ++arc) {
          ASSERT_EQ(box->records<int>(arc).size(), 1U);
          EXPECT_EQ(box->records<int>(arc)[0], box->graph().in[arc] * 100 + wave);
          EXPECT_TRUE(box->outbox(arc).empty());
        }
      }
    });
  }
}

TEST(ChaosDecoratorTest, misuse_is_refused_at_the_call_though_operations_are_held_back) {
  const auto t = comm::open_alone("chaos:1");
  const auto stream = t->stream(ring(*t), {});
  const std::vector<std::size_t> two(1, 2);
  const auto send = [&](std::size_t slot) { return refusal<CommError>([&] { stream->send(0, slot, 1); }); };
  EXPECT_EQ(send(0), "Stream::send: arc 0, slot 0, but no round is open");
  stream->open(two, two);
  EXPECT_EQ(send(2), "Stream::send: arc 0, slot 2, but this round has 2 records on this arc");
  EXPECT_EQ(send(1), "nothing was thrown");
  EXPECT_EQ(send(1), "Stream::send: arc 0, slot 1 has been sent in this round");
  EXPECT_EQ(refusal<CommError>([&] { stream->finish(); }), "Stream::finish: 2 records have not been taken");
  stream->send(0, 0, 1);
  while (stream->take(kForget) > 0) stream->wait();
  stream->finish();
  auto words = t->segment<std::uint32_t>(ring(*t), 2);
  EXPECT_EQ(refusal<CommError>([&] { words.put(0, 2, 1); }),
            "Segment: 1 words from word 2 on asked of rank 0, which has 2");
  EXPECT_EQ(refusal<CommError>([&] { words.put(1, 0, 1); }), "Segment: rank 1 is no out-neighbour of rank 0");
}

TEST(ChaosDecoratorTest, every_element_of_a_plan_comes_once_in_pieces_of_whole_elements) {
  std::set<std::size_t> pieces;
  std::mutex mutex;
  on_ranks({"threads", 2, "chaos:9"}, [&](Transport& t) {
    const std::vector<std::size_t> elements{3, 1, 4, 1, 5, 9, 2, 6};
    const auto plan = t.plan(ring(t), {{elements}, {elements.size()}}, {.element_bytes = 4, .chunk_elements = 5});
    std::vector<std::uint32_t> local(10);
    for (std::uint32_t i = 0; i < 10; ++i) local[i] = 10 * static_cast<std::uint32_t>(t.rank()) + i;
    for (int pull = 0; pull < 10; ++pull) {
      std::vector<std::uint32_t> came(elements.size(), 99);
      plan->pull(std::as_bytes(std::span(local)), [&](const comm::Plan::Chunk& c) {
        ASSERT_EQ(c.arc, 0U);
        ASSERT_EQ(c.data.size() % 4, 0U);
        ASSERT_LE(c.first + c.data.size() / 4, came.size());
        for (std::size_t i = 0; i < c.data.size() / 4; ++i) EXPECT_EQ(came[c.first + i], 99U) << "twice";
        std::memcpy(came.data() + c.first, c.data.data(), c.data.size());
        const std::scoped_lock lock(mutex);
        pieces.insert(c.data.size() / 4);
      });
      for (std::size_t i = 0; i < came.size(); ++i)
        EXPECT_EQ(came[i], 10 * static_cast<std::uint32_t>(1 - t.rank()) + elements[i]);
    }
  });
  EXPECT_GT(pieces.size(), 2U) << "chunks were not cut";
  EXPECT_FALSE(pieces.contains(0));
}

}  // namespace
