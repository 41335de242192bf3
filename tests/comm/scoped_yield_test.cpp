/// Tests that threads which poll inside a ScopedYield yield their core, and that the rest of the program is not affected.
#include "src/comm/detail/scoped_yield.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <thread>

#include "merganser/base/error.hpp"
#include "src/comm/detail/waiter.hpp"

namespace {

using namespace merganser::comm::detail;
using merganser::UsageError;
using std::chrono::steady_clock;
constexpr auto kLong = std::chrono::seconds(20);  // what happens at all happens in milliseconds
constexpr int kManyRanks = 1 << 20;               // more than cores
// Below are those of a page or a lock of the system, which nobody can rule out; the timer makes hundreds in as much time.
constexpr long kOfTimer = 20;

/// How often this thread has gone to sleep by itself.
long sleeps() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

/// Polls, as a library that waits does, until this thread has slept so often. False if it never does.
bool polls_until_it_slept(long times) {
  const long before = sleeps();
  for (const auto end = steady_clock::now() + kLong; steady_clock::now() < end;)
    if (sleeps() - before >= times) return true;
  return false;
}

/// Sleeps of this thread while it polls for a while.
long sleeps_in(std::chrono::milliseconds time) {
  const long before = sleeps();
  for (const auto end = steady_clock::now() + time; steady_clock::now() < end;) continue;
  return sleeps() - before;
}

volatile std::sig_atomic_t met = 0;
void meet(int) { met = met + 1; }

/// A program that has a use for the signal that would be taken first.
struct Taken {
  Taken() {
    struct sigaction action {};
    action.sa_handler = meet;
    ::sigaction(SIGRTMAX, &action, nullptr);
  }
} const taken;

class ScopedYieldTest : public testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("MERGANSER_YIELD");
    begin("0", 1);
  }
  static void begin(const char* variable, int ranks) {
    ::setenv("MERGANSER_YIELD", variable, 1);
    enable_yielding(ranks);
    ::unsetenv("MERGANSER_YIELD");
  }
};

TEST_F(ScopedYieldTest, a_thread_that_polls_in_it_sleeps_again_and_again) {
  enable_yielding(kManyRanks);
  ASSERT_TRUE(oversubscribed());
  const ScopedYield yield(ScopedYield::Call::brief);
  EXPECT_TRUE(polls_until_it_slept(20));
}

TEST_F(ScopedYieldTest, with_a_core_for_every_rank_only_long_calls_do) {
  enable_yielding(1);
  EXPECT_FALSE(oversubscribed());
  {
    const ScopedYield yield(ScopedYield::Call::brief);
    EXPECT_LT(sleeps_in(std::chrono::milliseconds(20)), kOfTimer);
  }
  const ScopedYield yield;
  EXPECT_TRUE(polls_until_it_slept(5));
}

TEST_F(ScopedYieldTest, is_kept_when_one_inside_ends_and_ends_with_the_outer_one) {
  enable_yielding(kManyRanks);
  {
    const ScopedYield outer;
    { const ScopedYield inner; }
    EXPECT_TRUE(polls_until_it_slept(5));
  }
  EXPECT_LT(sleeps_in(std::chrono::milliseconds(20)), kOfTimer);
}

TEST_F(ScopedYieldTest, is_of_every_thread_by_itself) {
  enable_yielding(kManyRanks);
  bool slept = false;
  long without = -1;
  {
    const ScopedYield yield;
    std::thread([&] {
      without = sleeps_in(std::chrono::milliseconds(20));
      const ScopedYield own;
      slept = polls_until_it_slept(5);
    }).join();
  }
  EXPECT_GE(without, 0);
  EXPECT_LT(without, kOfTimer);
  EXPECT_TRUE(slept);
}

TEST_F(ScopedYieldTest, restarts_system_calls_and_leaves_errno_alone) {
  enable_yielding(kManyRanks);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
  });
  {
    const ScopedYield yield;
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1) << errno;
    EXPECT_EQ(byte, 'x');
    errno = EDOM;
    EXPECT_TRUE(polls_until_it_slept(5));
    EXPECT_EQ(errno, EDOM);
  }
  writer.join();
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(ScopedYieldTest, sleep_of_the_program_is_not_interrupted_after_it) {
  enable_yielding(kManyRanks);
  for (int i = 0; i < 200; ++i) {
    {
      const ScopedYield yield;
      for (int spin = 0; spin < i * 200; ++spin) met = met;  // so that it ends at any time of the timer
    }
    const timespec rest{0, 200'000};
    ASSERT_EQ(::nanosleep(&rest, nullptr), 0) << i;
  }
}

TEST_F(ScopedYieldTest, signals_of_the_program_arrive_and_keep_their_handlers) {
  enable_yielding(kManyRanks);
  struct sigaction before {};
  struct sigaction action {};
  action.sa_handler = meet;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  met = 0;
  {
    const ScopedYield yield;
    EXPECT_TRUE(polls_until_it_slept(5));
    EXPECT_EQ(met, 0) << "the signal that the program uses was taken for the timer";
    for (int i = 1; i <= 50; ++i) {
      ASSERT_EQ(::raise(SIGUSR1), 0);
      ASSERT_EQ(met, i);
    }
    EXPECT_TRUE(polls_until_it_slept(5));
  }
  ::sigaction(SIGUSR1, &before, nullptr);
  struct sigaction now {};
  ::sigaction(SIGRTMAX, nullptr, &now);
  EXPECT_EQ(now.sa_handler, meet);
}

TEST_F(ScopedYieldTest, a_thread_that_blocks_its_signal_has_none) {
  enable_yielding(kManyRanks);
  std::thread([] {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    const ScopedYield yield;
    EXPECT_LT(sleeps_in(std::chrono::milliseconds(20)), kOfTimer);
  }).join();
}

TEST_F(ScopedYieldTest, is_switched_by_the_variable) {
  begin("0", kManyRanks);
  EXPECT_FALSE(oversubscribed());
  {
    const ScopedYield yield;
    EXPECT_LT(sleeps_in(std::chrono::milliseconds(20)), kOfTimer);
  }
  begin("1", 1);
  EXPECT_TRUE(oversubscribed());
  try {
    begin("yes", 1);
    FAIL() << "it was taken";
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("MERGANSER_YIELD is 'yes'; allowed: 0"), std::string::npos) << e.what();
  }
}

TEST_F(ScopedYieldTest, what_one_library_knew_of_the_ranks_another_does_not_forget) {
  enable_yielding(kManyRanks);
  enable_yielding(0);
  EXPECT_TRUE(oversubscribed());
  enable_yielding(1);
  EXPECT_FALSE(oversubscribed());
}

TEST_F(ScopedYieldTest, ranks_of_a_host_are_those_that_some_launcher_tells) {
  constexpr std::array kNames{"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"};
  std::map<const char*, std::string> before;
  for (const char* name : kNames) {
    if (const char* value = std::getenv(name); value != nullptr) before[name] = value;
    ::unsetenv(name);
  }
  EXPECT_EQ(count_local_ranks(), 0);
  ::setenv("SLURM_STEP_TASKS_PER_NODE", "4(x2)", 1);
  EXPECT_EQ(count_local_ranks(), 4);
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "3", 1);
  EXPECT_EQ(count_local_ranks(), 3);
  ::setenv("MPI_LOCALNRANKS", "many", 1);
  EXPECT_EQ(count_local_ranks(), 3);
  ::setenv("MPI_LOCALNRANKS", "2", 1);
  EXPECT_EQ(count_local_ranks(), 2);
  for (const char* name : kNames) ::unsetenv(name);
  for (const auto& [name, value] : before) ::setenv(name, value.c_str(), 1);
}

TEST_F(ScopedYieldTest, where_ranks_are_oversubscribed_a_waiter_sleeps_instead_of_yielding) {
  const Waiter::Describe nobody = [] { return std::string(); };
  const auto sleeps_of_a_wait = [&] {
    const long before = sleeps();
    Waiter waiter(nobody);
    for (int i = 0; i < 200; ++i) waiter.idle();
    return sleeps() - before;
  };
  EXPECT_LT(sleeps_of_a_wait(), kOfTimer);
  enable_yielding(kManyRanks);
  EXPECT_GE(sleeps_of_a_wait(), 100);
}

}  // namespace
