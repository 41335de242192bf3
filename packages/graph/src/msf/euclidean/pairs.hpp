#pragma once
/// Spanning trees, core distances and nearest neighbours of points of too many axes for a tree of boxes: all pairs of points are
/// compared, with vector instructions.
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/nearest/pair_scan.hpp"
#include "src/msf/euclidean/given.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

/// This rank's points in the layout of nearest::pair_distances(), for comparing all pairs: groups of 8 points, axis by axis,
/// padded.
class Slab {
 public:
  /// Copies the canonical coordinates of the first `most` of this rank's points into groups of 8.
  explicit Slab(const CheckedPoints& given, std::size_t most = ~std::size_t{0});

  /// Returns the number of this rank's points in the slab, without padding.
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  /// Returns the number of points in the slab with padding, a multiple of nearest::kPairGroup.
  [[nodiscard]] std::size_t capacity() const { return data_.size() / axes_; }
  [[nodiscard]] std::size_t axes() const { return axes_; }
  /// Returns the id of the point at position i of the slab.
  [[nodiscard]] std::uint64_t id(std::size_t i) const { return ids_[i]; }
  /// Writes the axes() coordinates of the point at position i of the slab to `to`.
  void write_coordinates(std::size_t i, double* to) const;
  /// Removes the point at position i of the slab by moving the last point to its position.
  void remove(std::size_t i);
  /// Returns a view of the slab's points for nearest::pair_distances().
  [[nodiscard]] nearest::PairPoints points() const;
  /// Returns the distance of two points for the value by which it is compared.
  [[nodiscard]] double distance(double compared) const {
    return distance_from_compared(compared, norm_, false, divisor_);
  }
  /// Returns an upper bound of the compared values of all pairs of points whose distance is at most `distance`.
  [[nodiscard]] double compared_above(double distance) const {
    return euclidean::compared_above(distance, norm_, false, divisor_);
  }

 private:
  /// Returns the position in data_ of the first coordinate of point i; those of further axes follow at strides of 8.
  [[nodiscard]] std::size_t at(std::size_t i) const { return i / 8 * 8 * axes_ + i % 8; }

  std::size_t axes_;
  std::vector<double> periods_;  ///< period of each axis, infinite for one that is not periodic; empty: none is
  Norm norm_;
  double divisor_;                  ///< what compared values are divided by for distances; 0: they are not
  std::vector<double> data_;        ///< coordinates in groups of 8 points
  std::vector<std::uint64_t> ids_;  ///< by position: id of the point
};

/// Near point of a point set to a place, as queries find it; ordered by distance, then id.
struct Near {
  double d2 = kInfinity;                 ///< distance to the place, as compared; infinite: no point
  std::uint64_t id = ~std::uint64_t{0};  ///< id of the point
  friend bool operator<(const Near& a, const Near& b) { return a.d2 != b.d2 ? a.d2 < b.d2 : a.id < b.id; }
};
/// Inserts a near point into the sorted row of the k nearest points of a place, if it is among the k nearest.
void insert_near(Near* row, std::size_t k, const Near& near);

/// Finds the k nearest points of all ranks' slabs to places of this rank, by comparing all pairs. Collective.
/// @param rows  coordinates of this rank's places, `axes` numbers each
/// @return k neighbours for each place, in order; missing ones are infinite
/// Cost: O(places of all ranks * points of this rank * axes)
[[nodiscard]] std::vector<Near> nearest_by_pairs(const Slab& slab, std::span<const double> rows, std::size_t k,
                                                 int threads, comm::Transport& transport,
                                                 const std::function<void(double)>& progress = {});

/// Predicts the time and memory of comparing all pairs of points from a short measurement, and calls options.forecast on rank 0.
/// Collective. @throws UsageError on every rank for more distances than options.most_distances, and errors of options.forecast
void forecast_pairs(const CheckedPoints& given, comm::Transport& transport, const EuclideanOptions& options,
                    double distances, Report& report);

/// Computes the core distances (to the k-th nearest point of all ranks) of this rank's points, as compared (squared for the norm of
/// squares), in the order of the input, by comparing all pairs. Collective.
[[nodiscard]] std::vector<double> cores_by_pairs(const CheckedPoints& given, const Slab& slab, int k, int threads,
                                                 comm::Transport& transport, Report& report);

/// Computes this rank's share of the minimum spanning tree of points by comparing all pairs: euclidean_forest() for more than
/// kMaxAxes axes. Collective. @throws UsageError on every rank for more distances than options.most_distances
[[nodiscard]] Forest forest_by_pairs(const CheckedPoints& given, comm::Transport& transport,
                                     const EuclideanOptions& options, Report& report, std::vector<double>* cores);
/// Computes the core distances of this rank's points by comparing all pairs: core_distances() for more than kMaxAxes axes, with
/// options.min_samples as k. Collective. @throws UsageError on every rank for more distances than options.most_distances
[[nodiscard]] std::vector<double> core_distances_by_pairs(const CheckedPoints& given, comm::Transport& transport,
                                                          const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf::euclidean
