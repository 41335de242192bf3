// Regression gate: change of the times of a suite, of its families and of single timings, with its noise, and the tests.
#include "merganser/stats/compare.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/stats/distributions.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser {
namespace {

constexpr double kEnoughDegrees = 8;  // degrees of freedom of five launches a side; with fewer, scatter is assumed
constexpr double kMinScatter = 0.01;  // lower bound of the relative scatter between launches
constexpr double kTrim = 0.15;        // share of timings left out at each end of a trimmed mean
constexpr double kWinsor = 3.7;  // limit of outliers in median absolute deviations: 2.5 standard deviations if normal
constexpr double kMedianLoss = 1.57;  // variance of a median over that of a mean, for normal samples: pi / 2
constexpr double kPower = 0.95;       // of the test for the smallest detectable slowdown
constexpr double kLargestLog = 700;   // exp() of more overflows
// Shares of the false alarms that the tests of the suite, of all families and of all timings may cause.
constexpr double kSuiteShare = 0.4;
constexpr double kFamilyShare = 0.4;
constexpr double kTimingShare = 0.2;

/// Logarithms of the times of one timing, one for each launch (its median) or for each round.
using LogTimes = std::vector<double>;
/// Indices of the timings of a suite that are tested together: of a family, of the suite, or a single one.
using Members = std::vector<std::size_t>;

/// Timing of a suite as the regression gate tests it: logarithms of the medians of its launches on both sides.
struct Timing {
  std::size_t family = 0;  // index in Suite::families
  LogTimes before, after;  // by launch: logarithm of the median of its rounds, of the old and of the new program
  double within = 0;       // variance of the median of a launch, as its rounds show it
};

/// Suite of timings that the regression gate compares, with its families in the order of their first timing.
struct Suite {
  std::span<const TimedPair> pairs;   // arguments of compare_suites()
  std::vector<std::string> families;  // names of the families
  std::vector<Timing> timings;        // timings in the order of the pairs
};

/// Estimated change of some timings of a suite: difference of the logarithms of times, with its noise; estimate() fills it.
struct Estimate {
  double difference = 0;                       // new minus old
  double standard_error = 0;                   // standard error of the difference
  double degrees_of_freedom = kEnoughDegrees;  // degrees of freedom of the standard error
  bool assumed = false;                        // part of the scatter between launches was assumed, for want of launches
};

/// Returns the mean of values without the share kTrim of them at each end; 0 without values.
double trimmed_mean(std::vector<double> x) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  const auto cut = static_cast<std::ptrdiff_t>(kTrim * static_cast<double>(x.size()));
  const double sum = std::accumulate(x.begin() + cut, x.end() - cut, 0.0);
  return sum / static_cast<double>(static_cast<std::ptrdiff_t>(x.size()) - 2 * cut);
}

/// Returns the arithmetic mean of logarithms of times; 0 without values.
double mean(const std::vector<double>& x) {
  return x.empty() ? 0 : std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

/// Returns the sum of the squared deviations of values from their mean.
double sum_of_squares(const std::vector<double>& x) {
  const double m = mean(x);
  return std::accumulate(x.begin(), x.end(), 0.0, [m](double s, double v) { return s + (v - m) * (v - m); });
}

/// Counts the launches of a timing that measured at least one time.
std::size_t num_launches(const Launches& l) {
  return static_cast<std::size_t>(std::count_if(l.begin(), l.end(), [](const auto& x) { return !x.empty(); }));
}

/// Checks that a timing has times on both sides, all positive and finite. @throws UsageError if not
void check(const TimedPair& p) {
  for (const auto* side : {&p.before, &p.after}) {
    if (num_launches(*side) == 0) throw UsageError(p.key + " has no times on one side");
    for (const auto& launch : *side)
      for (const double x : launch)
        if (!(x > 0) || !std::isfinite(x))
          throw UsageError("a time of " + p.key + " is " + std::to_string(x) + "; allowed: positive numbers");
  }
}

/// Checks the parameters of the regression gate. @throws UsageError if one is out of range
void check(const CompareOptions& o) {
  if (!(o.threshold > 0) || !std::isfinite(o.threshold))
    throw UsageError("threshold is " + std::to_string(o.threshold) + "; allowed: above 0");
  if (!(o.false_alarms > 0 && o.false_alarms < 1))
    throw UsageError("chance of false alarms is " + std::to_string(o.false_alarms) + "; allowed: between 0 and 1");
  for (const double floor : {o.launch_floor, o.single_floor, o.between_sides})
    if (!(floor >= 0) || !std::isfinite(floor))
      throw UsageError("a floor is " + std::to_string(floor) + "; allowed: 0 and more");
}

/// Winsorises the logarithms of times of the rounds of a launch: moves outliers to kWinsor median absolute deviations from the
/// median.
LogTimes winsorised(LogTimes rounds) {
  if (rounds.size() < 4) return rounds;
  const double middle = median(rounds);
  std::vector<double> distances;
  for (const double b : rounds) distances.push_back(std::fabs(b - middle));
  const double reach = kWinsor * median(std::move(distances));
  for (auto& b : rounds) b = std::clamp(b, middle - reach, middle + reach);
  return rounds;
}

/// Returns, by launch, the logarithm of the median of its rounds; launches without times are skipped.
LogTimes log_medians(const Launches& launches) {
  LogTimes out = sample_medians(launches);
  for (double& x : out) x = std::log(x);
  return out;
}

/// Estimates the variance of the median of a launch from the scatter of its rounds, pooled over all launches; assumes single_floor
/// if no launch has two rounds.
double variance_within(const TimedPair& p, const CompareOptions& o) {
  double sum = 0, degrees_of_freedom = 0, inverse = 0, launches = 0;
  for (const auto* side : {&p.before, &p.after})
    for (const auto& launch : *side) {
      if (launch.empty()) continue;
      LogTimes rounds;
      for (const double x : launch) rounds.push_back(std::log(x));
      const auto n = static_cast<double>(rounds.size());
      // Outliers of single rounds, such as interrupts, must not widen the noise of all.
      sum += sum_of_squares(winsorised(std::move(rounds)));
      degrees_of_freedom += n - 1;
      inverse += (n > 2 ? kMedianLoss : 1) / n;
      launches += 1;
    }
  return degrees_of_freedom > 0 ? sum / degrees_of_freedom * inverse / launches : o.single_floor * o.single_floor;
}

/// Makes the suite of the pairs of times: families, medians of launches, and the noise within launches.
Suite make_suite(std::span<const TimedPair> pairs, const CompareOptions& o) {
  Suite s;
  s.pairs = pairs;
  for (const auto& p : pairs) {
    const auto at = std::find(s.families.begin(), s.families.end(), p.family);
    const auto family = static_cast<std::size_t>(at - s.families.begin());
    if (at == s.families.end()) s.families.push_back(p.family);
    s.timings.push_back({family, log_medians(p.before), log_medians(p.after), variance_within(p, o)});
  }
  return s;
}

/// Scatter between the launches of one side, as scatter() estimates it: a sum of squares with its degrees of freedom.
struct Scatter {
  double squares = 0;             // sum of the squared deviations from the mean, of logarithms of times
  double degrees_of_freedom = 0;  // launches less one; 0: no timing has two launches
};

/// Estimates the scatter between launches of one side: launch by launch the trimmed mean, over timings, of the deviation of each
/// timing from its own mean. So the level of a timing does not enter, only what a launch does to all timings.
Scatter scatter(const Suite& s, const Members& members, LogTimes Timing::*side) {
  std::vector<std::vector<double>> at;
  for (const std::size_t i : members) {
    const LogTimes& mine = s.timings[i].*side;
    if (mine.size() < 2) continue;
    const double middle = mean(mine);
    at.resize(std::max(at.size(), mine.size()));
    for (std::size_t b = 0; b < mine.size(); ++b) at[b].push_back(mine[b] - middle);
  }
  if (at.empty()) return {};
  LogTimes pooled;
  for (auto& values : at) pooled.push_back(trimmed_mean(std::move(values)));
  return {sum_of_squares(pooled), static_cast<double>(pooled.size()) - 1};
}

/// Estimates the change that some timings have in common, with its standard error.
/// @param families  number of families that the timings belong to
Estimate estimate(const Suite& s, const Members& members, std::size_t families, const CompareOptions& o) {
  const auto n = static_cast<double>(members.size());
  std::vector<double> differences;
  double within = 0, inverse = 0;  // means over the timings: of the variance in a launch, of 1 / launches
  for (const std::size_t i : members) {
    const Timing& t = s.timings[i];
    differences.push_back(mean(t.after) - mean(t.before));
    within += t.within / n;
    inverse += (1 / static_cast<double>(t.before.size()) + 1 / static_cast<double>(t.after.size())) / n;
  }
  const Scatter before = scatter(s, members, &Timing::before), after = scatter(s, members, &Timing::after);
  const double known = before.degrees_of_freedom + after.degrees_of_freedom;
  const double own = known > 0 ? (before.squares + after.squares) / known : 0;
  Estimate e;
  e.difference = trimmed_mean(std::move(differences));
  e.assumed = known < kEnoughDegrees;
  e.degrees_of_freedom = std::max(known, kEnoughDegrees);
  // Effects on all timings, on each family and on each timing have equal variances; those of families and timings average out.
  const double parts = 1 + 1 / static_cast<double>(families) + 1 / n;
  double variance = own;
  if (e.assumed) {
    // Weighted by degrees of freedom, but never below the scatter that was observed.
    const double floor = o.launch_floor * o.launch_floor * parts + within;
    variance = std::max(own, (own * known + floor * (kEnoughDegrees - known)) / kEnoughDegrees);
  }
  e.standard_error =
      std::sqrt(std::max(variance, kMinScatter * kMinScatter) * inverse + o.between_sides * o.between_sides * parts);
  return e;
}

/// Returns the verdict of the regression gate for a p-value, corrected for the number of tests, and a ratio of times.
Verdict classify(double p, double ratio, const CompareOptions& o) {
  if (p > o.false_alarms) return Verdict::same;
  if (ratio >= 1 + o.threshold) return Verdict::slower;
  return ratio <= 1 / (1 + o.threshold) ? Verdict::faster : Verdict::small;
}

/// Converts a difference of logarithms of times to the ratio of the times, limited so that exp() does not overflow.
double to_ratio(double difference) { return std::exp(std::clamp(difference, -kLargestLog, kLargestLog)); }

/// Tests an estimated change of some timings: ratio with its interval, p-value, detectable slowdown and verdict.
/// @param share  share of the false alarms that this test may cause
Change make_change(std::string name, std::size_t timings, const Estimate& e, double share, const CompareOptions& o) {
  Change c;
  c.name = std::move(name);
  c.timings = timings;
  c.ratio = to_ratio(e.difference);
  const double half = student_quantile(0.025, e.degrees_of_freedom) * e.standard_error;
  c.low = to_ratio(e.difference - half);
  c.high = to_ratio(e.difference + half);
  c.p = std::min(1.0, student_tail(std::fabs(e.difference) / e.standard_error, e.degrees_of_freedom) / share);
  const double needed = student_quantile(share * o.false_alarms, e.degrees_of_freedom) * e.standard_error;
  const double reach = student_quantile(1 - kPower, e.degrees_of_freedom) * e.standard_error;
  // The estimate of a slowdown of this size exceeds both the limit of significance and the threshold with probability kPower.
  c.detectable = to_ratio(std::max(needed, std::log1p(o.threshold)) + reach) - 1;
  c.verdict = classify(c.p, c.ratio, o);
  return c;
}

/// Returns the indices of the timings of a suite that can make it fail; of all, if none does.
Members deciding_timings(const Suite& s) {
  Members out, all(s.pairs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::size_t i : all)
    if (s.pairs[i].decides) out.push_back(i);
  return out.empty() ? all : out;
}

/// Tests every family of the suite and appends the changes; families without a deciding timing cost no share of the false alarms.
void compare_families(const Suite& s, const CompareOptions& o, SuiteComparison& out) {
  std::vector<Members> members(s.families.size());
  std::vector<bool> decides(s.families.size());
  for (std::size_t i = 0; i < s.pairs.size(); ++i) {
    members[s.timings[i].family].push_back(i);
    if (s.pairs[i].decides) decides[s.timings[i].family] = true;
  }
  // The share of false alarms is divided among the families that can make the suite fail (Bonferroni).
  const auto tests = std::max<std::ptrdiff_t>(1, std::count(decides.begin(), decides.end(), true));
  for (std::size_t f = 0; f < members.size(); ++f) {
    const Estimate e = estimate(s, members[f], 1, o);
    Change c = make_change(s.families[f], members[f].size(), e, kFamilyShare / static_cast<double>(tests), o);
    c.decides = decides[f];
    out.families.push_back(std::move(c));
  }
}

/// Tests every timing of the suite and appends the changes, with the median times of both sides. @param tests  number of timings
/// that decide
void compare_timings(const Suite& s, std::size_t tests, const CompareOptions& o, SuiteComparison& out) {
  for (std::size_t i = 0; i < s.pairs.size(); ++i) {
    const Estimate e = estimate(s, {i}, 1, o);
    Change c = make_change(s.pairs[i].key, 1, e, kTimingShare / static_cast<double>(tests), o);
    c.before = median(sample_medians(s.pairs[i].before));
    c.after = median(sample_medians(s.pairs[i].after));
    c.decides = s.pairs[i].decides;
    out.assumed = out.assumed || e.assumed;
    out.timings.push_back(std::move(c));
  }
}

}  // namespace

// Returns the name of a verdict of the regression gate for reports.
std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return "slower";
    case Verdict::faster:
      return "faster";
    case Verdict::small:
      return "small change";
    case Verdict::same:
      break;
  }
  return "same";
}

// Compares a suite: checks, then one test of the whole, one of each family and one of each timing.
SuiteComparison compare_suites(std::span<const TimedPair> pairs, const CompareOptions& o) {
  if (pairs.empty()) throw UsageError("nothing to compare: no timing is on both sides");
  check(o);
  for (const auto& p : pairs) check(p);
  const Suite s = make_suite(pairs, o);
  SuiteComparison out;
  const Members members = deciding_timings(s);
  out.suite = make_change("suite", members.size(), estimate(s, members, s.families.size(), o), kSuiteShare, o);
  compare_families(s, o, out);
  compare_timings(s, members.size(), o, out);
  const auto count_verdict = [&out](const Change& c) {
    out.slower = out.slower || (c.decides && c.verdict == Verdict::slower);
    out.faster = out.faster || (c.decides && c.verdict == Verdict::faster);
  };
  count_verdict(out.suite);
  for (const auto& c : out.families) count_verdict(c);
  for (const auto& c : out.timings) count_verdict(c);
  return out;
}

}  // namespace merganser
