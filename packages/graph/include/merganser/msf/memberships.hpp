#pragma once
/// Soft memberships of HDBSCAN*: for each point the probability that it belongs to each of the selected clusters.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/msf/cluster_scores.hpp"
#include "merganser/msf/points.hpp"

namespace merganser::msf {

/// Tables from which memberships are computed: small ones by cluster, the same on every rank, which need no point but the exemplars.
struct MembershipTables {
  PointSpace space;                     ///< space of the points
  std::vector<std::uint32_t> parent;    ///< by cluster of the condensed tree: its parent, of lower number
  std::vector<double> birth;            ///< by cluster: lambda at which it is born
  std::vector<double> last;             ///< by cluster: greatest lambda at which a point or a child leaves it
  std::vector<std::uint32_t> selected;  ///< by label: the selected cluster
  std::vector<std::uint64_t> begin;     ///< by label: its first exemplar; one more at the end, as Exemplars::begin
  std::vector<double> exemplars;        ///< coordinates of the exemplars, label after label
};
/// Makes the tables of memberships but for the coordinates of the exemplars, which the caller takes from its points. Local.
/// @param found  exemplars of the tree, as exemplars() returns them
/// @throws InputError for a selected cluster that the tree does not have
[[nodiscard]] MembershipTables membership_tables(const CondensedTree& tree, std::span<const std::uint32_t> selected,
                                                 const PointSpace& space, const Exemplars& found);

/// Points for which soft cluster memberships are computed. Refers to arrays of the caller, which must live during the call.
struct MembershipQuery {
  std::span<const double> coordinates;  ///< by point: its coordinates
  std::span<const std::uint32_t>
      cluster_of;                  ///< by point: cluster of the condensed tree that it, or what it joins, leaves last
  std::span<const double> lambda;  ///< by point: lambda at which it leaves that cluster
};

/// Formula of memberships, as hdbscan has two.
enum class MembershipRule : std::uint8_t {
  fitted,  ///< all_points_membership_vectors: share of (1 / distance) times exp(exp(-most / height))
  fresh    ///< membership_vector: share of sqrt(1 / distance) times exp(2 most / (most - height))
};

/// Greatest memberships of each point, in descending order, equal ones by label; as Memberships::top() returns them.
struct TopMemberships {
  std::size_t width = 0;             ///< memberships per point
  std::vector<std::int32_t> labels;  ///< by point, then rank of the membership: the cluster
  std::vector<double> values;        ///< by point, then rank of the membership: the membership
};

/// Memberships of points in the selected clusters of HDBSCAN*. Local: any rank computes those of its points from the same tables, and
/// the bits do not depend on how points are distributed. Thread-safe.
///
/// A membership is the product of three terms: nearness, from the distance to the nearest exemplar of the cluster; depth, from the
/// lambda (`height`) at which the point's cluster and the selected one part, relative to the greatest lambda `most` of the point's
/// cluster; each as a share of its sum over the clusters; and the probability that the point is in some cluster. Those of one point
/// add up to the latter.
class Memberships {
 public:
  /// Prepares the tables. @throws InputError for tables whose lengths do not fit each other, and bad coordinates
  explicit Memberships(MembershipTables tables);
  ~Memberships();
  Memberships(Memberships&&) noexcept;
  Memberships& operator=(Memberships&&) noexcept;

  /// Returns the number of selected clusters.
  [[nodiscard]] std::size_t clusters() const noexcept;
  /// Computes the memberships of points in all clusters, row after row: clusters() numbers for each point. Cost: time of the distance
  /// of each point to each exemplar; 8 bytes per point and cluster.
  /// @throws InputError for bad coordinates, and lengths that do not fit
  [[nodiscard]] std::vector<double> all(const MembershipQuery& points, MembershipRule rule, int threads = 1) const;
  /// Computes the `most` greatest memberships of each point, or all if there are fewer clusters. Time as all(), memory 12 bytes per
  /// point and membership. @throws UsageError for `most` below 1, and errors of all()
  [[nodiscard]] TopMemberships top(const MembershipQuery& points, MembershipRule rule, std::size_t most,
                                   int threads = 1) const;

 private:
  class Tables;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace merganser::msf
