/// Latency measurement between two ranks: a ping-pong and a put, with the same result on every rank.
#include "merganser/kernels/pair.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/support/ranks.hpp"

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

}  // namespace
