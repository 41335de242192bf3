// Schedule of the benchmark: which configuration is measured when, and with how many iterations.
#include "src/topology/measure_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace merganser::topology::detail {
namespace {

constexpr int kSweeps = 16;        // parts of the time: as many blocks give a good interval of a median
constexpr int kSweepsInHaste = 6;  // least number of parts where rounds are mostly set-up
constexpr int kFewestSweeps = 4;   // parts that the remaining time is divided into, when the planned sweeps are over
constexpr std::size_t kFewestRounds = 8;
constexpr std::uint64_t kEnough = 10'000;  // iterations that suffice for the 99.9 % quantile
constexpr double kSmooth = 0.3;            // weight of the latest round in the expected cost of the next

/// Shuffles the tasks of a sweep (Fisher-Yates), so that disturbances of the machine affect all configurations of the benchmark.
template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace

Schedule::Schedule(const Cells& cells, Limits limits)
    : limits_(limits),
      fair_share_s_(limits.seconds / static_cast<double>(std::max<std::size_t>(1, cells.cells.size()))),
      costs_(cells.cells.size()),
      random_(limits.seed, 0x7363686564ULL, 0) {}

/// Returns the indices of the configurations that further rounds can improve: usable ones whose median has not converged.
std::vector<std::size_t> Schedule::unconverged_cells(const Cells& cells) const {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < costs_.size(); ++c)
    if (cells.cells[c].usable && !costs_[c].converged) out.push_back(c);
  return out;
}

/// Plans a round of a configuration with as many iterations as fit into a slice of time, by the costs of its earlier rounds.
Task Schedule::plan_round(std::size_t cell, double slice_s) const {
  const Cost& cost = costs_[cell];
  const double fit = (slice_s - cost.round_s) / std::max(cost.iteration_s, 1e-9);
  // A round that ended early lets the next one grow, so that one interruption does not make a configuration look slow forever.
  // A few fast iterations may not be typical: a round has at most eight times as many as the one before.
  const double longest = 8.0 * std::max<std::uint32_t>(1, cost.last_iterations);
  const double wanted = cost.last_s < slice_s / 4 ? std::max(fit / 1.1, longest) : fit / 1.1;
  const double timed = std::clamp(std::min(wanted, longest), 1.0, static_cast<double>(limits_.most_iterations));
  Task task;
  task.cell = static_cast<std::uint32_t>(cell);
  task.iterations = static_cast<std::uint32_t>(timed);
  task.warmup = std::clamp<std::uint32_t>(task.iterations / 10, 1, 50);
  task.window_ns = cost.window_ns;
  return task;
}

/// Returns the expected duration of a round of the benchmark, s: set-up, warm-up and iterations.
double Schedule::expected_cost(const Task& task) const {
  const Cost& cost = costs_[task.cell];
  return cost.round_s + cost.iteration_s * (task.iterations + task.warmup);
}

/// Shuffles the tasks of a sweep over configurations. Those that share an exchange object which exists for its rounds only stay
/// together, so that it is created once.
std::vector<Task> Schedule::shuffle_tasks(const Cells& cells, std::vector<Task> tasks) {
  shuffle(tasks, random_);
  std::map<std::size_t, std::size_t> unit_of_slot;
  std::vector<std::vector<Task>> units;
  for (const Task& task : tasks) {
    const std::size_t slot = cells.cells[task.cell].slot;
    const auto [at, fresh] =
        cells.slots[slot].kept ? std::pair(unit_of_slot.end(), true) : unit_of_slot.try_emplace(slot, units.size());
    if (fresh) {
      units.push_back({task});
    } else {
      units[at->second].push_back(task);
    }
  }
  std::vector<Task> out;
  for (const auto& unit : units) out.insert(out.end(), unit.begin(), unit.end());
  return out;
}

// Sweep 0 has three iterations of each configuration, only to measure costs. Later sweeps divide the remaining time evenly over
// configurations and the sweeps that are left; from the third on, rounds that no longer fit are dropped.
std::vector<Task> Schedule::next_sweep(const Cells& cells, double elapsed_s) {
  const auto left = unconverged_cells(cells);
  std::vector<Task> tasks;
  if (sweeps_ == 0) {
    for (const auto c : left) tasks.push_back({static_cast<std::uint32_t>(c), 1, 3, 0, 100'000});
    ++sweeps_;
    return shuffle_tasks(cells, std::move(tasks));
  }
  const double remaining = limits_.seconds - elapsed_s;
  if (left.empty() || (sweeps_ > 1 && remaining <= 0)) return {};
  double around = 0;  // of one sweep, without any iteration
  for (const auto c : left) around += costs_[c].round_s;
  const int planned = static_cast<int>(std::clamp(remaining / std::max(2 * around, 1e-9) + sweeps_ - 1,
                                                  static_cast<double>(kSweepsInHaste), static_cast<double>(kSweeps)));
  const int sweeps_left = std::max(std::min(kFewestSweeps, planned), planned - (sweeps_ - 1));
  const double slice = std::max(0.0, remaining) / static_cast<double>(left.size()) / sweeps_left;
  for (const auto c : left) tasks.push_back(plan_round(c, slice));
  tasks = shuffle_tasks(cells, std::move(tasks));
  if (sweeps_ > 1) {  // every cell gets one round, whatever the time; later ones must fit
    double price_of_all = 0;
    std::vector<Task> fitting;
    for (const auto& task : tasks) {
      const double expected =
          std::min(expected_cost(task), std::max(slice, costs_[task.cell].round_s + costs_[task.cell].iteration_s));
      if (price_of_all + expected > remaining) continue;
      price_of_all += expected;
      fitting.push_back(task);
    }
    tasks = std::move(fitting);
  }
  ++sweeps_;
  return tasks;
}

/// Sets the time between the beginnings of two iterations (Sync::roundtime) from the latest round: twice its 90 % quantile, and
/// doubled, up to 0.1 s, while more than a fifth of its iterations began late.
void Schedule::widen_window(Cost& cost, const Task& task, const RoundSummary& summary) const {
  const double typical = summary.p90_ns > 0 ? summary.p90_ns : summary.longest_ns;
  const bool often_late = summary.late * 5 > static_cast<std::int64_t>(task.iterations);
  cost.window_ns = std::max(2 * typical + 20'000, often_late ? std::min(2 * task.window_ns, 1e8) : 0.0);
}

// Costs per iteration and per round are separated, and smoothed exponentially. A configuration has converged if the interval of its
// median is narrow enough and it had enough iterations, or its even share of the time.
void Schedule::record_round(const Task& task, double wall_s, const RoundSummary& summary, const CellResult& so_far) {
  Cost& cost = costs_[task.cell];
  const double iteration = summary.loop_s / std::max<std::uint32_t>(1, task.iterations);
  const double round = std::max(0.0, wall_s - iteration * (task.iterations + task.warmup));
  const double weight = cost.known ? kSmooth : 1;
  cost.iteration_s += weight * (iteration - cost.iteration_s);
  cost.round_s += weight * (round - cost.round_s);
  cost.spent_s += wall_s;
  cost.last_s = wall_s;
  cost.last_iterations = task.iterations;
  cost.known = true;
  widen_window(cost, task, summary);
  if (so_far.rounds.size() < kFewestRounds) return;
  const bool enough = so_far.exchange.count() >= kEnough || cost.spent_s >= fair_share_s_;
  cost.converged = enough && so_far.p50().relative_width() <= limits_.width;
}

std::size_t Schedule::num_converged() const {
  return static_cast<std::size_t>(
      std::count_if(costs_.begin(), costs_.end(), [](const Cost& c) { return c.converged; }));
}

double Schedule::expected_end(double elapsed_s) const {
  if (num_converged() == costs_.size()) return elapsed_s;
  return std::max(elapsed_s, limits_.seconds);
}

}  // namespace merganser::topology::detail
