#pragma once
/// Tells when work has stopped.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "merganser/base/pinned.hpp"

namespace merganser::topology {

/// A thread that calls back, once, if beat() has not been called for a while. beat() costs a few nanoseconds and may be
/// called by one thread.
class Watchdog : Pinned {
 public:
  /// @param limit_s     seconds without a beat, > 0; 0: no thread is started
  /// @param on_silence  called in the watchdog's thread with the seconds since the last beat
  Watchdog(double limit_s, std::function<void(double seconds)> on_silence);
  ~Watchdog();

  /// Tells that work goes on.
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
