#include "merganser/topology/advise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/summary.hpp"

namespace merganser::topology {
namespace {

constexpr std::array kClasses{"local", "remote", "notified", "global"};
constexpr double kEqual = 0.05;         // kernels this near are as good
constexpr double kUnknownError = 0.25;  // of a ratio that nothing was left out for
constexpr double kLeastOwnError = 0.02;

/// Kernels and candidates of one class, decided.
ClassAdvice decided(const std::string& completion, std::vector<AdvisedKernel> kernels,
                    const std::vector<Candidate>& candidates) {
  ClassAdvice out;
  out.completion = completion;
  const Decision d = decide(candidates, {.tie = kEqual});
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
  return std::max({kLeastOwnError, 1.48 * median(errors), mean});
}

std::set<std::string> graphs_of(std::span<const KnownCell> cells) {
  std::set<std::string> out;
  for (const auto& c : cells) out.insert(c.graph);
  return out;
}

/// Cells of one class on one load.
using Contest = std::vector<const KnownCell*>;
std::map<std::string, Contest> contests(std::span<const KnownCell> cells) {
  std::map<std::string, Contest> out;
  for (const auto& c : cells)
    out[c.completion + '|' + c.graph + '|' + std::to_string(c.load.bytes) + '|' + std::to_string(c.load.cores)]
        .push_back(&c);
  return out;
}

/// Counts how often what is named would be right on measured cells.
void score(const Contest& contest, const ClassAdvice& advice, Evaluation::Score& s) {
  const KnownCell* winner = contest.front();
  const KnownCell* p2p = nullptr;
  const KnownCell* rma = nullptr;
  const KnownCell* advised = nullptr;
  for (const auto* c : contest) {
    if (c->time() < winner->time()) winner = c;
    if (c->kernel == kBaseline || (c->model == "p2p" && p2p == nullptr)) p2p = c;
    if (c->model == "rma" && rma == nullptr) rma = c;
  }
  for (const auto& k : advice.kernels) {
    for (const auto* c : contest)
      if (c->kernel == k.kernel) advised = c;
    if (advised != nullptr) break;
  }
  if (advised == nullptr) return;
  const auto right = [&](const KnownCell* c) { return c != nullptr && c->time() <= winner->time() * (1 + kEqual); };
  ++s.cells;
  s.right += right(advised) ? 1 : 0;
  s.p2p_right += right(p2p) ? 1 : 0;
  s.rma_right += right(rma) ? 1 : 0;
  s.mean_loss += advised->time() / winner->time() - 1;
}

}  // namespace

std::vector<ClassAdvice> advise_measured(std::span<const KnownCell> cells) {
  std::vector<ClassAdvice> out;
  for (const char* completion : kClasses) {
    std::vector<AdvisedKernel> kernels;
    std::vector<Candidate> candidates;
    for (const auto& c : cells) {
      if (c.completion != completion) continue;
      kernels.push_back({c.kernel, c.model, {}, false, 0});
      candidates.push_back({c.kernel, c.launches, 0});
    }
    if (!kernels.empty()) out.push_back(decided(completion, std::move(kernels), candidates));
  }
  return out;
}

Advisor::Advisor(std::span<const KnownCell> cells) {
  if (cells.empty()) throw UsageError("nothing was measured to advise from; allowed: at least one cell");
  std::map<std::string, std::vector<KnownCell>> by_kernel;
  std::vector<std::string> order;
  least_ranks_ = most_ranks_ = cells.front().load.ranks;
  for (const auto& c : cells) {
    if (!by_kernel.contains(c.kernel)) order.push_back(c.kernel);
    by_kernel[c.kernel].push_back(c);
    least_ranks_ = std::min(least_ranks_, c.load.ranks);
    most_ranks_ = std::max(most_ranks_, c.load.ranks);
    (c.load.oversubscribed() ? crowded_ : roomy_) = true;
  }
  graphs_ = graphs_of(cells).size();
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
    for (const auto& l : e.predictor.left_out()) together[place(e, l)].push_back(l.log_error);
  for (auto& e : entries_) {
    std::vector<double> own;
    for (const auto& l : e.predictor.left_out()) own.push_back(l.log_error - median(together[place(e, l)]));
    if (!own.empty()) e.own_error = deviation(std::move(own));
  }
}

std::vector<ClassAdvice> Advisor::advise(const Load& load) const {
  std::vector<ClassAdvice> out;
  for (const char* completion : kClasses) {
    std::vector<AdvisedKernel> kernels;
    std::vector<Candidate> candidates;
    for (const auto& e : entries_) {
      if (e.completion != completion) continue;
      const Prediction p = e.predictor.predict(load);
      kernels.push_back({e.kernel, e.model, {}, true, p.error});
      candidates.push_back({e.kernel, {{p.time}}, std::hypot(e.own_error, 0.7 * p.beyond)});
    }
    if (!kernels.empty()) out.push_back(decided(completion, std::move(kernels), candidates));
  }
  return out;
}

std::vector<std::string> Advisor::doubts(const Load& load) const {
  std::vector<std::string> out;
  if (load.ranks > most_ranks_)
    out.push_back("the graph has " + std::to_string(load.ranks) + " ranks, measured were at most " +
                  std::to_string(most_ranks_) + ": the uncertainty is widened");
  if (load.ranks < least_ranks_)
    out.push_back("the graph has " + std::to_string(load.ranks) + " ranks, measured were at least " +
                  std::to_string(least_ranks_) + ": the uncertainty is widened");
  if (load.oversubscribed() && !crowded_)
    out.push_back(std::to_string(load.ranks) + " ranks share " + std::to_string(load.cores) +
                  " cores, in what was measured each had its own: the uncertainty is widened");
  if (!load.oversubscribed() && !roomy_)
    out.emplace_back("in what was measured ranks shared cores, here each has its own: the uncertainty is widened");
  if (graphs_ == 1) out.emplace_back("one graph was measured only: how well the prediction does is not known");
  return out;
}

Evaluation evaluate_advice(std::span<const KnownCell> cells) {
  Evaluation out;
  const auto graphs = graphs_of(cells);
  out.sizes_left_out = graphs.size() < 2;
  std::set<std::string> folds;
  const auto fold = [&](const KnownCell& c) { return out.sizes_left_out ? std::to_string(c.load.size()) : c.graph; };
  for (const auto& c : cells) folds.insert(fold(c));
  if (folds.size() < 2)
    throw UsageError("advice cannot be evaluated by one graph and size; allowed: two at least that were measured");
  std::map<std::string, Evaluation::Score> scores;
  std::vector<double> errors;
  for (const auto& held : folds) {
    std::vector<KnownCell> rest, test;
    for (const auto& c : cells) (fold(c) == held ? test : rest).push_back(c);
    const Advisor advisor(rest);
    for (const auto& [key, contest] : contests(test)) {
      const std::string& completion = contest.front()->completion;
      for (const auto& advice : advisor.advise(contest.front()->load)) {
        if (advice.completion != completion) continue;
        for (const auto& k : advice.kernels)
          for (const auto* c : contest)
            if (c->kernel == k.kernel) errors.push_back(std::fabs(k.standing.time / c->time() - 1));
        if (contest.size() >= 2) score(contest, advice, scores[completion]);
      }
    }
  }
  for (const char* completion : kClasses) {
    const auto at = scores.find(completion);
    if (at == scores.end() || at->second.cells == 0) continue;
    Evaluation::Score s = at->second;
    s.completion = completion;
    out.all.cells += s.cells;
    out.all.right += s.right;
    out.all.p2p_right += s.p2p_right;
    out.all.rma_right += s.rma_right;
    out.all.mean_loss += s.mean_loss;
    s.mean_loss /= s.cells;
    out.classes.push_back(std::move(s));
  }
  out.all.completion = "all";
  if (out.all.cells > 0) out.all.mean_loss /= out.all.cells;
  if (!errors.empty()) {
    out.median_error = median(errors);
    out.p90_error = quantile(errors, 0.9);
  }
  return out;
}

}  // namespace merganser::topology
