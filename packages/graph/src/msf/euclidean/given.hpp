#pragma once
/// Checked input of spanning trees of points: options, and this rank's points with their ids and canonical coordinates.

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/msf/euclidean.hpp"
#include "src/msf/euclidean/metric.hpp"

namespace merganser::msf::euclidean {

/// Checks that options are in range and the same on all ranks. Collective. @throws UsageError on every rank
void check_uniform_options(const EuclideanOptions& options, comm::Transport& transport);
/// Returns the most points in a leaf of the tree. In more dimensions boxes exclude less, and larger leaves are faster.
inline std::uint32_t leaf_capacity(const EuclideanOptions& options, std::size_t axes) {
  if (options.leaf != 0) return static_cast<std::uint32_t>(options.leaf);
  if (axes <= 3) return 24;
  return axes <= 6 ? 48 : 64;
}

/// Returns the norm by which distances of a metric are compared.
[[nodiscard]] Norm to_norm(Distance metric);

/// View of this rank's points as given, with their ids and the coordinates that are compared.
class Given {
 public:
  /// Validates the points of all ranks. Collective. `points` must outlive the object. @throws InputError on every rank
  Given(const PointSet& points, comm::Transport& transport);

  /// Returns the number of points on this rank.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the number of points on all ranks.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// Returns the id of point i of this rank: given, or numbered by rank, then position.
  [[nodiscard]] std::uint64_t id(std::size_t i) const { return points_.ids.empty() ? first_ + i : points_.ids[i]; }
  /// Returns the number of coordinates that are compared: 3 on a sphere, else the dimension.
  [[nodiscard]] std::size_t axes() const { return axes_; }
  /// Writes the axes() coordinates of point i that are compared to `to`: wrapped, on the unit sphere, tiny ones as 0.
  void write_coordinates(std::size_t i, double* to) const;
  /// Returns the coordinates of point i that are compared, with zeros on further axes.
  template <std::size_t D>
  [[nodiscard]] Place<D> at(std::size_t i) const {
    Place<D> at{};
    write_coordinates(i, at.data());
    return at;
  }
  /// Returns the period of each axis, infinite for axes that are not periodic.
  [[nodiscard]] const std::vector<double>& periods() const { return periods_; }
  [[nodiscard]] bool periodic() const { return !points_.periods.empty(); }
  [[nodiscard]] Norm norm() const { return to_norm(points_.metric); }
  /// Returns whether points lie on a sphere (great-circle distances).
  [[nodiscard]] bool sphere() const { return points_.metric == Distance::great_circle; }
  /// Returns the metric of the points.
  template <std::size_t D>
  [[nodiscard]] Metric<D> metric() const {
    Metric<D> metric;
    std::copy(periods_.begin(), periods_.end(), metric.period.begin());
    metric.any_period = periodic();
    metric.norm = norm();
    metric.sphere = sphere();
    return metric;
  }

 private:
  /// Numbers the points of all ranks. Collective. @throws InputError on every rank if only some ranks have ids
  void count_points(comm::Transport& transport);
  /// Returns the name of an axis for messages: "axis 1 (y)".
  [[nodiscard]] std::string axis_text(std::size_t axis) const;
  /// Checks coordinates and ids of this rank. Local. @throws InputError
  void check_values() const;
  /// Checks that ids of all ranks are distinct. Collective. @throws InputError on every rank
  void check_ids(comm::Transport& transport) const;
  /// Converts latitude and longitude to a point of the unit sphere.
  void place_on_sphere(const double* at, double* to) const;

  const PointSet& points_;
  std::size_t size_ = 0;
  std::size_t axes_ = 0;
  std::vector<double> periods_;
  std::uint64_t total_ = 0;
  std::uint64_t first_ = 0;  ///< number of the first point where the caller gives none
};

}  // namespace merganser::msf::euclidean
