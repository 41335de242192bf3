// Tests of the C interface of announcement networks (capi/announce.h).
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>
#include <tuple>
#include <vector>

#include "merganser/capi/announce.h"
#include "tests/capi/ranks.hpp"

namespace {

using namespace merganser::test;

TEST(AnnouncementsInC, reach_every_rank_once_in_the_same_order) {
  constexpr int kRanks = 5;
  constexpr int kSteps = 10;
  using Heard = std::vector<std::tuple<int64_t, int, int, uint64_t, int>>;
  std::vector<Heard> heard(kRanks);
  EXPECT_OK(run_threads(kRanks, [&](mg_transport* t) {
    int rank = 0;
    mg_transport_rank(t, &rank);
    mg_announcer* announcer = nullptr;
    if (int s = mg_announcer_new(t, "manhattan", 2, nullptr, &announcer)) return s;
    int time = 0;
    if (int s = mg_announcer_time(announcer, &time)) return s;
    for (int64_t step = 0; step < kSteps + time; ++step) {
      const int value = 100 * rank + static_cast<int>(step);
      if (step < kSteps && (step + rank) % 3 == 0)
        if (int s = mg_announcer_announce(announcer, rank, &value, sizeof value, MG_SAME_STEP)) return s;
      size_t count = 0;
      if (int s = mg_announcer_step(announcer, &count)) return s;
      const mg_announcement* list = nullptr;
      if (int s = mg_announcer_received(announcer, &list, &count)) return s;
      for (size_t i = 0; i < count; ++i) {
        int said = 0;
        EXPECT_EQ(list[i].byte_count, sizeof said);
        std::memcpy(&said, list[i].bytes, sizeof said);
        EXPECT_EQ(list[i].announced, step + 1 - time);
        EXPECT_EQ(list[i].topic, list[i].origin);
        heard[static_cast<std::size_t>(rank)].emplace_back(step, list[i].origin, list[i].delivery, list[i].counter,
                                                           said);
      }
    }
    return mg_announcer_free(announcer);
  }));
  EXPECT_EQ(heard[0].size(), 17U);  // 10 steps of 5 ranks, every third
  for (const Heard& other : heard) EXPECT_EQ(other, heard[0]);
}

TEST(AnnouncementsInC, refuse_topics_sizes_and_networks_that_are_none) {
  EXPECT_OK(run_threads(2, [](mg_transport* t) {
    mg_announcer* announcer = nullptr;
    EXPECT_EQ(mg_announcer_new(t, "star", 2, nullptr, &announcer), MG_USAGE);
    EXPECT_EQ(mg_announcer_new(t, nullptr, 2, nullptr, &announcer), MG_USAGE);
    mg_announcer_options options{};
    options.struct_size = sizeof options;
    options.max_bytes = 8;
    EXPECT_OK(mg_announcer_new(t, "torus", 2, &options, &announcer));
    const char bytes[16] = {};
    EXPECT_EQ(mg_announcer_announce(announcer, -1, bytes, 1, MG_SAME_STEP), MG_USAGE);
    EXPECT_EQ(mg_announcer_announce(announcer, 65280, bytes, 1, MG_SAME_STEP), MG_USAGE);
    EXPECT_EQ(mg_announcer_announce(announcer, 1, bytes, 9, MG_SAME_STEP), MG_USAGE);
    EXPECT_EQ(mg_announcer_announce(announcer, 1, nullptr, 1, MG_SAME_STEP), MG_USAGE);
    EXPECT_EQ(mg_announcer_announce(announcer, 1, bytes, 1, 2), MG_USAGE);
    EXPECT_OK(mg_announcer_announce(announcer, 1, nullptr, 0, MG_IMMEDIATE));
    return mg_announcer_free(announcer);
  }));
}

}  // namespace
