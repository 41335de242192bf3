#pragma once
/// Points spread over ranks: arrays of a caller's, read in place, and the space that they lie in.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/choices.hpp"
#include "merganser/base/language.hpp"
#include "merganser/geometry/box.hpp"

namespace merganser::msf {

/// How far two points are from each other.
enum class Distance : std::uint8_t {
  euclidean,    ///< root of the sum of squares
  manhattan,    ///< sum of the differences
  chebyshev,    ///< greatest of the differences
  great_circle  ///< angle in radians between two places on a sphere; points are latitude, longitude
};
/// Their words: euclidean, manhattan, chebyshev, great-circle.
[[nodiscard]] Choices<Distance> distances();

/// What latitudes and longitudes are given in.
enum class Angle : std::uint8_t { radians, degrees };

/// An axis that ends where it begins. A coordinate is brought into [lower, lower + length) and counted from `lower`.
struct Period {
  int axis = 0;  ///< from 0
  double lower = 0;
  double length = 1;  ///< above 1e-140, up to 1e150

  friend bool operator==(const Period&, const Period&) = default;
};
/// The periodic axes of a box among the first `dimension` (up to 3).
[[nodiscard]] std::vector<Period> periods_of(const Box& box, int dimension);

/// What points lie in; the same on every rank.
struct PointSpace {
  int dimension = 3;  ///< coordinates of a point
  Distance metric = Distance::euclidean;
  Angle angle = Angle::radians;  ///< of great_circle
  std::vector<Period> periods;   ///< none for great_circle; each axis once

  friend bool operator==(const PointSpace&, const PointSpace&) = default;
};

/// One rank's share of a set of points: any points, in any order, in memory of the caller's.
///
/// Coordinates nearer to 0 than 1e-140 are 0, so that only equal points have a distance of 0.
struct PointSet : PointSpace {
  std::span<const double> coordinates;  ///< `dimension` numbers per point, one point after the other
  /// Each of 0 .. n - 1 on one rank, n points on all ranks together; empty on all: points are numbered by rank, then place.
  std::span<const std::uint64_t> ids;

  /// Points on this rank.
  [[nodiscard]] std::size_t size() const noexcept {
    if (!ids.empty()) return ids.size();
    return dimension > 0 ? coordinates.size() / static_cast<std::size_t>(dimension) : 0;
  }
};

/// A share of points that owns its memory; stands for a PointSet wherever one is wanted, as long as it lives.
struct Points : PointSpace {
  std::vector<double> coordinates;  ///< as PointSet::coordinates
  std::vector<std::uint64_t> ids;   ///< as PointSet::ids

  /// Points on this rank.
  [[nodiscard]] std::size_t size() const noexcept {
    if (!ids.empty()) return ids.size();
    return dimension > 0 ? coordinates.size() / static_cast<std::size_t>(dimension) : 0;
  }
  /// The same points, read in place.
  [[nodiscard]] PointSet view() const { return {*this, coordinates, ids}; }
  operator PointSet() const { return view(); }  ///< what a function that takes points is given
};

}  // namespace merganser::msf
