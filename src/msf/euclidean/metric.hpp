#pragma once
/// Distances between points and boxes. Those to boxes are lower bounds of those to what is inside, also as rounded:
/// they take the same steps of the canonical formula (Box::distance2), each of which is monotone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "merganser/geometry/box.hpp"

namespace merganser::msf::euclidean {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = 0xffffffffU;

/// What holds points; empty: lower > upper.
struct Bounds {
  Vec3 lower{kInfinity, kInfinity, kInfinity};
  Vec3 upper{-kInfinity, -kInfinity, -kInfinity};

  void add(const Vec3& p) {
    for (std::size_t a = 0; a < 3; ++a) {
      lower[a] = std::min(lower[a], p[a]);
      upper[a] = std::max(upper[a], p[a]);
    }
  }
  void add(const Bounds& b) {
    for (std::size_t a = 0; a < 3; ++a) {
      lower[a] = std::min(lower[a], b.lower[a]);
      upper[a] = std::max(upper[a], b.upper[a]);
    }
  }
  [[nodiscard]] bool empty() const { return lower[0] > upper[0]; }
  [[nodiscard]] std::size_t widest() const {
    std::size_t axis = 0;
    for (std::size_t a = 1; a < 3; ++a)
      if (upper[a] - lower[a] > upper[axis] - lower[axis]) axis = a;
    return axis;
  }
  [[nodiscard]] double extent(std::size_t axis) const { return upper[axis] - lower[axis]; }
};

/// Squared distances. The period of an axis with walls is infinite, which makes the canonical separation |a - b|.
/// Coordinates on an axis with a period lie in [0, period).
struct Metric {
  Vec3 period{kInfinity, kInfinity, kInfinity};
  bool any_period = false;

  [[nodiscard]] bool periodic() const { return any_period; }
  [[nodiscard]] double distance2(const Vec3& a, const Vec3& b) const {
    Vec3 s;
    if (!periodic()) {
      for (std::size_t i = 0; i < 3; ++i) s[i] = a[i] - b[i];
      return (s[0] * s[0] + s[1] * s[1]) + s[2] * s[2];
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const double d = std::fabs(a[i] - b[i]);
      s[i] = std::min(std::fabs(period[i] - d), d);
    }
    return (s[0] * s[0] + s[1] * s[1]) + s[2] * s[2];
  }
  [[nodiscard]] double distance2(const Bounds& a, const Bounds& b) const {
    Vec3 s;
    if (!periodic()) {
      for (std::size_t i = 0; i < 3; ++i)
        s[i] = std::max(std::max(b.lower[i] - a.upper[i], a.lower[i] - b.upper[i]), 0.0);
      return (s[0] * s[0] + s[1] * s[1]) + s[2] * s[2];
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const double gap = std::max(std::max(b.lower[i] - a.upper[i], a.lower[i] - b.upper[i]), 0.0);
      const double far = std::max(a.upper[i] - b.lower[i], b.upper[i] - a.lower[i]);
      s[i] = std::min(gap, std::max(period[i] - far, 0.0));
    }
    return (s[0] * s[0] + s[1] * s[1]) + s[2] * s[2];
  }
  [[nodiscard]] double distance2(const Vec3& p, const Bounds& b) const { return distance2(Bounds{p, p}, b); }
};

}  // namespace merganser::msf::euclidean
