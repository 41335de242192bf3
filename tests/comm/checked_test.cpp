/// The decorator `checked` finds each violation of the contract that it promises to find.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Transport;
using namespace merganser::test;

/// What run() throws when two checked ranks run `body`; empty if nothing.
std::string complaint(const std::function<void(Transport&)>& body, const std::string& decorators = "checked") {
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 2;
  options.decorators = decorators;
  try {
    comm::run(options, body);
  } catch (const CommError& e) {
    return e.what();
  }
  return "";
}

::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

TEST(CheckedTest, two_values_put_to_one_word_in_a_phase_are_found) {
  const auto puts = [](std::uint32_t from_zero, std::uint32_t from_one) {
    return complaint([=](Transport& t) {
      auto words = t.segment<std::uint32_t>(complete(t), 4);
      words.put(0, 2, t.rank() == 0 ? from_zero : from_one);
      words.sync();
    });
  };
  EXPECT_EQ(puts(5, 5), "");
  EXPECT_TRUE(contains(puts(5, 6), "word 2 of rank 0 is put 0x6 by rank 1 and 0x5 by rank 0"));
}

TEST(CheckedTest, a_put_and_a_fetch_or_of_one_word_in_a_phase_are_found) {
  const auto what = complaint([](Transport& t) {
    auto words = t.segment<std::uint64_t>(complete(t), 1);
    std::uint64_t old = 0;
    if (t.rank() == 0) words.put(1, 0, 1);
    if (t.rank() == 1) words.fetch_or(1, 0, 1, &old);
    words.sync();
  });
  EXPECT_TRUE(contains(what, "word 0 of rank 1 is put and or-ed"));
}

TEST(CheckedTest, a_word_put_by_another_and_written_by_its_owner_is_found) {
  const auto what = complaint([](Transport& t) {
    auto words = t.segment<std::uint32_t>(complete(t), 1);
    if (t.rank() == 0) words.put(1, 0, 8);
    if (t.rank() == 1) words.local()[0] = 9;
    words.sync();
  });
  EXPECT_TRUE(contains(what, "word 0 of rank 1 is put by rank 0 and written by its owner"));
}

TEST(CheckedTest, what_a_get_asked_for_is_not_there_before_the_sync) {
  EXPECT_EQ(complaint([](Transport& t) {
              auto words = t.segment<std::uint32_t>(complete(t), 1);
              std::uint32_t got = 1;
              words.get(1 - t.rank(), 0, 1, &got);
              EXPECT_GT(got, 1U);  // a pattern nobody takes for a result
              words.sync();
              EXPECT_EQ(got, 0U);
            }),
            "");
}

TEST(CheckedTest, rounds_of_a_stream_without_a_step_in_between_are_found) {
  const auto rounds = [](bool step) {
    return complaint([step](Transport& t) {
      const auto box = t.mailbox(complete(t));
      const auto stream = t.stream(ring(t), {});
      const std::vector<std::size_t> one(1, 1);
      for (int round = 0; round < 2; ++round) {
        stream->open(one, one);
        stream->send(0, 0, 1);
        while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
        stream->finish();
        if (step) box->step();
      }
    });
  };
  EXPECT_EQ(rounds(true), "");
  EXPECT_TRUE(contains(rounds(false), "carries a second round without a Mailbox step in between"));
}

TEST(CheckedTest, a_slot_sent_twice_is_found) {
  const auto what = complaint([](Transport& t) {
    const auto stream = t.stream(ring(t), {});
    const std::vector<std::size_t> two(1, 2);
    stream->open(two, two);
    stream->send(0, 1, 1);
    stream->send(0, 1, 1);
  });
  EXPECT_TRUE(contains(what, "slot 1 has been sent in this round"));
}

TEST(CheckedTest, ends_that_count_records_differently_are_found) {
  const auto what = complaint([](Transport& t) {
    const auto stream = t.stream(ring(t), {});
    const std::vector<std::size_t> out(1, t.rank() == 0 ? 2 : 1);
    const std::vector<std::size_t> in(1, 1);
    stream->open(out, in);
    for (std::size_t slot = 0; slot < out[0]; ++slot) stream->send(0, slot, 1);
    while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
    stream->finish();
  });
  EXPECT_TRUE(contains(what, "sends 2 records in this round, but rank 1 expects 1"));
}

TEST(CheckedTest, a_wave_that_is_full_on_one_end_and_partial_on_the_other_is_found) {
  const auto what = complaint([](Transport& t) {
    const auto box = t.mailbox(complete(t));
    const std::vector<std::uint8_t> all(2, 1);
    if (t.rank() == 0) box->step();
    if (t.rank() == 1) box->step(all, all);
  });
  EXPECT_TRUE(contains(what, "the ends of the arc have not marked it in the same waves"));
}

TEST(CheckedTest, the_decorator_counts_as_if_it_were_not_there) {
  const auto counted = [](const std::string& decorators) {
    std::vector<comm::Counters> counters(2);
    EXPECT_EQ(complaint(
                  [&](Transport& t) {
                    const auto box = t.mailbox(complete(t));
                    const auto stream = t.stream(ring(t), {});
                    auto words = t.segment<std::uint64_t>(complete(t), 3);
                    const std::vector<std::size_t> counts(1, 5);
                    stream->open(counts, counts);
                    for (std::size_t slot = 0; slot < 5; ++slot) stream->send(0, slot, 1);
                    while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
                    stream->finish();
                    box->post(1, t.rank());
                    box->step();
                    words.put(1 - t.rank(), 0, 4);
                    words.sync();
                    auto& mine = counters[static_cast<std::size_t>(t.rank())];
                    mine = t.counters();
                  },
                  decorators),
              "");
    return counters;
  };
  EXPECT_EQ(counted("checked"), counted(""));
}

}  // namespace
