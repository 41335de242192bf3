#pragma once
/// Canonical arithmetic of ellipsoids, inline for hot loops. Only + - * / and bit operations: the same bits on every
/// CPU and C library.
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "merganser/base/language.hpp"

namespace merganser {

/// Symmetric matrix B of the ellipsoid of a parcel { r : r^T B^-1 r <= 1 }: B11 B12 B13 B22 B23 B33.
struct Shape {
  double b11, b12, b13, b22, b23, b33;
};

namespace detail {

/// Coefficients of q^(-1/3) around q = 1, fitted on 0.9 < q < 1.102: alternating signs, error 2e-10.
inline constexpr double kCubeRoot[7] = {0x1.000000000ceb2p+0, 0x1.5555561f0d039p-2, 0x1.c71c6f831940dp-3,
                                        0x1.61f4d884f0764p-3, 0x1.26fb09e1db7ebp-3, 0x1.03591a822c73ap-3,
                                        0x1.ca5dbedb639b7p-4};

/// Returns the cube root of x > 0 to 3.2 %, by dividing the exponent, and with it the mantissa's bits, by three.
inline double cube_root_guess(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) / 3 + 0x2a9f7893782da1ceULL);
}

/// Returns the cube root of x in about [1e-300, 1e300]. The polynomial leaves 2e-10 of the guess's error, one Newton
/// step its rounding. There is a single division, since merging is bound by its latency.
inline double cube_root_scaled(double x) {
  const double y = cube_root_guess(x);
  const double inverse = 1 / x;
  const double e = y * y * y * inverse - 1;
  const double e2 = e * e;
  const double low = (kCubeRoot[0] - kCubeRoot[1] * e) + (kCubeRoot[2] - kCubeRoot[3] * e) * e2;
  const double high = (kCubeRoot[4] - kCubeRoot[5] * e) + kCubeRoot[6] * e2;
  const double z = y * (low + high * (e2 * e2));
  return z - (z * z * z - x) * (z * (inverse * (1.0 / 3)));
}

/// Returns the product abc of the semi-axes of an ellipsoid: V * (0.75 / pi), the constant rounded once.
inline double semi_axes_product(double volume) { return volume * (0.75 / std::numbers::pi); }

}  // namespace detail

/// Returns the cube root, without the C library: the same bits on every CPU. Relative error below 1e-15. @param x
/// finite
[[nodiscard]] inline double cube_root(double x) {
  const double size = x < 0 ? -x : x;
  double root;
  if (size >= 0x1p-960 && size <= 0x1p960) [[likely]] {
    root = detail::cube_root_scaled(size);
  } else if (size == 0) {
    return x;
  } else if (size < 1) {
    root = detail::cube_root_scaled(size * 0x1p300) * 0x1p-100;
  } else {
    root = detail::cube_root_scaled(size * 0x1p-300) * 0x1p100;
  }
  return x < 0 ? -root : root;
}

namespace detail {

/// Returns the minor B11 B22 - B12^2 of a parcel's shape matrix, of which det B = B33 * minor33 - rest33.
inline double minor33(double b11, double b12, double b22) { return b11 * b22 - b12 * b12; }
/// Returns the part of det B = B33 * minor33 - rest33 that does not contain B33, with its sign changed.
inline double rest33(double b11, double b12, double b13, double b22, double b23) {
  return b23 * (b11 * b23 - 2 * (b12 * b13)) + b13 * (b13 * b22);
}

}  // namespace detail

/// Returns the determinant of the shape matrix B of an ellipsoid.
[[nodiscard]] inline double det3(const Shape& s) {
  return s.b33 * detail::minor33(s.b11, s.b12, s.b22) - detail::rest33(s.b11, s.b12, s.b13, s.b22, s.b23);
}

namespace detail {

/// Cancellation factor beyond which sums of products are evaluated with a wider mantissa. Within it the shape of a
/// merged parcel is accurate to 6e-13: B33 of a member has at most 16 roundings times it, the determinant that error
/// times it again, and the cube root a third.
inline constexpr double kMaxCancellation = 32;

/// Fraction of B11 B22 below which a minor B11 B22 - B12^2 consists of the rounding of the stored entries.
inline constexpr double kMinMinor = 1e-14;

/// Returns B33 of a parcel's ellipsoid in double precision, from five entries, the volume and their minor33.
inline double b33_plain(const double* b5, double volume, double minor) {
  const double abc = semi_axes_product(volume);
  return (abc * abc + rest33(b5[0], b5[1], b5[2], b5[3], b5[4])) / minor;
}

/// Returns B33 of a parcel's ellipsoid in extended precision, for entries whose minor cancels. B11, B22 > 0.
double b33_wide(const double* b5, double volume);

}  // namespace detail

/// Returns B33 of a parcel's ellipsoid from the five stored entries, by det B = (3V/4pi)^2: to 1e-13 of the value that they have as
/// exact numbers. A minor within kMinMinor * B11 B22 of 0 is rounding, and counts as kMinMinor * B11 B22; is_singular() tests
/// whether B33 depends on it.
[[nodiscard]] inline double b33(const double* b5, double volume) {
  const double minor = detail::minor33(b5[0], b5[1], b5[3]);
  if (b5[0] * b5[3] > detail::kMaxCancellation * minor && b5[0] > 0 && b5[3] > 0) [[unlikely]]
    return detail::b33_wide(b5, volume);
  return detail::b33_plain(b5, volume, minor);
}

/// Returns whether five entries and a volume are not those of an ellipsoid, or do not determine its B33: not finite,
/// B11 <= 0, B22 <= 0, B11 B22 - B12^2 < -1e-14 B11 B22; or within 1e-14 B11 B22 of 0, unless the ellipsoid is a
/// needle. B33 of a needle is B13^2 / B11, whatever the digits that the minor has lost.
[[nodiscard]] bool is_singular(const double* b5, double volume);

}  // namespace merganser
