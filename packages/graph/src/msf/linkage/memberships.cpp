// Soft memberships of HDBSCAN*: nearness to exemplars, depth in the condensed tree, and the probability of any cluster.
#include "merganser/msf/memberships.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/base/parallel.hpp"
#include "merganser/comm/open.hpp"
#include "src/msf/euclidean/pairs.hpp"
#include "src/msf/euclidean/sites.hpp"
#include "src/msf/linkage/condensed_lambdas.hpp"

namespace merganser::msf {
namespace {

/// Smallest difference of lambdas that memberships of new points divide by, and the addend by which divisions by 0 are avoided: both
/// as in hdbscan.
constexpr double kTiny = 1e-8;

/// Returns a / b of two lambdas, 1 if both are infinite: the point is as deep as any.
double ratio(double a, double b) { return std::isinf(a) && std::isinf(b) ? 1 : a / b; }

/// Throws unless a condition on the tables or points of memberships holds. @throws InputError
void require(bool holds, const char* what) {
  if (!holds) throw InputError(std::string("memberships: ") + what);
}

}  // namespace

// Tables of memberships from the condensed tree.
MembershipTables membership_tables(const CondensedTree& tree, std::span<const std::uint32_t> selected,
                                   const PointSpace& space, const Exemplars& found) {
  MembershipTables tables{space, {}, {}, last_lambdas(tree), {selected.begin(), selected.end()}, found.begin, {}};
  for (const auto& cluster : tree.clusters) {
    tables.parent.push_back(cluster.parent);
    tables.birth.push_back(cluster.birth);
  }
  for (const std::uint32_t cluster : selected)
    require(cluster < tables.parent.size(), "a selected cluster that the tree does not have; allowed: its clusters");
  return tables;
}

/// Tables of memberships prepared for queries: exemplars in the layout of vectorised scans.
class Memberships::Tables {
 public:
  explicit Tables(MembershipTables given)
      : of_(std::move(given)),
        alone_(comm::open_alone()),
        set_{of_.space, of_.exemplars, {}},
        checked_((check(of_), set_), *alone_),
        slab_(checked_),
        sites_(checked_, *alone_),
        unlimited_(slab_.capacity(), kInfinity) {}

  [[nodiscard]] std::size_t labels() const { return of_.selected.size(); }

  /// Work space of one thread: rows by label, and the merge lambdas of one cluster of the condensed tree.
  struct Scratch {
    explicit Scratch(const Tables& tables)
        : compared(tables.unlimited_.size()),
          row(tables.labels()),
          depth(row.size()),
          height(row.size()),
          related(row.size()),
          merge(tables.of_.parent.size()) {}
    std::vector<double> compared;       ///< by exemplar: its distance to the point, as compared
    std::vector<double> row;            ///< by label: membership of the point
    std::vector<double> depth;          ///< by label: term of depth, where it is not `related`
    std::vector<double> height;         ///< by label: lambda at which its cluster and the point's part
    std::vector<std::uint8_t> related;  ///< by label: 1: one of the two clusters contains the other
    std::vector<double> merge;          ///< by cluster of the tree: lambda at which it parts; negative: related
    std::uint32_t cluster = ~0U;        ///< cluster of the condensed tree that the terms of depth are of
    double greatest = 0;                ///< greatest height of labels that are not related
    std::size_t greatest_at = 0;        ///< first label of that height
  };

  /// Computes the memberships of one point of the query into scratch.row.
  void compute(const MembershipQuery& points, const double* place, std::size_t i, MembershipRule rule,
               Scratch& scratch) const {
    const std::uint32_t cluster = points.cluster_of[i];
    if (scratch.cluster != cluster) set_cluster(cluster, rule, scratch);
    const double lambda = points.lambda[i];
    const double inside = depth(cluster, lambda, rule);
    write_nearness(place, rule, scratch);
    // Terms of depth are compared with the greatest one, so that no exponential overflows.
    double deepest = -kInfinity;
    for (std::size_t j = 0; j < labels(); ++j)
      deepest = std::max(deepest, scratch.related[j] != 0 ? inside : scratch.depth[j]);
    const double power = rule == MembershipRule::fresh ? 2 : 1;
    double sum = 0;
    for (std::size_t j = 0; j < labels(); ++j) {
      const double term = scratch.related[j] != 0 ? inside : scratch.depth[j];
      scratch.row[j] *= term == deepest ? 1 : std::exp(power * (term - deepest));
      sum += scratch.row[j];
    }
    const double some = in_some_cluster(lambda, rule, scratch);
    for (double& x : scratch.row) x = sum > 0 ? x / sum * some : 0;
  }

  /// Calls take(point, row, scratch) for every point of a query, concurrently, with its memberships.
  void for_each(const MembershipQuery& points, MembershipRule rule, int threads, const auto& take) const {
    const std::size_t n = points.lambda.size();
    require(points.cluster_of.size() == n, "clusters of another number of points; allowed: one for each");
    for (const std::uint32_t c : points.cluster_of)
      require(c < of_.parent.size(), "a cluster that the tree does not have; allowed: its clusters");
    const PointSet set{of_.space, points.coordinates, {}};
    const auto alone = comm::open_alone();
    const euclidean::CheckedPoints checked(set, *alone);
    require(checked.size() == n, "coordinates of another number of points; allowed: those of each");
    if (labels() == 0) return;
    // Points of one cluster follow each other, since the terms of depth are those of their cluster.
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return points.cluster_of[a] < points.cluster_of[b]; });
    share_loop(threads, n, [&](std::size_t begin, std::size_t end) {
      Scratch scratch(*this);
      std::vector<double> place(checked.axes());
      for (std::size_t i = begin; i < end; ++i) {
        checked.write_coordinates(order[i], place.data());
        compute(points, place.data(), order[i], rule, scratch);
        take(order[i], scratch);
      }
    });
  }

 private:
  /// Validates the lengths and numbers of tables. @throws InputError
  static void check(const MembershipTables& t) {
    require(t.birth.size() == t.parent.size() && t.last.size() == t.parent.size(),
            "tables of clusters of different lengths; allowed: one entry for each cluster");
    require(t.begin.size() == t.selected.size() + 1 && t.begin.front() == 0 &&
                std::is_sorted(t.begin.begin(), t.begin.end()),
            "bounds of exemplars that do not ascend from 0; allowed: one for each label, and their number");
    require(t.exemplars.size() == t.begin.back() * static_cast<std::size_t>(std::max(t.space.dimension, 0)),
            "coordinates of another number of exemplars; allowed: those of each");
    for (std::size_t c = 1; c < t.parent.size(); ++c)
      require(t.parent[c] < c, "a parent of a higher number; allowed: a lower one");
    for (const auto c : t.selected)
      require(c < t.parent.size(), "a selected cluster beyond the tables; allowed: one of them");
  }

  /// Returns the logarithm of the term of depth of a label that parts from a cluster at a lambda.
  [[nodiscard]] double depth(std::uint32_t cluster, double height, MembershipRule rule) const {
    const double most = of_.last[cluster];
    if (rule == MembershipRule::fitted) return std::exp(-ratio(most + kTiny, height));
    const double rest = most - height;
    return ratio(most, rest > 0 ? rest : kTiny);  // both infinite: not a number is not above 0
  }

  /// Sets the terms of depth of all labels for points of a cluster of the condensed tree.
  void set_cluster(std::uint32_t cluster, MembershipRule rule, Scratch& s) const {
    // On the way from the root to the cluster, and below the cluster, one contains the other; what branches off that way parts where
    // the branch is born. Parents have lower numbers, so that one ascending pass suffices.
    std::fill(s.merge.begin(), s.merge.end(), kInfinity);
    for (std::uint32_t c = cluster; c != 0; c = of_.parent[c]) s.merge[c] = -1;
    s.merge[0] = -1;
    for (std::uint32_t c = 1; c < s.merge.size(); ++c) {
      if (s.merge[c] < 0) continue;
      const std::uint32_t p = of_.parent[c];
      const bool below = p == cluster || s.merge[p] == -2;
      s.merge[c] = below ? -2 : s.merge[p] == -1 ? of_.birth[c] : s.merge[p];
    }
    s.greatest = -1;
    for (std::size_t j = 0; j < labels(); ++j) {
      s.height[j] = s.merge[of_.selected[j]];
      s.related[j] = s.height[j] < 0 ? 1 : 0;
      if (s.related[j] != 0) continue;
      s.depth[j] = depth(cluster, s.height[j], rule);
      if (s.height[j] > s.greatest) {
        s.greatest = s.height[j];
        s.greatest_at = j;
      }
    }
    s.cluster = cluster;
  }

  /// Returns the least compared distance of a place to the exemplars from `begin` to `end` - 1, after pair_distances().
  [[nodiscard]] double least_of(const double* place, std::size_t begin, std::size_t end, const Scratch& s) const {
    if (of_.space.metric == Distance::great_circle) {
      double least = kInfinity;
      for (std::size_t e = begin; e < end; ++e)
        least = std::min(least, sites_.compared_from_pair(s.compared[e], place, sites_.at(e)));
      return least;
    }
    // Eight minima at once, which the compiler makes vectors of.
    std::array<double, 8> least;
    least.fill(kInfinity);
    const double* const to = s.compared.data();
    for (; begin + 8 <= end; begin += 8)
      for (std::size_t i = 0; i < 8; ++i) least[i] = to[begin + i] < least[i] ? to[begin + i] : least[i];
    for (; begin < end; ++begin) least[0] = std::min(least[0], to[begin]);
    return *std::min_element(least.begin(), least.end());
  }

  /// Writes the terms of nearness of all labels to a row: 1 / distance to the nearest exemplar, or its root; of labels at distance 0
  /// 1, and then 0 of all others.
  void write_nearness(const double* place, MembershipRule rule, Scratch& s) const {
    nearest::pair_distances(slab_.points(), place, unlimited_.data(), 0, unlimited_.size(), s.compared.data());
    bool touches = false;
    for (std::size_t j = 0; j < labels(); ++j) {
      s.row[j] = sites_.weight(least_of(place, of_.begin[j], of_.begin[j + 1], s));
      touches = touches || s.row[j] == 0;
    }
    for (double& x : s.row) {
      if (touches)
        x = x == 0 ? 1 : 0;
      else
        x = rule == MembershipRule::fresh ? std::sqrt(1 / x) : 1 / x;
    }
  }

  /// Returns the probability that a point of a lambda is in some cluster, after set_cluster().
  [[nodiscard]] double in_some_cluster(double lambda, MembershipRule rule, const Scratch& s) const {
    double height = s.greatest;
    std::size_t at = s.greatest_at;
    // At equal lambdas the first label counts, as in hdbscan, but not one of infinite lambdas, of which this one's share is 0, where
    // the point is in another label.
    const auto precedes = [&](std::size_t j) {
      return j < at || (s.related[at] == 0 && std::isinf(of_.last[of_.selected[at]]));
    };
    for (std::size_t j = 0; j < labels(); ++j)
      if (s.related[j] != 0 && (lambda > height || (lambda == height && precedes(j)))) {
        height = lambda;
        at = j;
      }
    const double most = std::max(lambda, of_.last[of_.selected[at]]);
    return most == 0 ? 1 : ratio(height, rule == MembershipRule::fresh ? most + kTiny : most);
  }

  MembershipTables of_;
  std::unique_ptr<comm::Transport> alone_;
  PointSet set_;  ///< exemplars, as a point set
  euclidean::CheckedPoints checked_;
  euclidean::Slab slab_;           ///< exemplars in groups of 8, label after label
  euclidean::Sites sites_;         ///< exemplars one by one, for the metric
  std::vector<double> unlimited_;  ///< limits of pair_distances(): none
};

Memberships::Memberships(MembershipTables tables) : tables_(std::make_unique<Tables>(std::move(tables))) {}
Memberships::~Memberships() = default;
Memberships::Memberships(Memberships&&) noexcept = default;
Memberships& Memberships::operator=(Memberships&&) noexcept = default;

std::size_t Memberships::clusters() const noexcept { return tables_->labels(); }

// Memberships in all clusters.
std::vector<double> Memberships::all(const MembershipQuery& points, MembershipRule rule, int threads) const {
  const std::size_t width = clusters();
  std::vector<double> out(points.lambda.size() * width);
  tables_->for_each(points, rule, threads, [&](std::size_t i, const Tables::Scratch& s) {
    std::copy(s.row.begin(), s.row.end(), out.begin() + static_cast<std::ptrdiff_t>(i * width));
  });
  return out;
}

// Greatest memberships alone, so that memory does not grow with the number of clusters.
TopMemberships Memberships::top(const MembershipQuery& points, MembershipRule rule, std::size_t most,
                                int threads) const {
  if (most < 1) throw UsageError("memberships: the 0 greatest of each point; allowed: 1 and more");
  TopMemberships out{std::min(most, clusters()), {}, {}};
  out.labels.resize(points.lambda.size() * out.width);
  out.values.resize(out.labels.size());
  tables_->for_each(points, rule, threads, [&](std::size_t i, const Tables::Scratch& s) {
    std::int32_t* const labels = out.labels.data() + i * out.width;
    double* const values = out.values.data() + i * out.width;
    std::size_t found = 0;
    for (std::size_t j = 0; j < s.row.size(); ++j) {
      if (found == out.width && (found == 0 || !(s.row[j] > values[found - 1]))) continue;
      // Insertion into the descending row; labels ascend, so that equal memberships stay in the order of labels.
      std::size_t at = found < out.width ? found++ : found - 1;
      for (; at > 0 && values[at - 1] < s.row[j]; --at) {
        values[at] = values[at - 1];
        labels[at] = labels[at - 1];
      }
      values[at] = s.row[j];
      labels[at] = static_cast<std::int32_t>(j);
    }
  });
  return out;
}

}  // namespace merganser::msf
