/// Watchdog: no call while there are beats, one call when they end.
#include "merganser/topology/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace {

using merganser::topology::Watchdog;
using namespace std::chrono_literals;

template <class Done>
bool within(std::chrono::milliseconds limit, const Done& done) {
  for (const auto end = std::chrono::steady_clock::now() + limit; std::chrono::steady_clock::now() < end;) {
    if (done()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return done();
}

TEST(Watchdog, calls_once_when_no_beat_comes) {
  std::atomic<int> calls{0};
  std::atomic<double> silence{0};
  const Watchdog dog(0.05, [&](double seconds) {
    silence = seconds;
    ++calls;
  });
  EXPECT_TRUE(within(20s, [&] { return calls > 0; }));
  EXPECT_GE(silence, 0.05);
  std::this_thread::sleep_for(150ms);
  EXPECT_EQ(calls, 1);
}

TEST(Watchdog, is_silent_while_there_are_beats) {
  std::atomic<int> calls{0};
  Watchdog dog(5, [&](double) { ++calls; });
  for (int i = 0; i < 50; ++i) {
    dog.beat();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(calls, 0);
}

TEST(Watchdog, without_a_limit_never_calls) {
  std::atomic<int> calls{0};
  {
    const Watchdog dog(0, [&](double) { ++calls; });
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(calls, 0);
}

}  // namespace
