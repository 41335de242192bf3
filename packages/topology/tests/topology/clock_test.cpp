/// Clock and GlobalClock: stamps that advance at the rate of the monotonic clock; one time on all ranks.
#include "merganser/topology/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "merganser/comm/runtime.hpp"

namespace {

using namespace merganser;
using topology::Clock;

TEST(Clock, goes_forward_at_the_rate_of_the_monotonic_clock) {
  for (const bool counter : {true, false}) {
    Clock clock(counter);
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t first = clock.stamp();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::uint64_t last = clock.stamp();
    const std::chrono::duration<double, std::nano> outside = std::chrono::steady_clock::now() - begin;
    ASSERT_GT(last, first);
    EXPECT_GE(clock.ns(last - first), 19.9e6);
    EXPECT_LE(clock.ns(last - first), outside.count() * 1.001) << clock.source();
    EXPECT_GE(clock.time_ns(first), 0);
  }
}

TEST(Clock, tells_what_a_stamp_costs) {
  const Clock clock;
  EXPECT_GT(clock.stamp_cost_ns(), 0);
  EXPECT_GE(clock.record_cost_ns(), clock.stamp_cost_ns());
  EXPECT_EQ(Clock(false).source(), "CLOCK_MONOTONIC");
}

TEST(Clock, keeps_its_rate_when_it_is_refined) {
  Clock clock;
  const double before = clock.ns(1'000'000);
  clock.refine();
  EXPECT_NEAR(clock.ns(1'000'000), before, before * 0.01);
}

TEST(GlobalClock, is_that_of_rank_0_on_every_rank) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    comm::run({"threads", ranks, ""}, [&](comm::Transport& t) {
      // In one process clocks differ by the time of their construction.
      if (t.rank() % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      Clock mine(false);
      topology::GlobalClock global(t, mine);
      global.synchronise();
      // Between two barriers every rank reads its clock: all readings lie between those of rank 0.
      double before = 0, inside = 0, after = 0;
      t.barrier();
      before = global.now_ns();
      t.barrier();
      inside = global.now_ns();
      t.barrier();
      after = global.now_ns();
      std::vector<double> low{before}, high{after};
      t.all_reduce(low, comm::Op::max);
      t.all_reduce(high, comm::Op::min);
      EXPECT_GE(inside, low[0] - 2 * global.error_ns() - 1000);
      EXPECT_LE(inside, high[0] + 2 * global.error_ns() + 1000);
      EXPECT_TRUE(std::isfinite(global.error_ns()));
      if (ranks > 1) {
        EXPECT_GT(global.error_ns(), 0);
      }
    });
  }
}

}  // namespace
