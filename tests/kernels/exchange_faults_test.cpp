/// Notifications that are lost: which ranks are missing then, and who goes on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "tests/kernels/exchange_support.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;
using merganser::UsageError;

class ExchangeFaultTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ExchangeFaultTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Signal from rank 0 to all others that does not use the exchange under test: a file that appears. Its constructor is collective.
class SeenFile {
 public:
  explicit SeenFile(Transport& t) {
    static std::atomic<int> made{0};
    const int pid = static_cast<int>(::getpid());
    const auto first = all_gather_value(t, std::array<int, 2>{pid, t.rank() == 0 ? made++ : 0})[0];
    path_ = std::filesystem::temp_directory_path() /
            ("merganser-seen-" + std::to_string(first[0]) + "-" + std::to_string(first[1]));
  }
  void signal() const { std::ofstream(path_).put('1'); }
  void await() const {
    while (!std::filesystem::exists(path_)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void remove() const { std::filesystem::remove(path_); }

 private:
  std::filesystem::path path_;
};

/// Returns true if missing(), called by another thread while iterate() waits, returns `wanted` within 20 s. Then signals the other
/// ranks.
bool is_seen_missing(Exchange& exchange, const std::vector<int>& wanted, const SeenFile& file) {
  bool seen = false;
  std::thread watchdog([&] {
    for (int ms = 0; !seen && ms < 20'000; ++ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      seen = exchange.missing() == wanted;
    }
    file.signal();
  });
  exchange.iterate(0);
  watchdog.join();
  return seen;
}

// All ranks send to rank 0. Every other rank omits a notification and sends the next one later, with which rank 0 continues.
TEST_P(ExchangeFaultTest, a_lost_notification_shows_who_is_missing) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 2) return;
    const Graph graph = funnel(t);
    const auto [out, in] = equal_sizes(graph, 8);
    for (const auto& info : usable_kernels(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, out, in, 1});
      EXPECT_TRUE(exchange->missing().empty()) << info.name;
      exchange->quiesce();
      bool drops = true;
      if (t.rank() > 0) drops = exchange->drop_next(0);
      if (t.all_reduce(drops ? 1 : 0, Op::min) == 0) {
        EXPECT_FALSE(can_drop(info)) << info.name;
        continue;
      }
      EXPECT_EQ(info.completion, Completion::notified) << info.name;
      const SeenFile file(t);
      if (t.rank() == 0) {
        EXPECT_TRUE(is_seen_missing(*exchange, graph.in, file)) << info.name;
      } else {
        exchange->iterate(0);
        file.await();
        exchange->iterate(0);
      }
      EXPECT_TRUE(exchange->missing().empty()) << info.name;
      exchange->quiesce();
      if (t.rank() == 0) file.remove();
    }
  });
}

TEST_P(ExchangeFaultTest, only_the_rank_whose_notification_is_lost_is_missing) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 3) return;
    const Graph graph = funnel(t);
    const auto [out, in] = equal_sizes(graph, 8);
    const int loser = t.size() - 1;
    for (const auto& info : usable_kernels(t)) {
      if (!can_drop(info)) continue;
      const auto exchange = make_exchange(t, info.name, {graph, out, in, 1});
      exchange->quiesce();
      const SeenFile file(t);
      if (t.rank() == 0) {
        EXPECT_TRUE(is_seen_missing(*exchange, {loser}, file)) << info.name;
      } else {
        if (t.rank() == loser) {
          EXPECT_TRUE(exchange->drop_next(0));
        }
        exchange->iterate(0);
        if (t.rank() == loser) {
          file.await();
          exchange->iterate(0);
        }
      }
      exchange->quiesce();
      if (t.rank() == 0) file.remove();
    }
  });
}

// One rank comes late, the first or the last; the next one, to which it speaks in the first step of a barrier, is asked. Threads know
// the rank whose flag they wait for; a collective call of a library does not tell which of the others is late.
TEST_P(ExchangeFaultTest, who_waits_for_all_ranks_names_the_late_one_or_all_others) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 2) return;
    const Graph graph = ring(t);
    const auto sizes = equal_sizes(graph, 8);
    for (const auto& info : usable_kernels(t)) {
      if (info.completion != Completion::global) continue;
      for (const int late : {0, t.size() - 1}) {
        const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
        exchange->quiesce();
        const SeenFile file(t);
        const int asked = (late + 1) % t.size();
        std::vector<int> wanted{late};
        if (info.model != "threads") {
          wanted.resize(static_cast<std::size_t>(t.size()));
          std::iota(wanted.begin(), wanted.end(), 0);
          std::erase(wanted, asked);
        }
        if (t.rank() == asked) {
          EXPECT_TRUE(is_seen_missing(*exchange, wanted, file)) << info.name << ", rank " << late;
        } else {
          if (t.rank() == late) file.await();
          exchange->iterate(0);
        }
        EXPECT_TRUE(exchange->missing().empty()) << info.name;
        exchange->quiesce();
        if (t.rank() == 0) file.remove();
      }
    }
  });
}

// Rank 0 leaves out what it tells rank 1: the others have their round, and rank 1 has it with the next notification.
TEST_P(ExchangeFaultTest, a_dropped_arc_keeps_back_its_target_alone) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 3) return;
    Graph graph = funnel(t);
    std::swap(graph.out, graph.in);  // rank 0 sends to all others
    const auto sizes = equal_sizes(graph, 32);
    for (const auto& info : usable_kernels(t)) {
      if (!can_drop(info)) continue;
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      fill_zones(t, *exchange, 0, 5);
      exchange->quiesce();
      if (t.rank() == 0) {
        EXPECT_TRUE(exchange->drop_next(0));
        exchange->iterate(0);
      } else if (t.rank() > 1) {
        exchange->iterate(0);
        EXPECT_EQ(wrong_bytes(t, *exchange, 0, 5), 0U) << info.name;
      }
      t.barrier();
      // Those that are not behind make a second round with rank 0; rank 1 its first.
      if (t.rank() != 1) exchange->iterate(0);
      if (t.rank() == 1) {
        exchange->iterate(0);
        EXPECT_EQ(wrong_bytes(t, *exchange, 0, 5), 0U) << info.name;
      }
      exchange->quiesce();
    }
  });
}

TEST_P(ExchangeFaultTest, only_kernels_that_notify_each_target_can_drop) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = ring(t);
    const auto sizes = equal_sizes(graph, 8);
    for (const auto& info : usable_kernels(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      if (!can_drop(info)) {
        EXPECT_FALSE(exchange->drop_next(0)) << info.name;
        expect_round(t, *exchange, 0, 1);  // nothing is left out
        continue;
      }
      EXPECT_EQ(refusal<UsageError>([&] { (void)exchange->drop_next(1); }),
                std::string(info.name) + ": out-arc 1; there are 1");
    }
  });
}

TEST_P(ExchangeFaultTest, nobody_is_missing_outside_of_an_iteration) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto sizes = equal_sizes(graph, 8);
    for (const auto& info : usable_kernels(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      EXPECT_TRUE(exchange->missing().empty()) << info.name;
      for (unsigned round = 0; round < 3; ++round) {
        expect_round(t, *exchange, 0, round);
        EXPECT_TRUE(exchange->missing().empty()) << info.name;
      }
      EXPECT_EQ(refusal<UsageError>([&] { exchange->iterate(1); }),
                std::string(info.name) + ": buffer 1; allowed: 0 to 0");
      EXPECT_TRUE(exchange->missing().empty()) << info.name << ": a refused iteration is none";
    }
  });
}

/// Sets MERGANSER_WAIT_LIMIT for the runs of its scope.
class ScopedLimit {
 public:
  explicit ScopedLimit(const char* seconds) { ::setenv("MERGANSER_WAIT_LIMIT", seconds, 1); }
  ~ScopedLimit() { ::unsetenv("MERGANSER_WAIT_LIMIT"); }
};

/// Returns the error of a run on threads in which rank 0 waits for a notification that rank `loser` never sends.
std::string error_of_lost(int ranks, int loser, const char* kernel) {
  const ScopedLimit limit("0.15");
  return refusal<merganser::CommError>([&] {
    run({.backend = "threads", .ranks = ranks}, [&](Transport& t) {
      const Graph graph = funnel(t);
      const auto sizes = equal_sizes(graph, 8);
      const auto exchange = make_exchange(t, kernel, {graph, sizes.out, sizes.in, 1});
      exchange->quiesce();
      if (t.rank() == loser) (void)exchange->drop_next(0);
      exchange->iterate(0);
    });
  });
}

TEST(ExchangeLimitTest, a_wait_for_a_lost_notification_ends_with_the_ranks_that_are_missing) {
  if (launched()) GTEST_SKIP() << "ranks are processes here";
  for (const int loser : {1, 3}) {
    const std::string text = error_of_lost(4, loser, "threads.copy-flag");
    EXPECT_NE(text.find("the exchange threads.copy-flag: still missing rank " + std::to_string(loser)),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("rank " + std::to_string(4 - loser)), std::string::npos) << "came: " << text;
  }
}

TEST(ExchangeLimitTest, a_rank_that_fails_ends_the_waits_for_its_flags) {
  if (launched()) GTEST_SKIP() << "ranks are processes here";
  for (const char* kernel : {"threads.copy-flag", "threads.copy-barrier"}) {
    const auto failing = [&] {
      run({.backend = "threads", .ranks = 3}, [&](Transport& t) {
        const Graph graph = complete(t);
        const auto sizes = equal_sizes(graph, 8);
        const auto exchange = make_exchange(t, kernel, {graph, sizes.out, sizes.in, 1});
        const auto start = make_start(t);
        exchange->quiesce();
        if (t.rank() == 1) throw merganser::InputError("bad file");
        exchange->iterate(0);
        start->wait();
      });
    };
    EXPECT_EQ(refusal<merganser::InputError>(failing), "bad file") << kernel;
  }
}

}  // namespace
