#pragma once
/// Checked input of spanning trees of points: options, and this rank's points with their ids and canonical coordinates (wrapped, or
/// on the unit sphere).

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/msf/euclidean.hpp"
#include "src/msf/euclidean/search_names.hpp"
#include "src/msf/euclidean/stretch.hpp"

namespace merganser::msf::euclidean {

/// Checks that the options of a spanning tree of points are in range and the same on all ranks. Collective. @throws UsageError on
/// every rank
void check_uniform_options(const EuclideanOptions& options, comm::Transport& transport);
/// Returns the largest number of points in a leaf of the tree of boxes: the option, or a default by the number of axes. In more
/// dimensions boxes exclude less, and larger leaves are faster.
inline std::uint32_t leaf_capacity(const EuclideanOptions& options, std::size_t axes) {
  if (options.leaf != 0) return static_cast<std::uint32_t>(options.leaf);
  return axes <= 6 ? 48 : 64;
}

/// Returns the norm by which distances between points are compared in a metric: sums of squares, sums or maxima of separations.
[[nodiscard]] Norm to_norm(Distance metric);
/// Returns what compared values are divided by for the distance of a metric (Metric::divisor); 0: they are not.
[[nodiscard]] double to_divisor(const PointSpace& space);

/// Checked view of this rank's points of a spanning tree in the caller's memory, with their ids and the coordinates that are
/// compared.
class CheckedPoints {
 public:
  /// Validates the points of all ranks: space, sizes, coordinates, ids. Collective. `points` must outlive the object. @throws
  /// InputError on every rank
  CheckedPoints(const PointSet& points, comm::Transport& transport);

  /// Returns the number of points of the spanning tree's input on this rank.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the number of points of the spanning tree's input on all ranks.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// Returns the id of point i of this rank: that of the caller, or a number by rank, then position.
  [[nodiscard]] std::uint64_t id(std::size_t i) const { return points_.ids.empty() ? first_ + i : points_.ids[i]; }
  /// Returns the number of coordinates of a point that are compared: 3 on a sphere, else the dimension.
  [[nodiscard]] std::size_t axes() const { return axes_; }
  /// Writes the axes() coordinates of this rank's point i that are compared to `to`: wrapped, on the unit sphere, divided
  /// by their length, tiny ones as 0.
  void write_coordinates(std::size_t i, double* to) const;
  /// Returns the coordinates of this rank's point i that are compared, with zeros on further axes up to D.
  template <std::size_t D>
  [[nodiscard]] Place<D> at(std::size_t i) const {
    Place<D> at{};
    write_coordinates(i, at.data());
    return at;
  }
  /// Returns the period of each axis that is compared, infinite for axes that are not periodic.
  [[nodiscard]] const std::vector<double>& periods() const { return periods_; }
  /// Returns whether the point set has a periodic axis.
  [[nodiscard]] bool periodic() const { return !points_.periods.empty(); }
  /// Returns the norm by which distances between the points are compared.
  [[nodiscard]] Norm norm() const { return to_norm(points_.metric); }
  /// Returns what compared values are divided by for the distances between the points; 0: they are not.
  [[nodiscard]] double divisor() const { return to_divisor(points_); }
  /// Returns the distance of two points for the value by which it is compared.
  [[nodiscard]] double distance(double compared) const {
    return distance_from_compared(compared, norm(), sphere(), divisor());
  }
  /// Returns the metric of the points with a number by which their distances are divided.
  [[nodiscard]] Stretch stretch(double alpha) const { return {alpha, norm(), sphere(), divisor()}; }
  /// Returns whether points lie on a sphere (great-circle distances).
  [[nodiscard]] bool sphere() const { return points_.metric == Distance::great_circle; }
  /// Returns the metric of the points for distances over D axes, with their periods.
  template <std::size_t D>
  [[nodiscard]] Metric<D> metric() const {
    Metric<D> metric;
    std::copy(periods_.begin(), periods_.end(), metric.period.begin());
    metric.any_period = periodic();
    metric.norm = norm();
    metric.sphere = sphere();
    metric.divisor = divisor();
    return metric;
  }

 private:
  /// Counts the points of all ranks and numbers those without ids. Collective. @throws InputError on every rank if only some ranks
  /// have ids
  void count_points(comm::Transport& transport);
  /// Returns the name of an axis of the points for error messages: "axis 1 (y)".
  [[nodiscard]] std::string axis_text(std::size_t axis) const;
  /// Validates the coordinates, latitudes and ids of this rank's points. Local. @throws InputError for values out of range
  void check_values() const;
  /// Checks that the ids of all ranks' points are distinct, by sums of hashes. Collective. @throws InputError on every rank
  void check_ids(comm::Transport& transport) const;
  /// Converts the latitude and longitude `at`, in the caller's unit, to a point `to` of the unit sphere in three coordinates.
  void place_on_sphere(const double* at, double* to) const;
  /// Validates the rows of this rank's points for the cosine and correlation distances and for bits. Local. @throws InputError for
  /// a row without a direction, and for a coordinate of bits other than 0 and 1
  void check_rows() const;

  const PointSet& points_;       ///< this rank's points in the caller's memory
  std::size_t size_ = 0;         ///< points on this rank
  std::size_t axes_ = 0;         ///< coordinates that are compared
  std::vector<double> periods_;  ///< by axis that is compared; infinite: not periodic
  std::uint64_t total_ = 0;      ///< points on all ranks
  std::uint64_t first_ = 0;      ///< id of this rank's first point where the caller gives no ids
};

}  // namespace merganser::msf::euclidean
