#pragma once
/// Suites of timings drawn from a known model, disturbed on every level, as such measurements are.
#include <cmath>
#include <string>
#include <vector>

#include "merganser/base/random.hpp"
#include "merganser/stats/compare.hpp"

namespace merganser::test {

/// Without changes the size and the scatter of the default suite of the benchmark on a machine of its own.
struct World {
  int kernels = 8, cells = 36, launches = 10, rounds = 4;
  double launch = 0.02;    ///< relative deviation of what a launch does to everything,
  double kernel = 0.015;   ///< to one kernel,
  double cell = 0.04;      ///< to one cell,
  double round = 0.04;     ///< and what a round does to a cell
  double outliers = 0.05;  ///< share of rounds that take up to three times as long
  double wild = 0;         ///< share of launches that are three times as far off as the others
  double states = 0.15;    ///< distance of the two states that every twelfth cell has
};

/// What was measured of 100 launches on a shared virtual machine (docs/measurements.md): 6.5 % that all timings of a launch
/// have in common, 7 % of their own, three kernels at three sizes.
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

inline double normal(Random& r) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += r.uniform();
  return sum;
}

inline void add_side(const World& w, std::uint64_t side, bool after, std::vector<TimedPair>& pairs) {
  for (int l = 0; l < w.launches; ++l) {
    Random r(side, static_cast<std::uint64_t>(l), 0);
    const double width = r.uniform() < w.wild ? 3 : 1;
    const double common = width * w.launch * normal(r);
    for (int k = 0; k < w.kernels; ++k) {
      const double shared = common + width * w.kernel * normal(r);
      for (int c = 0; c < w.cells; ++c) {
        TimedPair& p = pairs[static_cast<std::size_t>(k * w.cells + c)];
        // Some cells have two states, near what the clock resolves.
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

/// All times of the second side of a pair, times a factor.
inline void scale(TimedPair& pair, double factor) {
  for (auto& launch : pair.after)
    for (auto& x : launch) x *= factor;
}

/// Two records of one world, without a change; seeds give independent ones.
inline std::vector<TimedPair> unchanged(const World& w, std::uint64_t seed) {
  std::vector<TimedPair> pairs;
  for (int k = 0; k < w.kernels; ++k)
    for (int c = 0; c < w.cells; ++c)
      pairs.push_back({"kernel " + std::to_string(k) + " cell " + std::to_string(c), "kernel " + std::to_string(k)});
  detail::add_side(w, seed * 2, false, pairs);
  detail::add_side(w, seed * 2 + 1, true, pairs);
  return pairs;
}

/// The same with kernel `which`, or all if that is negative, slower by a factor.
inline std::vector<TimedPair> changed(const World& w, std::uint64_t seed, double factor, int which = -1) {
  std::vector<TimedPair> pairs = unchanged(w, seed);
  for (auto& p : pairs)
    if (which < 0 || p.family == "kernel " + std::to_string(which)) scale(p, factor);
  return pairs;
}

}  // namespace merganser::test
