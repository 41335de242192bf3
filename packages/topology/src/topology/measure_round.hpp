#pragma once
/// One round on one rank: pattern, warm-up, timed iterations, validation.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "merganser/topology/clock.hpp"
#include "merganser/topology/watchdog.hpp"
#include "src/topology/measure_cells.hpp"

namespace merganser::topology::detail {

/// Where this rank stands, for the watchdog's thread.
class Whereabouts {
 public:
  explicit Whereabouts(int rank) { stall_.rank = rank; }

  /// The cell that comes next, or, with null, none. The exchange must not go before it is replaced.
  void enter(const kernels::Exchange* exchange, const std::string& kernel, const std::string& graph,
             const std::string& size);
  void set_start(const kernels::Start* start) { start_ = start; }
  void set(Phase phase) noexcept { phase_.store(phase, std::memory_order_relaxed); }
  /// The number of the next iteration.
  std::int64_t count() noexcept { return iteration_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] Stall stall(double seconds) const;

 private:
  mutable std::mutex mutex_;
  Stall stall_;
  const kernels::Exchange* exchange_ = nullptr;
  std::atomic<const kernels::Start*> start_{nullptr};
  std::atomic<Phase> phase_{Phase::setup};
  std::atomic<std::int64_t> iteration_{0};
};

/// What rank 0 asks all ranks to do.
struct Task {
  std::uint32_t cell = 0;
  std::uint32_t warmup = 0;
  std::uint32_t iterations = 0;
  std::uint32_t keep = 1;  ///< 0: only to learn how long it takes
  double window_ns = 0;    ///< roundtime: between the beginnings of two iterations
};

/// One iteration on one rank.
struct TimedIteration {
  double began = 0;  ///< in rank 0's time [ns]
  double ns = 0;     ///< how long it took; negative: it began late
};
/// What one rank has seen in a round.
struct RankTimes {
  std::vector<TimedIteration> iterations;
  double loop_s = 0;  ///< all timed iterations, with what is between them
};
/// The times of every rank, by rank. Collective.
/// @param wrong  bytes that arrived wrong here; empty: none @throws VerificationError on every rank if some did
[[nodiscard]] std::vector<RankTimes> gather_times(comm::Transport& control, const RankTimes& mine,
                                                  const std::string& wrong);

/// Runs rounds on this rank.
class RoundRunner {
 public:
  RoundRunner(comm::Transport& control, const MeasureOptions& options, Whereabouts& where, Watchdog& watchdog);

  /// One round; returns every rank's times, by rank. Collective.
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
  double iterations(const Loop& loop, std::uint32_t count, std::vector<TimedIteration>* times);
  void iterate(const Loop& loop, std::size_t buffer, std::int64_t number);
  bool await(double moment);
  [[nodiscard]] double agree_on_moment();
  void flush(kernels::Exchange& exchange, std::size_t buffer) const;
  [[nodiscard]] double within_step(std::size_t i) const;

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

/// Pattern of an arc in a round: word i is first + i * step. Distinct for every arc, buffer and round.
struct PatternOf {
  int from = 0;
  int to = 0;
  std::size_t buffer = 0;
  std::uint64_t round = 0;
};
void fill_pattern(std::span<std::byte> bytes, PatternOf of);
/// Position of the first byte that is not the pattern's; the length if all are.
[[nodiscard]] std::size_t first_difference(std::span<const std::byte> bytes, PatternOf of);

/// Whose bytes in which round.
struct Filling {
  int rank = 0;  ///< of this process, as the exchange counts
  std::size_t buffers = 1;
  std::uint64_t round = 0;
};
/// Fills the sources of an exchange with the patterns of a round.
void fill_sources(kernels::Exchange& exchange, const ArcBytes& bytes, const Filling& of);
/// Compares what has landed with them. @return what arrived wrong, for people; empty if nothing did
[[nodiscard]] std::string check_landings(kernels::Exchange& exchange, const ArcBytes& bytes, const Filling& of);

}  // namespace merganser::topology::detail
