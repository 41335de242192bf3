#pragma once
/// Clocks for benchmarks: time stamps that cost nanoseconds, and a clock that all ranks share.
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::topology {

/// Time stamps of one rank: the processor's counter where its rate is constant (invariant TSC on x86, the virtual counter on
/// 64-bit ARM), calibrated against the monotonic clock; else the monotonic clock itself. Not shared between threads. Local.
class Clock {
 public:
  /// Calibrates for 10 ms. @param counter  false: always the monotonic clock
  explicit Clock(bool counter = true);

  /// Returns the ticks since an arbitrary moment. On x86 the counter may be read a few nanoseconds before preceding loads have
  /// completed: a fence would double the cost, and the loads that matter are in loops that end on their values.
  [[nodiscard]] std::uint64_t stamp() const noexcept {
#if defined(__x86_64__)
    if (counter_) {
      asm volatile("" ::: "memory");
      const std::uint64_t ticks = __builtin_ia32_rdtsc();
      asm volatile("" ::: "memory");
      return ticks;
    }
#elif defined(__aarch64__)
    if (counter_) {
      std::uint64_t ticks = 0;
      asm volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
      return ticks;
    }
#endif
    return monotonic_ns();
  }
  /// Converts a difference of time stamps, ticks, to nanoseconds.
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * ns_per_tick_; }
  /// Returns the nanoseconds from the construction of the clock to a time stamp.
  [[nodiscard]] double time_ns(std::uint64_t stamp) const noexcept {
    return static_cast<double>(static_cast<std::int64_t>(stamp - origin_)) * ns_per_tick_;
  }
  /// Returns the nanoseconds from the construction of the clock to now.
  [[nodiscard]] double now_ns() const noexcept { return time_ns(stamp()); }

  /// Calibrates the ticks per nanosecond again, over all the time since the construction: the longer, the more precise.
  void refine();

  /// Returns the source of time stamps: "TSC", "CNTVCT" or "CLOCK_MONOTONIC".
  [[nodiscard]] std::string_view source() const noexcept;
  /// Returns the measured cost of reading one time stamp, ns.
  [[nodiscard]] double stamp_cost_ns() const noexcept { return stamp_cost_ns_; }
  /// Returns the measured cost of recording an iteration as measure() does: two stamps, and storing them; ns.
  [[nodiscard]] double record_cost_ns() const noexcept { return record_cost_ns_; }
  /// Returns the measured resolution of time stamps, ns: many counters, those of virtual machines above all, advance by dozens of
  /// ticks.
  [[nodiscard]] double resolution_ns() const noexcept { return resolution_ns_; }

 private:
  /// A time stamp and the monotonic time at the same moment, for calibration.
  struct Anchor {
    std::uint64_t stamp = 0;
    std::uint64_t monotonic_ns = 0;
  };
  [[nodiscard]] static std::uint64_t monotonic_ns() noexcept;
  [[nodiscard]] Anchor anchor() const noexcept;
  void measure_costs();
  [[nodiscard]] std::vector<std::uint64_t> sample_differences() const;

  bool counter_;              ///< true: stamps are read from the processor's counter
  Anchor first_;              ///< at the construction
  std::uint64_t origin_ = 0;  ///< stamp that times are counted from
  double ns_per_tick_ = 1;
  double stamp_cost_ns_ = 0;
  double record_cost_ns_ = 0;
  double resolution_ns_ = 0;
};

/// Synchronised clock of all ranks, that of rank 0: offsets from the shortest of many round trips, along a binomial tree
/// [cristian1989]. Reading it is local, synchronise() collective.
class GlobalClock {
 public:
  /// Creates a clock that is not synchronised yet. Collective over `transport`, which, like `clock`, must outlive this.
  GlobalClock(comm::Transport& transport, Clock& clock);

  /// Recalibrates this rank's clock and measures its offset from rank 0's. Collective. @param trips  least number of round trips
  /// per pair of ranks, >= 1; up to sixteen times as many where they are disturbed
  void synchronise(int trips = 25);

  /// Converts a stamp of this rank to nanoseconds of rank 0's clock.
  [[nodiscard]] double time_ns(std::uint64_t stamp) const noexcept { return clock_.time_ns(stamp) - offset_ns_; }
  /// Returns the time of rank 0's clock now on this rank, ns.
  [[nodiscard]] double now_ns() const noexcept { return time_ns(clock_.stamp()); }
  /// Returns a bound of the error of any rank's time at the last synchronise(): the sum of half the shortest round trips on the
  /// path from rank 0, the largest over ranks.
  [[nodiscard]] double error_ns() const noexcept { return error_ns_; }

 private:
  /// Offset of another rank's clock, with the bound of its error, ns.
  struct Reading {
    double offset = 0;
    double error = 0;
  };
  Reading measure_child(std::size_t arc, int trips);
  Reading reply_to_parent();
  void step_arc(std::size_t arc, bool send);

  comm::Transport& transport_;
  Clock& clock_;
  std::vector<int> children_;  ///< in descending order of rank, so that large subtrees start first
  int parent_ = -1;
  std::unique_ptr<comm::Mailbox> mailbox_;
  double offset_ns_ = 0;  ///< time of this rank's clock less that of rank 0's
  double error_ns_ = 0;   ///< bound of the error over all ranks
};

}  // namespace merganser::topology
