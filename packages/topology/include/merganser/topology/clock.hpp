#pragma once
/// Time stamps that cost nanoseconds, and clocks of ranks that agree.
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::topology {

/// The stamps of one rank: the processor's counter where it runs at one rate whatever the processor does (invariant TSC
/// on x86, the virtual counter on 64-bit ARM), calibrated against the monotonic clock; else the monotonic clock itself.
/// Not shared between threads. Local.
class Clock {
 public:
  /// Calibrates for 10 ms. @param counter  false: the monotonic clock in any case
  explicit Clock(bool counter = true);

  /// Ticks since some moment. On x86 it may be taken a few nanoseconds before the last loads have come: waiting for them
  /// would double its cost, and what matters is waited for in loops, which end on them.
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
  /// Nanoseconds of a difference of stamps.
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * ns_per_tick_; }
  /// Nanoseconds from the construction to a stamp.
  [[nodiscard]] double time_ns(std::uint64_t stamp) const noexcept {
    return static_cast<double>(static_cast<std::int64_t>(stamp - origin_)) * ns_per_tick_;
  }
  /// Nanoseconds from the construction to now.
  [[nodiscard]] double now_ns() const noexcept { return time_ns(stamp()); }

  /// Calibrates again, over all the time since the construction: the longer, the better.
  void refine();

  [[nodiscard]] std::string_view source() const noexcept;  ///< of stamps: "TSC", "CNTVCT" or "CLOCK_MONOTONIC"
  /// Measured cost of one stamp.
  [[nodiscard]] double stamp_cost_ns() const noexcept { return stamp_cost_ns_; }
  /// Measured cost of recording an iteration as measure() does: two stamps, kept.
  [[nodiscard]] double record_cost_ns() const noexcept { return record_cost_ns_; }
  /// Step in which stamps go forward: many counters, of virtual machines above all, count by dozens of ticks.
  [[nodiscard]] double resolution_ns() const noexcept { return resolution_ns_; }

 private:
  struct Anchor {
    std::uint64_t stamp = 0;
    std::uint64_t monotonic_ns = 0;
  };
  [[nodiscard]] static std::uint64_t monotonic_ns() noexcept;
  [[nodiscard]] Anchor anchor() const noexcept;
  void measure_costs();
  [[nodiscard]] std::vector<std::uint64_t> differences() const;

  bool counter_;
  Anchor first_;
  std::uint64_t origin_ = 0;
  double ns_per_tick_ = 1;
  double stamp_cost_ns_ = 0;
  double record_cost_ns_ = 0;
  double resolution_ns_ = 0;
};

/// The time of rank 0 on every rank: offsets from the shortest of many round trips, along a binomial tree
/// [cristian1989]. Using it is local, synchronise() collective.
class GlobalClock {
 public:
  /// Makes a clock that is not synchronised yet. Collective over `transport`, which, with `clock`, must outlive this.
  GlobalClock(comm::Transport& transport, Clock& clock);

  /// Refines the clock and measures the offsets anew. Collective. @param trips  round trips per pair of ranks at
  /// least; up to sixteen times as many where they are disturbed
  void synchronise(int trips = 25);

  /// Rank 0's time of a stamp of this rank.
  [[nodiscard]] double time_ns(std::uint64_t stamp) const noexcept { return clock_.time_ns(stamp) - offset_ns_; }
  /// Rank 0's time now.
  [[nodiscard]] double now_ns() const noexcept { return time_ns(clock_.stamp()); }
  /// Bound of the error of any rank's time at the last synchronise(): half the shortest round trips on its way, the
  /// largest over ranks.
  [[nodiscard]] double error_ns() const noexcept { return error_ns_; }

 private:
  struct Reading {
    double offset = 0;
    double error = 0;
  };
  Reading ask(std::size_t arc, int trips);
  Reading answer();
  void step_with(std::size_t arc, bool send);

  comm::Transport& transport_;
  Clock& clock_;
  std::vector<int> children_;  ///< in the order in which they are reached
  int parent_ = -1;
  std::unique_ptr<comm::Mailbox> mailbox_;
  double offset_ns_ = 0;
  double error_ns_ = 0;
};

}  // namespace merganser::topology
