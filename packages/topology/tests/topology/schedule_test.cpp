/// Schedule of rounds: when a configuration has converged, how long a round is, and that the time is kept to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "merganser/graphs/process_graph_kinds.hpp"
#include "src/topology/measure_schedule.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
using topology::detail::Cells;
using topology::detail::make_cells;
using topology::detail::RoundSummary;
using topology::detail::Schedule;
using topology::detail::Task;

/// Two configurations of small messages, which share a kept exchange.
struct TwoCells {
  MeasureOptions options;
  Cells cells;

  TwoCells() {
    options.graphs = {{"chain", graphs::make_process_graph("chain", 2, 1)}};
    options.kernels = {"threads.copy"};
    options.sizes = {{8, false}, {64, false}};
    cells = make_cells(options, options.kernels);
  }
};

/// A result of rounds whose medians are `low` and `high` in turns, with `samples` iterations at 1,000 ns.
CellResult rounds_between(int rounds, double low, double high, std::uint64_t samples) {
  CellResult out;
  for (std::uint64_t i = 0; i < samples; ++i) out.exchange.add(1000);
  for (int r = 0; r < rounds; ++r) {
    Round round;
    round.p50_ns = r % 2 == 0 ? low : high;
    out.rounds.push_back(round);
  }
  return out;
}

RoundSummary took(double loop_s) {
  RoundSummary s;
  s.loop_s = loop_s;
  return s;
}

/// Returns whether the first of two configurations, with a fair share of 1 s, has converged after one round of `wall_s`.
bool converges(const CellResult& so_far, double wall_s) {
  const TwoCells two;
  Schedule schedule(two.cells, {2, 0.02, 1, 10'000});
  schedule.record_round({0, 1, 100, 1, 0}, wall_s, took(wall_s / 2), so_far);
  EXPECT_LE(schedule.num_converged(), 1U);
  return schedule.num_converged() == 1;
}

TEST(Convergence, needs_eight_rounds) {
  EXPECT_FALSE(converges(rounds_between(7, 1000, 1000, 20'000), 0.01));
  EXPECT_TRUE(converges(rounds_between(8, 1000, 1000, 20'000), 0.01));
}

TEST(Convergence, needs_ten_thousand_iterations_or_the_share_of_the_time) {
  EXPECT_FALSE(converges(rounds_between(8, 1000, 1000, 9'999), 0.5));
  EXPECT_TRUE(converges(rounds_between(8, 1000, 1000, 10'000), 0.5));
  EXPECT_FALSE(converges(rounds_between(8, 1000, 1000, 100), 0.999));
  EXPECT_TRUE(converges(rounds_between(8, 1000, 1000, 100), 1.0));
}

TEST(Convergence, needs_a_narrow_interval) {
  EXPECT_TRUE(converges(rounds_between(16, 995, 1005, 20'000), 0.01));   // 1 % wide
  EXPECT_FALSE(converges(rounds_between(16, 980, 1020, 20'000), 0.01));  // 4 % wide
  EXPECT_FALSE(converges(rounds_between(16, 980, 1020, 20'000), 5.0)) << "time is no precision";
}

TEST(Convergence, can_be_lost_again) {
  const TwoCells two;
  Schedule schedule(two.cells, {2, 0.02, 1, 10'000});
  schedule.record_round({0, 1, 100, 1, 0}, 0.1, took(0.05), rounds_between(8, 1000, 1000, 20'000));
  EXPECT_EQ(schedule.num_converged(), 1U);
  EXPECT_EQ(schedule.expected_end(0.5), 2);
  schedule.record_round({1, 1, 100, 1, 0}, 0.1, took(0.05), rounds_between(8, 1000, 1000, 20'000));
  EXPECT_EQ(schedule.num_converged(), 2U);
  EXPECT_EQ(schedule.expected_end(0.5), 0.5);
  schedule.record_round({0, 1, 100, 1, 0}, 0.1, took(0.05), rounds_between(9, 900, 1100, 20'000));
  EXPECT_EQ(schedule.num_converged(), 1U);
  EXPECT_EQ(schedule.expected_end(3), 3) << "what is over is over";
}

/// Returns the tasks of a sweep by configuration.
std::map<std::uint32_t, Task> by_cell(const std::vector<Task>& tasks) {
  std::map<std::uint32_t, Task> all;
  for (const Task& task : tasks) EXPECT_TRUE(all.emplace(task.cell, task).second) << "twice: " << task.cell;
  return all;
}

TEST(Sweep, the_first_only_measures_what_things_cost) {
  const TwoCells two;
  Schedule schedule(two.cells, {2, 0.02, 1, 10'000});
  const auto first = by_cell(schedule.next_sweep(two.cells, 0));
  ASSERT_EQ(first.size(), 2U);
  for (const auto& [cell, task] : first) {
    EXPECT_EQ(task.warmup, 1U);
    EXPECT_EQ(task.iterations, 3U);
    EXPECT_EQ(task.keep, 0U);
    EXPECT_EQ(task.window_ns, 100'000);
  }
  EXPECT_FALSE(schedule.has_measured_all());
  for (const auto& [cell, task] : first) schedule.record_round(task, 0.001, took(3e-5), {});
  EXPECT_EQ(schedule.next_sweep(two.cells, 0.002).size(), 2U);
  EXPECT_FALSE(schedule.has_measured_all()) << "its rounds are handed out, not made";
  (void)schedule.next_sweep(two.cells, 0.004);
  EXPECT_TRUE(schedule.has_measured_all());
}

/// Returns the task of configuration 0 in the second sweep, after a first round in which 3 iterations took `loop_s`, of `wall_s`.
Task second_task(double loop_s, double wall_s, double seconds, std::uint32_t most = 10'000) {
  const TwoCells two;
  Schedule schedule(two.cells, {seconds, 0.02, 1, most});
  for (const Task& task : schedule.next_sweep(two.cells, 0)) schedule.record_round(task, wall_s, took(loop_s), {});
  return by_cell(schedule.next_sweep(two.cells, 2 * wall_s)).at(0);
}

TEST(Sweep, rounds_grow_eightfold_at_most) {
  EXPECT_EQ(second_task(3e-6, 1e-5, 100).iterations, 24U);  // of 1 us: many more would fit
  EXPECT_EQ(second_task(3e-6, 1e-5, 100, 20).iterations, 20U) << "bounded by the memory for times";
  // Of 0.1 s each, a sixteenth of the half of 32 s has room for about 9.
  const Task slow = second_task(0.3, 0.4, 32 + 0.8);
  EXPECT_GE(slow.iterations, 6U);
  EXPECT_LE(slow.iterations, 11U);
  EXPECT_EQ(second_task(30, 40, 10).iterations, 1U) << "no time left";
  EXPECT_EQ(second_task(3e-6, 1e-5, 100).keep, 1U);
}

TEST(Sweep, a_tenth_of_the_iterations_warms_up_at_most_fifty) {
  const TwoCells two;
  Schedule schedule(two.cells, {1000, 0.02, 1, 10'000});
  double elapsed = 0;
  std::uint32_t last = 3;
  for (const Task& task : schedule.next_sweep(two.cells, 0)) schedule.record_round(task, 1e-4, took(3e-6), {});
  for (int sweep = 1; sweep < 8; ++sweep) {
    const auto tasks = schedule.next_sweep(two.cells, elapsed);
    ASSERT_EQ(tasks.size(), 2U);
    for (const Task& task : tasks) {
      EXPECT_EQ(task.warmup, std::clamp<std::uint32_t>(task.iterations / 10, 1, 50));
      EXPECT_EQ(task.iterations, std::min<std::uint32_t>(8 * last, 10'000));
      const double loop = 1e-6 * task.iterations;
      schedule.record_round(task, loop + 1e-4, took(loop), {});
      elapsed += loop + 1e-4;
    }
    last = tasks[0].iterations;
  }
  EXPECT_EQ(last, 10'000U);
}

TEST(Sweep, has_no_configuration_that_is_unusable_or_has_converged) {
  TwoCells two;
  Schedule schedule(two.cells, {2, 0.02, 1, 10'000});
  (void)schedule.next_sweep(two.cells, 0);
  schedule.record_round({0, 1, 100, 1, 0}, 0.001, took(0.0005), rounds_between(8, 1000, 1000, 20'000));
  schedule.record_round({1, 1, 100, 1, 0}, 0.001, took(0.0005), {});
  const auto left = schedule.next_sweep(two.cells, 0.01);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].cell, 1U);
  two.cells.mark_unusable(1, two.options, "no room");
  EXPECT_TRUE(schedule.next_sweep(two.cells, 0.02).empty());
}

TEST(Sweep, later_ones_have_only_what_fits_into_the_time_that_is_left) {
  const TwoCells two;
  Schedule schedule(two.cells, {10, 0.02, 1, 10'000});
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (const Task& task : schedule.next_sweep(two.cells, 0)) schedule.record_round(task, 1.5, took(1e-3), {});
  }
  EXPECT_EQ(schedule.next_sweep(two.cells, 5).size(), 2U);
  EXPECT_EQ(schedule.next_sweep(two.cells, 7.5).size(), 1U) << "2.5 s are left, a round takes 1.5 s";
  EXPECT_EQ(schedule.next_sweep(two.cells, 9).size(), 0U);
  EXPECT_EQ(schedule.next_sweep(two.cells, 11).size(), 0U);
}

// The window between the beginnings of two iterations, for ranks that begin at a moment of the common clock.
TEST(Window, is_twice_the_typical_time_and_wider_where_iterations_begin_late) {
  const auto window_after = [](const RoundSummary& summary, double before) {
    const TwoCells two;
    Schedule schedule(two.cells, {100, 0.02, 1, 10'000});
    for (Task task : schedule.next_sweep(two.cells, 0)) {
      task.iterations = 100;
      task.window_ns = before;
      schedule.record_round(task, 0.01, summary, {});
    }
    return by_cell(schedule.next_sweep(two.cells, 0.02)).at(0).window_ns;
  };
  RoundSummary s = took(0.001);
  s.p90_ns = 5000;
  s.longest_ns = 1e6;
  EXPECT_EQ(window_after(s, 100'000), 30'000);
  s.late = 20;  // a fifth is not often
  EXPECT_EQ(window_after(s, 100'000), 30'000);
  s.late = 21;
  EXPECT_EQ(window_after(s, 100'000), 200'000);
  EXPECT_EQ(window_after(s, 90e6), 1e8) << "at most 0.1 s";
  s.p90_ns = 0;  // no iteration counts
  EXPECT_EQ(window_after(s, 0), 2'020'000);
}

}  // namespace
