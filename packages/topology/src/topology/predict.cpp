// Performance model of an exchange kernel: robust piecewise fit, residual correction, intervals by cross-validation.
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
constexpr int kSizesOfPiece = 3;  // least number of sizes that a piece is fitted to
constexpr int kSweeps = 60;       // of coordinate descent
constexpr int kReweightings = 4;
constexpr double kTune = 0.15;              // relative deviation from which a configuration loses weight
constexpr double kPrior = 0.25;             // weight of a residual of 0, against those of similar configurations
constexpr double kMaxIntervalFactor = 100;  // an interval wider than a factor of 100 either way is useless
constexpr std::size_t kMinFolds = 3;        // with two folds the error for a third is unknown
constexpr double kNormal = 1.6448536;       // normal quantile of the stated confidence
constexpr double kOccasionError = 0.15;     // common relative error of all launches of one record, on a quiet machine

/// Features of a load, or their coefficients, in one piece of the linear model of a kernel's exchange time.
using Row = std::array<double, kFeatures>;

/// Returns the features of a load that the time of an exchange is linear in: constant, messages and bytes of the busiest rank, and
/// arcs and bytes per core.
Row feature_vector(const Load& l) {
  const double shared = std::max(1, std::min(l.ranks, l.cores));
  return {1, l.degree, l.rank_bytes, l.arcs / shared, l.bytes / shared};
}

/// Returns the scalar product of features and coefficients: the modelled time of an exchange, ns.
double dot_product(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kFeatures; ++i) sum += a[i] * b[i];
  return sum;
}

/// Measured configuration of a kernel as the fit of its performance model needs it.
struct Sample {
  Row x{};                     ///< features of the load
  double time = 0;             ///< median exchange time, ns
  double size = 0;             ///< mean bytes per arc
  const Load* load = nullptr;  ///< load that the features are of
};

/// Fits the coefficients of one piece of the performance model: least squares of relative errors with non-negative coefficients,
/// by coordinate descent, robust by iterative reweighting (Huber).
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
        const double rest = right[a] - dot_product(gram[a], beta) + gram[a][a] * beta[a];
        // A slight ridge keeps nearly collinear features from trading weight back and forth.
        beta[a] = std::max(0.0, rest / (gram[a][a] * (1 + 1e-4)));
      }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double error = std::fabs(dot_product(samples[i].x, beta) / samples[i].time - 1);
      weight[i] = error > kTune ? kTune / error : 1;
    }
  }
  return beta;
}

/// Returns the sum of the Huber losses of the relative errors that coefficients of the performance model have on samples.
double huber_loss(std::span<const Sample> samples, const Row& beta) {
  double sum = 0;
  for (const auto& s : samples) {
    const double error = std::fabs(dot_product(s.x, beta) / s.time - 1);
    sum += error < kTune ? error * error : kTune * (2 * error - kTune);
  }
  return sum;
}

/// Errors of predicted exchange times in one cross-validation of a kernel's performance model.
struct Errors {
  std::vector<double> sizes;    // absolute values of log(measured / predicted), by launch
  std::set<std::string> folds;  // keys of the folds that were predicted

  /// Adds the errors log(measured / predicted) of the launches of a configuration in a fold.
  void add(const std::string& fold, const std::vector<double>& errors) {
    for (const double e : errors) sizes.push_back(std::fabs(e));
    folds.insert(fold);
  }

  /// Returns the bound that the next prediction's logarithmic error does not exceed with the stated confidence: the order statistic
  /// of conformal prediction [vovk2005]. Errors within one fold are dependent, so few folds are few samples: the bound is widened
  /// as Student's distribution is for so few. Infinite for too few.
  /// @param occasion  relative deviation between occasions, which the errors do not contain
  [[nodiscard]] double error_bound(double occasion) const {
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

/// Piecewise fit of exchange times over the size of messages, with its score for the choice of the number of pieces.
struct Fit {
  std::vector<std::size_t> cuts;  // first samples of the pieces, that of the first piece left out
  std::vector<Row> pieces;        // coefficients by piece
  double score = 0;               // Schwarz's criterion; less is better
};

/// Fits one piece of the performance model between each two cuts. @param sorted  samples, ascending by message size
Fit fit_pieces(std::span<const Sample> sorted, std::vector<std::size_t> cuts) {
  Fit f;
  double sum = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t to = i < cuts.size() ? cuts[i] : sorted.size();
    const auto part = sorted.subspan(from, to - from);
    f.pieces.push_back(solve(part));
    sum += huber_loss(part, f.pieces.back());
    from = to;
  }
  // Schwarz's criterion: a break must reduce the error enough to justify its coefficients.
  const auto n = static_cast<double>(sorted.size());
  f.score = n * std::log(sum / n + 1e-5) + 3.0 * static_cast<double>(cuts.size()) * std::log(n);
  f.cuts = std::move(cuts);
  return f;
}

/// Chooses the message sizes at which the pieces of the performance model meet: adds the best further break, one after the other,
/// as long as Schwarz's criterion improves. @param starts  first sample of each size
Fit fit_with_breaks(std::span<const Sample> sorted, const std::vector<std::size_t>& starts) {
  Fit best = fit_pieces(sorted, {});
  for (std::size_t round = 0; round < kMaxBreakpoints; ++round) {
    Fit better = best;
    for (std::size_t s = 0; s < starts.size(); ++s) {
      std::vector<std::size_t> cuts = best.cuts;
      cuts.push_back(starts[s]);
      std::sort(cuts.begin(), cuts.end());
      // Every piece must have enough sizes.
      bool enough = true;
      std::size_t from = 0;
      for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t to = i < cuts.size() ? cuts[i] : sorted.size();
        const auto sizes = std::count_if(starts.begin(), starts.end(), [&](auto x) { return x >= from && x < to; });
        enough = enough && sizes >= kSizesOfPiece;
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

/// Returns the binary logarithm of a load's property, at least log2(0.001), so that 0 is allowed.
double bounded_log2(double x) { return std::log2(std::max(x, 1e-3)); }

/// Returns the similarity of two loads of exchanges, in (0, 1]: a Gaussian kernel in logarithms of size, degree, arcs and ranks per
/// core.
double similarity(const Load& a, const Load& b) {
  const auto square = [](double x) { return x * x; };
  const double size = square((bounded_log2(1 + a.size()) - bounded_log2(1 + b.size())) / 1.2);
  const double degree = square((bounded_log2(a.degree) - bounded_log2(b.degree)) / 0.7);
  const double arcs = square((bounded_log2(a.arcs / a.cores) - bounded_log2(b.arcs / b.cores)) / 1.5);
  const double crowd = square((bounded_log2(1.0 * a.ranks / a.cores) - bounded_log2(1.0 * b.ranks / b.cores)) / 0.7);
  return std::exp(-0.5 * (size + degree + arcs + crowd));
}

/// Throws UsageError for a measured configuration without a positive time or without arcs, ranks or cores.
void check_cell(const KnownCell& c) {
  const double time = c.time();
  if (!(time > 0) || !std::isfinite(time))
    throw UsageError("the time of " + c.kernel + " on " + c.graph + " is " + std::to_string(time) +
                     " ns; allowed: positive numbers");
  if (!(c.load.arcs > 0) || c.load.ranks < 1 || c.load.cores < 1 || !(c.load.bytes >= 0))
    throw UsageError("the load of " + c.kernel + " on " + c.graph + " has no arcs, ranks or cores");
}

/// Computes the load of an exchange on a process graph: totals, and the larger of what the busiest rank sends and receives.
/// @param bytes  bytes along every arc; negative: the weights of the arcs
Load compute_load(const graphs::ProcessGraph& graph, int cores, double bytes) {
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

Load exchange_load(const graphs::ProcessGraph& graph, int cores) { return compute_load(graph, cores, -1); }
Load exchange_load(const graphs::ProcessGraph& graph, int cores, double bytes) {
  if (!(bytes >= 0)) throw UsageError("bytes on an arc are " + std::to_string(bytes) + "; allowed: 0 and more");
  return compute_load(graph, cores, bytes);
}

double KnownCell::time() const { return median(medians()); }

std::vector<double> KnownCell::medians() const { return sample_medians(launches); }

// Joins the launches of equal configurations, so that each configuration is one sample of the fit.
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

// Model of one kernel's exchange times: cross-validation for the intervals, then the fit to all configurations.
KernelModel::KernelModel(std::span<const KnownCell> cells) {
  if (cells.empty()) throw UsageError("a kernel without measured cells cannot be predicted");
  for (const auto& c : cells) check_cell(c);
  set_occasion_error(cells);
  cross_validate(cells, Fold::record, record_reach_);
  auto by_size = cross_validate(cells, Fold::size, size_reach_);
  cross_validate(cells, Fold::ranks, ranks_reach_);
  left_out_ = cross_validate(cells, Fold::graph, graph_reach_);
  if (left_out_.empty()) left_out_ = std::move(by_size);
  fit(cells);
}

/// Sets the assumed deviation of a kernel's times between occasions of measuring. The effect of a day on all that is measured on it
/// shows only in the comparison of records, so the assumed deviation decreases with their number.
void KernelModel::set_occasion_error(std::span<const KnownCell> cells) {
  std::set<std::string> records;
  double load_per_core = 1;
  for (const auto& c : cells) {
    records.insert(c.source);
    load_per_core = std::max(load_per_core, c.load_per_core);
  }
  occasion_ = kOccasionError * load_per_core / std::sqrt(static_cast<double>(records.size()));
}

/// Returns the key of the fold that a configuration belongs to in a cross-validation of the performance model: its graph, record,
/// message size or number of ranks.
std::string KernelModel::fold_key(Fold kind, const KnownCell& cell) {
  if (kind == Fold::graph) return cell.graph;
  if (kind == Fold::record) return cell.source;
  return kind == Fold::size ? number_text(cell.load.size()) : std::to_string(cell.load.ranks);
}

/// Runs a cross-validation of the performance model: predicts every configuration from a fit to those outside of its fold. Leaves
/// the model fitted without the last fold. @return the errors of these predictions
/// @param reach  receives the bound that the errors do not exceed with the stated confidence, by oversubscription
std::vector<KernelModel::LeftOut> KernelModel::cross_validate(std::span<const KnownCell> cells, Fold kind,
                                                              HalfWidths& reach) {
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
      // Loads that would be refused say nothing about the errors of predictions.
      if (!range_.misses(c.load).empty()) continue;
      LeftOut l{c.graph, c.load.size(), {}};
      for (const double time : c.medians()) l.log_errors.push_back(std::log(time / corrected(c.load)));
      errors[c.load.oversubscribed() ? 1 : 0].add(held, l.log_errors);
      out.push_back(std::move(l));
    }
  }
  for (std::size_t i = 0; i < reach.size(); ++i) reach[i] = errors[i].error_bound(occasion_);
  return out;
}

/// Fits the performance model to measured configurations: pieces over the size of messages, then the residuals that corrected()
/// spreads to similar loads.
void KernelModel::fit(std::span<const KnownCell> cells) {
  const std::vector<KnownCell> known = joined(cells);
  std::vector<Sample> samples;
  for (const auto& c : known) samples.push_back({feature_vector(c.load), c.time(), c.load.size(), &c.load});
  std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  std::vector<std::size_t> starts;  // first sample of each size
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

/// Returns the exchange time of a load by the piecewise fit alone, ns: the first part of a prediction.
double KernelModel::fitted(const Load& load) const {
  const double size = load.size();
  std::size_t piece = 0;
  while (piece < breaks_.size() && size >= breaks_[piece]) ++piece;
  return std::max(1e-3, dot_product(feature_vector(load), pieces_[piece]));
}

/// Returns the predicted exchange time of a load, ns: the fitted one, corrected by the residuals of similar measured loads.
double KernelModel::corrected(const Load& load) const {
  double sum = 0, weights = kPrior;
  for (const auto& r : residuals_) {
    const double w = similarity(load, r.load);
    sum += w * r.log_ratio;
    weights += w;
  }
  return fitted(load) * std::exp(sum / weights);
}

/// Returns true if alike(load) holds for the load of a measured configuration of the kernel.
template <class Alike>
bool KernelModel::has_measured(const Alike& alike) const {
  return std::any_of(residuals_.begin(), residuals_.end(), [&](const Residual& r) { return alike(r.load); });
}

/// Returns the half width of the interval of a predicted exchange time, as a logarithm, for a measured number of ranks and size.
/// For a measured graph, or a graph with the same degree and number of arcs, the smaller error of another size suffices.
double KernelModel::base_half_width(const Load& load) const {
  const std::size_t oversubscribed = load.oversubscribed() ? 1 : 0;
  const bool known = has_measured([&](const Load& l) {
    return l.ranks == load.ranks && l.cores == load.cores && l.arcs == load.arcs && l.degree == load.degree;
  });
  return known ? std::min(graph_reach_[oversubscribed], size_reach_[oversubscribed]) : graph_reach_[oversubscribed];
}

/// Returns true if a configuration with the load's number of bytes per arc, within 1 %, was measured.
bool KernelModel::has_measured_size(const Load& load) const {
  return has_measured([&](const Load& l) { return std::fabs(l.size() - load.size()) <= 0.01 * load.size(); });
}

/// Returns the half width of the interval of a load's predicted time, as a logarithm: the largest of those for the ways in which
/// the load differs from the measured ones (another graph, record, message size, number of ranks).
double KernelModel::half_width(const Load& load) const {
  const bool size = has_measured_size(load);
  const bool ranks = has_measured([&](const Load& l) { return l.ranks == load.ranks; });
  const std::size_t oversubscribed = load.oversubscribed() ? 1 : 0;
  double out = base_half_width(load);
  if (!std::isinf(record_reach_[oversubscribed])) out = std::max(out, record_reach_[oversubscribed]);
  if (!size) out = std::max(out, size_reach_[oversubscribed]);
  if (!ranks) out = std::max(out, ranks_reach_[oversubscribed]);
  return out;
}

Prediction KernelModel::predict(const Load& load) const {
  if (!(load.arcs > 0)) throw UsageError("a graph without arcs has no time to predict");
  const double reached = half_width(load);
  const double time = corrected(load);
  return {time, time / std::exp(reached), time * std::exp(reached),
          std::isinf(reached) ? 1 : reached / base_half_width(load)};
}

/// Returns the reason why the interval of a load's predicted time is too wide to be of use, with the measurement that would help.
std::string KernelModel::describe_too_wide(const Load& load) const {
  const std::string where = load.oversubscribed() ? " of ranks that share cores" : " of ranks with a core each";
  if (std::isinf(base_half_width(load)))
    return "too few graphs" + where +
           " were measured to know how far off a prediction for another one is; measure more, or this one";
  if (!has_measured_size(load) && std::isinf(size_reach_[load.oversubscribed() ? 1 : 0]))
    return "too few sizes were measured to tell of another one; measure more, or " + number_text(load.size()) +
           " bytes an arc";
  if (std::isinf(half_width(load)))
    return "too few numbers of ranks were measured to tell of another one; measure " + std::to_string(load.ranks) +
           " ranks";
  return "what was measured is missed by a factor of more than " + number_text(kMaxIntervalFactor) +
         " where it is left out; measure it again, or this graph";
}

// Reasons to refuse the prediction of an exchange time: its load is out of the measured range, or its interval is too wide.
std::vector<std::string> KernelModel::unknown(const Load& load) const {
  std::vector<std::string> out = range_.misses(load);
  if (out.empty() && !(half_width(load) <= std::log(kMaxIntervalFactor))) out.push_back(describe_too_wide(load));
  return out;
}

}  // namespace merganser::topology
