#pragma once
/// A regression gate: has a suite of timings become slower?
///
/// What is tested is not each timing for itself but what many of them say together: all of them, each family (a kernel,
/// a stage), and each family against the others, which cancels what a launch does to all of them. The scatter that counts
/// is that between launches; rounds of one launch know nothing of it, so where there is one launch only, a floor is added.
/// The method and how well it works: docs/compare.md.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

struct CompareOptions {
  double threshold = 0.05;     ///< smallest change that matters, as a share, > 0
  double false_alarms = 0.01;  ///< chance that a suite without a change is found to have one, in (0, 1)
  /// Relative standard deviations, used where both sides have one launch: of what a launch does to all its timings, to
  /// those of one family, to one timing.
  double launch_floor = 0.015;
  double family_floor = 0.01;
  double timing_floor = 0.06;
  /// Standard deviation of a timing that was taken once and so shows none.
  double single_floor = 0.20;
};

enum class Verdict : std::uint8_t {
  same,    ///< no change shown
  slower,  ///< shown, and at least the threshold
  faster,  ///< shown, and at least the threshold
  small,   ///< shown, but below the threshold
};
[[nodiscard]] std::string_view verdict_name(Verdict verdict);  ///< "same", "slower", "faster", "small change"

struct Change {
  std::string name;         ///< key, family, or "suite"
  std::size_t timings = 1;  ///< pairs it is made of
  double before = 0;        ///< seconds or whatever the samples are in; 0 unless of a single timing
  double after = 0;
  double ratio = 1;          ///< after / before
  double low = 1, high = 1;  ///< 95 % interval of it
  double p = 1;              ///< chance of such a change, in either direction, by noise; corrected for all tests
  double detectable = 0;     ///< the slowdown that would be found in 19 of 20 cases, as a share
  Verdict verdict = Verdict::same;
  bool decides = true;
};

struct SuiteComparison {
  Change suite;
  std::vector<Change> families;
  std::vector<Change> timings;  ///< in the order of the pairs
  bool one_launch = false;      ///< both sides have one launch: floors were used
  bool slower = false;          ///< the verdict: something that decides is slower
  bool faster = false;          ///< something is faster
};

/// Local. Medians of rounds, robust means over timings, tests with Student's distribution and variances shared between
/// families, Holm's correction. @throws UsageError for no pairs, a side without times, a time that is not positive and
/// finite, or options out of range
[[nodiscard]] SuiteComparison compare_suites(std::span<const TimedPair> pairs, const CompareOptions& options = {});

/// Student's distribution: P(T > t) with `freedom` > 0 degrees of freedom; for infinity the normal one.
[[nodiscard]] double student_tail(double t, double freedom);
/// The t with student_tail(t) = tail, 0 < tail < 1.
[[nodiscard]] double student_quantile(double tail, double freedom);

}  // namespace merganser
