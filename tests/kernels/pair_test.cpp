/// Latency measurement between two ranks: a ping-pong and a put, with the same result on every rank.
#include "merganser/kernels/pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class PairTest : public testing::TestWithParam<Setup> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PairTest);
INSTANTIATE_TEST_SUITE_P(Models, PairTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(PairTest, is_measured_and_told_to_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    EXPECT_THROW((void)kernels::time_pair(t, 0), UsageError);
    if (t.size() == 1 || !t.capabilities().processes || comm::mpi_library() == "none") {
      EXPECT_THROW((void)kernels::time_pair(t, 0.01), UsageError);
      return;
    }
    const kernels::PairTimes times = kernels::time_pair(t, 0.01);
    EXPECT_EQ(times.put_error, "");
    EXPECT_GT(times.ping_s, 0);
    EXPECT_GT(times.put_flush_s, 0);
    const double least = times.ping_s;
    std::array<double, 1> most{least};
    t.all_reduce(most, comm::Op::max);
    EXPECT_EQ(most[0], least);  // the same everywhere
  });
}

TEST_P(PairTest, every_refusal_tells_what_is_needed) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto of = [&](double seconds) { return refusal<UsageError>([&] { (void)kernels::time_pair(t, seconds); }); };
    EXPECT_EQ(of(0), "time_pair: 0.000000 seconds; allowed: more than 0");
    EXPECT_EQ(of(-1), "time_pair: -1.000000 seconds; allowed: more than 0");
    EXPECT_NE(of(std::numeric_limits<double>::quiet_NaN()).find("allowed: more than 0"), std::string::npos);
    if (t.size() == 1) {
      EXPECT_EQ(of(1), "time_pair: one rank; needed: two");
    } else if (!t.capabilities().processes) {
      EXPECT_EQ(of(1), "time_pair: ranks are threads; needed: processes");
    }
  });
}

// The longer measurement has more blocks, not longer operations: both are times of one operation.
TEST_P(PairTest, times_are_of_one_operation_and_shorter_than_the_measurement) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    if (t.size() == 1 || !t.capabilities().processes || comm::mpi_library() == "none") return;
    for (const double seconds : {0.002, 0.02}) {
      const kernels::PairTimes times = kernels::time_pair(t, seconds);
      for (const double time : {times.ping_s, times.put_flush_s}) {
        EXPECT_TRUE(std::isfinite(time));
        EXPECT_GT(time, 1e-10);
        EXPECT_LT(time, 0.1) << "even where ranks take turns on a core";
      }
      std::array<double, 2> least{times.ping_s, times.put_flush_s};
      std::array<double, 2> most = least;
      t.all_reduce(least, comm::Op::min);
      t.all_reduce(most, comm::Op::max);
      EXPECT_EQ(least, most) << "the same on every rank";
    }
  });
}

}  // namespace
