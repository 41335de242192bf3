// Fit of the times of a kernel, errors of what was left out of it, and the intervals that follow.
// Errors and their intervals are logarithms of measured / predicted: times vary by factors.
#include "merganser/topology/predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/stats/distributions.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::topology {
namespace {

constexpr std::size_t kFeatures = 5;
constexpr std::size_t kMaxBreakpoints = 2;
constexpr int kMinSizesOfPiece = 3;  // fewest sizes that a piece is fitted to
constexpr int kSweeps = 60;          // of coordinate descent
constexpr int kReweightings = 4;
constexpr double kTune = 0.15;              // relative deviation from which a cell loses weight
constexpr double kPrior = 0.25;             // weight of "no residual", which draws those near by towards 0
constexpr double kMaxIntervalFactor = 100;  // from the time to an end of its interval; beyond, it says nothing
constexpr std::size_t kMinFolds = 3;        // errors of two folds say too little of a third
constexpr double kNormal = 1.6448536;       // the normal quantile of the stated confidence
constexpr double kOccasionError = 0.15;     // relative deviation common to all launches of a record, on a quiet machine

using Row = std::array<double, kFeatures>;

/// Returns the factors of the coefficients of a kernel's time.
Row features(const Load& l) {
  const double shared = std::max(1, std::min(l.ranks, l.cores));
  return {1, l.degree, l.rank_bytes, l.arcs / shared, l.bytes / shared};
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kFeatures; ++i) sum += a[i] * b[i];
  return sum;
}

/// A cell to be fitted.
struct Sample {
  Row x{};
  double time = 0;
  double size = 0;
  const Load* load = nullptr;
};

/// Fits coefficients that are not negative to least squares of relative errors, robust by reweighting.
Row solve(std::span<const Sample> samples) {
  Row beta{};
  std::vector<double> weight(samples.size(), 1);
  for (int pass = 0; pass < kReweightings; ++pass) {
    std::array<Row, kFeatures> gram{};
    Row right{};
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double scale = weight[i] / samples[i].time;
      for (std::size_t a = 0; a < kFeatures; ++a) {
        const double xa = samples[i].x[a] / samples[i].time;
        right[a] += weight[i] * xa;
        for (std::size_t b = 0; b < kFeatures; ++b) gram[a][b] += scale * xa * samples[i].x[b];
      }
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep)
      for (std::size_t a = 0; a < kFeatures; ++a) {
        if (!(gram[a][a] > 0)) continue;
        const double rest = right[a] - dot(gram[a], beta) + gram[a][a] * beta[a];
        // A little of ridge regression, since features that grow together have no unique coefficients.
        beta[a] = std::max(0.0, rest / (gram[a][a] * (1 + 1e-4)));
      }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double error = std::fabs(dot(samples[i].x, beta) / samples[i].time - 1);
      weight[i] = error > kTune ? kTune / error : 1;
    }
  }
  return beta;
}

/// Sums Huber's loss of the relative errors: quadratic up to kTune, linear beyond.
double loss(std::span<const Sample> samples, const Row& beta) {
  double sum = 0;
  for (const auto& s : samples) {
    const double error = std::fabs(dot(s.x, beta) / s.time - 1);
    sum += error < kTune ? error * error : kTune * (2 * error - kTune);
  }
  return sum;
}

/// Errors of left-out cells.
struct Errors {
  std::vector<double> sizes;    // absolute values of logarithms
  std::set<std::string> folds;  // with errors here

  void add(const std::string& fold, const std::vector<double>& errors) {
    for (const double e : errors) sizes.push_back(std::fabs(e));
    folds.insert(fold);
  }

  /// Returns the bound that the next error does not exceed with the stated confidence: the order statistic for one more to
  /// come [vovk2005]. Errors of one fold resemble each other, so few folds are few samples: the bound is wider as Student's
  /// distribution is wider for so few. Infinite for too few.
  /// @param occasion  relative deviation between days, which the errors do not show
  [[nodiscard]] double reach(double occasion) const {
    const auto n = static_cast<double>(sizes.size());
    const auto rank = static_cast<std::size_t>(std::ceil((n + 1) * Prediction::kConfidence));
    if (sizes.empty() || rank > sizes.size() || folds.size() < kMinFolds)
      return std::numeric_limits<double>::infinity();
    std::vector<double> sorted = sizes;
    std::sort(sorted.begin(), sorted.end());
    const auto f = static_cast<double>(folds.size());
    const double few = student_quantile((1 - Prediction::kConfidence) / 2, f - 1) / kNormal * std::sqrt(1 + 1 / f);
    return std::hypot(sorted[rank - 1] * few, kNormal * occasion);
  }
};

/// A fit in pieces along the size of messages.
struct Fit {
  std::vector<std::size_t> cuts;  // samples at which the second and later pieces begin
  std::vector<Row> pieces;
  double score = 0;
};

/// Fits one row of coefficients to each piece. @param sorted  by size
Fit fit_pieces(std::span<const Sample> sorted, std::vector<std::size_t> cuts) {
  Fit f;
  double sum = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t to = i < cuts.size() ? cuts[i] : sorted.size();
    const auto part = sorted.subspan(from, to - from);
    f.pieces.push_back(solve(part));
    sum += loss(part, f.pieces.back());
    from = to;
  }
  // Schwarz's criterion, in which a break costs the coefficients of one more piece.
  const auto n = static_cast<double>(sorted.size());
  f.score = n * std::log(sum / n + 1e-5) + 3.0 * static_cast<double>(cuts.size()) * std::log(n);
  f.cuts = std::move(cuts);
  return f;
}

/// Adds the best break as long as one lowers the score. @param starts  samples at which a new size begins
Fit fit_with_breaks(std::span<const Sample> sorted, const std::vector<std::size_t>& starts) {
  Fit best = fit_pieces(sorted, {});
  for (std::size_t round = 0; round < kMaxBreakpoints; ++round) {
    Fit better = best;
    for (std::size_t s = 0; s < starts.size(); ++s) {
      std::vector<std::size_t> cuts = best.cuts;
      cuts.push_back(starts[s]);
      std::sort(cuts.begin(), cuts.end());
      // A piece of few sizes would follow their noise.
      bool enough = true;
      std::size_t from = 0;
      for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t to = i < cuts.size() ? cuts[i] : sorted.size();
        const auto sizes = std::count_if(starts.begin(), starts.end(), [&](auto x) { return x >= from && x < to; });
        enough = enough && sizes >= kMinSizesOfPiece;
        from = to;
      }
      if (!enough) continue;
      Fit tried = fit_pieces(sorted, std::move(cuts));
      if (tried.score < better.score) better = std::move(tried);
    }
    if (better.cuts.size() == best.cuts.size()) break;
    best = std::move(better);
  }
  return best;
}

double bounded_log2(double x) { return std::log2(std::max(x, 1e-3)); }

/// Returns the weight of a residual at b for a load a: a Gaussian of the distances of their logarithms.
double nearness(const Load& a, const Load& b) {
  const auto square = [](double x) { return x * x; };
  const double size = square((bounded_log2(1 + a.size()) - bounded_log2(1 + b.size())) / 1.2);
  const double degree = square((bounded_log2(a.degree) - bounded_log2(b.degree)) / 0.7);
  const double arcs = square((bounded_log2(a.arcs / a.cores) - bounded_log2(b.arcs / b.cores)) / 1.5);
  const double sharing = square((bounded_log2(1.0 * a.ranks / a.cores) - bounded_log2(1.0 * b.ranks / b.cores)) / 0.7);
  return std::exp(-0.5 * (size + degree + arcs + sharing));
}

void check(const KnownCell& c) {
  const double time = c.time();
  if (!(time > 0) || !std::isfinite(time))
    throw UsageError("the time of " + c.kernel + " on " + c.graph + " is " + std::to_string(time) +
                     " ns; allowed: positive numbers");
  if (!(c.load.arcs > 0) || c.load.ranks < 1 || c.load.cores < 1 || !(c.load.bytes >= 0))
    throw UsageError("the load of " + c.kernel + " on " + c.graph + " has no arcs, ranks or cores");
}

/// Computes the load with `bytes` along every arc; of negative ones with the weights.
Load load_from(const graphs::ProcessGraph& graph, int cores, double bytes) {
  Load l;
  l.ranks = graph.ranks();
  l.cores = std::max(1, cores);
  l.arcs = static_cast<double>(graph.arcs());
  std::vector<double> in_degree(static_cast<std::size_t>(l.ranks)), in_bytes(static_cast<std::size_t>(l.ranks));
  for (int r = 0; r < l.ranks; ++r) {
    double out_bytes = 0;
    for (const auto& arc : graph.row(r)) {
      const double b = bytes >= 0 ? bytes : arc.bytes;
      out_bytes += b;
      in_bytes[static_cast<std::size_t>(arc.to)] += b;
      in_degree[static_cast<std::size_t>(arc.to)] += 1;
    }
    l.bytes += out_bytes;
    l.degree = std::max(l.degree, static_cast<double>(graph.row(r).size()));
    l.rank_bytes = std::max(l.rank_bytes, out_bytes);
  }
  for (const double d : in_degree) l.degree = std::max(l.degree, d);
  for (const double b : in_bytes) l.rank_bytes = std::max(l.rank_bytes, b);
  return l;
}

}  // namespace

Load exchange_load(const graphs::ProcessGraph& graph, int cores) { return load_from(graph, cores, -1); }
Load exchange_load(const graphs::ProcessGraph& graph, int cores, double bytes) {
  if (!(bytes >= 0)) throw UsageError("bytes on an arc are " + std::to_string(bytes) + "; allowed: 0 and more");
  return load_from(graph, cores, bytes);
}

double KnownCell::time() const { return median(medians()); }

std::vector<double> KnownCell::medians() const { return medians_of(launches); }

std::vector<KnownCell> joined(std::span<const KnownCell> cells) {
  std::vector<KnownCell> out;
  std::map<std::string, std::size_t> places;
  for (const auto& c : cells) {
    const std::string key = c.kernel + '|' + c.completion + '|' + c.graph + '|' + number_text(c.load.bytes) + '|' +
                            std::to_string(c.load.ranks) + '|' + std::to_string(c.load.cores);
    const auto [at, fresh] = places.emplace(key, out.size());
    if (fresh) {
      out.push_back(c);
      continue;
    }
    KnownCell& known = out[at->second];
    known.launches.insert(known.launches.end(), c.launches.begin(), c.launches.end());
    known.load_per_core = std::max(known.load_per_core, c.load_per_core);
  }
  return out;
}

KernelModel::KernelModel(std::span<const KnownCell> cells) {
  if (cells.empty()) throw UsageError("a kernel without measured cells cannot be predicted");
  for (const auto& c : cells) check(c);
  assume_occasions(cells);
  leave_out(cells, Fold::record, record_reach_);
  auto by_size = leave_out(cells, Fold::size, size_reach_);
  leave_out(cells, Fold::ranks, ranks_reach_);
  left_out_ = leave_out(cells, Fold::graph, graph_reach_);
  if (left_out_.empty()) left_out_ = std::move(by_size);
  fit(cells);
}

/// Sets the deviation that is assumed between days, which shows in the scatter of several records only.
void KernelModel::assume_occasions(std::span<const KnownCell> cells) {
  std::set<std::string> records;
  double load_per_core = 1;
  for (const auto& c : cells) {
    records.insert(c.source);
    load_per_core = std::max(load_per_core, c.load_per_core);
  }
  occasion_ = kOccasionError * load_per_core / std::sqrt(static_cast<double>(records.size()));
}

std::string KernelModel::fold_key(Fold kind, const KnownCell& cell) {
  if (kind == Fold::graph) return cell.graph;
  if (kind == Fold::record) return cell.source;
  return kind == Fold::size ? number_text(cell.load.size()) : std::to_string(cell.load.ranks);
}

/// Computes the errors of each cell when all cells of its fold are left out.
/// @param reach  set to the bound of such errors with the stated confidence
std::vector<KernelModel::LeftOut> KernelModel::leave_out(std::span<const KnownCell> cells, Fold kind, Reach& reach) {
  std::set<std::string> folds;
  for (const auto& c : cells) folds.insert(fold_key(kind, c));
  std::vector<LeftOut> out;
  std::array<Errors, 2> errors;
  for (const auto& held : folds) {
    std::vector<KnownCell> rest, test;
    for (const auto& c : cells) (fold_key(kind, c) == held ? test : rest).push_back(c);
    if (rest.empty()) break;
    fit(rest);
    for (const auto& c : joined(test)) {
      // Errors of loads that would have been refused say nothing of those that are predicted.
      if (!range_.misses(c.load).empty()) continue;
      LeftOut l{c.graph, c.load.size(), {}};
      for (const double time : c.medians()) l.log_errors.push_back(std::log(time / corrected(c.load)));
      errors[c.load.oversubscribed() ? 1 : 0].add(held, l.log_errors);
      out.push_back(std::move(l));
    }
  }
  for (std::size_t i = 0; i < reach.size(); ++i) reach[i] = errors[i].reach(occasion_);
  return out;
}

void KernelModel::fit(std::span<const KnownCell> cells) {
  const std::vector<KnownCell> known = joined(cells);
  std::vector<Sample> samples;
  for (const auto& c : known) samples.push_back({features(c.load), c.time(), c.load.size(), &c.load});
  std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  std::vector<std::size_t> starts;  // where a new size begins
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (i == 0 || samples[i].size > samples[i - 1].size * 1.01) starts.push_back(i);
  const Fit f = fit_with_breaks(samples, starts);
  breaks_.clear();
  pieces_.assign(f.pieces.begin(), f.pieces.end());
  for (const std::size_t cut : f.cuts) breaks_.push_back(samples[cut].size);
  residuals_.clear();
  range_ = {};
  for (const auto& s : samples) range_.add(*s.load);
  for (const auto& s : samples) residuals_.push_back({*s.load, std::log(s.time / fitted(*s.load))});
}

double KernelModel::fitted(const Load& load) const {
  const double size = load.size();
  std::size_t piece = 0;
  while (piece < breaks_.size() && size >= breaks_[piece]) ++piece;
  return std::max(1e-3, dot(features(load), pieces_[piece]));
}

double KernelModel::corrected(const Load& load) const {
  double sum = 0, weights = kPrior;
  for (const auto& r : residuals_) {
    const double w = nearness(load, r.load);
    sum += w * r.log_ratio;
    weights += w;
  }
  return fitted(load) * std::exp(sum / weights);
}

template <class Alike>
bool KernelModel::measured(const Alike& alike) const {
  return std::any_of(residuals_.begin(), residuals_.end(), [&](const Residual& r) { return alike(r.load); });
}

/// Returns the bound at a measured number of ranks and size. A measured graph, or one like it, is no other graph.
double KernelModel::least_reach(const Load& load) const {
  const std::size_t oversubscribed = load.oversubscribed() ? 1 : 0;
  const bool known = measured([&](const Load& l) {
    return l.ranks == load.ranks && l.cores == load.cores && l.arcs == load.arcs && l.degree == load.degree;
  });
  return known ? std::min(graph_reach_[oversubscribed], size_reach_[oversubscribed]) : graph_reach_[oversubscribed];
}

/// Returns the widest of the bounds for all that is new in a load.
double KernelModel::reach(const Load& load) const {
  const bool size = measured([&](const Load& l) { return std::fabs(l.size() - load.size()) <= 0.01 * load.size(); });
  const bool ranks = measured([&](const Load& l) { return l.ranks == load.ranks; });
  const std::size_t oversubscribed = load.oversubscribed() ? 1 : 0;
  double out = least_reach(load);
  if (!std::isinf(record_reach_[oversubscribed])) out = std::max(out, record_reach_[oversubscribed]);
  if (!size) out = std::max(out, size_reach_[oversubscribed]);
  if (!ranks) out = std::max(out, ranks_reach_[oversubscribed]);
  return out;
}

Prediction KernelModel::predict(const Load& load) const {
  if (!(load.arcs > 0)) throw UsageError("a graph without arcs has no time to predict");
  const double reached = reach(load);
  const double time = corrected(load);
  return {time, time / std::exp(reached), time * std::exp(reached),
          std::isinf(reached) ? 1 : reached / least_reach(load)};
}

std::string KernelModel::why_too_wide(const Load& load) const {
  const std::string where = load.oversubscribed() ? " of ranks that share cores" : " of ranks with a core each";
  if (std::isinf(least_reach(load)))
    return "too few graphs" + where +
           " were measured to know how far off a prediction for another one is; measure more, or this one";
  if (std::isinf(reach(load)) && std::isinf(size_reach_[load.oversubscribed() ? 1 : 0]))
    return "too few sizes were measured to tell of another one; measure more, or " + number_text(load.size()) +
           " bytes an arc";
  if (std::isinf(reach(load)))
    return "too few numbers of ranks were measured to tell of another one; measure " + std::to_string(load.ranks) +
           " ranks";
  return "what was measured is missed by a factor of more than " + number_text(kMaxIntervalFactor) +
         " where it is left out; measure it again, or this graph";
}

std::vector<std::string> KernelModel::unknown(const Load& load) const {
  std::vector<std::string> out = range_.misses(load);
  if (out.empty() && !(reach(load) <= std::log(kMaxIntervalFactor))) out.push_back(why_too_wide(load));
  return out;
}

}  // namespace merganser::topology
