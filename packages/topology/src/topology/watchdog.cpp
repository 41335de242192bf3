// Watchdog thread of the benchmarks: samples the counter of beats, and calls back once when it has stood still for too long.
#include "merganser/topology/watchdog.hpp"

#include <algorithm>
#include <chrono>

#include "merganser/base/timer.hpp"

namespace merganser::topology {

Watchdog::Watchdog(double limit_s, std::function<void(double)> on_silence)
    : limit_s_(limit_s), on_silence_(std::move(on_silence)) {
  if (limit_s > 0) thread_ = std::thread(&Watchdog::watch, this);
}

Watchdog::~Watchdog() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// Body of the watchdog's thread: reports a measurement whose beats have stopped for longer than the limit. The callback runs
// without the lock, since it may take long.
void Watchdog::watch() {
  const std::chrono::duration<double> pause(
      std::min(limit_s_ / 8, 1.0));  // seldom, since waking disturbs the measurement
  std::uint64_t seen = beats_.load(std::memory_order_relaxed);
  double since = now();
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, pause, [this] { return ended_; })) {
    const std::uint64_t beats = beats_.load(std::memory_order_relaxed);
    if (beats != seen) {
      seen = beats;
      since = now();
    } else if (now() - since >= limit_s_) {
      lock.unlock();
      on_silence_(now() - since);
      return;
    }
  }
}

}  // namespace merganser::topology
