#pragma once
/// Watchdog of the benchmarks of exchanges: reports that no progress is made.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "merganser/base/pinned.hpp"

namespace merganser::topology {

/// Watchdog thread of a benchmark. It calls `on_silence` once if beat() has not been called for `limit_s` seconds, and then ends.
/// beat() costs a few nanoseconds; only one thread may call it, so a load and a store suffice in place of an atomic addition.
class Watchdog : Pinned {
 public:
  /// Starts the watchdog's thread, from whose start the first interval is measured. Local.
  /// @param limit_s     seconds without a beat() after which on_silence is called; 0 or negative: no thread is started
  /// @param on_silence  called in the watchdog's thread with the seconds since the last beat
  Watchdog(double limit_s, std::function<void(double seconds)> on_silence);
  ~Watchdog();

  /// Records that this rank of the benchmark has made progress.
  void beat() noexcept { beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

 private:
  void watch();

  double limit_s_;
  std::function<void(double)> on_silence_;
  std::atomic<std::uint64_t> beats_{0};
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace merganser::topology
