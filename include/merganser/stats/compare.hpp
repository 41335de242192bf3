#pragma once
/// Regression gate: statistical test of whether a suite of timings has become slower.
///
/// The suite as a whole, each family (the timings of one kernel or stage) and each single timing are tested. The noise is the
/// scatter between launches of the program; rounds within one launch underestimate it, so with few launches a minimum is assumed.
/// The test of a family or timing does not depend on any other one: an improvement elsewhere does not hide a slowdown. Method and
/// error rates: docs/compare.md.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Measured times of one timing of a benchmark suite by launch, and within a launch by round, in the order of measurement.
using Launches = std::vector<std::vector<double>>;

/// Times of one timing of a benchmark suite before and after a change of the program, which the regression gate compares.
struct TimedPair {
  std::string key;      ///< name of the timing, which both sides measured
  std::string family;   ///< name of the group of timings that are expected to become slower together
  Launches before;      ///< times of the old program, at least one, positive, in any unit
  Launches after;       ///< times of the new program, in the same unit
  bool decides = true;  ///< false: the timing is reported, but cannot make the suite fail
};

/// Parameters of compare_suites(), the regression gate: smallest change that matters, false alarms, assumed noise.
struct CompareOptions {
  double threshold = 0.05;     ///< smallest relative change that matters, > 0
  double false_alarms = 0.01;  ///< probability that a suite without a change is reported as slower, in (0, 1)
  /// Relative standard deviation, >= 0, of the effect of a launch that all its timings have in common; effects of the same size on
  /// each family and on each timing are added. Assumed with a weight that falls to 0 at five launches a side.
  double launch_floor = 0.07;
  /// Relative standard deviation, >= 0, that is assumed within a launch for a timing with one round per launch.
  double single_floor = 0.20;
  /// Relative standard deviation, >= 0, of differences between the two sides that no number of launches averages out: where one
  /// side was launched after the other, changes of the machine in between. Effects of the same size on each family and timing are
  /// added.
  double between_sides = 0;
};

/// Verdict of the regression gate on a timing, a family or the suite.
enum class Verdict : std::uint8_t {
  same,    ///< no significant change
  slower,  ///< significant, and slower by at least the threshold
  faster,  ///< significant, and faster by at least the threshold
  small,   ///< significant, but below the threshold
};
/// Returns the name of a verdict of the regression gate: "same", "slower", "faster" or "small change".
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

/// Change of the times of one timing, a family or the whole suite, as the regression gate estimates and tests it.
struct Change {
  std::string name;         ///< key of the timing, name of the family, or "suite"
  std::size_t timings = 1;  ///< number of pairs that it is estimated from
  double before = 0;        ///< median time of the old program, in the unit of the samples; 0 unless of a single timing
  double after = 0;         ///< median time of the new program, in the unit of the samples; 0 unless of a single timing
  double ratio = 1;         ///< after / before
  double low = 1, high = 1;         ///< ends of the 95 % confidence interval of the ratio
  double p = 1;                     ///< one-sided p-value, corrected for the number of tests of the suite, in [0, 1]
  double detectable = 0;            ///< smallest relative slowdown that is detected in 19 of 20 cases
  Verdict verdict = Verdict::same;  ///< result of the test
  bool decides = true;              ///< false: cannot make the suite fail
};

/// Result of the regression gate for a suite of timings; compare_suites() fills it.
struct SuiteComparison {
  Change suite;                  ///< change of all timings that decide
  std::vector<Change> families;  ///< changes of families, in the order in which the pairs name them first
  std::vector<Change> timings;   ///< changes of single timings, in the order of the pairs
  bool assumed = false;          ///< true if launches are so few that part of the scatter was assumed
  bool slower = false;           ///< result of the gate: true if suite, a family or a timing that decides is slower
  bool faster = false;           ///< true if suite, a family or a timing that decides is faster
};

/// Compares the times of a benchmark suite before and after a change of the program. Local.
///
/// Uses medians of rounds, trimmed means over timings, and one-sided tests with Student's distribution; the allowed false alarms
/// are divided among the tests beforehand (Bonferroni). The result for a family or a timing is a function of its own times, of the
/// number of families and timings, and of the options.
/// @throws UsageError for no pairs, a side without times, a time that is not positive and finite, or options out of range
[[nodiscard]] SuiteComparison compare_suites(std::span<const TimedPair> pairs, const CompareOptions& options = {});

}  // namespace merganser
