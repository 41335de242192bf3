#pragma once
/// A regression gate: has a suite of timings become slower?
///
/// What is tested is not each timing for itself only but what many of them say together: all of them, and each family (a
/// kernel, a stage). The scatter that counts is that between launches; rounds of one launch know little of it, so where
/// launches are few, what they cannot tell is assumed. No test of a family or a timing looks at any other one: what
/// became faster elsewhere changes nothing. The method and how well it works: docs/compare.md.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Times by launch; within a launch by round, in order of time.
using Launches = std::vector<std::vector<double>>;

/// What both sides timed.
struct TimedPair {
  std::string key;
  std::string family;  ///< timings that would become slower together
  Launches before;
  Launches after;
  bool decides = true;  ///< false: reported, but too small a part of anything to fail a suite
};

/// What counts as a change, and how sure it must be.
struct CompareOptions {
  double threshold = 0.05;     ///< smallest change that matters, as a share, > 0
  double false_alarms = 0.01;  ///< chance that a suite without a change is found to be slower, in (0, 1)
  /// Relative standard deviation of what a launch does to all its timings, and of as much again to each family and to
  /// each timing, >= 0. Assumed as far as launches are fewer than five a side.
  double launch_floor = 0.07;
  double single_floor =
      0.20;  ///< the same of a timing that was taken once in each launch and so shows no scatter, >= 0
  /// Relative standard deviation of what else differs between the sides, however many launches they have, >= 0: where one
  /// side was launched after the other, what changed on the machine in between. As much again for each family and timing.
  double between_sides = 0;
};

/// What is said of a timing, a family or the suite.
enum class Verdict : std::uint8_t {
  same,    ///< no change shown
  slower,  ///< shown, and at least the threshold
  faster,  ///< shown, and at least the threshold
  small,   ///< shown, but below the threshold
};
[[nodiscard]] std::string_view verdict_name(Verdict verdict);  ///< "same", "slower", "faster", "small change"

/// How one timing, a family or the whole suite has changed.
struct Change {
  std::string name;         ///< key, family, or "suite"
  std::size_t timings = 1;  ///< pairs it is made of
  double before = 0;        ///< seconds or whatever the samples are in; 0 unless of a single timing
  double after = 0;
  double ratio = 1;          ///< after / before
  double low = 1, high = 1;  ///< 95 % interval of it
  double p = 1;              ///< chance that noise shows as much in this direction in any of the tests of the suite
  double detectable = 0;     ///< the smallest slowdown that is detected in 19 of 20 cases, as a share
  Verdict verdict = Verdict::same;
  bool decides = true;
};

/// All changes, and the verdict.
struct SuiteComparison {
  Change suite;
  std::vector<Change> families;
  std::vector<Change> timings;  ///< in the order of the pairs
  bool assumed = false;         ///< launches are so few that part of the scatter was assumed
  bool slower = false;          ///< the verdict: something that decides is slower
  bool faster = false;          ///< something is faster
};

/// Compares the two sides of a suite. Local. Medians of rounds, robust means over timings, one-sided tests with
/// Student's distribution, the false alarms shared out beforehand (Bonferroni): the result for a family or a timing is
/// a function of its own times, of how many families and timings there are, and of the options. @throws UsageError for
/// no pairs, a side without times, a time that is not positive and finite, or options out of range
[[nodiscard]] SuiteComparison compare_suites(std::span<const TimedPair> pairs, const CompareOptions& options = {});

}  // namespace merganser
