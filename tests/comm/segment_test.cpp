/// Contract tests of Segment, over every model.
#include <gtest/gtest.h>

#include <numeric>

#include "merganser/base/error.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using merganser::CommError;
using merganser::comm::Counters;
using merganser::comm::Epoch;
using merganser::comm::Transport;
using namespace merganser::test;

class SegmentTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, SegmentTest,
                         testing::ValuesIn(with_parts(setups({"", "checked,chaos:2"}, {"chaos:1", "checked"}))),
                         setup_name<testing::TestParamInfo<Setup>>);

constexpr Epoch kEpochs[] = {Epoch::lifetime, Epoch::per_phase, Epoch::per_operation};

template <class T>
void puts_are_visible_after_sync(Transport& t, Epoch epoch) {
  const auto ranks = static_cast<std::size_t>(t.size());
  const auto me = static_cast<std::size_t>(t.rank());
  auto segment = t.segment<T>(complete(t), ranks + 1, epoch);
  for (int phase = 1; phase <= 20; ++phase) {
    for (int to = 0; to < t.size(); ++to) segment.put(to, me, static_cast<T>(phase * 1000 + t.rank() * 10 + to));
    segment.sync();
    for (std::size_t from = 0; from < ranks; ++from) {
      ASSERT_EQ(segment.local()[from], static_cast<T>(phase * 1000 + static_cast<int>(from) * 10 + t.rank()));
    }
    EXPECT_EQ(segment.local()[ranks], T{0});
    segment.sync();  // reading is over before the next puts
  }
}

TEST_P(SegmentTest, puts_are_visible_after_sync_with_every_kind_of_epoch) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Epoch epoch : kEpochs) {
      puts_are_visible_after_sync<std::uint32_t>(t, epoch);
      puts_are_visible_after_sync<std::int64_t>(t, epoch);
    }
  });
}

TEST_P(SegmentTest, gets_deliver_what_the_owner_had_before_the_phase) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Epoch epoch : kEpochs) {
      auto segment = t.segment<std::uint64_t>(complete(t), 1000, epoch);
      for (int phase = 0; phase < 5; ++phase) {
        for (std::size_t i = 0; i < 1000; ++i)
          segment.local()[i] = i * 100 + static_cast<std::size_t>(t.rank() + phase);
        segment.sync();
        std::vector<std::vector<std::uint64_t>> got(static_cast<std::size_t>(t.size()),
                                                    std::vector<std::uint64_t>(998));
        std::vector<std::uint64_t> one(static_cast<std::size_t>(t.size()));
        for (int from = 0; from < t.size(); ++from) {
          segment.get(from, 1, 998, got[static_cast<std::size_t>(from)].data());
          segment.get(from, 999, 1, &one[static_cast<std::size_t>(from)]);
        }
        segment.sync();
        for (std::size_t from = 0; from < got.size(); ++from) {
          for (std::size_t i = 0; i < 998; ++i) {
            ASSERT_EQ(got[from][i], (i + 1) * 100 + from + static_cast<std::size_t>(phase));
          }
          ASSERT_EQ(one[from], 99900 + from + static_cast<std::size_t>(phase));
        }
      }
    }
  });
}

template <class T>
void bits_are_set_once(Transport& t, Epoch epoch) {
  // Everybody sets its own bit and a common one in a word of every rank: exactly one rank sees the common bit unset.
  auto segment = t.segment<T>(complete(t), 2, epoch);
  const T common = T{1} << 30;
  std::vector<T> old(static_cast<std::size_t>(t.size()));
  for (int to = 0; to < t.size(); ++to) {
    segment.fetch_or(to, 1, static_cast<T>(common | (T{1} << t.rank())), &old[static_cast<std::size_t>(to)]);
  }
  segment.sync();
  EXPECT_EQ(segment.local()[1], static_cast<T>(common | ((T{1} << t.size()) - 1)));
  EXPECT_EQ(segment.local()[0], T{0});
  std::vector<std::int64_t> firsts;
  for (const T before : old) firsts.push_back((before & common) == 0 ? 1 : 0);
  for (const T before : old) EXPECT_EQ(before & (T{1} << t.rank()), T{0});
  t.all_reduce(firsts, merganser::comm::Op::sum);
  for (const auto first : firsts) EXPECT_EQ(first, 1);
}

TEST_P(SegmentTest, fetch_or_is_atomic) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Epoch epoch : kEpochs) {
      for (int i = 0; i < 5; ++i) {
        bits_are_set_once<std::uint32_t>(t, epoch);
        bits_are_set_once<std::uint64_t>(t, epoch);
      }
    }
  });
}

TEST_P(SegmentTest, equal_puts_to_one_word_are_fine) {
  on_ranks(GetParam(), [](Transport& t) {
    auto segment = t.segment<std::uint32_t>(complete(t), 1);
    for (std::uint32_t phase = 1; phase < 10; ++phase) {
      for (int to = 0; to < t.size(); ++to) segment.put(to, 0, phase);
      segment.sync();
      ASSERT_EQ(segment.local()[0], phase);
      segment.sync();
    }
  });
}

TEST_P(SegmentTest, more_words_in_a_phase_than_have_copies_at_a_time) {
  constexpr std::size_t kWords =
      10000;  // the model rma keeps copies of 4,096 words until these have reached their targets
  on_ranks(GetParam(), [](Transport& t) {
    auto segment = t.segment<std::uint32_t>(ring(t), kWords);
    const int next = (t.rank() + 1) % t.size();
    const int last = (t.rank() + t.size() - 1) % t.size();
    for (std::size_t i = 0; i < kWords; ++i)
      segment.put(next, i, static_cast<std::uint32_t>(i + 20000 * static_cast<std::size_t>(t.rank())));
    segment.sync();
    for (std::size_t i = 0; i < kWords; ++i)
      ASSERT_EQ(segment.local()[i], i + 20000 * static_cast<std::size_t>(last)) << i;
  });
}

TEST_P(SegmentTest, a_phase_on_one_way_arcs_does_not_run_ahead) {
  on_ranks(GetParam(), [](Transport& t) {
    auto segment = t.segment<std::uint32_t>(ring(t), 1);
    const int next = (t.rank() + 1) % t.size();
    for (std::uint32_t phase = 1; phase < 200; ++phase) {
      segment.put(next, 0, phase);
      segment.sync();
      ASSERT_EQ(segment.local()[0], phase);
      segment.sync();
    }
  });
}

TEST_P(SegmentTest, sync_any_is_the_or_of_all_ranks_and_ends_the_phase) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Epoch epoch : kEpochs) {
      auto segment = t.segment<std::uint32_t>(ring(t), 1, epoch);
      EXPECT_FALSE(segment.sync_any(false));
      for (int who = 0; who < t.size(); ++who) {
        segment.put((t.rank() + 1) % t.size(), 0, static_cast<std::uint32_t>(who + 5));
        EXPECT_TRUE(segment.sync_any(t.rank() == who));
        ASSERT_EQ(segment.local()[0], static_cast<std::uint32_t>(who + 5));
        segment.sync();
      }
      EXPECT_FALSE(segment.sync_any(false));
      EXPECT_TRUE(segment.sync_any(true));
    }
  });
}

TEST_P(SegmentTest, sizes_may_differ_between_ranks) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto words = static_cast<std::size_t>(t.rank() * 100);
    auto segment = t.segment<std::uint64_t>(complete(t), words);
    EXPECT_EQ(segment.local().size(), words);
    for (int to = 1; to < t.size(); ++to) {
      segment.put(to, static_cast<std::size_t>(to * 100 - 1), 42);
      std::uint64_t old = 0;
      EXPECT_THROW(segment.put(to, static_cast<std::size_t>(to * 100), 1), CommError);
      EXPECT_THROW(segment.get(to, 1, static_cast<std::size_t>(to * 100), &old), CommError);
      EXPECT_THROW(segment.fetch_or(to, static_cast<std::size_t>(-1), 1, &old), CommError);
    }
    segment.sync();
    if (words > 0) {
      EXPECT_EQ(segment.local()[words - 1], 42U);
    }
    EXPECT_THROW(segment.put(t.size(), 0, 1), CommError);
  });
}

TEST_P(SegmentTest, counts_are_exact) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Epoch epoch : kEpochs) {
      auto segment = t.segment<std::uint32_t>(complete(t), 8, epoch);
      const Counters before = t.counters();
      std::uint32_t got[3];
      std::uint32_t old = 0;
      for (int to = 0; to < t.size(); ++to) {
        segment.put(to, 0, 1);
        segment.put(to, 0, 1);
        segment.get(to, 1, 3, got);
      }
      segment.fetch_or((t.rank() + 1) % t.size(), 4, 1, &old);
      segment.sync();
      const Counters made = t.counters() - before;
      const std::int64_t others = t.size() - 1;
      const std::int64_t one = t.size() > 1 ? 1 : 0;
      EXPECT_EQ(made.puts, 2 * others + one);
      EXPECT_EQ(made.gets, 3 * others + one);
      EXPECT_EQ(made.bytes, 4 * made.puts);
      EXPECT_EQ(made.bytes_got, 4 * made.gets);
      EXPECT_EQ(made.syncs, 1);
      EXPECT_EQ(made.waves, 0);
      EXPECT_EQ(made.collectives, 0);
      EXPECT_EQ(made.records, 0);
      if (t.name() != "rma") {
        EXPECT_EQ(made.epochs, 0);
      } else if (epoch == Epoch::per_operation) {
        EXPECT_EQ(made.epochs, 3 * others + 1);
      } else {
        EXPECT_EQ(made.epochs, epoch == Epoch::per_phase ? 1 : 0);
      }
    }
  });
}

TEST_P(SegmentTest, segments_come_and_go) {
  on_ranks(GetParam(), [](Transport& t) {
    std::vector<merganser::comm::Segment<std::uint64_t>> kept;
    for (std::size_t i = 0; i < 12; ++i) {
      kept.push_back(t.segment<std::uint64_t>(complete(t), 100'000));
      if (kept.size() > 2)
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>((i + static_cast<std::size_t>(t.rank())) % 2));
      for (const auto value : kept.back().local()) ASSERT_EQ(value, 0U);
      kept.back().sync();  // nobody puts before all have looked
      kept.back().put((t.rank() + 1) % t.size(), 99'999, i);
      kept.back().sync();
      ASSERT_EQ(kept.back().local()[99'999], i);
    }
  });
}

}  // namespace
