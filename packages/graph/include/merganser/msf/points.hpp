#pragma once
/// Distributed point sets for spanning trees: views of the caller's arrays, and their space (dimension, metric, periodic axes).
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/choices.hpp"
#include "merganser/base/language.hpp"
#include "merganser/geometry/box.hpp"

namespace merganser::msf {

/// Metrics by which spanning trees measure distances between points.
enum class Distance : std::uint8_t {
  euclidean,     ///< root of the sum of the squared differences of coordinates
  manhattan,     ///< sum of the differences of coordinates
  chebyshev,     ///< greatest of the differences of coordinates
  great_circle,  ///< angle in radians between two places on a sphere; points are latitude, longitude
  /// 1 less the cosine of the angle between two rows, 0 to 2: half the squared chord of the rows divided by their lengths, or 0 for
  /// squares below 2^-80. No row may be 0
  cosine,
  /// 1 less the correlation of two rows, 0 to 2: the cosine distance of the rows less their means. No row may be constant
  correlation,
  hamming  ///< share of the coordinates that differ, 0 to 1; coordinates are 0 or 1
};
/// Returns the names of the metrics for distances between points: euclidean, manhattan, chebyshev, great-circle, cosine,
/// correlation, hamming.
[[nodiscard]] Choices<Distance> distances();

/// Units of the latitudes and longitudes of points with great-circle distances.
enum class Angle : std::uint8_t { radians, degrees };

/// Periodic axis of a point set. Coordinates on it are wrapped into [lower, lower + length).
struct Period {
  int axis = 0;       ///< number of the axis, from 0
  double lower = 0;   ///< lower end of the period, within +-1e150
  double length = 1;  ///< length of the period, above 1e-140, up to 1e150

  friend bool operator==(const Period&, const Period&) = default;
};
/// Returns the periodic axes of a box of the domain, among its first `dimension` (up to 3) axes, for a point set.
[[nodiscard]] std::vector<Period> periodic_axes(const Box& box, int dimension);

/// Space of a distributed point set: dimension, metric, periodic axes; the same on every rank.
struct PointSpace {
  int dimension = 3;  ///< coordinates of a point, 1 to 65536
  Distance metric = Distance::euclidean;
  Angle angle = Angle::radians;  ///< unit of coordinates with great_circle
  std::vector<Period> periods;   ///< periodic axes: none for great_circle and later metrics; each axis once

  friend bool operator==(const PointSpace&, const PointSpace&) = default;
};

/// View of this rank's share of a point set: any points, in any order, in memory of the caller.
///
/// Coordinates nearer to 0 than 1e-140 are 0, so that only equal points have a distance of 0.
struct PointSet : PointSpace {
  std::span<const double> coordinates;  ///< `dimension` numbers per point, one point after the other
  /// Ids of the points: each of 0 .. n - 1 on one rank, n points on all ranks together; empty on all ranks: points are numbered by
  /// rank, then position.
  std::span<const std::uint64_t> ids;

  /// Returns the number of points on this rank.
  [[nodiscard]] std::size_t size() const noexcept {
    if (!ids.empty()) return ids.size();
    return dimension > 0 ? coordinates.size() / static_cast<std::size_t>(dimension) : 0;
  }
};

/// This rank's share of a point set with memory of its own; converts to a PointSet, which is valid as long as this object.
struct Points : PointSpace {
  std::vector<double> coordinates;  ///< `dimension` numbers per point, one point after the other
  std::vector<std::uint64_t> ids;   ///< ids of the points, or empty on all ranks, as in PointSet

  /// Returns the number of points on this rank.
  [[nodiscard]] std::size_t size() const noexcept {
    if (!ids.empty()) return ids.size();
    return dimension > 0 ? coordinates.size() / static_cast<std::size_t>(dimension) : 0;
  }
  /// Returns a view of this rank's share of the point set, valid as long as this object.
  [[nodiscard]] PointSet view() const { return {*this, coordinates, ids}; }
  operator PointSet() const { return view(); }  ///< Returns a view of these points.
};

}  // namespace merganser::msf
