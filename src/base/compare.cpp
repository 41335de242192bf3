#include "merganser/base/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/base/summary.hpp"

namespace merganser {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPriorFreedom = 4;        // weight of the variance that families share
constexpr double kLeastDeviation = 0.003;  // no launch is more alike than this to another
constexpr double kTrim = 0.15;             // of each end, in means over timings
constexpr double kTame = 3.7;              // 2.5 normal deviations, in median distances
constexpr double kOneLaunchFreedom = 20;   // of a variance that is mostly a floor
// How the false alarms are shared out.
constexpr double kSuiteShare = 0.4;
constexpr double kFamilyShare = 0.4;
constexpr double kTimingShare = 0.2;

/// Logarithms of the times of one side of one timing, less its reference: one value per block, a launch or, where both
/// sides have one launch, a round.
using Blocks = std::vector<double>;

struct Side {
  std::vector<Blocks> of;  // by timing
  bool rounds = false;     // blocks are rounds of one launch
};

struct Suite {
  std::span<const TimedPair> pairs;
  std::vector<std::string> families;
  std::vector<std::size_t> family;  // of each pair
  Side before, after;
  std::vector<double> reference;
  bool one_launch = true;
};

/// A difference of logarithms and what its noise is.
struct Estimate {
  double difference = 0;
  double deviation = 0;  // standard error
  double freedom = kInfinity;
};

double trimmed_mean(std::vector<double> x) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  const auto cut = static_cast<std::ptrdiff_t>(kTrim * static_cast<double>(x.size()));
  const double sum = std::accumulate(x.begin() + cut, x.end() - cut, 0.0);
  return sum / static_cast<double>(static_cast<std::ptrdiff_t>(x.size()) - 2 * cut);
}

double mean(const std::vector<double>& x) {
  return x.empty() ? 0 : std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double squares(const std::vector<double>& x) {
  const double m = mean(x);
  return std::accumulate(x.begin(), x.end(), 0.0, [m](double s, double v) { return s + (v - m) * (v - m); });
}

std::size_t launches_of(const Launches& l) {
  return static_cast<std::size_t>(std::count_if(l.begin(), l.end(), [](const auto& x) { return !x.empty(); }));
}

/// Median over launches of the median of each.
double centre(const Launches& launches) {
  std::vector<double> medians;
  for (const auto& l : launches)
    if (!l.empty()) medians.push_back(median(l));
  return median(std::move(medians));
}

void check(const TimedPair& p) {
  for (const auto* side : {&p.before, &p.after}) {
    if (launches_of(*side) == 0) throw UsageError(p.key + " has no times on one side");
    for (const auto& launch : *side)
      for (const double x : launch)
        if (!(x > 0) || !std::isfinite(x))
          throw UsageError("a time of " + p.key + " is " + std::to_string(x) + "; allowed: positive numbers");
  }
}

void check(const CompareOptions& o) {
  if (!(o.threshold > 0) || !std::isfinite(o.threshold))
    throw UsageError("threshold is " + std::to_string(o.threshold) + "; allowed: above 0");
  if (!(o.false_alarms > 0 && o.false_alarms < 1))
    throw UsageError("chance of false alarms is " + std::to_string(o.false_alarms) + "; allowed: between 0 and 1");
}

/// Rounds that something disturbed, brought back to the edge of the others: a launch is what most of its rounds were.
Blocks tamed(Blocks blocks) {
  if (blocks.size() < 4) return blocks;
  const double middle = median(blocks);
  std::vector<double> distances;
  for (const double b : blocks) distances.push_back(std::fabs(b - middle));
  const double reach = kTame * median(std::move(distances));
  for (auto& b : blocks) b = std::clamp(b, middle - reach, middle + reach);
  return blocks;
}

Blocks blocks_of(const Launches& launches, bool one_launch, double reference) {
  Blocks out;
  for (const auto& launch : launches) {
    if (launch.empty()) continue;
    if (!one_launch) {
      out.push_back(std::log(median(launch)) - reference);
      continue;
    }
    for (const double x : launch) out.push_back(std::log(x) - reference);
  }
  return one_launch ? tamed(std::move(out)) : out;
}

Suite make_suite(std::span<const TimedPair> pairs) {
  Suite s;
  s.pairs = pairs;
  for (const auto& p : pairs) {
    const auto at = std::find(s.families.begin(), s.families.end(), p.family);
    s.family.push_back(static_cast<std::size_t>(at - s.families.begin()));
    if (at == s.families.end()) s.families.push_back(p.family);
    s.one_launch = s.one_launch && launches_of(p.before) == 1 && launches_of(p.after) == 1;
  }
  s.before.rounds = s.after.rounds = s.one_launch;
  for (const auto& p : pairs) {
    s.reference.push_back(0.5 * (std::log(centre(p.before)) + std::log(centre(p.after))));
    s.before.of.push_back(blocks_of(p.before, s.one_launch, s.reference.back()));
    s.after.of.push_back(blocks_of(p.after, s.one_launch, s.reference.back()));
  }
  return s;
}

/// Robust means over chosen timings, block by block. Blocks that a timing lacks are left to the others.
template <class Choose>
Blocks pool(const Side& side, const Choose& chosen) {
  std::vector<std::vector<double>> at;
  for (std::size_t i = 0; i < side.of.size(); ++i) {
    if (!chosen(i)) continue;
    at.resize(std::max(at.size(), side.of[i].size()));
    for (std::size_t b = 0; b < side.of[i].size(); ++b) at[b].push_back(side.of[i][b]);
  }
  Blocks out;
  for (auto& values : at) out.push_back(trimmed_mean(std::move(values)));
  return side.rounds ? tamed(std::move(out)) : out;
}

/// Blocks of a family less the mean of all other families: what a launch does to all of them is gone.
Blocks less_others(const std::vector<Blocks>& families, std::size_t mine) {
  Blocks out = families[mine];
  for (std::size_t b = 0; b < out.size(); ++b) {
    std::vector<double> others;
    for (std::size_t f = 0; f < families.size(); ++f)
      if (f != mine && b < families[f].size()) others.push_back(families[f][b]);
    if (others.empty()) continue;
    out[b] -= median(std::move(others));
  }
  return out;
}

struct Spread {
  double variance = 0;  // of one block
  double freedom = 0;
};

Spread spread(const Blocks& before, const Blocks& after) {
  const double freedom = static_cast<double>(before.size() + after.size()) - 2;
  return freedom > 0 ? Spread{(squares(before) + squares(after)) / freedom, freedom} : Spread{};
}

/// The variance that several spreads share.
double shared_variance(const std::vector<Spread>& all) {
  std::vector<double> known;
  for (const auto& s : all)
    if (s.freedom > 0) known.push_back(s.variance);
  return known.empty() ? -1 : median(std::move(known));
}

/// What is known of a kind of estimate beside its own blocks.
struct Prior {
  double variance = -1;  // of a block, shared by estimates of this kind; negative: unknown
  double floor = 0;      // deviation between launches that is assumed: alone where there is one, as a part elsewhere
  double single = 0;     // deviation of a block, where there is one
  bool careful = false;  // the shared variance may raise that of an estimate, not lower it
};

Estimate estimate(const Blocks& before, const Blocks& after, const Prior& prior, bool one_launch) {
  Estimate e;
  e.difference = mean(after) - mean(before);
  const Spread own = spread(before, after);
  const double share = 1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size());
  double variance = prior.single * prior.single;
  if (own.freedom > 0 || prior.variance >= 0) {
    double shared = std::max(prior.variance, 0.0);
    if (!one_launch) shared = std::max(shared, prior.floor * prior.floor);
    e.freedom = own.freedom + kPriorFreedom;
    variance = (own.variance * own.freedom + shared * kPriorFreedom) / e.freedom;
    if (prior.careful) variance = std::max(variance, own.variance);
    if (one_launch) e.freedom = std::max(e.freedom, kOneLaunchFreedom);
  }
  variance = std::max(variance, kLeastDeviation * kLeastDeviation) * share;
  if (one_launch) variance += 2 * prior.floor * prior.floor;
  e.deviation = std::sqrt(variance);
  return e;
}

/// Holm: the p-values of all tests, each corrected so that the chance of one false finding among all is bounded.
std::vector<double> corrected(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&p](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> out(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    out[order[i]] = largest;
  }
  return out;
}

double two_sided(const Estimate& e) {
  if (e.deviation == 0) return e.difference == 0 ? 1 : 0;
  return std::min(1.0, 2 * student_tail(std::fabs(e.difference) / e.deviation, e.freedom));
}

Change change_of(std::string name, std::size_t timings, const Estimate& e) {
  Change c;
  c.name = std::move(name);
  c.timings = timings;
  c.ratio = std::exp(e.difference);
  const double half = student_quantile(0.025, e.freedom) * e.deviation;
  c.low = std::exp(e.difference - half);
  c.high = std::exp(e.difference + half);
  return c;
}

/// The slowdown that is shown, and above the threshold, in 19 of 20 cases when `tests` share the false alarms.
double detectable(const Estimate& e, std::size_t tests, const CompareOptions& o, double alpha) {
  const double reach = student_quantile(0.05, e.freedom) * e.deviation;
  const double needed = student_quantile(alpha / 2 / static_cast<double>(tests), e.freedom) * e.deviation;
  return std::exp(std::max(needed, std::log1p(o.threshold)) + reach) - 1;
}

Verdict verdict_of(double p, double ratio, double alpha, double threshold) {
  if (p > alpha) return Verdict::same;
  if (ratio >= 1 + threshold) return Verdict::slower;
  return ratio <= 1 / (1 + threshold) ? Verdict::faster : Verdict::small;
}

Change judged(std::string name, std::size_t timings, const Estimate& e, double p, std::size_t tests, double alpha,
              const CompareOptions& o) {
  Change c = change_of(std::move(name), timings, e);
  c.p = p;
  c.detectable = detectable(e, tests, o, alpha);
  c.verdict = verdict_of(p, c.ratio, alpha, o.threshold);
  return c;
}

std::vector<double> p_values(const std::vector<Estimate>& estimates) {
  std::vector<double> p;
  for (const auto& e : estimates) p.push_back(two_sided(e));
  return corrected(p);
}

/// The blocks of all families.
struct Pooled {
  std::vector<Blocks> before, after;

  [[nodiscard]] double variance() const {
    std::vector<Spread> all;
    for (std::size_t f = 0; f < before.size(); ++f) all.push_back(spread(before[f], after[f]));
    return shared_variance(all);
  }
  [[nodiscard]] Pooled relative() const {
    Pooled out;
    for (std::size_t f = 0; f < before.size(); ++f) {
      out.before.push_back(less_others(before, f));
      out.after.push_back(less_others(after, f));
    }
    return out;
  }
  void estimate_into(std::vector<Estimate>& out, const Prior& prior, bool one_launch) const {
    for (std::size_t f = 0; f < before.size(); ++f) out.push_back(estimate(before[f], after[f], prior, one_launch));
  }
};

Pooled pool_families(const Suite& s) {
  Pooled out;
  for (std::size_t f = 0; f < s.families.size(); ++f) {
    const auto mine = [&](std::size_t i) { return s.family[i] == f; };
    out.before.push_back(pool(s.before, mine));
    out.after.push_back(pool(s.after, mine));
  }
  return out;
}

/// All timings together. What single families scatter is more than what their mean does.
void compare_whole(const Suite& s, const Pooled& families, const CompareOptions& o, SuiteComparison& out) {
  const bool any = std::any_of(s.pairs.begin(), s.pairs.end(), [](const auto& p) { return p.decides; });
  const auto chosen = [&](std::size_t i) { return !any || s.pairs[i].decides; };
  const Estimate e = estimate(pool(s.before, chosen), pool(s.after, chosen),
                              {families.variance(), o.launch_floor, o.single_floor}, s.one_launch);
  out.suite = judged("suite", s.pairs.size(), e, two_sided(e), 1, kSuiteShare * o.false_alarms, o);
}

/// Against the others, and by its own time too: a family is not slower because the others became faster.
void judge_relative(Change& c, const Estimate& e, double p, std::size_t tests, double alpha, const CompareOptions& o) {
  const Change r = judged(c.name, c.timings, e, p, tests, alpha, o);
  c.detectable = std::min(c.detectable, r.detectable);
  const bool slower = r.verdict == Verdict::slower && c.ratio >= 1 + o.threshold;
  const bool faster = r.verdict == Verdict::faster && c.ratio <= 1 / (1 + o.threshold);
  if (!slower && !faster) return;
  c.verdict = r.verdict;
  c.p = std::min(c.p, p);
}

void compare_families(const Suite& s, const Pooled& families, const CompareOptions& o, SuiteComparison& out) {
  const std::size_t n = s.families.size();
  const double alpha = kFamilyShare * o.false_alarms;
  std::vector<Estimate> estimates;
  families.estimate_into(estimates, {families.variance(), std::hypot(o.launch_floor, o.family_floor), o.single_floor},
                         s.one_launch);
  if (n >= 3) {
    const Pooled relative = families.relative();
    relative.estimate_into(estimates, {relative.variance(), o.family_floor, o.single_floor}, s.one_launch);
  }
  const auto p = p_values(estimates);
  for (std::size_t f = 0; f < n; ++f) {
    const auto size = static_cast<std::size_t>(std::count(s.family.begin(), s.family.end(), f));
    Change c = judged(s.families[f], size, estimates[f], p[f], p.size(), alpha, o);
    if (n >= 3) judge_relative(c, estimates[n + f], p[n + f], p.size(), alpha, o);
    c.decides = false;
    for (std::size_t i = 0; i < s.pairs.size(); ++i) c.decides = c.decides || (s.family[i] == f && s.pairs[i].decides);
    out.families.push_back(std::move(c));
  }
}

/// Every timing for itself. What most of them scatter must not excuse one that scatters more.
void compare_timings(const Suite& s, const CompareOptions& o, SuiteComparison& out) {
  const std::size_t n = s.pairs.size();
  std::vector<Spread> spreads;
  for (std::size_t i = 0; i < n; ++i) spreads.push_back(spread(s.before.of[i], s.after.of[i]));
  const Prior prior{shared_variance(spreads), std::hypot(o.launch_floor, o.timing_floor), o.single_floor, true};
  std::vector<Estimate> estimates;
  for (std::size_t i = 0; i < n; ++i) estimates.push_back(estimate(s.before.of[i], s.after.of[i], prior, s.one_launch));
  const auto p = p_values(estimates);
  for (std::size_t i = 0; i < n; ++i) {
    Change c = judged(s.pairs[i].key, 1, estimates[i], p[i], n, kTimingShare * o.false_alarms, o);
    c.before = centre(s.pairs[i].before);
    c.after = centre(s.pairs[i].after);
    c.decides = s.pairs[i].decides;
    out.timings.push_back(std::move(c));
  }
}

}  // namespace

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

SuiteComparison compare_suites(std::span<const TimedPair> pairs, const CompareOptions& o) {
  if (pairs.empty()) throw UsageError("nothing to compare: no timing is on both sides");
  check(o);
  for (const auto& p : pairs) check(p);
  const Suite s = make_suite(pairs);
  SuiteComparison out;
  out.one_launch = s.one_launch;
  const Pooled families = pool_families(s);
  compare_whole(s, families, o, out);
  compare_families(s, families, o, out);
  compare_timings(s, o, out);
  const auto look = [&out](const Change& c) {
    out.slower = out.slower || (c.decides && c.verdict == Verdict::slower);
    out.faster = out.faster || (c.decides && c.verdict == Verdict::faster);
  };
  look(out.suite);
  for (const auto& c : out.families) look(c);
  for (const auto& c : out.timings) look(c);
  return out;
}

}  // namespace merganser
