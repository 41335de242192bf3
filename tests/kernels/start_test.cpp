/// Synchronised start: nobody leaves before all have come, round after round, and whom a rank waits for is one of its partners.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "merganser/kernels/exchange.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

class StartTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, StartTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// Returns the ranks from which a rank hears in a dissemination barrier: those 1, 2, 4, ... below it.
std::set<int> partners(int rank, int size) {
  std::set<int> all;
  for (int step = 1; step < size; step *= 2) all.insert((rank - step + size) % size);
  return all;
}

// On threads all ranks share the counter.
TEST_P(StartTest, every_rank_has_come_whenever_one_leaves) {
  if (comm::launched()) GTEST_SKIP() << "ranks are processes here, which share no counter";
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 9}) {
    std::atomic<int> entered{0};
    std::atomic<int> early{0};
    on_ranks({"threads", ranks, ""}, [&](Transport& t) {
      const auto start = kernels::make_start(t);
      for (int round = 1; round <= 60; ++round) {
        ++entered;
        start->wait();
        if (entered < round * ranks) ++early;
      }
    });
    EXPECT_EQ(early, 0) << ranks << " ranks";
  }
}

// The late rank enters when the others have been waiting for a while; each of them waits for one of its partners until then.
TEST_P(StartTest, a_late_rank_is_waited_for_along_the_steps_of_the_barrier) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto start = kernels::make_start(t);
    const auto allowed = partners(t.rank(), t.size());
    EXPECT_EQ(start->waits_for(), -1);
    for (int late = 0; late < std::min(t.size(), 3); ++late) {
      std::vector<int> seen;
      t.barrier();
      if (t.rank() == late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
        start->wait();
      } else {
        std::atomic<bool> left{false};
        std::thread watcher([&] {
          while (!left) {
            seen.push_back(start->waits_for());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        });
        start->wait();
        left = true;
        watcher.join();
      }
      for (const int rank : seen) EXPECT_TRUE(rank == -1 || allowed.contains(rank)) << t.rank() << " for " << rank;
      EXPECT_EQ(start->waits_for(), -1);
    }
  });
}

// The rank above the late one hears from it in the first step, so it must wait for it, and for nobody else.
TEST_P(StartTest, the_next_rank_waits_for_the_late_one_itself) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 2) return;
    const auto start = kernels::make_start(t);
    const auto hold = comm::all_gather_value(t, 0);  // a collective before: all are here
    EXPECT_EQ(hold.size(), static_cast<std::size_t>(t.size()));
    const int late = t.size() - 1;
    std::atomic<bool> seen{false};
    std::atomic<bool> left{false};
    std::thread watcher;
    if (t.rank() == (late + 1) % t.size()) {
      watcher = std::thread([&] {
        while (!left && !seen) {
          if (start->waits_for() == late) seen = true;
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
      });
    }
    if (t.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    start->wait();
    left = true;
    if (watcher.joinable()) {
      watcher.join();
      EXPECT_TRUE(seen);
    }
  });
}

TEST_P(StartTest, several_starts_of_one_transport_do_not_mix) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto one = kernels::make_start(t);
    const auto other = kernels::make_start(t);
    // Rank r enters `other` only after the barrier: if `one` took its signals, a rank would leave it too soon, or hang later.
    for (int round = 0; round < 20; ++round) {
      (round % 3 == 1 ? other : one)->wait();
      (round % 2 == 0 ? one : other)->wait();
    }
    EXPECT_EQ(one->waits_for(), -1);
    EXPECT_EQ(other->waits_for(), -1);
    EXPECT_EQ(t.all_reduce(std::int64_t{1}, comm::Op::sum), t.size());
  });
}

}  // namespace
