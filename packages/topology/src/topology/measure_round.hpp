#pragma once
/// One round of the benchmark on one rank: pattern, warm-up, timed iterations, validation; private to measure().
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "merganser/topology/clock.hpp"
#include "merganser/topology/watchdog.hpp"
#include "src/topology/measure_cells.hpp"

namespace merganser::topology::detail {

/// Current position of this rank in the measurement, which the watchdog's thread reads concurrently.
class Whereabouts {
 public:
  explicit Whereabouts(int rank) { stall_.rank = rank; }

  /// Sets the current configuration; null exchange: none. An exchange must be replaced here before it is destroyed.
  void set_current(const kernels::Exchange* exchange, const std::string& kernel, const std::string& graph,
                   const std::string& size);
  /// Sets the barrier whose missing rank is reported; null: none.
  void set_start(const kernels::Start* start) { start_ = start; }
  /// Sets the current phase.
  void set_phase(Phase phase) noexcept { phase_.store(phase, std::memory_order_relaxed); }
  /// Returns the number of the next iteration, and increments it.
  std::int64_t next_iteration() noexcept { return iteration_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns a report for the watchdog, `seconds` after the last progress. Called in its thread.
  [[nodiscard]] Stall make_report(double seconds) const;

 private:
  mutable std::mutex mutex_;
  Stall stall_;
  const kernels::Exchange* exchange_ = nullptr;
  std::atomic<const kernels::Start*> start_{nullptr};
  std::atomic<Phase> phase_{Phase::setup};
  std::atomic<std::int64_t> iteration_{0};
};

/// Task of one round, broadcast by rank 0.
struct Task {
  std::uint32_t cell = 0;
  std::uint32_t warmup = 0;
  std::uint32_t iterations = 0;
  std::uint32_t keep = 1;  ///< 0: the round only measures its own duration
  double window_ns = 0;    ///< with Sync::roundtime, the time between the beginnings of two iterations
};

/// Time of one iteration on one rank.
struct TimedIteration {
  double began = 0;  ///< beginning, in rank 0's clock [ns]
  double ns = 0;     ///< duration; negative: -1 - duration of an iteration that began late
};
/// Times of one rank in a round.
struct RankTimes {
  std::vector<TimedIteration> iterations;
  double loop_s = 0;  ///< duration of all timed iterations, synchronisation included
};
/// Gathers the times of every rank, by rank, on every rank. Collective.
/// @param wrong  description of a byte that arrived wrong here; empty: none
/// @throws VerificationError on every rank if a byte arrived wrong on one
[[nodiscard]] std::vector<RankTimes> gather_times(comm::Transport& control, const RankTimes& mine,
                                                  const std::string& wrong);

/// Runs rounds on this rank; all ranks call it alike.
class RoundRunner {
 public:
  RoundRunner(comm::Transport& control, const MeasureOptions& options, Whereabouts& where, Watchdog& watchdog);

  /// Runs one round. Collective. @return every rank's times, by rank
  std::vector<RankTimes> run(kernels::Exchange& exchange, const ArcBytes& bytes, std::size_t buffers, const Task& task);

  void synchronise_clocks() { global_.synchronise(); }
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] double clock_error_ns() const noexcept { return global_.error_ns(); }

 private:
  struct Loop {
    kernels::Exchange& exchange;
    std::size_t buffers;
    double window_ns;
  };
  double run_iterations(const Loop& loop, std::uint32_t count, std::vector<TimedIteration>* times);
  void iterate(const Loop& loop, std::size_t buffer, std::int64_t number);
  bool wait_until(double moment);
  [[nodiscard]] double agree_on_moment();
  void flush(kernels::Exchange& exchange, std::size_t buffer) const;
  [[nodiscard]] double resolution_shift(std::size_t i) const;

  comm::Transport& control_;
  const MeasureOptions& options_;
  Whereabouts& where_;
  Watchdog& watchdog_;
  Clock clock_;
  GlobalClock global_;
  std::unique_ptr<kernels::Start> start_;
  std::uint64_t round_ = 0;
  bool hooked_ = false;
};

/// Identity of the test pattern of an arc in a round: word i is first + i * step. Distinct for every arc, buffer and round.
struct PatternOf {
  int from = 0;
  int to = 0;
  std::size_t buffer = 0;
  std::uint64_t round = 0;
};
/// Fills the bytes of a message with a test pattern.
void fill_pattern(std::span<std::byte> bytes, PatternOf of);
/// Returns the position of the first byte of a message that differs from its test pattern; the length if none does.
[[nodiscard]] std::size_t first_difference(std::span<const std::byte> bytes, PatternOf of);

/// Identity of the patterns of one rank in a round.
struct Filling {
  int rank = 0;  ///< this rank, in the numbering of the exchange
  std::size_t buffers = 1;
  std::uint64_t round = 0;
};
/// Fills the sources of an exchange with the patterns of a round.
void fill_sources(kernels::Exchange& exchange, const ArcBytes& bytes, const Filling& of);
/// Compares the landing zones of an exchange with the test patterns of a round. @return a description of the first byte
/// that differs; empty if none does
[[nodiscard]] std::string check_landings(kernels::Exchange& exchange, const ArcBytes& bytes, const Filling& of);

}  // namespace merganser::topology::detail
