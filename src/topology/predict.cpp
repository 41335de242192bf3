#include "merganser/topology/predict.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/summary.hpp"

namespace merganser::topology {
namespace {

constexpr std::size_t kFeatures = 5;
constexpr std::size_t kMostBreaks = 2;
constexpr int kSizesOfPiece = 3;  // fewest sizes that a piece is fitted to
constexpr int kSweeps = 60;       // of coordinate descent
constexpr int kReweightings = 4;
constexpr double kTune = 0.15;           // relative deviation from which a cell loses weight
constexpr double kOneGraphError = 0.35;  // where nothing can be left out
constexpr double kLeastError = 0.02;
constexpr double kPrior = 0.25;  // weight against which residuals near by must stand

using Row = std::array<double, kFeatures>;

Row features(const Load& l) {
  const double shared = std::max(1, std::min(l.ranks, l.cores));
  return {1, l.degree, l.rank_bytes, l.arcs / shared, l.bytes / shared};
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kFeatures; ++i) sum += a[i] * b[i];
  return sum;
}

struct Sample {
  Row x{};
  double time = 0;
  double size = 0;
  const Load* load = nullptr;
};

/// Least squares of relative errors with coefficients that are not negative, robust by reweighting.
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
        // A touch of ridge keeps features that move together from trading places.
        beta[a] = std::max(0.0, rest / (gram[a][a] * (1 + 1e-4)));
      }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double error = std::fabs(dot(samples[i].x, beta) / samples[i].time - 1);
      weight[i] = error > kTune ? kTune / error : 1;
    }
  }
  return beta;
}

/// Mean of what each cell costs, growing slowly with its error.
double badness(std::span<const Sample> samples, const Row& beta) {
  double sum = 0;
  for (const auto& s : samples) {
    const double error = std::fabs(dot(s.x, beta) / s.time - 1);
    sum += error < kTune ? error * error : kTune * (2 * error - kTune);
  }
  return sum;
}

struct Fit {
  std::vector<std::size_t> cuts;  // samples at which pieces begin, the first left out
  std::vector<Row> pieces;
  double score = 0;
};

Fit fit_pieces(std::span<const Sample> sorted, std::vector<std::size_t> cuts) {
  Fit f;
  double sum = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t to = i < cuts.size() ? cuts[i] : sorted.size();
    const auto part = sorted.subspan(from, to - from);
    f.pieces.push_back(solve(part));
    sum += badness(part, f.pieces.back());
    from = to;
  }
  // Schwarz: a break must earn its coefficients.
  const auto n = static_cast<double>(sorted.size());
  f.score = n * std::log(sum / n + 1e-5) + 3.0 * static_cast<double>(cuts.size()) * std::log(n);
  f.cuts = std::move(cuts);
  return f;
}

/// Adds the best break as long as one earns its place.
Fit fit_with_breaks(std::span<const Sample> sorted, const std::vector<std::size_t>& starts) {
  Fit best = fit_pieces(sorted, {});
  for (std::size_t round = 0; round < kMostBreaks; ++round) {
    Fit better = best;
    for (std::size_t s = 0; s < starts.size(); ++s) {
      std::vector<std::size_t> cuts = best.cuts;
      cuts.push_back(starts[s]);
      std::sort(cuts.begin(), cuts.end());
      // Sizes in every piece.
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

double log2_of(double x) { return std::log2(std::max(x, 1e-3)); }

double nearness(const Load& a, const Load& b) {
  const auto square = [](double x) { return x * x; };
  const double size = square((log2_of(1 + a.size()) - log2_of(1 + b.size())) / 1.2);
  const double degree = square((log2_of(a.degree) - log2_of(b.degree)) / 0.7);
  const double arcs = square((log2_of(a.arcs / a.cores) - log2_of(b.arcs / b.cores)) / 1.5);
  const double crowd = square((log2_of(1.0 * a.ranks / a.cores) - log2_of(1.0 * b.ranks / b.cores)) / 0.7);
  return std::exp(-0.5 * (size + degree + arcs + crowd));
}

void check(const KnownCell& c) {
  const double time = c.time();
  if (!(time > 0) || !std::isfinite(time))
    throw UsageError("the time of " + c.kernel + " on " + c.graph + " is " + std::to_string(time) +
                     " ns; allowed: positive numbers");
  if (!(c.load.arcs > 0) || c.load.ranks < 1 || c.load.cores < 1 || !(c.load.bytes >= 0))
    throw UsageError("the load of " + c.kernel + " on " + c.graph + " has no arcs, ranks or cores");
}

Load load_from(const ProcessGraph& graph, int cores, double bytes) {
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

Load load_of(const ProcessGraph& graph, int cores) { return load_from(graph, cores, -1); }
Load load_of(const ProcessGraph& graph, int cores, double bytes) {
  if (!(bytes >= 0)) throw UsageError("bytes on an arc are " + std::to_string(bytes) + "; allowed: 0 and more");
  return load_from(graph, cores, bytes);
}

double KnownCell::time() const {
  std::vector<double> medians;
  for (const auto& l : launches)
    if (!l.empty()) medians.push_back(median(l));
  return median(std::move(medians));
}

KernelModel::KernelModel(std::span<const KnownCell> cells) {
  if (cells.empty()) throw UsageError("a kernel without measured cells cannot be predicted");
  for (const auto& c : cells) check(c);
  // Each graph left out in turn tells the error; then all are used.
  std::set<std::string> graphs;
  for (const auto& c : cells) graphs.insert(c.graph);
  for (const auto& left_out : graphs) {
    if (graphs.size() < 2) break;
    std::vector<KnownCell> rest;
    for (const auto& c : cells)
      if (c.graph != left_out) rest.push_back(c);
    fit(rest);
    for (const auto& c : cells)
      if (c.graph == left_out) left_out_.push_back({c.graph, c.load.size(), std::log(c.time() / corrected(c.load))});
  }
  std::vector<double> errors;
  for (const auto& e : left_out_) errors.push_back(std::fabs(e.log_error));
  // The median of absolute normal errors is 0.67 of a standard deviation; the mean minds the tail.
  double mean = 0;
  for (const double e : errors) mean += e / static_cast<double>(errors.size());
  error_ = errors.empty() ? kOneGraphError : std::max({kLeastError, 1.48 * median(errors), 0.8 * mean});
  fit(cells);
}

void KernelModel::fit(std::span<const KnownCell> cells) {
  std::vector<Sample> samples;
  for (const auto& c : cells) samples.push_back({features(c.load), c.time(), c.load.size(), &c.load});
  std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  std::vector<std::size_t> starts;  // where a new size begins
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (i == 0 || samples[i].size > samples[i - 1].size * 1.01) starts.push_back(i);
  const Fit f = fit_with_breaks(samples, starts);
  breaks_.clear();
  pieces_.assign(f.pieces.begin(), f.pieces.end());
  for (const std::size_t cut : f.cuts) breaks_.push_back(samples[cut].size);
  residuals_.clear();
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

double KernelModel::extrapolation(const Load& load) const {
  double nearest = 1e9;
  for (const auto& r : residuals_) {
    // Beyond what was measured, each doubling adds doubt: of ranks and of their crowding most.
    const double ranks = std::fabs(log2_of(load.ranks) - log2_of(r.load.ranks));
    const double crowd =
        load.oversubscribed() != r.load.oversubscribed()
            ? 1 + std::fabs(log2_of(1.0 * load.ranks / load.cores) - log2_of(1.0 * r.load.ranks / r.load.cores))
            : 0;
    const double size = std::max(0.0, std::fabs(log2_of(1 + load.size()) - log2_of(1 + r.load.size())) - 2);
    const double degree = std::max(0.0, std::fabs(log2_of(load.degree) - log2_of(r.load.degree)) - 1);
    nearest = std::min(nearest, 0.10 * ranks + 0.25 * crowd + 0.04 * size + 0.08 * degree);
  }
  return nearest;
}

Prediction KernelModel::predict(const Load& load) const {
  if (!(load.arcs > 0)) throw UsageError("a graph without arcs has no time to predict");
  const double beyond = extrapolation(load);
  return {corrected(load), std::hypot(error_, beyond), beyond};
}

}  // namespace merganser::topology
