#pragma once
/// What a caller gave, checked: options, and the points of a rank with their numbers and canonical coordinates.

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/msf/euclidean.hpp"
#include "src/msf/euclidean/metric.hpp"

namespace merganser::msf::euclidean {

/// Options the same on all ranks and in their ranges. Collective. @throws UsageError on every rank
void check_together(const EuclideanOptions& options, comm::Transport& transport);
/// Most points in a leaf. Where boxes tell less, larger leaves leave fewer of them to look at.
inline std::uint32_t leaf_of(const EuclideanOptions& options, std::size_t axes) {
  if (options.leaf != 0) return static_cast<std::uint32_t>(options.leaf);
  if (axes <= 3) return 24;
  return axes <= 6 ? 48 : 64;
}

/// What a metric compares.
[[nodiscard]] Norm norm_of(Distance metric);

/// A rank's points as they were given, with their numbers and the coordinates that are compared.
class Given {
 public:
  /// Checks the points together. Collective. @throws InputError on every rank
  Given(const PointSet& points, comm::Transport& transport);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Points on all ranks.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t id(std::size_t i) const { return points_.ids.empty() ? first_ + i : points_.ids[i]; }
  /// Coordinates of a point where it is compared: 3 on a sphere, else the dimension.
  [[nodiscard]] std::size_t axes() const { return axes_; }
  /// Coordinates as they are compared: see PointSet.
  void place(std::size_t i, double* to) const;
  template <std::size_t D>
  [[nodiscard]] Place<D> at(std::size_t i) const {
    Place<D> at{};
    place(i, at.data());
    return at;
  }
  /// Period of each axis, infinite without one.
  [[nodiscard]] const std::vector<double>& periods() const { return periods_; }
  [[nodiscard]] bool periodic() const { return !points_.periods.empty(); }
  [[nodiscard]] Norm norm() const { return norm_of(points_.metric); }
  [[nodiscard]] bool sphere() const { return points_.metric == Distance::great_circle; }
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
  void number(comm::Transport& transport);
  /// What the error calls an axis of the points: "axis 1 (y)".
  [[nodiscard]] std::string axis_text(std::size_t axis) const;
  void check_values() const;
  void check_ids(comm::Transport& transport) const;
  void place_on_sphere(const double* at, double* to) const;

  const PointSet& points_;
  std::size_t size_ = 0;
  std::size_t axes_ = 0;
  std::vector<double> periods_;
  std::uint64_t total_ = 0;
  std::uint64_t first_ = 0;  ///< number of the first point where the caller gives none
};

}  // namespace merganser::msf::euclidean
