#pragma once
/// Density-based validity index (DBCV) of any clustering of points, from the distances of all pairs.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "merganser/msf/points.hpp"

namespace merganser::msf {

/// Parameters of validity_index().
struct ValidityOptions {
  double dimension = 0;        ///< exponent of the core distances: that of the space; 0: that of the points
  bool raw_distances = false;  ///< trees of plain distances, without core distances
  int threads = 1;             ///< threads that share the pairs
  std::function<void(double)> progress =
      {};  ///< called with the share done, 0 to 1; may be empty, may throw to end the work
};

/// Validity index of a clustering, and of each cluster.
struct Validity {
  double index = 0;  ///< -1 to 1, greater is better: by_cluster weighted by size over all points, noise too
  std::vector<double> by_cluster;  ///< by label; not a number for a label without points or with one
};

/// Computes the density-based validity index (DBCV) of the clusters of points, as hdbscan.validity_index does: for each cluster the
/// greatest edge between inner points of its tree of mutual reachability (sparseness) is compared with the least mutual reachability
/// to inner points of another cluster (separation). Core distances are means over all points of the cluster. Local: all points here.
///
/// Of several trees that are minimal to 1e-5 the ends of edges are those of lowest number, so that rounding does not matter. With a
/// single cluster there is no separation: its index is not a number. A cluster of one point counts as noise.
/// @param labels  cluster by point, 0 and more; below 0 is noise
/// @throws InputError for bad points, labels of another number of points, and a label beyond the number of points; UsageError for a
/// dimension below 0
/// Cost: O(sum of m^2 d) time for clusters of m points, and the pairs of inner points; O(n d) memory
/// Source: Moulavi, Jaskowiak, Campello, Zimek, Sander, 2014 [moulavi2014]
[[nodiscard]] Validity validity_index(const PointSet& points, std::span<const std::int64_t> labels,
                                      const ValidityOptions& options);

/// Computes the density-based validity index from a matrix of distances, n numbers for each of n points; options.dimension must be
/// given. Otherwise as validity_index(). @throws InputError for a matrix of another size, with a distance that is negative or not
/// finite, or with distances that differ both ways by more than 1e-5 of the greater and 1e-8 of the greatest of all
[[nodiscard]] Validity validity_of_distances(std::span<const double> distances, std::span<const std::int64_t> labels,
                                             const ValidityOptions& options);

}  // namespace merganser::msf
