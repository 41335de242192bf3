/// Tests of the communication matrix: merging, gathering, packing into text.
#include "merganser/comm/traffic_matrix.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::comm;
using test::refusal;

/// Flows of `ranks` x `degree` arcs with operations in so many size classes.
std::vector<TrafficFlow> many_flows(int ranks, int degree, std::size_t classes) {
  std::vector<TrafficFlow> flows;
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
      TrafficFlow flow{from, to, static_cast<Move>(random(3)), 0, 0, 5, {}};
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

TEST(TrafficMatrix, equal_flows_are_added_and_ordered) {
  const TrafficMatrix traffic(3, {{2, 0, Move::put, 2, 20, 4, {2}},
                                  {0, 1, Move::message, 1, 100, 7, {1}},
                                  {2, 0, Move::put, 1, 3, 2, {1}},
                                  {0, 1, Move::get, 0, 0, 0, {}}});
  ASSERT_EQ(traffic.flows().size(), 2U);
  EXPECT_EQ(traffic.flows()[0], (TrafficFlow{0, 1, Move::message, 1, 100, 7, {1}}));
  EXPECT_EQ(traffic.flows()[1], (TrafficFlow{2, 0, Move::put, 3, 23, 2, {1, 0, 2}}));
  EXPECT_EQ(traffic.operations(), 4);
  EXPECT_EQ(traffic.bytes(), 123);
}

TEST(TrafficMatrix, contradictions_are_refused) {
  EXPECT_NE(refusal([] {
              TrafficMatrix(2, {{0, 2, Move::put, 1, 8, 4, {1}}});
            }).find("ranks 0 to 1"),
            std::string::npos);
  EXPECT_NE(refusal([] { TrafficMatrix(2, {{-1, 1, Move::put, 1, 8, 4, {1}}}); }).find("rank -1"), std::string::npos);
  EXPECT_NE(refusal([] { TrafficMatrix(2, {{1, 1, Move::put, 1, 8, 4, {1}}}); }).find("itself"), std::string::npos);
  EXPECT_NE(refusal([] {
              TrafficMatrix(2, {{0, 1, Move::put, 0, 8, 0, {}}});
            }).find("0 operations, 8 bytes"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              TrafficMatrix(2, {{0, 1, Move::put, -1, 0, 0, {}}});
            }).find("-1 operations, 0 bytes"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              TrafficMatrix(2, {{0, 1, Move::put, 1, -8, 0, {}}});
            }).find("1 operations, -8 bytes"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              TrafficMatrix(2, {{0, 1, Move::put, 3, 8, 4, {1, 1}}});
            }).find("2 operations counted"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              TrafficMatrix(2, {{0, 1, Move::put, 3, 8, 4, {4}}});
            }).find("do not add up"),
            std::string::npos);
  EXPECT_NE(refusal([] { TrafficMatrix(2, {{0, 1, Move::put, 1, 8, 48, {1}}}); }).find("classes"), std::string::npos);
  EXPECT_NE(refusal([] { TrafficMatrix(0, {}); }).find("0 ranks"), std::string::npos);
  const std::int64_t most = INT64_MAX;
  EXPECT_NE(refusal([=] {
              TrafficMatrix(2, {{0, 1, Move::put, 1, most, 0, {}}, {0, 1, Move::put, 1, 1, 0, {}}});
            }).find("more than 64 bits"),
            std::string::npos);
  EXPECT_THROW((void)parse_move("push"), InputError);
}

TEST(TrafficMatrix, packing_gives_the_flows_back) {
  for (const std::size_t classes : {0U, 1U, 2U, 5U}) {
    const TrafficMatrix traffic(200, many_flows(200, 7, classes));
    EXPECT_EQ(unpack_flows(pack_flows(traffic.flows())), traffic.flows()) << classes;
  }
  const std::vector<TrafficFlow> edge{{0, 1, Move::message, 1, INT64_MAX, comm::kSizeClasses - 1, {1}},
                                      {0, 5, Move::message, 7, 0, 0, {7}},
                                      {INT32_MAX, 0, Move::get, INT64_MAX, INT64_MAX, 0, {}}};
  EXPECT_EQ(unpack_flows(pack_flows(edge)), edge);
  // Classes that do not go with the bytes, as a file may claim.
  const TrafficMatrix claimed(
      9, {{0, 1, Move::message, 1, 0, comm::kSizeClasses - 1, {1}}, {3, 8, Move::put, 2, 16, 0, {2}}});
  EXPECT_EQ(TrafficMatrix(9, unpack_flows(pack_flows(claimed.flows()))), claimed);
  EXPECT_TRUE(unpack_flows("").empty());
}

TEST(TrafficMatrix, a_thousand_ranks_of_degree_fifty_fit_into_a_million_characters) {
  for (const std::size_t classes : {1U, 2U, 3U}) {
    const TrafficMatrix traffic(1000, many_flows(1000, 50, classes));
    ASSERT_EQ(traffic.flows().size(), 50000U);
    EXPECT_LT(pack_flows(traffic.flows()).size(), 1'000'000U) << classes;
  }
}

TEST(TrafficMatrix, packed_text_that_was_changed_is_refused_or_read_never_worse) {
  const std::string good = pack_flows(TrafficMatrix(50, many_flows(50, 3, 2)).flows());
  EXPECT_THROW((void)unpack_flows(good + "!"), InputError);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'A', '/', '-'}) {
      std::string bad = good;
      bad[i] = c;
      try {
        (void)TrafficMatrix(50, unpack_flows(bad));
        (void)unpack_flows(bad.substr(0, i));
      } catch (const InputError&) {
      }
    }
  }
}

TEST(TrafficMatrix, counts_of_all_ranks_are_put_together) {
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 3;
  comm::run(options, [](comm::Transport& t) {
    comm::TrafficCount mine;
    mine.peer((t.rank() + 1) % 3).add(Move::put, 100);
    mine.peer((t.rank() + 1) % 3).add(Move::get, static_cast<std::size_t>(t.rank()));
    const TrafficMatrix traffic = gather_traffic(t, mine);
    EXPECT_EQ(traffic.ranks(), 3);
    ASSERT_EQ(traffic.flows().size(), 6U);
    EXPECT_EQ(traffic.flows()[0], (TrafficFlow{0, 1, Move::put, 1, 100, 7, {1}}));
    EXPECT_EQ(traffic.flows()[1], (TrafficFlow{0, 2, Move::get, 1, 2, 2, {1}}));  // rank 2 has asked rank 0
  });
}

}  // namespace
