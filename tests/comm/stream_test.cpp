/// Contract tests of Stream, over every model.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "merganser/base/error.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using merganser::CommError;
using merganser::comm::Counters;
using merganser::comm::Graph;
using merganser::comm::Stream;
using merganser::comm::Transport;
using namespace merganser::test;

class StreamTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, StreamTest,
                         testing::ValuesIn(with_parts(setups({"", "checked,chaos:2"}, {"chaos:1", "checked"}))),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Both ends of an arc compute how many records it carries in a round, and what they hold.
std::size_t count_on(int from, int to, int round, std::size_t most) {
  std::minstd_rand numbers(static_cast<unsigned>(1 + from * 977 + to * 131 + round * 7));
  numbers.discard(3);
  return numbers() % 3 == 0 ? 0 : numbers() % (most + 1);
}
std::uint32_t value_on(int from, int to, int round, std::size_t slot) {
  return static_cast<std::uint32_t>(from * 40503U + to * 9973U + round * 31U + slot * 2654435761U);
}

struct Counts {
  std::vector<std::size_t> out;
  std::vector<std::size_t> in;
};
Counts counts_of(const Transport& t, const Graph& graph, int round, std::size_t most) {
  Counts counts;
  for (const int to : graph.out) counts.out.push_back(count_on(t.rank(), to, round, most));
  for (const int from : graph.in) counts.in.push_back(count_on(from, t.rank(), round, most));
  return counts;
}

/// Sends all records of a round in a random order, taking in between, and checks what comes.
void exchange(const Transport& t, Stream& stream, int round, std::size_t most) {
  const Graph& graph = stream.graph();
  const auto counts = counts_of(t, graph, round, most);
  stream.open(counts.out, counts.in);
  std::vector<std::pair<std::size_t, std::size_t>> records;
  for (std::size_t arc = 0; arc < counts.out.size(); ++arc) {
    for (std::size_t slot = 0; slot < counts.out[arc]; ++slot) records.emplace_back(arc, slot);
  }
  std::shuffle(records.begin(), records.end(), std::minstd_rand(static_cast<unsigned>(round + 1)));
  std::set<std::pair<std::size_t, std::size_t>> seen;
  const auto take = [&](std::size_t arc, std::size_t slot, std::uint32_t value) {
    EXPECT_EQ(value, value_on(graph.in[arc], t.rank(), round, slot));
    EXPECT_LT(slot, counts.in[arc]);
    EXPECT_TRUE(seen.emplace(arc, slot).second) << "twice: arc " << arc << " slot " << slot;
  };
  std::size_t sent = 0;
  for (const auto& [arc, slot] : records) {
    stream.send(arc, slot, value_on(t.rank(), graph.out[arc], round, slot));
    if (++sent % 50 == 0) (void)stream.take(take);
  }
  while (stream.take(take) > 0) stream.wait();
  stream.finish();
  std::size_t expected = 0;
  for (const std::size_t count : counts.in) expected += count;
  EXPECT_EQ(seen.size(), expected);
}

TEST_P(StreamTest, random_counts_arrive_each_once) {
  on_ranks(GetParam(), [](Transport& t) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      const Graph graph = random_graph(t, seed);
      Graph both = complete(t);
      const auto stream = t.stream(graph, {.slots_per_arc = 64});
      const auto wave = t.mailbox(both);
      for (int round = 0; round < 12; ++round) {
        exchange(t, *stream, round, 60);
        wave->step();
      }
    }
  });
}

TEST_P(StreamTest, records_beyond_the_slots_go_another_way) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const std::size_t slots : {0U, 1U, 16U}) {
      const auto stream = t.stream(complete(t), {.slots_per_arc = slots});
      const auto wave = t.mailbox(complete(t));
      for (int round = 0; round < 4; ++round) {
        exchange(t, *stream, round, 6000);
        wave->step();
      }
    }
  });
}

TEST_P(StreamTest, a_chain_of_records_sent_from_callbacks_goes_round_the_ring) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto stream = t.stream(ring(t), {});
    const auto wave = t.mailbox(complete(t));
    constexpr std::size_t kLaps = 20;
    for (int round = 0; round < 5; ++round) {
      const std::vector<std::size_t> counts(1, kLaps);
      stream->open(counts, counts);
      if (t.rank() == 0) stream->send(0, 0, 100);
      std::size_t taken = 0;
      const auto take = [&](std::size_t arc, std::size_t slot, std::uint32_t value) {
        EXPECT_EQ(slot, taken++);
        const std::size_t next = t.rank() == 0 ? slot + 1 : slot;
        if (next < kLaps) stream->send(arc, next, value + 1);
        if (t.rank() == 0) {
          EXPECT_EQ(value, 99 + (slot + 1) * static_cast<std::size_t>(t.size()));
        }
      };
      while (stream->take(take) > 0) stream->wait();
      stream->finish();
      EXPECT_EQ(taken, kLaps);
      wave->step();
    }
  });
}

TEST_P(StreamTest, ranks_without_records_may_leave_a_round_out) {
  on_ranks(GetParam(), [](Transport& t) {
    // In round r only the arc from rank r % size to the next one carries something.
    const auto stream = t.stream(ring(t), {.slots_per_arc = 4});
    const auto wave = t.mailbox(complete(t));
    for (int round = 0; round < 4 * t.size(); ++round) {
      const int from = round % t.size();
      const int to = (from + 1) % t.size();
      const std::vector<std::size_t> out(1, t.rank() == from ? 6 : 0);
      const std::vector<std::size_t> in(1, t.rank() == to ? 6 : 0);
      if (out[0] + in[0] > 0) {
        stream->open(out, in);
        for (std::size_t slot = 0; slot < out[0]; ++slot) stream->send(0, slot, static_cast<std::uint32_t>(round));
        std::size_t taken = 0;
        const auto take = [&](std::size_t, std::size_t, std::uint32_t value) {
          EXPECT_EQ(value, static_cast<std::uint32_t>(round));
          ++taken;
        };
        while (stream->take(take) > 0) stream->wait();
        stream->finish();
        EXPECT_EQ(taken, in[0]);
      }
      wave->step();
    }
  });
}

TEST_P(StreamTest, counts_are_exact_and_no_call_is_collective) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto stream = t.stream(ring(t), {.slots_per_arc = 10});
    const Counters before = t.counters();
    const std::vector<std::size_t> counts(1, 12);
    stream->open(counts, counts);
    for (std::size_t slot = 0; slot < 12; ++slot) stream->send(0, slot, 7);
    while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
    stream->finish();
    const Counters made = t.counters() - before;
    const bool alone = t.size() == 1;
    EXPECT_EQ(made.records, 12);
    EXPECT_EQ(made.collectives, 0);
    EXPECT_EQ(made.waves, 0);
    EXPECT_EQ(made.bytes, alone ? 0 : 12 * 8);
    EXPECT_EQ(made.puts, alone || !t.capabilities().one_sided ? 0 : 10);
    if (alone) {
      EXPECT_EQ(made.messages, 0);
    } else {
      EXPECT_GE(made.messages, 1);
      EXPECT_LE(made.messages, 12);
    }
  });
}

TEST_P(StreamTest, misuse_is_refused) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto stream = t.stream(ring(t), {});
    EXPECT_THROW(stream->send(0, 0, 1), CommError);  // no round is open
    const std::vector<std::size_t> counts(1, 2);
    EXPECT_THROW(stream->open({}, counts), CommError);
    stream->open(counts, counts);
    EXPECT_THROW(stream->send(0, 2, 1), CommError);
    EXPECT_THROW(stream->send(1, 0, 1), CommError);
    EXPECT_THROW(stream->finish(), CommError);
    stream->send(0, 0, 1);
    stream->send(0, 1, 1);
    EXPECT_THROW(stream->send(0, 1, 1), CommError);
    while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
    stream->finish();
  });
}

}  // namespace
