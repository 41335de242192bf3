// Evaluation of advice on cells that were left out when it was made.
// Of several records, a cell is predicted from the others only: launches of one record share the state of the machine.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/kernels/exchange.hpp"
#include "merganser/stats/summary.hpp"
#include "merganser/topology/advise.hpp"
#include "src/topology/advice_rules.hpp"

namespace merganser::topology {
namespace {

constexpr std::size_t kGraphsToLeaveOut =
    4;  // three remain when one is left out: errors of fewer say nothing of others

/// Key of a measured cell in cross-validation of advice, its graph or its size: cells of equal keys are left out together.
using Fold = std::function<std::string(const KnownCell&)>;
/// Measured cells of all kernels of one completion class on one load: those among which advice chooses.
using Contest = std::vector<const KnownCell*>;

/// Key of a cell where advice is evaluated with each graph left out in turn.
std::string graph_key(const KnownCell& c) { return c.graph; }
/// Key of a cell where advice is evaluated with each message size left out in turn.
std::string size_key(const KnownCell& c) { return number_text(c.load.size()); }

/// Returns the different keys of measured cells, each of which is one fold of the cross-validation of advice.
std::set<std::string> values(std::span<const KnownCell> cells, const Fold& of) {
  std::set<std::string> out;
  for (const auto& c : cells) out.insert(of(c));
  return out;
}

/// Groups measured cells by completion class, graph, bytes and cores: the kernels of a group are compared with each other.
std::map<std::string, Contest> contests(std::span<const KnownCell> cells) {
  std::map<std::string, Contest> out;
  for (const auto& c : cells)
    out[c.completion + '|' + c.graph + '|' + number_text(c.load.bytes) + '|' + std::to_string(c.load.cores)].push_back(
        &c);
  return out;
}

/// Scores advice on held-out cells of one class and load: counts if the advised kernel, that of p2p and that of rma are as fast as
/// the fastest within kEqual, and adds the relative loss of the advised one.
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
  const auto right = [&](const KnownCell* c) {
    return c != nullptr && c->time() <= winner->time() * (1 + detail::kEqual);
  };
  ++s.cells;
  s.right += right(advised) ? 1 : 0;
  s.p2p_right += right(p2p) ? 1 : 0;
  s.rma_right += right(rma) ? 1 : 0;
  s.mean_loss += advised->time() / winner->time() - 1;
}

/// Scores of advice and errors of predicted times, collected over the folds of a cross-validation by leave_out().
struct Trial {
  std::map<std::string, Evaluation::Score> scores;  ///< by completion class; mean_loss is still a sum
  Evaluation::Coverage coverage;                    ///< counts of launches, without quantiles of errors
  std::vector<double> errors;                       ///< by launch: relative error of the predicted time
  std::vector<double> factors;                      ///< by launch: upper end of the predicted interval over the time

  /// Adds the held-out cells of one completion class and load. @param all  advice that was made without them
  void add(const Contest& contest, const std::vector<ClassAdvice>& all) {
    std::set<std::string> predicted;
    for (const auto& advice : all) {
      if (advice.completion != contest.front()->completion) continue;
      for (const auto& k : advice.kernels)
        for (const auto* c : contest)
          if (c->kernel == k.kernel) {
            predicted.insert(k.kernel);
            add(*c, k.standing);
          }
      if (contest.size() >= 2) score(contest, advice, scores[advice.completion]);
    }
    for (const auto* c : contest)
      if (!predicted.contains(c->kernel)) coverage.refused += static_cast<int>(c->medians().size());
  }

  /// Adds the launches of one held-out cell, which lie in the predicted interval of its time or not.
  void add(const KnownCell& cell, const Standing& s) {
    for (const double time : cell.medians()) {
      ++coverage.launches;
      coverage.inside += s.time.low <= time && time <= s.time.high ? 1 : 0;
      errors.push_back(std::fabs(s.time.value / time - 1));
      factors.push_back(s.time.high / s.time.value);
    }
  }

  /// Returns the coverage of predicted intervals over all folds, with the quantiles of errors.
  [[nodiscard]] Evaluation::Coverage total() const {
    Evaluation::Coverage out = coverage;
    if (errors.empty()) return out;
    out.median_error = median(errors);
    out.p90_error = quantile(errors, 0.9);
    out.median_factor = median(factors);
    return out;
  }
};

/// Runs the cross-validation of advice: predicts each fold (graph or size) of each record from the other folds, of the other
/// records where there are any.
Trial leave_out(std::span<const KnownCell> cells, const Fold& fold) {
  Trial trial;
  const auto source = [](const KnownCell& c) { return c.source; };
  const auto sources = values(cells, source);
  for (const auto& from : sources)
    for (const auto& held : values(cells, fold)) {
      std::vector<KnownCell> rest, test;
      for (const auto& c : cells) {
        if (fold(c) != held && (c.source != from || sources.size() == 1)) rest.push_back(c);
        if (fold(c) == held && c.source == from) test.push_back(c);
      }
      if (rest.empty() || test.empty()) continue;
      const Advisor advisor(rest);
      const auto known = joined(test);
      for (const auto& [key, contest] : contests(known)) trial.add(contest, advisor.advise(contest.front()->load));
    }
  return trial;
}

/// Adds the scores of advice by completion class, and their sum over classes, to the evaluation.
void add_scores(const Trial& trial, Evaluation& out) {
  for (const auto completion : kernels::kCompletionNames) {
    const auto at = trial.scores.find(std::string(completion));
    if (at == trial.scores.end() || at->second.cells == 0) continue;
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
}

}  // namespace

// Evaluation of advice by cross-validation: graphs are left out where there are enough of them, else message sizes.
Evaluation evaluate_advice(std::span<const KnownCell> cells) {
  Evaluation out;
  const std::size_t graphs = values(cells, graph_key).size();
  out.sizes_left_out = graphs < kGraphsToLeaveOut;
  if (out.sizes_left_out && values(cells, size_key).size() < 2)
    throw UsageError("to evaluate advice, four graphs or two sizes at least must have been measured");
  const Trial of_sizes = leave_out(cells, size_key);
  const Trial of_graphs = graphs > 1 ? leave_out(cells, graph_key) : Trial{};
  add_scores(out.sizes_left_out ? of_sizes : of_graphs, out);
  out.graphs = of_graphs.total();
  out.sizes = of_sizes.total();
  return out;
}

}  // namespace merganser::topology
