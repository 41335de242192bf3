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

constexpr double kUnknownError = 0.25;  // of a ratio that nothing was left out for
constexpr double kMinOwnError = 0.02;
// Relative deviations between launches, of 100 on a shared machine (docs/measurements.md): what all kernels of a launch have
// in common, and what each has to itself.
constexpr double kLaunchCommon = 0.065;
constexpr double kLaunchOwn = 0.07;
constexpr double kEnoughLaunches = 5;  // that show it themselves
constexpr double kTwoSided = 1.96;     // the normal quantile of a 95 % interval

/// What launches do that a cell has too few of to show it, in units of what one launch does.
double unseen(const KnownCell& c) {
  const auto launches = static_cast<double>(std::max<std::size_t>(1, c.medians().size()));
  return c.load_per_core * std::sqrt(std::max(0.0, kEnoughLaunches - launches) / (kEnoughLaunches - 1) / launches);
}

/// Moves the ends of an interval apart, as an independent deviation of half its width, as a logarithm, does.
void widen(Standing& s, double by) {
  Interval& t = s.time;
  t.low = t.value * std::exp(-std::hypot(std::log(t.value / t.low), by));
  t.high = t.value * std::exp(std::hypot(std::log(t.high / t.value), by));
}

/// Kernels and candidates of one class, decided.
ClassAdvice decided(std::string_view completion, std::vector<AdvisedKernel> kernels,
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

/// Standard deviation of errors that come with their sign, minding the tail.
double deviation(std::vector<double> errors) {
  for (auto& e : errors) e = std::fabs(e);
  double mean = 0;
  for (const double e : errors) mean += e / static_cast<double>(errors.size());
  return std::max({kMinOwnError, 1.48 * median(errors), mean});
}

}  // namespace

std::vector<ClassAdvice> advise_measured(std::span<const KnownCell> cells) {
  std::vector<ClassAdvice> out;
  for (const auto completion : kernels::kCompletionNames) {
    std::vector<AdvisedKernel> kernels;
    std::vector<Candidate> candidates;
    double common = 0;
    for (const auto& c : cells) {
      if (c.completion != completion) continue;
      kernels.push_back({c.kernel, c.model, {}, false});
      candidates.push_back({c.kernel, c.launches, kLaunchOwn * unseen(c)});
      common = std::max(common, kLaunchCommon * unseen(c));
    }
    if (kernels.empty()) continue;
    out.push_back(decided(completion, std::move(kernels), candidates));
    // What a launch does to all kernels alike leaves their order, but not their times.
    for (auto& k : out.back().kernels) widen(k.standing, kTwoSided * common);
  }
  return out;
}

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
  // What all kernels of a class miss together says nothing about their order.
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
    out.push_back(decided(completion, std::move(kernels), candidates));
    // The order is that of ratios; a time is as uncertain as the whole prediction.
    for (auto& k : out.back().kernels) {
      k.standing.time.low = predictions[k.kernel].low;
      k.standing.time.high = predictions[k.kernel].high;
    }
  }
  return out;
}

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
