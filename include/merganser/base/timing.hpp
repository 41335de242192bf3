#pragma once
/// The one loop that measures how long something takes: warm-up, repetitions, the clock, turns.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/base/timer.hpp"

namespace merganser {

/// How often something is done for its time.
struct Repeats {
  std::int64_t timed = 1;
  std::int64_t warm_up = 0;  ///< before, numbered -warm_up to -1, with no time taken
  bool pipelined = false;    ///< a repetition begins where the one before has ended, not after its `ready`
};

/// Does ready(i) and then, inside the clock, body(i), and gives the readings of `clock` to done(i, begin, end), which is
/// outside it, like ready(i) unless pipelined. Local, but for what the three do.
template <class Clock, class Ready, class Body, class Done>
void repeat(const Repeats& repeats, Clock&& clock, Ready&& ready, Body&& body, Done&& done) {
  auto end = clock();
  for (std::int64_t i = -repeats.warm_up; i < repeats.timed; ++i) {
    ready(i);
    const auto begin = repeats.pipelined ? end : clock();
    body(i);
    end = clock();
    if (i >= 0) done(i, begin, end);
  }
}

/// The seconds of each timed repetition.
template <class Ready, class Body>
[[nodiscard]] std::vector<double> seconds_of(const Repeats& repeats, Ready&& ready, Body&& body) {
  std::vector<double> out;
  repeat(repeats, now, ready, body, [&out](std::int64_t, double begin, double end) { out.push_back(end - begin); });
  return out;
}

/// Which of n is the i-th to have its turn in a pass: odd passes go backwards, so that a drift of the machine falls on all.
[[nodiscard]] constexpr std::size_t in_turn(int pass, std::size_t i, std::size_t n) {
  return pass % 2 == 0 ? i : n - 1 - i;
}

}  // namespace merganser
