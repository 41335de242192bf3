/// Tests of what all models share: graphs and their errors, the index of arcs, tokens of life, errors that all ranks
/// throw, pools of collective resources.
#include "src/comm/detail/transport_base.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "merganser/base/indexed_text.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/comm/detail/collective_pool.hpp"
#include "src/comm/detail/link.hpp"
#include "src/comm/detail/message_transport.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Graph;
using comm::Transport;
using comm::detail::ArcIndex;
using comm::detail::LivenessToken;

TEST(GraphErrorTest, names_the_first_neighbour_that_is_wrong) {
  using comm::detail::graph_error;
  EXPECT_EQ(graph_error({{0, 1, 2}, {2, 0}}, 3), "");
  EXPECT_EQ(graph_error({{}, {}}, 1), "");
  EXPECT_EQ(graph_error({{0}, {0}}, 1), "");
  EXPECT_EQ(graph_error({{0, 3}, {}}, 3), "graph: out-neighbour 3; allowed: 0 to 2");
  EXPECT_EQ(graph_error({{}, {2, -1}}, 3), "graph: in-neighbour -1; allowed: 0 to 2");
  EXPECT_EQ(graph_error({{1, 2, 1}, {7}}, 3), "graph: out-neighbour 1 is there twice");
  EXPECT_EQ(graph_error({{1}, {1, 0, 0}}, 3), "graph: in-neighbour 0 is there twice");
}

TEST(ListNeighboursTest, has_each_other_rank_once_in_ascending_order) {
  using comm::detail::list_neighbours;
  EXPECT_EQ(list_neighbours({{5, 2, 3}, {3, 0, 2, 9}}, 3), (std::vector<int>{0, 2, 5, 9}));
  EXPECT_EQ(list_neighbours({{3}, {3}}, 3), std::vector<int>());
  EXPECT_EQ(list_neighbours({}, 0), std::vector<int>());
}

TEST(ArcIndexTest, finds_what_a_search_finds_in_dense_and_sparse_lists) {
  std::mt19937 numbers(5);
  // A table by rank is used below 64 + 8 * length, a sorted list beyond: both, and the border.
  for (const int ranks : {1, 3, 64, 72, 73, 200, 5000, 1000000}) {
    for (const std::size_t length : {0U, 1U, 2U, 7U, 40U}) {
      std::set<int> distinct;
      while (distinct.size() < std::min<std::size_t>(length, static_cast<std::size_t>(ranks)))
        distinct.insert(static_cast<int>(numbers() % static_cast<unsigned>(ranks)));
      std::vector<int> list(distinct.begin(), distinct.end());
      std::shuffle(list.begin(), list.end(), numbers);
      const ArcIndex index(list);
      for (std::size_t arc = 0; arc < list.size(); ++arc) ASSERT_EQ(index(list[arc]), arc);
      for (int i = 0; i < 200; ++i) {
        const int rank = static_cast<int>(numbers() % static_cast<unsigned>(ranks + 3)) - 1;
        ASSERT_EQ(index(rank), comm::detail::position(list, rank)) << rank << " of " << ranks;
        ASSERT_EQ(index(rank) == ArcIndex::kNone, !distinct.contains(rank)) << rank << " of " << ranks;
      }
      ASSERT_EQ(index(-1), ArcIndex::kNone);
      ASSERT_EQ(index(std::numeric_limits<int>::max()), ArcIndex::kNone);
    }
  }
}

bool library_runs = true;

TEST(LivenessTokenTest, ends_with_its_transport_or_its_library_and_says_which) {
  LivenessToken token;
  token.depend_on([] { return library_runs; });
  library_runs = true;
  EXPECT_FALSE(token.ended());
  EXPECT_NO_THROW(token.check("Mailbox"));
  library_runs = false;
  EXPECT_TRUE(token.ended());
  EXPECT_EQ(refusal<CommError>([&] { token.check("Mailbox"); }),
            "Mailbox: MPI is finalised; what was made over a communicator may be freed, not used; allowed: before "
            "MPI_Finalize");
  EXPECT_NO_THROW(token.check_round("Stream::send")) << "within a round the library is not asked";
  library_runs = true;
  token.end();
  EXPECT_TRUE(token.ended());
  const std::string ended =
      ": the run that this was made in, or its transport, has ended; it may be destroyed, not used";
  EXPECT_EQ(refusal<CommError>([&] { token.check("Plan::pull"); }), "Plan::pull" + ended);
  EXPECT_EQ(refusal<CommError>([&] { token.check_round("Stream::send"); }), "Stream::send" + ended);
}

TEST(BytesTest, values_come_back_and_short_messages_are_refused) {
  comm::detail::Bytes bytes = comm::detail::to_bytes(std::uint32_t{7});
  comm::detail::append(bytes, std::uint64_t{9});
  ASSERT_EQ(bytes.size(), 12U);
  EXPECT_EQ(comm::detail::read<std::uint32_t>(bytes), 7U);
  EXPECT_EQ(comm::detail::read<std::uint64_t>(bytes, 4), 9U);
  EXPECT_EQ(refusal<CommError>([&] { (void)comm::detail::read<std::uint64_t>(bytes, 5); }),
            "message of 12 bytes is too short: 13 expected");
}

TEST(AgreedErrorTest, is_the_last_one_noted_and_no_empty_one) {
  comm::detail::note_agreed_error("first");
  EXPECT_TRUE(comm::detail::was_agreed(CommError("first")));
  EXPECT_FALSE(comm::detail::was_agreed(CommError("second")));
  comm::detail::note_agreed_error("second");
  EXPECT_FALSE(comm::detail::was_agreed(CommError("first")));
  comm::detail::note_agreed_error("");
  EXPECT_FALSE(comm::detail::was_agreed(CommError("")));
}

TEST(ReducePairTest, follows_the_operation) {
  using comm::Op;
  using comm::detail::reduce_pair;
  EXPECT_EQ(reduce_pair(2.5, -4.0, Op::sum), -1.5);
  EXPECT_EQ(reduce_pair(2.5, -4.0, Op::min), -4.0);
  EXPECT_EQ(reduce_pair(2.5, -4.0, Op::max), 2.5);
  EXPECT_EQ(reduce_pair<std::uint64_t>(~0ULL, 2, Op::sum), 1U) << "sums wrap around";
}

/// Resource that notes when it is freed.
class Resource final : public comm::detail::CollectiveResource {
 public:
  Resource(std::vector<int>& freed, int number) : freed_(freed), number_(number) {}
  void free() override { freed_.push_back(number_); }

 private:
  std::vector<int>& freed_;
  int number_;
};

TEST(CollectivePoolTest, frees_what_no_rank_uses_in_the_order_of_creation) {
  std::vector<int> freed;
  comm::detail::CollectivePool pool;
  std::vector<std::shared_ptr<Resource>> mine;
  for (int i = 0; i < 5; ++i) mine.push_back(pool.add(std::make_shared<Resource>(freed, i)));
  std::vector<std::int64_t> seen;
  std::vector<std::int64_t> others{0, 0, 0, 1, 0};  // another rank uses number 3
  const auto sum = [&](std::span<std::int64_t> values) {
    seen.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += others.at(i);
  };
  for (const std::size_t i : {4U, 3U, 0U}) mine[i].reset();
  pool.free_unused(sum);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 1, 0, 0}));
  EXPECT_EQ(freed, (std::vector<int>{0, 4}));
  others = {0, 0, 0};
  pool.free_unused(sum);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 1, 0})) << "the order is that of creation";
  EXPECT_EQ(freed, (std::vector<int>{0, 4, 3}));
  pool.free_all();
  EXPECT_EQ(freed, (std::vector<int>{0, 4, 3, 1, 2}));
  pool.free_unused([](std::span<std::int64_t>) { ADD_FAILURE() << "an empty pool needs no reduction"; });
}

class TransportBaseTest : public testing::TestWithParam<Setup> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransportBaseTest);
INSTANTIATE_TEST_SUITE_P(Models, TransportBaseTest, testing::ValuesIn(setups({"", "checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// The text that every rank gets for the graph that it gives; the empty text if there is no error.
std::string error_of(Transport& t, const Graph& graph) {
  std::string text;
  try {
    (void)t.mailbox(graph);
  } catch (const CommError& e) {
    text = e.what();
  }
  for (const auto theirs : comm::all_gather(t, text))
    EXPECT_EQ(std::string(theirs.begin(), theirs.end()), text) << "ranks must throw the same";
  return text;
}

TEST_P(TransportBaseTest, one_arc_that_one_end_lacks_is_named_with_both_ends) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() == 1) return;
    const int last = t.size() - 1;
    const bool first = t.rank() == 0;
    const std::string lowest = "rank 0: graph: rank " + std::to_string(last);
    // The lowest rank that has an arc with an end missing tells.
    EXPECT_EQ(error_of(t, first ? Graph{{last}, {}} : Graph{}),
              lowest + " does not receive from here, but is an out-neighbour here");
    EXPECT_EQ(error_of(t, first ? Graph{{}, {last}} : Graph{}),
              lowest + " is not sending here, but is an in-neighbour here");
    EXPECT_EQ(error_of(t, t.rank() == last ? Graph{{0}, {}} : Graph{}),
              lowest + " has this rank as an out-neighbour, but is no in-neighbour here");
    EXPECT_EQ(error_of(t, t.rank() == last ? Graph{{}, {0}} : Graph{}),
              lowest + " has this rank as an in-neighbour, but is no out-neighbour here");
    EXPECT_EQ(error_of(t, Graph{}), "");
  });
}

TEST_P(TransportBaseTest, of_random_graphs_with_an_arc_taken_away_each_is_refused) {
  on_ranks(GetParam(), [](Transport& t) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      Graph graph = random_graph(t, seed);
      EXPECT_EQ(error_of(t, graph), "") << seed;
      const int victim = static_cast<int>(seed) % t.size();
      auto& list = seed % 2 == 0 ? graph.out : graph.in;
      const bool taken = t.rank() == victim && !list.empty();
      if (taken) list.pop_back();
      const bool any = t.all_reduce(taken ? 1 : 0, comm::Op::max) == 1;
      EXPECT_EQ(!error_of(t, graph).empty(), any) << seed;
    }
  });
}

TEST_P(TransportBaseTest, the_error_of_the_lowest_rank_is_thrown_by_all) {
  on_ranks(GetParam(), [](Transport& t) {
    const int low = t.size() / 2;
    const Graph wrong = t.rank() >= low ? Graph{{-1 - t.rank()}, {}} : Graph{};
    EXPECT_EQ(error_of(t, wrong), "rank " + std::to_string(low) + ": graph: out-neighbour " + std::to_string(-1 - low) +
                                      "; allowed: 0 to " + std::to_string(t.size() - 1));
  });
}

TEST_P(TransportBaseTest, indices_in_agreed_errors_stay_numbers) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto text = IndexedText("row ") + Index{3} + ", column " + Index{0} + " of " + std::to_string(t.size() - 1);
    const auto expect = [&](const auto& error) {
      const auto* indexed = dynamic_cast<const HasIndices*>(&error);
      ASSERT_NE(indexed, nullptr);
      EXPECT_EQ(indexed->indexed_text().to_string(0), "row 3, column 0 of " + std::to_string(t.size() - 1));
      EXPECT_EQ(indexed->indexed_text().to_string(1), "row 4, column 1 of " + std::to_string(t.size() - 1));
    };
    const bool culprit = t.rank() == t.size() - 1;
    try {
      comm::agree(t, [&] {
        if (culprit) throw Indexed<InputError>(text);
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& e) {
      expect(e);
    }
    try {
      comm::agree(t, [&] {
        if (culprit) throw Indexed<UsageError>(text);
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const UsageError& e) {
      expect(e);
    }
  });
}

TEST_P(TransportBaseTest, what_is_no_exception_is_agreed_on_too) {
  on_ranks(GetParam(), [](Transport& t) {
    const bool culprit = t.rank() == t.size() - 1;
    std::string what = "nothing was thrown";
    try {
      comm::agree(t, [&] {
        if (culprit) throw 7;
      });
    } catch (const std::exception& e) {
      what = e.what();
    } catch (int) {
      what = "its own";
    }
    EXPECT_EQ(what, culprit ? "its own" : "unknown error");
    t.barrier();
  });
}

TEST_P(TransportBaseTest, values_that_differ_are_named_with_the_first_rank_that_differs) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto why = [&](const std::string& what, const std::vector<comm::UniformValue>& values) {
      return refusal<UsageError>([&] { comm::check_uniform_across_ranks(t, what, values); });
    };
    EXPECT_EQ(why("grid", {{"nx", "4"}, {"ny", ""}}), "nothing was thrown");
    if (t.size() == 1) return;
    const std::string mine = t.rank() == 0 ? "4" : "5";
    EXPECT_EQ(why("grid", {{"nx", "4"}, {"ny", mine}}),
              "grid: ny is 4 on rank 0 and ny is 5 on rank 1; every rank must give the same");
    EXPECT_EQ(why(t.rank() == t.size() - 1 ? "grid" : "mesh", {}),
              "mesh on rank 0 and grid on rank " + std::to_string(t.size() - 1) + "; every rank must give the same");
    std::vector<comm::UniformValue> values{{"nx", "4"}};
    if (t.rank() == 1) values.push_back({"ny", "4"});
    EXPECT_EQ(refusal<CommError>([&] { comm::check_uniform_across_ranks(t, "grid", values); }),
              "check_uniform_across_ranks: ranks give different numbers of values");
  });
}

TEST_P(TransportBaseTest, a_reduction_that_differs_is_named_with_the_first_rank_that_differs) {
  on_ranks(GetParam(), [](Transport& t) {
    for (int odd = 1; odd < t.size(); ++odd) {
      const auto op = t.rank() == odd ? comm::Op::min : comm::Op::sum;
      EXPECT_EQ(refusal<CommError>([&] { (void)t.all_reduce(std::int64_t{1}, op); }),
                "all_reduce: sum of 1 integers on rank 0, but min of 1 integers on rank " + std::to_string(odd));
    }
    double value = 1;
    if (t.size() > 1) {
      EXPECT_EQ(refusal<CommError>([&] {
                  t.all_reduce({&value, t.rank() == 0 ? 0U : 1U}, comm::Op::max);
                }),
                "all_reduce: max of 0 doubles on rank 0, but max of 1 doubles on rank 1");
    }
  });
}

TEST_P(TransportBaseTest, ends_of_a_plan_that_differ_are_named_with_what_each_expects) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() == 1) return;
    const auto why = [&](std::size_t count, comm::PlanOptions options) {
      const bool last = t.rank() == t.size() - 1;
      const std::vector<std::size_t> elements(last ? count : 3, 0);
      return refusal<CommError>([&] {
        (void)t.plan(ring(t), {{elements}, {3}}, last ? options : comm::PlanOptions{8, 64});
      });
    };
    const std::string sender = "rank 0: Plan: rank " + std::to_string(t.size() - 1) + " sends ";
    const std::string expected = "; here 3 of 8 bytes in chunks of 64 are expected";
    EXPECT_EQ(why(3, {8, 64}), "nothing was thrown");
    EXPECT_EQ(why(2, {8, 64}), sender + "2 elements of 8 bytes in chunks of 64" + expected);
    EXPECT_EQ(why(3, {4, 64}), sender + "3 elements of 4 bytes in chunks of 64" + expected);
    EXPECT_EQ(why(3, {8, 63}), sender + "3 elements of 8 bytes in chunks of 63" + expected);
  });
}

TEST(ArgumentErrorTest, limits_of_plans_streams_and_segments) {
  using comm::detail::plan_error;
  using comm::detail::segment_error;
  using comm::detail::stream_error;
  constexpr std::size_t kMaxCount = PTRDIFF_MAX;
  EXPECT_EQ(plan_error({}, {}, {.element_bytes = kMaxCount, .chunk_elements = kMaxCount}), "");
  EXPECT_EQ(plan_error({}, {}, {.element_bytes = kMaxCount + 1}),
            "Plan: element_bytes is 9223372036854775808; allowed: 1 to 9223372036854775807");
  EXPECT_EQ(plan_error({}, {}, {.chunk_elements = kMaxCount + 1}),
            "Plan: chunk_elements is 9223372036854775808; allowed: 1 to 9223372036854775807");
  EXPECT_EQ(plan_error({{0}, {}}, {{{kMaxCount / 8 - 1}}, {}}, {}), "");
  EXPECT_EQ(plan_error({{0}, {}}, {{{3, kMaxCount / 8}}, {}}, {}),
            "Plan: index of an element is 1152921504606846975; allowed: 0 to 1152921504606846974");
  EXPECT_EQ(plan_error({{0}, {}}, {{{0, 0, 0}}, {}}, {.element_bytes = kMaxCount / 2}),
            "Plan: number of elements along an arc is 3; allowed: 0 to 2");
  constexpr std::size_t kSlots = (kMaxCount - (std::size_t{1} << 32)) / 8;
  EXPECT_EQ(stream_error({}, {.slots_per_arc = kSlots}), "");
  EXPECT_NE(stream_error({}, {.slots_per_arc = kSlots + 1}), "");
  EXPECT_EQ(stream_error({{}, {0, 1}}, {.slots_per_arc = kSlots / 2}), "");
  EXPECT_NE(stream_error({{}, {0, 1}}, {.slots_per_arc = kSlots / 2 + 1}), "");
  EXPECT_EQ(segment_error(kMaxCount / 8, 8, comm::Epoch::per_operation), "");
  EXPECT_EQ(segment_error(kMaxCount / 4 + 1, 4, comm::Epoch::lifetime),
            "Segment: number of words is 2305843009213693952; allowed: 0 to 2305843009213693951");
  EXPECT_EQ(segment_error(1, 16, comm::Epoch::lifetime), "Segment: words of 16 bytes; allowed: 4 and 8");
  EXPECT_EQ(segment_error(1, 4, static_cast<comm::Epoch>(3)), "Segment: epoch is 3; allowed: a value of comm::Epoch");
}

}  // namespace
