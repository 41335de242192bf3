// Back-off of polling loops on this rank, and the limit after which a wait becomes an error.
#include "src/comm/detail/waiter.hpp"

#include <atomic>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <thread>

#include "merganser/base/error.hpp"
#include "src/comm/detail/scoped_yield.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {
namespace {

constexpr int kSpins = 32;     // polls without a pause, then yield
constexpr int kYields = 2000;  // then sleep; a yield on an idle core takes well under a microsecond
constexpr auto kSleep = std::chrono::microseconds(50);

std::atomic<double> limit{0};     // of waits in s; 0: none
std::atomic<bool> pinned{false};  // the variable has set the limit

}  // namespace

double wait_limit() noexcept { return limit.load(std::memory_order_relaxed); }

void read_wait_limit() {
  limit = 0;
  update_wait_limit();
}

// Sets the limit on waits of this process from the variable MERGANSER_WAIT_LIMIT.
void update_wait_limit() {
  const char* text = std::getenv("MERGANSER_WAIT_LIMIT");
  pinned = text != nullptr && *text != '\0';
  if (!pinned) return;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds >= 0)) {
    throw UsageError(std::string("MERGANSER_WAIT_LIMIT is '") + text + "'; allowed: seconds >= 0, 0 waits for ever");
  }
  limit = seconds;
}

void set_default_wait_limit(double seconds) {
  if (!pinned) limit = seconds;
}

// Back-off of a polling loop: spin, yield, then sleep; oversubscribed ranks sleep at once, since another rank needs the
// core.
void Waiter::idle() {
  if constexpr (kSimulated) return wait_for_notification();
  ++rounds_;
  if (rounds_ <= kSpins) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    return;
  }
  if (rounds_ <= kSpins + kYields && !oversubscribed()) {
    std::this_thread::yield();
    return;
  }
  std::this_thread::sleep_for(kSleep);
  check_limit();
}

// Limit of a wait: its time is counted from the first check since the last progress.
void Waiter::check_limit() {
  const double most = wait_limit();
  if (most <= 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (since_ == std::chrono::steady_clock::time_point{}) since_ = now;
  const double waited = std::chrono::duration<double>(now - since_).count();
  if (waited < most) return;
  std::ostringstream text;
  text << "waited " << std::fixed << std::setprecision(1) << waited << std::defaultfloat << std::setprecision(6)
       << " s (MERGANSER_WAIT_LIMIT is " << most << "): " << describe_();
  throw CommError(text.str());
}

}  // namespace merganser::comm::detail
