#pragma once
/// One round of the benchmark of exchanges on one rank: test pattern, warm-up, timed iterations, validation; private to measure().
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "merganser/topology/clock.hpp"
#include "merganser/topology/watchdog.hpp"
#include "src/topology/measure_cells.hpp"

namespace merganser::topology::detail {

/// Record of this rank's current position in measure() (phase, configuration, iteration), which the watchdog's thread reads
/// concurrently.
class RankPosition {
 public:
  /// Makes the record of a rank in the set-up, before any configuration. @param rank  number of this rank in reports
  explicit RankPosition(int rank) { stall_.rank = rank; }

  /// Sets, in the record of this rank's position that the watchdog's thread reads, the configuration that is measured; null
  /// exchange: none. An exchange must be replaced here before it is destroyed, since the watchdog's thread calls it.
  void set_current(const kernels::Exchange* exchange, const std::string& kernel, const std::string& graph,
                   const std::string& size);
  /// Sets the start barrier of iterations, whose missing rank is reported; null: none.
  void set_start(const kernels::Start* start) { start_ = start; }
  /// Sets the phase of the benchmark that this rank is in.
  void set_phase(Phase phase) noexcept { phase_.store(phase, std::memory_order_relaxed); }
  /// Returns the number of the next iteration of this rank, over all configurations, and increments it.
  std::int64_t next_iteration() noexcept { return iteration_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns the watchdog's report on this rank, `seconds` after the last progress. Called in the watchdog's thread.
  [[nodiscard]] Stall make_report(double seconds) const;

 private:
  mutable std::mutex mutex_;  ///< protects stall_ and exchange_
  Stall stall_;
  const kernels::Exchange* exchange_ = nullptr;
  std::atomic<const kernels::Start*> start_{nullptr};
  std::atomic<Phase> phase_{Phase::setup};
  std::atomic<std::int64_t> iteration_{0};
};

/// Task of one round of the benchmark, planned by Schedule on rank 0 and broadcast.
struct Task {
  std::uint32_t cell = 0;        ///< index of the configuration
  std::uint32_t warmup = 0;      ///< number of iterations before the timed ones
  std::uint32_t iterations = 0;  ///< number of timed iterations
  std::uint32_t keep = 1;        ///< 0: the round only measures its own duration
  double window_ns = 0;          ///< with Sync::roundtime, the time between the beginnings of two iterations
};

/// Time of one iteration of an exchange on one rank, as RoundRunner measures it.
struct TimedIteration {
  double began = 0;  ///< beginning of the exchange, in rank 0's clock [ns]
  double ns = 0;     ///< duration; negative: -1 - duration of an iteration that began late
};
/// Times of one rank's iterations in a round of the benchmark.
struct RankTimes {
  std::vector<TimedIteration> iterations;  ///< in the order of measurement
  double loop_s = 0;                       ///< duration of all timed iterations, s, synchronisation included
};
/// Gathers the iteration times of every rank in a round, by rank, on every rank. Collective.
/// @param wrong  description of a byte that arrived wrong here; empty: none
/// @throws VerificationError on every rank if a byte arrived wrong on one
[[nodiscard]] std::vector<RankTimes> gather_times(comm::Transport& control, const RankTimes& mine,
                                                  const std::string& wrong);

/// Runner of the benchmark's rounds on this rank, with its clocks and start barrier. Construction and rounds are collective.
class RoundRunner {
 public:
  /// Creates the start barrier of iterations and synchronises the clocks. Collective.
  RoundRunner(comm::Transport& control, const MeasureOptions& options, RankPosition& where, Watchdog& watchdog);

  /// Runs one round of a configuration: patterns, warm-up, timed iterations, validation of every byte. Collective.
  /// @param bytes  lengths of the messages of this rank @param buffers  sets of message buffers that take turns
  /// @return every rank's times, by rank @throws VerificationError on every rank if a byte arrived wrong
  std::vector<RankTimes> run(kernels::Exchange& exchange, const ArcBytes& bytes, std::size_t buffers, const Task& task);

  /// Measures the offsets of all ranks' clocks from rank 0's again. Collective.
  void synchronise_clocks() { global_.synchronise(); }
  /// Returns this rank's clock of time stamps, by which iterations are timed.
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  /// Returns the bound of the error of all ranks' synchronised clocks, ns.
  [[nodiscard]] double clock_error_ns() const noexcept { return global_.error_ns(); }

 private:
  /// Parameters of the loop over the iterations of a round.
  struct Loop {
    kernels::Exchange& exchange;
    std::size_t buffers;  ///< sets of message buffers that take turns
    double window_ns;     ///< time between the beginnings of two iterations (Sync::roundtime)
  };
  double run_iterations(const Loop& loop, std::uint32_t count, std::vector<TimedIteration>* times);
  void iterate(const Loop& loop, std::size_t buffer, std::int64_t number);
  bool wait_until(double moment);
  [[nodiscard]] double agree_on_moment();
  void flush(kernels::Exchange& exchange, std::size_t buffer) const;
  [[nodiscard]] double resolution_shift(std::size_t i) const;

  comm::Transport& control_;
  const MeasureOptions& options_;
  RankPosition& where_;
  Watchdog& watchdog_;
  Clock clock_;
  GlobalClock global_;
  std::unique_ptr<kernels::Start> start_;
  std::uint64_t round_ = 0;
  bool hooked_ = false;
};

/// Identity of the test pattern of a message, from which its bytes are computed: 64-bit word i is first + i * step. Distinct for
/// every arc, set of buffers and round.
struct PatternOf {
  int from = 0;             ///< sending rank
  int to = 0;               ///< receiving rank
  std::size_t buffer = 0;   ///< set of message buffers
  std::uint64_t round = 0;  ///< round of the benchmark, all configurations counted
};
/// Fills the bytes of a message with its test pattern.
void fill_pattern(std::span<std::byte> bytes, PatternOf of);
/// Returns the position of the first byte of a message that differs from its test pattern; the length if none does.
[[nodiscard]] std::size_t first_difference(std::span<const std::byte> bytes, PatternOf of);

/// Identity of the test patterns of all messages of one rank in a round of the benchmark.
struct Filling {
  int rank = 0;             ///< this rank, in the numbering of the exchange
  std::size_t buffers = 1;  ///< sets of message buffers that are used
  std::uint64_t round = 0;  ///< round of the benchmark
};
/// Fills this rank's source buffers of an exchange with the test patterns of a round.
void fill_sources(kernels::Exchange& exchange, const ArcBytes& bytes, const Filling& of);
/// Compares the bytes that arrived in this rank's landing zones of an exchange with the test patterns of a round.
/// @return a description of the first byte that differs; empty if none does
[[nodiscard]] std::string check_landings(kernels::Exchange& exchange, const ArcBytes& bytes, const Filling& of);

}  // namespace merganser::topology::detail
