// Prediction of clusters of new points: joint with the fitted points, then ascent of the condensed tree.
#include "merganser/msf/prediction_model.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <mutex>
#include <numeric>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/base/parallel.hpp"
#include "merganser/comm/open.hpp"
#include "src/msf/linkage/condensed_lambdas.hpp"
#include "src/msf/linkage/prediction_state.hpp"

namespace merganser::msf {
namespace {

/// Number of new points from which they are searched in the order of their places, so that caches hold what successive ones visit.
constexpr std::size_t kSortFrom = 1000;

/// Beginning of a file of any version, and the version that is read and written; a new line follows.
constexpr std::string_view kName = "MGPRED";
constexpr char kVersion = '1';

/// Returns true for the bytes of a file of another version.
bool in_other_version(const std::string& bytes) {
  return bytes.size() > kName.size() + 1 && bytes.starts_with(kName) && bytes[kName.size() + 1] == '\n' &&
         bytes[kName.size()] > '0' && bytes[kName.size()] <= '9' && bytes[kName.size()] != kVersion;
}

/// Returns the bytes of a file. @throws InputError if it cannot be read or is empty
std::string read_bytes(const std::string& path) {
  std::string bytes;
  try {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    if (in.bad()) bytes.clear();
  } catch (const std::ios_base::failure&) {  // thrown by the buffer itself, as for a folder
    bytes.clear();
  }
  if (bytes.empty()) throw InputError(path + ": cannot be read as a prediction model; allowed: a file of write()");
  return bytes;
}

}  // namespace

/// Tables of a prediction model with their search, and what is known of each cluster.
class PredictionModel::State {
 public:
  explicit State(PredictionTables tables)
      : tables_(std::move(tables)),
        search_(euclidean::make_place_search(tables_.metric, tables_.places, tables_.cores,
                                             static_cast<std::size_t>(tables_.min_samples))),
        alone_(comm::open_alone()) {
    find_clusters();
  }
  [[nodiscard]] const PredictionTables& tables() const { return tables_; }

  /// Predicts for new points, given as their coordinates.
  [[nodiscard]] Predictions predict(std::span<const double> coordinates, int threads) const {
    const auto dimension = static_cast<std::size_t>(tables_.space.dimension);
    if (coordinates.size() % dimension != 0)
      throw UsageError(std::to_string(coordinates.size()) +
                       " coordinates of new points; allowed: " + std::to_string(dimension) + " for each");
    const std::vector<double> places = canonical(coordinates);
    const std::size_t n = coordinates.size() / dimension;
    Predictions out;
    for (auto* numbers : {&out.strengths, &out.lambdas, &out.scores, &out.joined_lambdas}) numbers->resize(n);
    for (auto* numbers : {&out.labels, &out.joined}) numbers->resize(n);
    out.cluster_of.resize(n);
    const std::vector<std::uint32_t> order = search_order(places, n);
    share_loop(threads, n, [&](std::size_t begin, std::size_t end) {
      std::vector<euclidean::Near> row;
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t point = order.empty() ? i : order[i];
        assign(search_->join(places.data() + point * tables_.metric.axes, row), point, out);
      }
    });
    return out;
  }

 private:
  /// Finds for each cluster of the tree the label that contains it, and the lambdas that strengths and scores are relative to.
  void find_clusters() {
    CondensedTree tree;
    for (std::size_t c = 0; c < tables_.parent.size(); ++c)
      tree.clusters.push_back({tables_.parent[c], 0, tables_.birth[c]});
    tree.cluster_of = tables_.cluster_of;
    tree.lambda = tables_.lambda;
    const std::vector<double> last = last_lambdas(tree);
    deepest_ = deepest_lambdas(tree);
    label_of_.assign(last.size(), -1);
    end_.assign(last.size(), 0);
    for (std::size_t label = 0; label < tables_.selected.size(); ++label) {
      label_of_[tables_.selected[label]] = static_cast<std::int64_t>(label);
      end_[tables_.selected[label]] = last[tables_.selected[label]];
    }
    for (std::size_t c = 1; c < last.size(); ++c) {
      if (label_of_[c] >= 0) continue;
      label_of_[c] = label_of_[tables_.parent[c]];
      end_[c] = end_[tables_.parent[c]];
    }
  }

  /// Returns the canonical coordinates of new points. @throws InputError for bad ones
  [[nodiscard]] std::vector<double> canonical(std::span<const double> coordinates) const {
    const PointSet set{tables_.space, coordinates, {}};
    const std::lock_guard lock(mutex_);  // the transport belongs to one thread at a time
    const euclidean::CheckedPoints checked(set, *alone_);
    std::vector<double> places(checked.size() * checked.axes());
    for (std::size_t i = 0; i < checked.size(); ++i) checked.write_coordinates(i, places.data() + i * checked.axes());
    return places;
  }

  /// Returns the order in which many places are searched; empty for few: theirs.
  [[nodiscard]] std::vector<std::uint32_t> search_order(const std::vector<double>& places, std::size_t n) const {
    if (n < kSortFrom || n > ~std::uint32_t{0}) return {};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> keys(n);
    for (std::size_t i = 0; i < n; ++i)
      keys[i] = {search_->region(places.data() + i * tables_.metric.axes), static_cast<std::uint32_t>(i)};
    std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = keys[i].second;
    return order;
  }

  /// Writes the prediction of new point i from its joint.
  void assign(const euclidean::PlaceJoint& found, std::size_t i, Predictions& out) const {
    const auto joined = static_cast<std::size_t>(found.joint.id);
    const double lambda = 1 / found.joint.reachability;
    const std::uint32_t leaf = tables_.cluster_of[joined];
    std::uint32_t cluster = leaf;
    if (tables_.lambda[joined] > lambda)
      while (cluster > 0 && tables_.birth[cluster] >= lambda) cluster = tables_.parent[cluster];
    out.joined[i] = static_cast<std::int64_t>(joined);
    out.lambdas[i] = lambda;
    out.cluster_of[i] = leaf;
    out.joined_lambdas[i] = tables_.lambda[joined];
    out.labels[i] = label_of_[cluster];
    out.strengths[i] = out.labels[i] < 0 ? 0 : strength(lambda, end_[cluster]);
    out.scores[i] = score(found.touches ? tables_.lambda[joined] : lambda, deepest_[leaf]);
  }

  /// Returns the strength of membership at a lambda in a cluster that points leave up to the lambda `end`.
  [[nodiscard]] static double strength(double lambda, double end) {
    if (std::isinf(end)) return std::isinf(lambda) ? 1 : 0;
    return end > 0 ? std::min(lambda, end) / end : 1;
  }
  /// Returns the outlier score at a lambda in a cluster with the greatest lambda `most`, below it too.
  [[nodiscard]] static double score(double lambda, double most) {
    if (most == 0 || std::isinf(lambda)) return 0;
    return std::isinf(most) ? 1 : (most - lambda) / most;
  }

  PredictionTables tables_;
  std::unique_ptr<const euclidean::PlaceSearch> search_;
  std::vector<std::int64_t> label_of_;  // by cluster: the label that contains it, -1: none
  std::vector<double> end_;             // by cluster: greatest lambda at which points leave that selected cluster
  std::vector<double> deepest_;         // by cluster: greatest lambda in it and below
  mutable std::mutex mutex_;            // protects alone_
  std::unique_ptr<comm::Transport> alone_;
};

// Model from a clustering: its numbers by id of the point.
PredictionModel::PredictionModel(const FittedClusters& fitted) {
  const auto alone = comm::open_alone();
  const euclidean::CheckedPoints checked(fitted.points, *alone);
  const std::size_t n = checked.size();
  if (fitted.cores.size() != n || fitted.tree.lambda.size() != n)
    throw InputError("prediction model: " + std::to_string(fitted.cores.size()) + " core distances and a tree of " +
                     std::to_string(fitted.tree.lambda.size()) + " points for " + std::to_string(n) +
                     "; allowed: one for each");
  if (fitted.min_samples < 1)
    throw UsageError("min_samples " + std::to_string(fitted.min_samples) + "; allowed: 1 and more");
  PredictionTables t;
  static_cast<PointSpace&>(t.space) = fitted.points;
  t.metric = place_metric(t.space);
  t.min_samples = static_cast<std::uint64_t>(fitted.min_samples);
  t.places.resize(n * checked.axes());
  t.cores.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto id = static_cast<std::size_t>(checked.id(i));
    checked.write_coordinates(i, t.places.data() + id * checked.axes());
    t.cores[id] = fitted.cores[i];
  }
  t.cluster_of = fitted.tree.cluster_of;
  t.lambda = fitted.tree.lambda;
  for (const auto& cluster : fitted.tree.clusters) {
    t.parent.push_back(cluster.parent);
    t.birth.push_back(cluster.birth);
  }
  t.selected.assign(fitted.selected.begin(), fitted.selected.end());
  check_tables(t);
  state_ = std::make_unique<State>(std::move(t));
}

PredictionModel::PredictionModel(std::unique_ptr<const State> state) : state_(std::move(state)) {}
PredictionModel::~PredictionModel() = default;
PredictionModel::PredictionModel(PredictionModel&&) noexcept = default;
PredictionModel& PredictionModel::operator=(PredictionModel&&) noexcept = default;

Predictions PredictionModel::predict(std::span<const double> coordinates, int threads) const {
  return state_->predict(coordinates, threads);
}

const PointSpace& PredictionModel::space() const noexcept { return state_->tables().space; }
std::uint64_t PredictionModel::points() const noexcept { return state_->tables().cores.size(); }
std::uint32_t PredictionModel::clusters() const noexcept {
  return static_cast<std::uint32_t>(state_->tables().selected.size());
}
int PredictionModel::min_samples() const noexcept { return static_cast<int>(state_->tables().min_samples); }

void PredictionModel::write(const std::string& path) const { write_file(path, to_bytes(state_->tables())); }

// Model from a file: the tree of boxes is built anew, since it depends on the processor's vectors.
PredictionModel PredictionModel::read(const std::string& path) {
  const std::string bytes = read_bytes(path);
  if (in_other_version(bytes))
    throw InputError(path + ": prediction model of version " + bytes.substr(kName.size(), 1) +
                     "; allowed: " + kVersion);
  return PredictionModel(std::make_unique<const State>(from_bytes(bytes)));
}

}  // namespace merganser::msf
