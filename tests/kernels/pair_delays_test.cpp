/// Latencies between two ranks of a library whose delays are known: this program's own MPI_Send, MPI_Put and MPI_Win_flush sleep
/// before they pass the call on.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <thread>

#include "merganser/kernels/pair.hpp"
#include "tests/kernels/exchange_support.hpp"

namespace {

using Duration = std::chrono::duration<double>;
constexpr Duration kSend{0.001};
constexpr Duration kPut{0.01};
constexpr Duration kFlush{0.04};
bool slow = false;

void pass(Duration delay) {
  if (slow) std::this_thread::sleep_for(delay);
}

}  // namespace

extern "C" {

int MPI_Send(const void* a, int n, MPI_Datatype d, int to, int tag, MPI_Comm c) {
  pass(kSend);
  return PMPI_Send(a, n, d, to, tag, c);
}
int MPI_Put(const void* a, int n, MPI_Datatype d, int to, MPI_Aint at, int m, MPI_Datatype e, MPI_Win w) {
  pass(kPut);
  return PMPI_Put(a, n, d, to, at, m, e, w);
}
int MPI_Win_flush(int rank, MPI_Win w) {
  pass(kFlush);
  return PMPI_Win_flush(rank, w);
}

}  // extern "C"

namespace {

using namespace merganser;
using namespace merganser::test;

class PairDelayTest : public testing::TestWithParam<Setup> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PairDelayTest);
INSTANTIATE_TEST_SUITE_P(Models, PairDelayTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

// A ping-pong is two sends, of which half is told; a put is told with its flush. No operation is shorter than its delays, and on an
// idle machine each is hardly longer: a busy one has room up to the other kind, which takes fifty times as long.
TEST_P(PairDelayTest, each_latency_is_that_of_its_own_calls) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    slow = true;
    const kernels::PairTimes times = kernels::time_pair(t, 0.02);
    slow = false;
    EXPECT_EQ(times.put_error, "");
    EXPECT_GE(times.ping_s, kSend.count());
    EXPECT_GE(times.put_flush_s, (kPut + kFlush).count());
    EXPECT_LT(times.ping_s, times.put_flush_s);
    EXPECT_LT(times.put_flush_s, 1) << "of one operation";
    for (const double time : {times.ping_s, times.put_flush_s}) {
      std::array<double, 1> least{time}, most{time};
      t.all_reduce(least, comm::Op::min);
      t.all_reduce(most, comm::Op::max);
      EXPECT_EQ(least, most) << "the same on every rank";
    }
  });
}

}  // namespace
