#include "merganser/topology/traffic.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
using comm::Move;
using test::refusal;

/// Flows of `ranks` x `degree` arcs with operations in so many size classes.
std::vector<Flow> many_flows(int ranks, int degree, std::size_t classes) {
  std::vector<Flow> flows;
  std::uint64_t state = 88172645463325252ULL;
  const auto random = [&state](std::uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::int64_t>(state % below);
  };
  for (int from = 0; from < ranks; ++from)
    for (int i = 0; i < degree; ++i) {
      const int to = static_cast<int>((from + 1 + i * (ranks / (degree + 1))) % ranks);
      Flow flow{from, to, static_cast<Move>(random(3)), 0, 0, 5, {}};
      for (std::size_t c = 0; c < classes; ++c) {
        const std::int64_t n = 1 + random(2000);
        flow.sizes.push_back(n);
        flow.operations += n;
        flow.bytes += n * (std::int64_t{1} << (4 + c)) + (classes > 1 ? random(n) : 0);
      }
      if (classes == 0) flow.operations = 1 + random(9), flow.bytes = random(1000), flow.first_class = 0;
      flows.push_back(flow);
    }
  return flows;
}

TEST(Traffic, equal_flows_are_added_and_ordered) {
  const Traffic traffic(3, {{2, 0, Move::put, 2, 20, 4, {2}},
                            {0, 1, Move::message, 1, 100, 7, {1}},
                            {2, 0, Move::put, 1, 3, 2, {1}},
                            {0, 1, Move::get, 0, 0, 0, {}}});
  ASSERT_EQ(traffic.flows().size(), 2U);
  EXPECT_EQ(traffic.flows()[0], (Flow{0, 1, Move::message, 1, 100, 7, {1}}));
  EXPECT_EQ(traffic.flows()[1], (Flow{2, 0, Move::put, 3, 23, 2, {1, 0, 2}}));
  EXPECT_EQ(traffic.operations(), 4);
  EXPECT_EQ(traffic.bytes(), 123);
}

TEST(Traffic, the_graph_holds_bytes_per_exchange_of_all_moves) {
  Traffic traffic(
      4,
      {{0, 1, Move::message, 10, 1000, 7, {10}}, {0, 1, Move::get, 5, 40, 4, {5}}, {3, 2, Move::put, 2, 16, 4, {2}}});
  EXPECT_EQ(traffic.exchange_count(), 10);  // the most operations of a flow
  EXPECT_EQ(traffic.graph().bytes(0, 1), 104);
  EXPECT_EQ(traffic.graph().bytes(3, 2), 1.6);
  EXPECT_EQ(traffic.graph().arcs(), 2);
  traffic.exchanges = 2;
  EXPECT_EQ(traffic.graph().bytes(0, 1), 520);
  EXPECT_EQ(Traffic(1, {}).graph().ranks(), 1);
}

TEST(Traffic, contradictions_are_refused) {
  EXPECT_NE(refusal([] { Traffic(2, {{0, 2, Move::put, 1, 8, 4, {1}}}); }).find("ranks 0 to 1"), std::string::npos);
  EXPECT_NE(refusal([] { Traffic(2, {{-1, 1, Move::put, 1, 8, 4, {1}}}); }).find("rank -1"), std::string::npos);
  EXPECT_NE(refusal([] { Traffic(2, {{1, 1, Move::put, 1, 8, 4, {1}}}); }).find("itself"), std::string::npos);
  EXPECT_NE(refusal([] {
              Traffic(2, {{0, 1, Move::put, 0, 8, 0, {}}});
            }).find("0 operations, 8 bytes"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              Traffic(2, {{0, 1, Move::put, 3, 8, 4, {1, 1}}});
            }).find("2 operations counted"),
            std::string::npos);
  EXPECT_NE(refusal([] { Traffic(2, {{0, 1, Move::put, 3, 8, 4, {4}}}); }).find("do not add up"), std::string::npos);
  EXPECT_NE(refusal([] { Traffic(2, {{0, 1, Move::put, 1, 8, 48, {1}}}); }).find("classes"), std::string::npos);
  EXPECT_NE(refusal([] { Traffic(0, {}); }).find("0 ranks"), std::string::npos);
  const std::int64_t most = INT64_MAX;
  EXPECT_NE(refusal([=] {
              Traffic(2, {{0, 1, Move::put, 1, most, 0, {}}, {0, 1, Move::put, 1, 1, 0, {}}});
            }).find("more than 64 bits"),
            std::string::npos);
  EXPECT_THROW((void)move_of_name("push"), InputError);
}

TEST(Traffic, packing_gives_the_flows_back) {
  for (const std::size_t classes : {0U, 1U, 2U, 5U}) {
    const Traffic traffic(200, many_flows(200, 7, classes));
    EXPECT_EQ(unpack_flows(pack_flows(traffic.flows())), traffic.flows()) << classes;
  }
  const std::vector<Flow> edge{{0, 1, Move::message, 1, INT64_MAX, comm::kSizeClasses - 1, {1}},
                               {0, 5, Move::message, 7, 0, 0, {7}},
                               {INT32_MAX, 0, Move::get, INT64_MAX, INT64_MAX, 0, {}}};
  EXPECT_EQ(unpack_flows(pack_flows(edge)), edge);
  // Classes that do not go with the bytes, as a file may claim.
  const Traffic claimed(9,
                        {{0, 1, Move::message, 1, 0, comm::kSizeClasses - 1, {1}}, {3, 8, Move::put, 2, 16, 0, {2}}});
  EXPECT_EQ(Traffic(9, unpack_flows(pack_flows(claimed.flows()))), claimed);
  EXPECT_TRUE(unpack_flows("").empty());
}

TEST(Traffic, a_thousand_ranks_of_degree_fifty_fit_into_a_million_characters) {
  for (const std::size_t classes : {1U, 2U, 3U}) {
    const Traffic traffic(1000, many_flows(1000, 50, classes));
    ASSERT_EQ(traffic.flows().size(), 50000U);
    EXPECT_LT(pack_flows(traffic.flows()).size(), 1'000'000U) << classes;
  }
}

TEST(Traffic, packed_text_that_was_changed_is_refused_or_read_never_worse) {
  const std::string good = pack_flows(Traffic(50, many_flows(50, 3, 2)).flows());
  EXPECT_THROW((void)unpack_flows(good + "!"), InputError);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'A', '/', '-'}) {
      std::string bad = good;
      bad[i] = c;
      try {
        (void)Traffic(50, unpack_flows(bad));
        (void)unpack_flows(bad.substr(0, i));
      } catch (const InputError&) {
      }
    }
  }
}

TEST(Traffic, counts_of_all_ranks_are_put_together) {
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 3;
  comm::run(options, [](comm::Transport& t) {
    comm::TrafficCount mine;
    mine.peer((t.rank() + 1) % 3).add(Move::put, 100);
    mine.peer((t.rank() + 1) % 3).add(Move::get, static_cast<std::size_t>(t.rank()));
    const Traffic traffic = gather_traffic(t, mine);
    EXPECT_EQ(traffic.ranks(), 3);
    ASSERT_EQ(traffic.flows().size(), 6U);
    EXPECT_EQ(traffic.flows()[0], (Flow{0, 1, Move::put, 1, 100, 7, {1}}));
    EXPECT_EQ(traffic.flows()[1], (Flow{0, 2, Move::get, 1, 2, 2, {1}}));  // rank 2 has asked rank 0
  });
}

// ---- parts of a trace ----

std::string part(int rank, const std::string& lines, int ranks = 2) {
  return "merganser-trace 1\nprogram ./a out\nrank " + std::to_string(rank) + " of " + std::to_string(ranks) +
         "\nended finalize\nphase 0 0\n" + lines + "self 1 8\noutside 0 0\nend\n";
}

TEST(TracePart, is_read_with_gets_turned_round) {
  const TracePart p = parse_trace_part(
      part(0, "phase 3 2\nflow 3 1 get 2 16 4 2\nflow 0 1 put 1 8 4 1\ncollective MPI_Barrier 5\n"), "p");
  EXPECT_EQ(p.program, "./a out");
  EXPECT_EQ(p.phases.at(3).entered, 2);
  EXPECT_EQ(p.phases.at(3).flows.at(0), (Flow{1, 0, Move::get, 2, 16, 4, {2}}));
  EXPECT_EQ(p.self_bytes, 8);
  EXPECT_EQ(p.collectives.at(0).calls, 5);
  const Traffic joined = join_trace_parts({parse_trace_part(part(1, ""), "q"), p}, {});
  EXPECT_EQ(joined.flows().size(), 2U);
  EXPECT_EQ(join_trace_parts({parse_trace_part(part(1, ""), "q"), p}, 3).exchanges, 2);
}

TEST(TracePart, malformed_ones_are_refused_with_their_line) {
  const auto of = [](const std::string& text) { return refusal([&] { (void)parse_trace_part(text, "p"); }); };
  EXPECT_NE(of("").find("empty"), std::string::npos);
  EXPECT_NE(of("merganser-trace 2\n").find("the version is \"2\""), std::string::npos);
  EXPECT_NE(of("merganser-trace 1\n").find("ends before \"program\""), std::string::npos);
  EXPECT_NE(of(part(2, "")).find("the number of ranks is \"2\""), std::string::npos);
  EXPECT_NE(of(part(0, "flow 0 2 put 1 8 4 1\n")).find("line 6: the other rank is \"2\""), std::string::npos);
  EXPECT_NE(of(part(0, "flow 0 1 push 1 8 4 1\n")).find("unknown kind"), std::string::npos);
  EXPECT_NE(of(part(0, "flow 9 1 put 1 8 4 1\n")).find("phase 9"), std::string::npos);
  EXPECT_NE(of(part(0, "wave 1\n")).find("unknown entry \"wave\""), std::string::npos);
  EXPECT_NE(of(part(0, "phase 1 2 3\n")).find("after the end"), std::string::npos);
  const std::string whole = part(0, "flow 0 1 put 1 8 4 1\n");
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    EXPECT_NE(of(whole.substr(0, length)), "nothing was thrown") << length;
  }
}

TEST(TracePart, missing_doubled_and_foreign_ranks_are_named) {
  const auto p = [](int rank, int ranks = 2) { return parse_trace_part(part(rank, "", ranks), "p"); };
  EXPECT_NE(refusal([&] { (void)join_trace_parts({p(1)}, {}); }).find("rank 0 is missing"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)join_trace_parts({p(0)}, {}); }).find("rank 1 is missing"), std::string::npos);
  EXPECT_NE(refusal([&] {
              (void)join_trace_parts({p(0), p(0)}, {});
            }).find("rank 0 is there twice"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)join_trace_parts({p(0), p(1, 3)}, {}); }).find("different runs"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)join_trace_parts({p(0), p(1)}, 5); }).find("phases: 0"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)join_trace_parts({}, {}); }).find("no part"), std::string::npos);
}

}  // namespace
