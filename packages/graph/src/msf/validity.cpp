// Density-based validity index (DBCV): trees of mutual reachability within clusters, and separations between their inner points.
#include "merganser/msf/validity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "merganser/base/error.hpp"
#include "merganser/base/parallel.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/open.hpp"
#include "src/msf/euclidean/sites.hpp"

namespace merganser::msf {
namespace {

using nearest::kPairGroup;
using Members = std::vector<std::uint32_t>;  // points of a cluster, ascending

/// Distances of a point to a list of points, by a metric or from a matrix.
class Distances {
 public:
  virtual ~Distances() = default;
  /// List of points that is prepared for write().
  struct List {
    Members points;
    std::vector<double> data;       ///< their coordinates in groups of 8; empty for a matrix
    std::vector<double> unlimited;  ///< limits of pair_distances(): none
    std::size_t room = 0;           ///< numbers that write() needs room for
  };
  /// Prepares a list of points.
  [[nodiscard]] virtual List prepare(Members points) const = 0;
  /// Writes the distances of a point to those of a list. @param to  output, with room for list.room numbers
  virtual void write(std::uint32_t point, const List& list, double* to) const = 0;

 protected:
  /// Returns the least multiple of kPairGroup that is at least n.
  [[nodiscard]] static std::size_t room(std::size_t n) { return (n + kPairGroup - 1) / kPairGroup * kPairGroup; }
};

/// Distances between points in a metric.
class MetricDistances final : public Distances {
 public:
  explicit MetricDistances(const PointSet& points)
      : alone_(comm::open_alone()), checked_(points, *alone_), sites_(checked_, *alone_) {}
  [[nodiscard]] std::size_t size() const { return sites_.size(); }

  List prepare(Members points) const override {
    List list{std::move(points), {}, {}, 0};
    list.room = room(list.points.size());
    const std::size_t axes = sites_.axes();
    list.unlimited.assign(list.room, kInfinity);
    list.data.assign(list.unlimited.size() * axes, 0);
    for (std::size_t i = 0; i < list.points.size(); ++i)
      for (std::size_t a = 0; a < axes; ++a) list.data[(i / 8 * axes + a) * 8 + i % 8] = sites_.at(list.points[i])[a];
    return list;
  }
  void write(std::uint32_t point, const List& list, double* to) const override {
    const double* const place = sites_.at(point);
    nearest::pair_distances(sites_.pair_points(list.data.data()), place, list.unlimited.data(), 0,
                            list.unlimited.size(), to);
    for (std::size_t i = 0; i < list.points.size(); ++i)
      to[i] = sites_.weight(sites_.compared_from_pair(to[i], place, sites_.at(list.points[i])));
  }

 private:
  std::unique_ptr<comm::Transport> alone_;
  euclidean::CheckedPoints checked_;
  euclidean::Sites sites_;
};

/// Distances of a matrix.
class MatrixDistances final : public Distances {
 public:
  MatrixDistances(std::span<const double> matrix, std::size_t n) : matrix_(matrix), n_(n) {}
  List prepare(Members points) const override {
    const std::size_t n = points.size();
    return {std::move(points), {}, {}, n};
  }
  void write(std::uint32_t point, const List& list, double* to) const override {
    for (std::size_t i = 0; i < list.points.size(); ++i) to[i] = matrix_[point * n_ + list.points[i]];
  }

 private:
  std::span<const double> matrix_;
  std::size_t n_;
};

/// Returns x to a power of 0 and more: by multiplications where it is a small whole number.
double power(double x, double exponent) {
  if (exponent != std::floor(exponent) || exponent > 64) return std::pow(x, exponent);
  double out = 1;
  for (auto n = static_cast<unsigned>(exponent); n != 0; n >>= 1, x *= x)
    if ((n & 1) != 0) out *= x;
  return out;
}

/// Tree of one cluster, as the index needs it: its inner points with their core distances, and its sparseness.
struct ClusterTree {
  Members inner;              ///< inner points of the tree
  std::vector<double> cores;  ///< core distance of each
  double sparseness = 0;      ///< greatest edge between inner points; without one, of all edges
};

/// Computation of the index for one clustering.
class Index {
 public:
  Index(const Distances& distances, std::span<const std::int64_t> labels, const ValidityOptions& options)
      : distances_(distances), options_(options), points_(labels.size()) {
    if (!(options.dimension > 0))
      throw UsageError("dimension: " + number_text(options.dimension) + "; allowed: above 0");
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] < 0) continue;
      if (static_cast<std::size_t>(labels[i]) >= labels.size())
        throw InputError("label " + std::to_string(labels[i]) + " of " + std::to_string(labels.size()) +
                         " points; allowed: below their number");
      const auto label = static_cast<std::size_t>(labels[i]);
      if (label >= clusters_.size()) clusters_.resize(label + 1);
      clusters_[label].push_back(static_cast<std::uint32_t>(i));
    }
  }

  [[nodiscard]] Validity run() {
    std::vector<ClusterTree> trees(clusters_.size());
    for (std::size_t c = 0; c < clusters_.size(); ++c) {
      if (clusters_[c].size() > 1) trees[c] = make_tree(distances_.prepare(clusters_[c]));
      if (options_.progress)
        options_.progress(0.5 * static_cast<double>(c + 1) / static_cast<double>(clusters_.size()));
    }
    const std::vector<double> separation = separations(trees);
    Validity out;
    for (std::size_t c = 0; c < clusters_.size(); ++c) {
      if (clusters_[c].size() < 2) {
        out.by_cluster.push_back(std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      const double sparse = trees[c].sparseness;
      const double greater = std::max(separation[c], sparse);
      out.by_cluster.push_back(greater > 0 ? (separation[c] - sparse) / greater : 0);
      out.index += static_cast<double>(clusters_[c].size()) / static_cast<double>(points_) * out.by_cluster.back();
    }
    return out;
  }

 private:
  /// Returns the core distances of a cluster's points: generalised means of their distances to all others.
  [[nodiscard]] std::vector<double> core_distances(const Distances::List& list) const {
    const std::size_t m = list.points.size();
    std::vector<double> cores(m);
    if (options_.raw_distances) return cores;
    share_loop(options_.threads, m, [&](std::size_t begin, std::size_t end) {
      std::vector<double> to(list.room);
      for (std::size_t i = begin; i < end; ++i) {
        distances_.write(list.points[i], list, to.data());
        // Powers relative to the least distance, so that none overflows in many dimensions.
        double least = kInfinity;
        for (std::size_t j = 0; j < m; ++j)
          if (to[j] > 0) least = std::min(least, to[j]);
        double sum = 0;
        for (std::size_t j = 0; j < m; ++j)
          if (to[j] > 0) sum += power(least / to[j], options_.dimension);
        if (sum > 0) cores[i] = least * std::pow(sum / static_cast<double>(m - 1), -1 / options_.dimension);
      }
    });
    return cores;
  }

  /// Computes the tree of mutual reachability of a cluster by Prim's algorithm, and its inner points.
  [[nodiscard]] ClusterTree make_tree(const Distances::List& list) const {
    constexpr double kRelative = 1e-5;  // tolerances by which edges count as equal, those of numpy.isclose
    constexpr double kAbsolute = 1e-8;
    const std::size_t m = list.points.size();
    const std::vector<double> cores = core_distances(list);
    std::vector<double> best(m, kInfinity);
    std::vector<std::size_t> source(m);  // point of the tree at distance best
    std::vector<double> to(list.room);
    std::vector<std::uint8_t> in_tree(m);
    std::vector<std::uint32_t> degree(m);
    struct Edge {
      std::size_t a, b;
      double weight;
    };
    std::vector<Edge> edges;
    std::size_t newest = 0;
    for (std::size_t step = 0;; ++step) {
      distances_.write(list.points[newest], list, to.data());
      for (std::size_t j = 0; j < m; ++j) to[j] = std::max({to[j], cores[newest], cores[j]});
      if (step > 0) {
        const double weight = best[newest];
        std::size_t other = 0;
        while (other < m && (in_tree[other] == 0 || !(std::fabs(to[other] - weight) <= kAbsolute + kRelative * weight)))
          ++other;
        if (other == m) other = source[newest];  // distances that differ by more than the tolerance both ways
        edges.push_back({other, newest, weight});
        ++degree[other];
        ++degree[newest];
      }
      in_tree[newest] = 1;
      if (step + 1 == m) break;
      std::size_t next = m;
      for (std::size_t j = 0; j < m; ++j) {
        if (in_tree[j] != 0) continue;
        if (to[j] < best[j]) {
          best[j] = to[j];
          source[j] = newest;
        }
        if (next == m || best[j] < best[next]) next = j;
      }
      newest = next;
      if (options_.progress && step % 256 == 0) options_.progress(0);
    }
    ClusterTree tree;
    for (std::size_t i = 0; i < m; ++i)
      if (degree[i] > 1) add_inner(list, cores, i, tree);
    if (tree.inner.empty()) add_inner(list, cores, 0, tree);
    double inner = -1;
    for (const Edge& e : edges) {
      tree.sparseness = std::max(tree.sparseness, e.weight);
      if (degree[e.a] > 1 && degree[e.b] > 1) inner = std::max(inner, e.weight);
    }
    if (inner >= 0) tree.sparseness = inner;
    return tree;
  }
  /// Adds point i of a list to the inner points of a tree.
  static void add_inner(const Distances::List& list, const std::vector<double>& cores, std::size_t i,
                        ClusterTree& tree) {
    tree.inner.push_back(list.points[i]);
    tree.cores.push_back(cores[i]);
  }

  /// Returns for each cluster the least mutual reachability of its inner points to those of another; infinite without one.
  [[nodiscard]] std::vector<double> separations(const std::vector<ClusterTree>& trees) const {
    std::vector<double> least(trees.size(), kInfinity);
    std::mutex guard;
    for (std::size_t c = 0; c < trees.size(); ++c) {
      if (trees[c].inner.empty()) continue;
      const Distances::List list = distances_.prepare(trees[c].inner);
      // Each pair of clusters once: inner points of this one from those of all earlier ones.
      for (std::size_t other = 0; other < c; ++other) {
        double both = kInfinity;
        share_loop(options_.threads, trees[other].inner.size(), [&](std::size_t begin, std::size_t end) {
          const double mine = nearest_of(list, trees[c].cores, trees[other], begin, end);
          const std::lock_guard lock(guard);
          both = std::min(both, mine);
        });
        least[c] = std::min(least[c], both);
        least[other] = std::min(least[other], both);
      }
      if (options_.progress)
        options_.progress(0.5 + 0.5 * static_cast<double>(c + 1) / static_cast<double>(trees.size()));
    }
    return least;
  }
  /// Returns the least mutual reachability of the points of a list and some inner points of another cluster.
  [[nodiscard]] double nearest_of(const Distances::List& list, const std::vector<double>& cores,
                                  const ClusterTree& other, std::size_t begin, std::size_t end) const {
    std::vector<double> to(list.room);
    double least = kInfinity;
    for (std::size_t i = begin; i < end; ++i) {
      if (other.cores[i] >= least) continue;
      distances_.write(other.inner[i], list, to.data());
      for (std::size_t j = 0; j < list.points.size(); ++j)
        least = std::min(least, std::max({to[j], cores[j], other.cores[i]}));
    }
    return least;
  }

  const Distances& distances_;
  const ValidityOptions& options_;
  std::size_t points_;             // number of all points
  std::vector<Members> clusters_;  // by label: its points
};

/// Throws unless there is a label for each point. @throws InputError
void check_labels(std::size_t labels, std::size_t points) {
  if (labels != points)
    throw InputError(std::to_string(labels) + " labels of " + std::to_string(points) +
                     " points; allowed: one for each");
}

/// Throws unless distances are finite, 0 and more, and the same both ways up to rounding. @throws InputError
void check_distances(std::span<const double> distances, std::size_t n) {
  double most = 0;
  for (const double d : distances) {
    if (!(d >= 0) || std::isinf(d))
      throw InputError("a distance of " + number_text(d) + "; allowed: finite numbers from 0");
    most = std::max(most, d);
  }
  constexpr std::size_t kBlock = 64;  // rows and columns that are compared together, so that caches hold both
  for (std::size_t rows = 0; rows < n; rows += kBlock)
    for (std::size_t columns = 0; columns <= rows; columns += kBlock)
      for (std::size_t i = rows; i < std::min(n, rows + kBlock); ++i)
        for (std::size_t j = columns; j < std::min(i, columns + kBlock); ++j) {
          const double a = distances[i * n + j];
          const double b = distances[j * n + i];
          if (!(std::fabs(a - b) <= 1e-5 * std::max(a, b) + 1e-8 * most))
            throw InputError("distances of points " + std::to_string(j) + " and " + std::to_string(i) + ": " +
                             number_text(b) + " one way, " + number_text(a) +
                             " the other; allowed: the same both ways");
        }
}

}  // namespace

// Validity index of points in their metric.
Validity validity_index(const PointSet& points, std::span<const std::int64_t> labels, const ValidityOptions& options) {
  const MetricDistances distances(points);
  check_labels(labels.size(), distances.size());
  ValidityOptions own = options;
  if (own.dimension == 0) own.dimension = points.dimension;
  return Index(distances, labels, own).run();
}

// Validity index from a matrix of distances.
Validity validity_of_distances(std::span<const double> distances, std::span<const std::int64_t> labels,
                               const ValidityOptions& options) {
  if (distances.size() != labels.size() * labels.size())
    throw InputError(std::to_string(distances.size()) + " distances of " + std::to_string(labels.size()) +
                     " labelled points; allowed: " + std::to_string(labels.size()) + " for each");
  check_distances(distances, labels.size());
  return Index(MatrixDistances(distances, labels.size()), labels, options).run();
}

}  // namespace merganser::msf
