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

constexpr int kSpins = 32;     // then yield
constexpr int kYields = 2000;  // then sleep; a yield with nobody waiting takes well under a microsecond
constexpr auto kSleep = std::chrono::microseconds(50);

std::atomic<double> limit{0};
std::atomic<bool> pinned{false};  // by the variable

}  // namespace

double wait_limit() noexcept { return limit.load(std::memory_order_relaxed); }

void read_wait_limit() {
  limit = 0;
  read_wait_limit_again();
}

void read_wait_limit_again() {
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

void Waiter::idle() {
  if constexpr (kSimulated) return wait_for_bell();
  ++rounds_;
  if (rounds_ <= kSpins) return;
  if (rounds_ <= kSpins + kYields && !oversubscribed()) {
    std::this_thread::yield();
    return;
  }
  std::this_thread::sleep_for(kSleep);
  check_limit();
}

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
