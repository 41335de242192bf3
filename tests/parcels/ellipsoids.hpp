#pragma once
/// Ellipsoidal parcels made from semi-axes and angles.
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::test {

inline constexpr double kPi = std::numbers::pi;

using Frame = std::array<Vec3, 3>;

/// Returns the unit vectors of an ellipsoid turned by azimuth and polar angle.
inline Frame frame(double azimuth, double polar) {
  const double ct = std::cos(azimuth);
  const double st = std::sin(azimuth);
  const double cp = std::cos(polar);
  const double sp = std::sin(polar);
  return {Vec3{ct * sp, st * sp, cp}, Vec3{-st, ct, 0}, Vec3{ct * cp, st * cp, -sp}};
}

/// Returns B11 B12 B13 B22 B23 B33 for squared semi-axes along the frame.
inline std::array<double, 6> shape(const Vec3& squares, const Frame& f) {
  const auto entry = [&](int i, int j) {
    return squares[0] * f[0][i] * f[0][j] + squares[1] * f[1][i] * f[1][j] + squares[2] * f[2][i] * f[2][j];
  };
  return {entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)};
}

inline double ellipsoid_volume(const Vec3& squares) {
  return 4.0 / 3 * std::numbers::pi * std::sqrt(squares[0] * squares[1] * squares[2]);
}

/// Appends an ellipsoid of EPIC's schema.
inline void add_ellipsoid(Parcels& parcels, std::int64_t id, const Vec3& x, const Vec3& squares, const Frame& f,
                          double buoyancy = 0, const Vec3& vorticity = {0, 0, 0}) {
  const std::array<double, 6> b = shape(squares, f);
  const std::array<double, 10> row{0, vorticity[0], vorticity[1], vorticity[2], buoyancy, b[0], b[1], b[2], b[3], b[4]};
  parcels.append({x[0], x[1], x[2], ellipsoid_volume(squares)}, row.data());
  parcels.set_id(parcels.size() - 1, id);
}

inline constexpr std::size_t kShape = 5;  ///< offset of B11 in EPIC's row
inline constexpr std::size_t kBuoyancy = 4;

}  // namespace merganser::test
