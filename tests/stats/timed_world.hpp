#pragma once
/// Simulated suites of timings for tests of the regression gate, drawn from a model with noise of launches, kernels, configurations
/// and rounds.
#include <cmath>
#include <string>
#include <vector>

#include "merganser/base/random.hpp"
#include "merganser/stats/compare.hpp"

namespace merganser::test {

/// Model of a suite and of its noise. The defaults are size and scatter of the default suite of the benchmark on a machine without
/// other load. A "cell" is one configuration of a kernel.
struct World {
  int kernels = 8, cells = 36, launches = 10, rounds = 4;
  double launch = 0.02;    ///< relative standard deviation of the effect of a launch on all timings
  double kernel = 0.015;   ///< relative standard deviation of the effect of a launch on one kernel
  double cell = 0.04;      ///< relative standard deviation of the effect of a launch on one configuration
  double round = 0.04;     ///< relative standard deviation of the effect of a round on one configuration
  double outliers = 0.05;  ///< share of rounds that take up to three times as long
  double wild = 0;         ///< share of launches whose effects have three times the standard deviation
  double states = 0.15;    ///< difference of the logarithms of the two states that every twelfth configuration has
};

/// Returns the model of three kernels at three sizes on a shared virtual machine, as measured in 100 launches
/// (docs/measurements.md): effects of 6.5 % that all timings of a launch have in common, and 7 % of their own.
inline World shared_machine(int launches, double wild = 0) {
  return {.kernels = 3,
          .cells = 3,
          .launches = launches,
          .rounds = 6,
          .launch = 0.065,
          .kernel = 0.05,
          .cell = 0.05,
          .round = 0.05,
          .wild = wild,
          .states = 0};
}

namespace detail {

/// Draws an approximately standard normal number: the sum of 12 uniform ones.
inline double normal(Random& r) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += r.uniform();
  return sum;
}

/// Draws the times of one side of all pairs.
inline void add_side(const World& w, std::uint64_t side, bool after, std::vector<TimedPair>& pairs) {
  for (int l = 0; l < w.launches; ++l) {
    Random r(side, static_cast<std::uint64_t>(l), 0);
    const double width = r.uniform() < w.wild ? 3 : 1;
    const double common = width * w.launch * normal(r);
    for (int k = 0; k < w.kernels; ++k) {
      const double shared = common + width * w.kernel * normal(r);
      for (int c = 0; c < w.cells; ++c) {
        TimedPair& p = pairs[static_cast<std::size_t>(k * w.cells + c)];
        // Some configurations have two states, as short timings near the resolution of the clock do.
        const double states = c % 12 == 0 ? w.states * (r.uniform() < 0.5 ? 1 : 0) : 0;
        const double mine = shared + w.cell * normal(r) + states;
        auto& rounds = (after ? p.after : p.before).emplace_back();
        for (int i = 0; i < w.rounds; ++i) {
          double x = 1000.0 * (1 + k) * (1 + c) * std::exp(mine + w.round * normal(r));
          if (r.uniform() < w.outliers) x *= r.uniform(1, 3);
          rounds.push_back(x);
        }
      }
    }
  }
}

}  // namespace detail

/// Multiplies all times of the second side of a pair by a factor.
inline void scale(TimedPair& pair, double factor) {
  for (auto& launch : pair.after)
    for (auto& x : launch) x *= factor;
}

/// Draws two sides of a suite from the same model; different seeds give independent suites.
inline std::vector<TimedPair> unchanged(const World& w, std::uint64_t seed) {
  std::vector<TimedPair> pairs;
  for (int k = 0; k < w.kernels; ++k)
    for (int c = 0; c < w.cells; ++c)
      pairs.push_back({"kernel " + std::to_string(k) + " cell " + std::to_string(c), "kernel " + std::to_string(k)});
  detail::add_side(w, seed * 2, false, pairs);
  detail::add_side(w, seed * 2 + 1, true, pairs);
  return pairs;
}

/// Draws two sides of a suite from the same model, and multiplies the times of kernel `which` (negative: all) on the second by a
/// factor.
inline std::vector<TimedPair> changed(const World& w, std::uint64_t seed, double factor, int which = -1) {
  std::vector<TimedPair> pairs = unchanged(w, seed);
  for (auto& p : pairs)
    if (which < 0 || p.family == "kernel " + std::to_string(which)) scale(p, factor);
  return pairs;
}

}  // namespace merganser::test
