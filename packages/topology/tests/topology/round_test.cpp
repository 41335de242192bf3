/// One round of the benchmark: what is reported of a rank that stalls, wrong bytes, times of all ranks on all ranks, hooks and
/// buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "src/topology/measure_round.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
using topology::detail::Filling;
using topology::detail::RankPosition;
using topology::detail::RankTimes;

void on_threads(int ranks, const std::function<void(comm::Transport&)>& body) {
  comm::run({.backend = "threads", .ranks = ranks}, body);
}

/// A complete exchange on `t` with sizes that differ from arc to arc.
struct SomeExchange {
  comm::Graph graph;
  topology::detail::ArcBytes bytes;
  std::unique_ptr<kernels::Exchange> exchange;

  SomeExchange(comm::Transport& t, std::size_t buffers) {
    const graphs::ProcessGraph all = graphs::make_process_graph("complete", t.size(), 1);
    graph = all.local(t.rank());
    for (const int to : graph.out) bytes.out.push_back(size(t.rank(), to));
    for (const int from : graph.in) bytes.in.push_back(size(from, t.rank()));
    exchange = kernels::make_exchange(t, "threads.copy-flag", {graph, bytes.out, bytes.in, buffers});
  }
  static std::size_t size(int from, int to) { return static_cast<std::size_t>(9 + 5 * from + 3 * to); }
};

TEST(RoundPatterns, what_was_filled_is_found_at_the_other_end_of_every_arc) {
  on_threads(4, [](comm::Transport& t) {
    SomeExchange some(t, 3);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      const Filling filling{t.rank(), 3, round};
      topology::detail::fill_sources(*some.exchange, some.bytes, filling);
      some.exchange->quiesce();
      for (std::size_t buffer = 0; buffer < 3; ++buffer) some.exchange->iterate(buffer);
      some.exchange->quiesce();
      EXPECT_EQ(topology::detail::check_landings(*some.exchange, some.bytes, filling), "");
      EXPECT_NE(topology::detail::check_landings(*some.exchange, some.bytes, {t.rank(), 3, round + 1}), "")
          << "what is from the round before is wrong";
      some.exchange->quiesce();
    }
  });
}

TEST(RoundPatterns, a_buffer_that_was_left_out_is_wrong) {
  on_threads(2, [](comm::Transport& t) {
    SomeExchange some(t, 3);
    const Filling filling{t.rank(), 3, 1};
    topology::detail::fill_sources(*some.exchange, some.bytes, filling);
    some.exchange->quiesce();
    for (const std::size_t buffer : {0U, 2U}) some.exchange->iterate(buffer);
    some.exchange->quiesce();
    const std::string found = topology::detail::check_landings(*some.exchange, some.bytes, filling);
    const int from = 1 - t.rank();
    EXPECT_EQ(found, "threads.copy-flag of " + std::to_string(SomeExchange::size(from, t.rank())) +
                         " bytes: byte 0 from rank " + std::to_string(from) + " to rank " + std::to_string(t.rank()) +
                         " arrived wrong");
    EXPECT_EQ(topology::detail::check_landings(*some.exchange, some.bytes, {t.rank(), 1, 1}), "");
    t.barrier();
    // The last byte of the last arc counts too.
    some.exchange->iterate(1);
    some.exchange->quiesce();
    EXPECT_EQ(topology::detail::check_landings(*some.exchange, some.bytes, filling), "");
    const auto landing = some.exchange->landing(0, 2);
    landing.back() ^= std::byte{0x80};
    EXPECT_NE(topology::detail::check_landings(*some.exchange, some.bytes, filling)
                  .find("byte " + std::to_string(landing.size() - 1) + " from"),
              std::string::npos);
  });
}

TEST(GatherTimes, every_rank_has_the_times_of_all) {
  on_threads(3, [](comm::Transport& t) {
    RankTimes mine;
    mine.loop_s = 0.5 + t.rank();
    for (int i = 0; i < 2 * t.rank(); ++i) mine.iterations.push_back({10.0 * t.rank(), -1.0 - i});
    const auto all = topology::detail::gather_times(t, mine, "");
    ASSERT_EQ(all.size(), 3U);
    for (int r = 0; r < 3; ++r) {
      const auto& theirs = all[static_cast<std::size_t>(r)];
      EXPECT_EQ(theirs.loop_s, 0.5 + r);
      ASSERT_EQ(theirs.iterations.size(), static_cast<std::size_t>(2 * r));
      for (int i = 0; i < 2 * r; ++i) {
        EXPECT_EQ(theirs.iterations[static_cast<std::size_t>(i)].began, 10 * r);
        EXPECT_EQ(theirs.iterations[static_cast<std::size_t>(i)].ns, -1 - i);
      }
    }
  });
}

TEST(GatherTimes, a_wrong_byte_on_one_rank_is_an_error_on_all) {
  for (const int wrong : {0, 2}) {
    std::atomic<int> told{0};
    on_threads(3, [&](comm::Transport& t) {
      const auto error = test::refusal<VerificationError>([&] {
        (void)topology::detail::gather_times(t, {}, t.rank() == wrong ? "byte 7 of rank " + std::to_string(wrong) : "");
      });
      told += error == "byte 7 of rank " + std::to_string(wrong) ? 1 : 0;
    });
    EXPECT_EQ(told, 3);
  }
}

TEST(GatherTimes, wrong_bytes_on_all_ranks_are_an_error_on_all) {
  std::atomic<int> told{0};
  on_threads(3, [&](comm::Transport& t) {
    const auto error = test::refusal<VerificationError>(
        [&] { (void)topology::detail::gather_times(t, {}, "byte of rank " + std::to_string(t.rank())); });
    told += error.starts_with("byte of rank ") ? 1 : 0;
  });
  EXPECT_EQ(told, 3);
}

TEST(RankPositions, of_a_rank_are_those_of_its_last_steps) {
  on_threads(2, [](comm::Transport& t) {
    RankPosition where(t.rank());
    Stall s = where.make_report(1.5);
    EXPECT_EQ(s.rank, t.rank());
    EXPECT_EQ(s.phase, Phase::setup);
    EXPECT_EQ(s.kernel, "");
    EXPECT_EQ(s.iteration, 0);
    EXPECT_EQ(s.seconds, 1.5);
    EXPECT_TRUE(s.missing.empty());
    SomeExchange some(t, 1);
    const auto start = kernels::make_start(t);
    where.set_start(start.get());
    where.set_current(some.exchange.get(), "k", "g", "8");
    EXPECT_EQ(where.next_iteration(), 0);
    EXPECT_EQ(where.next_iteration(), 1);
    EXPECT_EQ(where.next_iteration(), 2);
    where.set_phase(Phase::iterate);
    s = where.make_report(0);
    EXPECT_EQ(s.kernel, "k");
    EXPECT_EQ(s.graph, "g");
    EXPECT_EQ(s.size, "8");
    EXPECT_EQ(s.phase, Phase::iterate);
    EXPECT_EQ(s.iteration, 2) << "the one under way, not the next";
    EXPECT_TRUE(s.missing.empty()) << "no iteration is under way in truth";
    where.set_phase(Phase::start);
    EXPECT_TRUE(where.make_report(0).missing.empty());
    where.set_current(nullptr, "", "", "");
    EXPECT_EQ(where.make_report(0).kernel, "");
    t.barrier();
  });
}

// Rank 1 does not come: rank 0 waits for it, before the iteration at the start, in it for its message.
TEST(RankPositions, of_a_rank_that_waits_name_the_one_that_is_missing) {
  for (const bool at_start : {true, false}) {
    on_threads(2, [&](comm::Transport& t) {
      SomeExchange some(t, 1);
      const auto start = kernels::make_start(t);
      RankPosition where(t.rank());
      where.set_start(start.get());
      where.set_current(some.exchange.get(), "k", "g", "8");
      where.set_phase(at_start ? Phase::start : Phase::iterate);
      some.exchange->quiesce();
      static std::atomic<bool> seen;
      if (t.rank() == 0) seen = false;
      t.barrier();
      std::thread watcher;
      if (t.rank() == 0) {
        watcher = std::thread([&] {
          for (int ms = 0; ms < 20'000 && !seen; ++ms) {
            seen = where.make_report(0).missing == std::vector<int>{1};
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        });
      } else {
        for (int ms = 0; ms < 20'000 && !seen; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (at_start) {
        start->wait();
      } else {
        some.exchange->iterate(0);
      }
      if (watcher.joinable()) watcher.join();
      EXPECT_TRUE(seen);
      some.exchange->quiesce();
    });
  }
}

/// What hooks saw on rank 0: numbers of iterations, in order, by place.
TEST(RoundHooks, are_called_around_every_iteration_in_order) {
  std::vector<std::string> calls;
  MeasureOptions o;
  o.graphs = {{"chain", graphs::make_process_graph("chain", 2, 1)}};
  o.kernels = {"threads.copy-flag"};
  o.sizes = {{8, false}};
  o.seconds = 0.01;
  o.watchdog_s = 0;
  on_threads(2, [&](comm::Transport& t) {
    MeasureOptions mine = o;
    if (t.rank() == 0) {
      const auto noting = [&calls](const char* what) {
        return [&calls, what](kernels::Exchange&, std::int64_t i) { calls.push_back(what + std::to_string(i)); };
      };
      mine.hooks = {noting("before "), noting("in "), noting("out ")};
    }
    (void)measure(t, mine);
  });
  ASSERT_GT(calls.size(), 12U);
  ASSERT_EQ(calls.size() % 3, 0U);
  for (std::size_t i = 0; i < calls.size() / 3; ++i) {
    EXPECT_EQ(calls[3 * i], "before " + std::to_string(i));
    EXPECT_EQ(calls[3 * i + 1], "in " + std::to_string(i));
    EXPECT_EQ(calls[3 * i + 2], "out " + std::to_string(i));
  }
}

constexpr double kWindowNs = 2e6;

/// Runs a round of 20 iterations on 3 ranks that begin at moments of the common clock, `kWindowNs` apart, after one that warms up.
/// @param before  called on rank 1 before each iteration, with its number: that of the first timed one is 1
/// @return the times of every rank, by rank
std::vector<RankTimes> run_windows(const std::function<void(std::int64_t)>& before) {
  std::vector<RankTimes> all;
  MeasureOptions options;
  options.sync = Sync::roundtime;
  on_threads(3, [&](comm::Transport& t) {
    SomeExchange some(t, 1);
    MeasureOptions mine = options;
    if (t.rank() == 1) mine.hooks.before = [&](kernels::Exchange&, std::int64_t i) { before(i); };
    RankPosition where(t.rank());
    Watchdog watchdog(0, {});
    topology::detail::RoundRunner runner(t, mine, where, watchdog);
    auto times = runner.run(*some.exchange, some.bytes, 1, {.warmup = 1, .iterations = 20, .window_ns = kWindowNs});
    if (t.rank() == 0) all = std::move(times);
  });
  return all;
}

// Oracle: moments that are multiples of the window apart. No iteration begins before its moment, so the earliest one by that grid
// tells where the grid is; those in time begin there too, on every rank. On a busy machine few are in time: rounds are repeated.
TEST(RoundWindows, iterations_begin_on_all_ranks_at_moments_one_window_apart) {
  constexpr double kNear = 0.5 * kWindowNs;  // less than a window, far more than clocks and a call differ by
  std::size_t in_time = 0, near = 0;
  for (int attempt = 0; attempt < 400 && in_time < 20; ++attempt) {
    const auto all = run_windows([](std::int64_t) {});
    double grid = all[0].iterations[0].began;
    const auto since = [](const RankTimes& mine, std::size_t i) {
      return mine.iterations[i].began - static_cast<double>(i) * kWindowNs;
    };
    for (const auto& mine : all) {
      ASSERT_EQ(mine.iterations.size(), 20U);
      EXPECT_GE(mine.loop_s, 19 * kWindowNs * 1e-9) << "the last one begins 19 windows after the first";
      for (std::size_t i = 0; i < 20; ++i) grid = std::min(grid, since(mine, i));
    }
    for (const auto& mine : all) {
      for (std::size_t i = 0; i < 20; ++i) {
        if (mine.iterations[i].ns < 0) continue;
        ++in_time;
        near += since(mine, i) < grid + kNear ? 1U : 0U;
      }
    }
  }
  ASSERT_GE(in_time, 20U) << "in 400 rounds hardly an iteration began in time";
  EXPECT_GE(2 * near, in_time) << "of those that began in time";
}

// Rank 1 sleeps for three windows before the fourth iteration: it misses the moments of the fourth and of the fifth. The others
// wait for its message in the fourth, and so miss the moment of the fifth.
TEST(RoundWindows, a_rank_that_misses_its_moment_is_late_and_so_are_those_that_waited_for_it) {
  const auto all = run_windows([](std::int64_t i) {
    if (i == 4) std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(3 * kWindowNs)));
  });
  EXPECT_LE(all[1].iterations[3].ns, -1);
  for (const auto& mine : all) EXPECT_LE(mine.iterations[4].ns, -1) << "-1 - duration";
  for (const auto& mine : all) {
    EXPECT_GE(mine.iterations[4].began - all[1].iterations[2].began, 2.9 * kWindowNs) << "after the sleep";
  }
}

}  // namespace
