// Ranking of the kernels of a completion class, from measured launches or from predicted times.
// Deviations common to all kernels widen the intervals of times; only those of single kernels make the order less sure.
#include "merganser/topology/advise.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "merganser/base/error.hpp"
#include "merganser/kernels/exchange.hpp"
#include "merganser/stats/summary.hpp"
#include "src/topology/advice_rules.hpp"

namespace merganser::topology {
namespace {

constexpr double kUnknownError =
    0.25;  // relative error of the ratio of two kernels' times, where nothing could be left out
constexpr double kMinOwnError = 0.02;  // least assumed error of that ratio
// Relative deviations between 100 launches on a shared machine (docs/measurements.md): the part common to all kernels of a
// launch, and the part of each kernel.
constexpr double kLaunchCommon = 0.065;
constexpr double kLaunchOwn = 0.07;
constexpr double kEnoughLaunches = 5;  // from so many on, their scatter shows the deviation
constexpr double kTwoSided = 1.96;     // the normal quantile of a 95 % interval

/// Returns the part of the deviation between launches that a measured cell has too few launches to show, relative to the deviation
/// of a single launch; 0 from five launches on.
double unseen_deviation(const KnownCell& c) {
  const auto launches = static_cast<double>(std::max<std::size_t>(1, c.medians().size()));
  return c.load_per_core * std::sqrt(std::max(0.0, kEnoughLaunches - launches) / (kEnoughLaunches - 1) / launches);
}

/// Widens the interval of a kernel's time by an independent deviation: squares of logarithmic half widths add.
/// @param by  half width of the deviation, as a logarithm
void widen(Standing& s, double by) {
  Interval& t = s.time;
  t.low = t.value * std::exp(-std::hypot(std::log(t.value / t.low), by));
  t.high = t.value * std::exp(std::hypot(std::log(t.high / t.value), by));
}

/// Ranks the kernels of one completion class on one load by their probability of being fastest.
/// @param candidates  measured or predicted times of `kernels`, in the same order
ClassAdvice ranked(std::string_view completion, std::vector<AdvisedKernel> kernels,
                   const std::vector<Candidate>& candidates) {
  ClassAdvice out;
  out.completion = completion;
  const Decision d = decide(candidates, {.tie = detail::kEqual});
  for (const auto& s : d.order) {
    AdvisedKernel k = kernels[s.candidate];
    k.standing = s;
    if (s.near_tie) out.near_ties.push_back(k.kernel);
    if (k.kernel == kBaseline) out.against_baseline = s.saving;
    out.kernels.push_back(std::move(k));
  }
  return out;
}

/// Estimates the standard deviation of the signed errors of one kernel in cross-validation: from the median of their absolute
/// values, and no less than their mean absolute value, so that tails count.
double deviation(std::vector<double> errors) {
  for (auto& e : errors) e = std::fabs(e);
  double mean = 0;
  for (const double e : errors) mean += e / static_cast<double>(errors.size());
  return std::max({kMinOwnError, 1.48 * median(errors), mean});
}

}  // namespace

// Advice from measured times: kernels of each completion class are ranked by their launches; with few launches the deviation
// between launches that they cannot show is assumed.
std::vector<ClassAdvice> advise_measured(std::span<const KnownCell> cells) {
  std::vector<ClassAdvice> out;
  for (const auto completion : kernels::kCompletionNames) {
    std::vector<AdvisedKernel> kernels;
    std::vector<Candidate> candidates;
    double common = 0;
    for (const auto& c : cells) {
      if (c.completion != completion) continue;
      kernels.push_back({c.kernel, c.model, {}, false});
      candidates.push_back({c.kernel, c.launches, kLaunchOwn * unseen_deviation(c)});
      common = std::max(common, kLaunchCommon * unseen_deviation(c));
    }
    if (kernels.empty()) continue;
    out.push_back(ranked(completion, std::move(kernels), candidates));
    // A deviation common to all kernels changes their times, and leaves their order.
    for (auto& k : out.back().kernels) widen(k.standing, kTwoSided * common);
  }
  return out;
}

// Performance models of all kernels, and the error of each kernel's ratio to the others, from what cross-validation left out.
Advisor::Advisor(std::span<const KnownCell> cells) {
  if (cells.empty()) throw UsageError("nothing was measured to advise from; allowed: at least one cell");
  std::map<std::string, std::vector<KnownCell>> by_kernel;
  std::vector<std::string> order;
  for (const auto& c : cells) {
    if (!by_kernel.contains(c.kernel)) order.push_back(c.kernel);
    by_kernel[c.kernel].push_back(c);
  }
  for (const auto& name : order) {
    const auto& mine = by_kernel[name];
    entries_.push_back({name, mine.front().model, mine.front().completion, KernelModel(mine), kUnknownError});
  }
  // An error common to all kernels of a class changes no ratio, and so leaves their order.
  // Errors of all kernels by what was left out; their median is the common part, and what remains of an error is a kernel's own.
  std::map<std::string, std::vector<double>> together;
  const auto place = [](const Entry& e, const KernelModel::LeftOut& l) {
    return e.completion + '|' + l.graph + '|' + std::to_string(l.size);
  };
  for (const auto& e : entries_)
    for (const auto& l : e.predictor.left_out()) together[place(e, l)].push_back(median(l.log_errors));
  for (auto& e : entries_) {
    std::vector<double> own;
    for (const auto& l : e.predictor.left_out()) own.push_back(median(l.log_errors) - median(together[place(e, l)]));
    if (!own.empty()) e.own_error = deviation(std::move(own));
  }
}

// Advice from predicted times: kernels of each completion class are ranked by predictions with the errors of their ratios.
std::vector<ClassAdvice> Advisor::advise(const Load& load) const {
  std::vector<ClassAdvice> out;
  for (const auto completion : kernels::kCompletionNames) {
    std::vector<AdvisedKernel> kernels;
    std::vector<Candidate> candidates;
    std::map<std::string, Prediction> predictions;
    for (const auto& e : entries_) {
      if (e.completion != completion || !e.predictor.unknown(load).empty()) continue;
      const Prediction p = e.predictor.predict(load);
      predictions[e.kernel] = p;
      kernels.push_back({e.kernel, e.model, {}, true});
      candidates.push_back({e.kernel, {{p.time}}, e.own_error * p.beyond});
    }
    if (kernels.empty()) continue;
    out.push_back(ranked(completion, std::move(kernels), candidates));
    // The order follows from ratios, whose errors are smaller; a time has the error of the whole prediction.
    for (auto& k : out.back().kernels) {
      k.standing.time.low = predictions[k.kernel].low;
      k.standing.time.high = predictions[k.kernel].high;
    }
  }
  return out;
}

// Reasons for which kernels cannot be predicted for a load; kernels with the same reason are listed together.
std::vector<Unknown> Advisor::unknown(const Load& load) const {
  std::vector<Unknown> out;
  for (const auto& e : entries_)
    for (auto& reason : e.predictor.unknown(load)) {
      const auto at = std::find_if(out.begin(), out.end(), [&](const Unknown& u) { return u.reason == reason; });
      if (at == out.end()) {
        out.push_back({std::move(reason), {e.kernel}, false});
      } else {
        at->kernels.push_back(e.kernel);
      }
    }
  for (auto& u : out) u.all = u.kernels.size() == entries_.size();
  return out;
}

}  // namespace merganser::topology
