#pragma once
/// Metrics of trees of points: distances between points and boxes. Distances to boxes are lower bounds of those to
/// points inside, also as rounded: they take the same steps of the canonical formula, each of which is monotone.
///
/// The canonical formula adds from the left, axis by axis: ((s0 s0 + s1 s1) + s2 s2) + ... (of the Manhattan distance
/// without squares, of the Chebyshev distance the greatest), where s is |a - b|, or the period less that if it is smaller.
/// Points of fewer axes than D have zeros on the others, which change no bit.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "merganser/base/numbers.hpp"
#include "merganser/nearest/leaf_scan.hpp"

namespace merganser::nearest {

inline constexpr std::size_t kMaxAxes = 16;  // with more axes all pairs of points are compared, without a tree of boxes
inline constexpr std::size_t kMaxLeafPoints = 64;  // most points in a leaf of a tree of boxes

/// Calls body with a compile-time number of axes: the least instantiated one that is at least `dimension` (up to kMaxAxes).
auto with_axes(std::size_t dimension, const auto& body) {
  if (dimension <= 3) return body(std::integral_constant<std::size_t, 3>());
  if (dimension <= 4) return body(std::integral_constant<std::size_t, 4>());
  if (dimension <= 6) return body(std::integral_constant<std::size_t, 6>());
  if (dimension <= 8) return body(std::integral_constant<std::size_t, 8>());
  if (dimension <= 12) return body(std::integral_constant<std::size_t, 12>());
  return body(std::integral_constant<std::size_t, 16>());
}
/// Explicit instantiations of a class, named with its kind, or of a function for the numbers of axes 3, 4, 6, 8, 12, 16.
#define MERGANSER_FOR_AXES(INSTANTIATE, NAME) \
  INSTANTIATE(NAME, 3)                        \
  INSTANTIATE(NAME, 4) INSTANTIATE(NAME, 6) INSTANTIATE(NAME, 8) INSTANTIATE(NAME, 12) INSTANTIATE(NAME, 16)
#define MERGANSER_CLASS(KIND_AND_NAME, D) template KIND_AND_NAME<D>;     // NOLINT(bugprone-macro-parentheses)
#define MERGANSER_FUNCTION(NAME, D) template decltype(NAME<D>) NAME<D>;  // NOLINT(bugprone-macro-parentheses)

/// Squared chord of two directions below which their distance is 0: nearer than 2^-40 radians (9e-13). Rows of up to 4000 axes that
/// are multiples of one are nearer than that, however they were rounded.
inline constexpr double kEqualDirections = 0x1p-80;

/// Returns the distance of two points, given the value by which distances are compared: the value itself, its square root, or the
/// angle on the sphere, for which kFarChord2 separates two formulas.
/// @param divisor  above 0: the distance is the value divided by it, without a root (Metric::divisor), or 0 below kEqualDirections
inline double distance_from_compared(double compared, Norm norm, bool sphere, double divisor = 0) {
  if (divisor > 0) return compared < kEqualDirections ? 0 : compared / divisor;
  if (norm != Norm::squares) return compared;
  if (sphere && compared > kFarChord2) return std::numbers::pi - 2 * std::asin((4 - compared) / 2);
  const double chord = std::sqrt(compared);
  return sphere ? 2 * std::asin(chord / 2) : chord;
}

/// Returns an upper bound of the values by which distances are compared, over all pairs of points whose distance is at most
/// `weight`. @param divisor  as in distance_from_compared()
inline double compared_above(double weight, Norm norm, bool sphere, double divisor = 0) {
  constexpr double kMore = 1 + 1e-12;  // exceeds the rounding errors of the conversion there and back
  if (divisor > 0) return std::max(weight * divisor * kMore, kEqualDirections);
  if (norm != Norm::squares) return weight;
  if (!sphere) return weight * weight * kMore;
  if (weight > 2.09) return 4 - 2 * std::sin(std::max(std::numbers::pi - weight, 0.0) / 2) + 1e-12;  // 120 degrees
  const double chord = 2 * std::sin(weight / 2);
  return chord * chord * kMore;
}

/// Place of a point of a PointTree: its canonical coordinates, by which distances are compared.
template <std::size_t D>
using Place = std::array<double, D>;

/// Returns a place whose coordinates all have one value.
template <std::size_t D>
constexpr Place<D> all_axes(double value) {
  Place<D> place{};
  for (double& x : place) x = value;
  return place;
}

/// Axis-aligned bounding box of points in a tree of boxes; empty: lower > upper.
template <std::size_t D>
struct Bounds {
  Place<D> lower = all_axes<D>(kInfinity);   ///< least coordinates of the points, by axis
  Place<D> upper = all_axes<D>(-kInfinity);  ///< greatest coordinates of the points, by axis

  /// Extends the bounding box of a tree node to contain a point.
  void add(const Place<D>& p) {
    for (std::size_t a = 0; a < D; ++a) {
      lower[a] = std::min(lower[a], p[a]);
      upper[a] = std::max(upper[a], p[a]);
    }
  }
  /// Extends the bounding box of a tree node to contain another box.
  void add(const Bounds& b) {
    for (std::size_t a = 0; a < D; ++a) {
      lower[a] = std::min(lower[a], b.lower[a]);
      upper[a] = std::max(upper[a], b.upper[a]);
    }
  }
  /// Returns whether the bounding box contains no point.
  [[nodiscard]] bool empty() const { return lower[0] > upper[0]; }
  /// Returns the axis along which the bounding box of points is longest, at which a tree node is split.
  [[nodiscard]] std::size_t widest() const {
    std::size_t axis = 0;
    for (std::size_t a = 1; a < D; ++a)
      if (upper[a] - lower[a] > upper[axis] - lower[axis]) axis = a;
    return axis;
  }
  /// Returns the length of the bounding box on an axis.
  [[nodiscard]] double extent(std::size_t axis) const { return upper[axis] - lower[axis]; }
};

/// Metric by which points are compared: squared distances, or distances for norms other than squares. The period of an axis that
/// is not periodic is infinite, which makes the canonical separation |a - b|. Coordinates of a periodic axis are in [0, period).
template <std::size_t D>
struct Metric {
  Place<D> period = all_axes<D>(kInfinity);  ///< by axis: its period; infinite: not periodic
  bool any_period = false;                   ///< some axis is periodic
  Norm norm = Norm::squares;
  bool sphere = false;  ///< points lie on the unit sphere, weights are angles
  double divisor = 0;   ///< above 0: weights are compared values divided by this, such as 2: half the squared chord

  /// Returns whether some axis of the points' space is periodic.
  [[nodiscard]] bool periodic() const { return any_period; }
  /// Returns whether distances are compared as sums of squares (Euclidean, or chords of the sphere) without periodic axes, for which
  /// there are faster paths.
  [[nodiscard]] bool plain() const { return !any_period && norm == Norm::squares; }
  /// Returns the distance of two points as it is compared (squared, or plain for norms other than squares); bitwise symmetric.
  [[nodiscard]] double distance2(const Place<D>& a, const Place<D>& b) const {
    Place<D> s;
    if (plain()) {
      for (std::size_t i = 0; i < D; ++i) s[i] = a[i] - b[i];
      const double d2 = squares(s);
      if (!sphere || !(d2 > kFarChord2)) return d2;
      for (std::size_t i = 0; i < D; ++i) s[i] = a[i] + b[i];
      return sphere_far_distance(squares(s));
    }
    for (std::size_t i = 0; i < D; ++i) {
      const double d = std::fabs(a[i] - b[i]);
      s[i] = std::min(std::fabs(period[i] - d), d);
    }
    return total(s);
  }
  /// Returns a lower bound of the compared distances between points of two boxes.
  [[nodiscard]] double distance2(const Bounds<D>& a, const Bounds<D>& b) const {
    Place<D> s;
    if (plain()) {
      for (std::size_t i = 0; i < D; ++i) s[i] = gap(a, b, i);
      return sphere ? sphere_lower_bound(squares(s)) : squares(s);
    }
    for (std::size_t i = 0; i < D; ++i) {
      const double far = std::max(a.upper[i] - b.lower[i], b.upper[i] - a.lower[i]);
      s[i] = std::min(gap(a, b, i), std::max(period[i] - far, 0.0));
    }
    return total(s);
  }
  /// Returns a lower bound of the compared distances between a point and points of a box.
  [[nodiscard]] double distance2(const Place<D>& p, const Bounds<D>& b) const { return distance2(Bounds<D>{p, p}, b); }
  /// Returns the weight of an edge between points, their distance, for a compared value `d2`.
  [[nodiscard]] double weight(double d2) const { return distance_from_compared(d2, norm, sphere, divisor); }
  /// Returns an upper bound of the compared values of all pairs of points whose distance is at most `distance`.
  [[nodiscard]] double compared_above(double distance) const {
    return nearest::compared_above(distance, norm, sphere, divisor);
  }

 private:
  /// Returns the length of the gap between two boxes on an axis; 0 where they overlap. Without comparisons, of which compilers make
  /// branches that no processor predicts; halving a sum of equals is exact.
  static double gap(const Bounds<D>& a, const Bounds<D>& b, std::size_t axis) {
    const double above = b.lower[axis] - a.upper[axis];
    const double below = a.lower[axis] - b.upper[axis];
    const double greater = above > below ? above : below;
    return (greater + std::fabs(greater)) * 0.5;
  }
  /// Returns the sum of the squared separations of two points, added from the left: the order is part of the canonical formula.
  static double squares(const Place<D>& s) {
    double sum = s[0] * s[0];
    for (std::size_t i = 1; i < D; ++i) sum += s[i] * s[i];
    return sum;
  }
  /// Returns the compared value for the separations of two points on all axes: their norm, accumulated from the left.
  [[nodiscard]] double total(const Place<D>& s) const {
    if (norm == Norm::squares) return squares(s);
    double sum = s[0];
    for (std::size_t i = 1; i < D; ++i) sum = norm == Norm::sum ? sum + s[i] : std::max(sum, s[i]);
    return sum;
  }
};

}  // namespace merganser::nearest
