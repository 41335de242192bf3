#pragma once
/// Benchmark loop with warm-up and repetitions, which all measurements of this library use.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/base/timer.hpp"

namespace merganser {

/// Numbers of timed and warm-up repetitions of a benchmark loop.
struct Repeats {
  std::int64_t timed = 1;    ///< repetitions that are timed, numbered from 0
  std::int64_t warm_up = 0;  ///< repetitions before, numbered -warm_up to -1, whose times are dropped
  bool pipelined = false;    ///< a repetition is timed from the end of the one before, not from the end of its ready(i)
};

/// Runs a benchmark loop: for every repetition i it calls ready(i), then body(i), which is timed, then done(i, begin, end) with the
/// readings of clock() before and after body(i). Time of done(i) and ready(i) is not part of the measurement, unless pipelined,
/// where it counts to the next repetition. done(i) is not called in the warm-up. Local, except for communication in the functions
/// passed.
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

/// Runs a benchmark loop, as repeat() does, and returns the duration of each timed repetition of body(i) in seconds, in order of i.
/// Calls ready(i) before every repetition, warm-up included; its time counts only with Repeats::pipelined. Local, except for
/// communication in the functions passed.
template <class Ready, class Body>
[[nodiscard]] std::vector<double> time_repeats(const Repeats& repeats, Ready&& ready, Body&& body) {
  std::vector<double> out;
  repeat(repeats, now, ready, body, [&out](std::int64_t, double begin, double end) { out.push_back(end - begin); });
  return out;
}

/// Returns the index of the configuration that is measured i-th, of n, in a pass over all. Odd passes run backwards, so a linear
/// drift of the machine affects all configurations alike.
[[nodiscard]] constexpr std::size_t turn_index(int pass, std::size_t i, std::size_t n) {
  return pass % 2 == 0 ? i : n - 1 - i;
}

}  // namespace merganser
