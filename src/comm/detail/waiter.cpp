#include "waiter.hpp"

#include <atomic>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "merganser/base/error.hpp"

namespace merganser::comm::detail {
namespace {

constexpr int kSpins = 32;     // then yield
constexpr int kYields = 2000;  // then sleep; a yield with nobody waiting takes well under a microsecond
constexpr auto kSleep = std::chrono::microseconds(50);

std::atomic<double> default_limit{0};

double limit_from_environment() {
  const char* text = std::getenv("MERGANSER_WAIT_LIMIT");
  if (text == nullptr || *text == '\0') return -1;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds >= 0)) {
    throw UsageError(std::string("MERGANSER_WAIT_LIMIT is '") + text + "'; allowed: seconds >= 0, 0 waits for ever");
  }
  return seconds;
}

}  // namespace

double wait_limit() {
  const double pinned = limit_from_environment();
  return pinned >= 0 ? pinned : default_limit.load(std::memory_order_relaxed);
}

void set_default_wait_limit(double seconds) { default_limit = seconds; }

void Waiter::idle() {
  ++rounds_;
  if (rounds_ <= kSpins) return;
  if (rounds_ <= kSpins + kYields) {
    std::this_thread::yield();
    return;
  }
  std::this_thread::sleep_for(kSleep);
  check_limit();
}

void Waiter::check_limit() {
  const auto now = std::chrono::steady_clock::now();
  if (since_ == std::chrono::steady_clock::time_point{}) since_ = now;
  const double limit = wait_limit();
  if (limit <= 0 || std::chrono::duration<double>(now - since_).count() < limit) return;
  std::ostringstream text;
  text << "waited " << limit << " s (MERGANSER_WAIT_LIMIT) for " << describe_();
  throw CommError(text.str());
}

}  // namespace merganser::comm::detail
