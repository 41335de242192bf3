// Measurements of bench growth, power laws fitted to them, and their report.
#include "apps/growth/growth.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>

#include "apps/frame/fields.hpp"
#include "apps/frame/memory.hpp"
#include "apps/frame/table.hpp"
#include "merganser/announce/announcement_network.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timing.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/flow/cases.hpp"
#include "merganser/flow/model.hpp"
#include "merganser/graphs/generate.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/hdbscan.hpp"
#include "merganser/msf/linkage.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {
namespace {

/// One algorithm of bench growth at one size: its input, what is timed, and what it finds.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Makes the input of a repeat, before it is timed.
  virtual void prepare() {}
  /// Runs the algorithm once; timed.
  virtual void solve() = 0;
  /// Returns what the last solve() found, the same after every one.
  [[nodiscard]] virtual std::string result() = 0;

  double size = 0;         ///< units of the problem
  double input_bytes = 0;  ///< bytes of the input
};

/// Merge step of an artificial configuration of 20 parcels per cell, half of them small, in random order.
class StepProblem : public Problem {
 public:
  StepProblem(double parcels, comm::Transport& t) {
    const auto edge = std::max<std::int64_t>(2, std::llround(std::cbrt(parcels / static_cast<double>(o_.per_cell))));
    Grid grid;
    grid.cells = {edge, edge, edge};
    const double length = 0.3125 * static_cast<double>(edge);
    grid.box = Box{{0, 0, 0}, {length, length, length}, {true, true, false}};
    blocks_.emplace(grid, t.size());
    o_.shuffle = true;
    ClusterOptions options;
    options.min_volume_ratio = o_.min_volume_ratio;
    clusterer_.emplace(t, *blocks_, Schema::epic(), options);
    size = static_cast<double>(edge * edge * edge * o_.per_cell);
    input_bytes = size * static_cast<double>(Parcels().parcel_bytes());
  }
  void prepare() override {
    parcels_.reset();
    parcels_.emplace(generate_random(o_, *blocks_, 0));
  }
  void solve() override { clusterer_->step(*parcels_); }
  std::string result() override { return digest(*parcels_).to_string(); }

 private:
  RandomParcels o_;
  std::optional<Decomposition> blocks_;
  std::optional<Clusterer> clusterer_;
  std::optional<Parcels> parcels_;
};

/// Minimum spanning forest of an R-MAT graph of 16 edges per vertex with random weights.
class ForestProblem : public Problem {
 public:
  ForestProblem(double edges, comm::Transport& t) : t_(t) {
    const auto scale = std::max(4L, std::lround(std::log2(edges / 16)));
    graph_ = graphs::generate("rmat:" + std::to_string(scale) + ":16", {}, t);
    size = static_cast<double>(graph_.size());
    input_bytes =
        size * static_cast<double>(std::visit(
                   [](const auto& e) { return sizeof(typename std::decay_t<decltype(e)>::value_type); }, graph_.edges));
  }
  void solve() override {
    msf::Report report;
    forest_ = msf::minimum_spanning_forest(graph_, t_, {}, report);
  }
  std::string result() override { return msf::totals(forest_, t_).digest; }

 private:
  comm::Transport& t_;
  graphs::EdgeList graph_;
  msf::Forest forest_;
};

/// Euclidean minimum spanning tree of uniform points in the unit cube; the clusters of HDBSCAN* too, if they are wanted.
class PointsProblem : public Problem {
 public:
  PointsProblem(double n, bool clusters, comm::Transport& t) : t_(t), clusters_(clusters) {
    const auto points = static_cast<std::uint64_t>(std::llround(n));
    for (std::uint64_t i = 0; i < points; ++i) {
      Random random(7, i, 0);
      for (int a = 0; a < 3; ++a) points_.coordinates.push_back(random.uniform());
      points_.ids.push_back(i);
    }
    size = static_cast<double>(points);
    input_bytes = size * 3 * sizeof(double);
  }
  void solve() override {
    msf::Report report;
    msf::EuclideanOptions options;
    if (clusters_) options.min_samples = kMinSamples;
    tree_ = msf::euclidean_forest(points_, t_, options, report);
    if (!clusters_) return;
    const msf::Forest whole = msf::gather_forest(tree_, t_);
    const msf::Dendrogram dendrogram = msf::dendrogram(whole, msf::Apart::join);
    msf::HdbscanOptions choice;
    choice.min_cluster_size = kMinClusterSize;
    found_ = msf::hdbscan(msf::condense(dendrogram, choice.min_cluster_size), choice);
  }
  std::string result() override {
    std::string text = msf::totals(tree_, t_).digest;
    if (clusters_)
      text += fmt::format(", {} clusters, {} points of noise", found_.clusters,
                          std::count(found_.labels.begin(), found_.labels.end(), -1));
    return text;
  }

 private:
  static constexpr int kMinSamples = 10;
  static constexpr int kMinClusterSize = 40;
  comm::Transport& t_;
  bool clusters_;
  msf::Points points_;
  msf::Forest tree_;
  msf::Hdbscan found_;
};

/// Time step of the elliptical parcel model from the start of the Rayleigh-Taylor case, eight parcels per cell.
class FlowProblem : public Problem {
 public:
  FlowProblem(double parcels, comm::Transport& t) {
    constexpr double kPerCell = 8;
    options_.cells = 2 * std::max(2L, std::lround(std::cbrt(parcels / kPerCell) / 2));
    const auto which = flow::Case::rayleigh_taylor;
    flow::apply_case(which, flow_);
    blocks_.emplace(flow::decompose(flow::case_grid(which, options_), t.size()));
    model_.emplace(t, *blocks_, flow_);
    const auto edge = static_cast<double>(options_.cells);
    size = kPerCell * edge * edge * edge;
    input_bytes = size * static_cast<double>(fill().parcel_bytes());
  }
  void prepare() override { model_->begin(fill()); }
  void solve() override { model_->step(); }
  std::string result() override { return digest(flow::without_registers(model_->parcels())).to_string(); }

 private:
  /// Returns the parcels from which every repeat begins.
  [[nodiscard]] Parcels fill() const {
    return flow::fill(*blocks_, 0, flow::case_fields(flow::Case::rayleigh_taylor, options_));
  }
  flow::CaseOptions options_;
  flow::FlowOptions flow_;
  std::optional<Decomposition> blocks_;
  std::optional<flow::Model> model_;
};

/// One announcement of 8 bytes from every rank to every rank, over a Manhattan Street Network of thread ranks.
class AnnounceProblem : public Problem {
 public:
  AnnounceProblem(double deliveries, comm::Transport& t) : t_(t) {
    constexpr int kDimension = 3;
    network_.emplace(t, *announce::make_network("manhattan", t.size(), kDimension));
    size = static_cast<double>(t.size()) * static_cast<double>(t.size());
    input_bytes = size * sizeof(std::uint64_t);
    if (size != deliveries) throw UsageError(fmt::format("announcement: {} deliveries; allowed: a square", deliveries));
  }
  void prepare() override { t_.barrier(); }
  void solve() override {
    sum_ = delivered_ = 0;
    network_->announce_value(announce::Topic{1}, static_cast<std::uint64_t>(t_.rank()));
    for (int step = 0; step < network_->time_to_live(); ++step)
      for (const announce::Announcement& a : network_->step()) {
        sum_ += a.as<std::uint64_t>();
        ++delivered_;
      }
    t_.barrier();
  }
  std::string result() override { return fmt::format("{} delivered on each rank, sum {}", delivered_, sum_); }

 private:
  comm::Transport& t_;
  std::optional<announce::AnnouncementNetwork> network_;
  std::uint64_t sum_ = 0;
  std::int64_t delivered_ = 0;
};

/// Returns the input of an algorithm at a nominal size. Called by every rank of the transport.
std::unique_ptr<Problem> make_problem(std::string_view name, double size, comm::Transport& t) {
  if (name == "step") return std::make_unique<StepProblem>(size, t);
  if (name == "forest") return std::make_unique<ForestProblem>(size, t);
  if (name == "tree") return std::make_unique<PointsProblem>(size, false, t);
  if (name == "hdbscan") return std::make_unique<PointsProblem>(size, true, t);
  if (name == "flow") return std::make_unique<FlowProblem>(size, t);
  if (name == "announcement") return std::make_unique<AnnounceProblem>(size, t);
  throw UsageError(fmt::format("subject \"{}\"; allowed: one that growth_subjects() lists", name));
}

/// Returns the processor time of this process, of all its threads, in seconds.
double processor_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Returns the median processor time of a copy of so many bytes between buffers that have been written before, in seconds.
double time_copy(double bytes, int repeats) {
  const auto n = static_cast<std::size_t>(bytes);
  std::vector<char> from(n, 1);
  std::vector<char> to(n, 2);
  const auto copy = [&](std::int64_t) { std::memcpy(to.data(), from.data(), n); };
  return median(time_repeats(
      {repeats, 1}, [](std::int64_t) {}, copy));
}

/// Measures a problem on one rank of a transport; rank 0 keeps the result.
void measure_on_rank(std::string_view name, double size, int repeats, double before, comm::Transport& t,
                     GrowthPoint& point) {
  const auto problem = make_problem(name, size, t);
  std::string result;
  double peak = 0;
  for (int i = -1; i < repeats; ++i) {
    problem->prepare();
    const PeakWatch watch;
    const double begin = now();
    const double processor_begin = processor_now();
    problem->solve();
    const double seconds = now() - begin;
    const double processor = processor_now() - processor_begin;
    if (t.rank() == 0) peak = std::max(peak, static_cast<double>(watch.peak_bytes()) - before);
    if (t.rank() == 0 && i >= 0) {
      point.seconds.push_back(seconds);
      point.processor_seconds.push_back(processor);
    }
    const std::string found = problem->result();
    if (i >= 0 && found != result)
      throw VerificationError(fmt::format("{} of size {}: two runs found {} and {}", name, size, result, found));
    result = found;
  }
  if (t.rank() != 0) return;
  point.size = problem->size;
  point.input_bytes = problem->input_bytes;
  point.peak_bytes = std::max(peak, 0.0);
  point.result = result;
}

}  // namespace

double GrowthPoint::ns_per_unit() const { return size > 0 ? 1e9 * median(processor_seconds) / size : 0; }
double GrowthPoint::copies() const { return limit > 0 ? median(processor_seconds) / limit : 0; }

PowerLaw fit_power_law(std::span<const double> sizes, std::span<const double> values) {
  const std::size_t n = sizes.size();
  if (n < 2 || values.size() != n) throw UsageError(fmt::format("a power law of {} points; allowed: 2 or more", n));
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(sizes[i] > 0 && values[i] > 0))
      throw UsageError(fmt::format("a power law of size {}, value {}; allowed: positive", sizes[i], values[i]));
    x.push_back(std::log(sizes[i]));
    y.push_back(std::log(values[i]));
  }
  const auto mean = [n](const std::vector<double>& v) {
    double sum = 0;
    for (const double a : v) sum += a;
    return sum / static_cast<double>(n);
  };
  const double mx = mean(x);
  const double my = mean(y);
  double sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sxx += (x[i] - mx) * (x[i] - mx);
    sxy += (x[i] - mx) * (y[i] - my);
    syy += (y[i] - my) * (y[i] - my);
  }
  if (!(sxx > 0)) throw UsageError("a power law of points of one size; allowed: two sizes or more");
  PowerLaw law{sxy / sxx, {}};
  if (n > 2) law.error = std::sqrt(std::max(syy - law.exponent * sxy, 0.0) / static_cast<double>(n - 2) / sxx);
  return law;
}

std::vector<GrowthSubject> growth_subjects(bool quick) {
  constexpr std::string_view kCopy = "one copy of the input";
  const std::vector<double> decades{1e3, 1e4, 1e5, 1e6, 1e7};
  std::vector<GrowthSubject> all{
      {"step", "parcel", decades, kCopy},
      {"forest", "edge", {1024, 16384, 131072, 1048576, 16777216}, kCopy},
      {"tree", "point", decades, kCopy},
      {"hdbscan", "point", decades, kCopy},
      {"flow", "parcel", {512, 4096, 32768, 262144, 2097152, 7077888}, kCopy},
      {"announcement", "delivery", {16, 256, 4096, 65536, 262144}, "one copy of the payloads"},
  };
  if (quick)
    for (auto& s : all) std::erase_if(s.sizes, [top = s.sizes.back()](double size) { return size > top / 100; });
  return all;
}

GrowthPoint measure_growth(std::string_view name, double size, int repeats) {
  GrowthPoint point;
  trim_memory();
  const auto before = static_cast<double>(resident_bytes());
  comm::RunOptions ranks;
  ranks.backend = "threads";
  ranks.within_process = true;
  ranks.ranks = name == "announcement" ? static_cast<int>(std::lround(std::sqrt(size))) : 1;
  comm::run(ranks, [&](comm::Transport& t) { measure_on_rank(name, size, repeats, before, t, point); });
  point.limit = time_copy(point.input_bytes, repeats);
  return point;
}

namespace {

/// Power laws of the time and the memory of a series of bench growth; none where there are too few points.
struct GrowthLaws {
  std::optional<PowerLaw> seconds;  ///< of the median processor times
  std::optional<PowerLaw> bytes;    ///< of the peaks of memory that could be measured
};
/// Fits the power laws of a series of bench growth.
GrowthLaws fit_laws(const std::vector<GrowthPoint>& points) {
  GrowthLaws laws;
  std::vector<double> sizes, seconds, large, bytes;
  for (const GrowthPoint& p : points) {
    sizes.push_back(p.size);
    seconds.push_back(median(p.processor_seconds));
    if (p.peak_bytes < p.input_bytes) continue;  // below what the system can tell apart
    large.push_back(p.size);
    bytes.push_back(p.peak_bytes);
  }
  if (sizes.size() > 1) laws.seconds = fit_power_law(sizes, seconds);
  if (large.size() > 1) laws.bytes = fit_power_law(large, bytes);
  return laws;
}

/// Returns a power law as JSON; null if there is none.
Json law_json(const std::optional<PowerLaw>& law) {
  return law ? Json{{"exponent", law->exponent}, {"standard_error", serialize(law->error)}} : Json();
}
/// Formats the exponent of a power law with its standard error.
std::string law_text(const std::optional<PowerLaw>& law) {
  if (!law) return "too few points";
  return law->error ? fmt::format("{:.3f} +- {:.3f}", law->exponent, *law->error)
                    : fmt::format("{:.3f} (two points)", law->exponent);
}

}  // namespace

Json growth_json(const GrowthSubject& subject, const std::vector<GrowthPoint>& points) {
  const GrowthLaws laws = fit_laws(points);
  Json list = Json::array();
  for (const GrowthPoint& p : points)
    list.push_back({{"size", p.size},
                    {"seconds", p.seconds},
                    {"processor_seconds", p.processor_seconds},
                    {"ns_per_unit", p.ns_per_unit()},
                    {"peak_bytes", p.peak_bytes},
                    {"bytes_per_unit", p.bytes_per_unit()},
                    {"input_bytes", p.input_bytes},
                    {"limit_seconds", p.limit},
                    {"times_limit", p.copies()},
                    {"result", p.result}});
  return {{"subject", subject.name},   {"unit", subject.unit},           {"limit", subject.limit_text},
          {"points", std::move(list)}, {"time", law_json(laws.seconds)}, {"memory", law_json(laws.bytes)}};
}

std::string growth_text(const GrowthSubject& subject, const std::vector<GrowthPoint>& points) {
  const GrowthLaws laws = fit_laws(points);
  const std::string unit(subject.unit);
  Table table(
      {std::string(subject.name), "wall time", "processor ns/" + unit, "times the limit", "peak bytes/" + unit});
  for (const GrowthPoint& p : points)
    table.row({count_text(static_cast<std::int64_t>(p.size)), seconds_text(median(p.seconds)),
               fixed_text(p.ns_per_unit(), 1), fixed_text(p.copies(), 1),
               p.peak_bytes > 0 ? fixed_text(p.bytes_per_unit(), 0) : "not measurable"});
  return table.text() + fmt::format("  exponent of processor time {}, of memory {}; limit: {}\n\n",
                                    law_text(laws.seconds), law_text(laws.bytes), subject.limit_text);
}

}  // namespace merganser::app
