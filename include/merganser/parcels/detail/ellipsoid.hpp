#pragma once
/// Canonical arithmetic of ellipsoids, inline for hot loops. Only + - * / and bit operations: the same bits everywhere.
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "merganser/base/language.hpp"

namespace merganser {

/// Symmetric matrix of an ellipsoid { r : r^T B^-1 r <= 1 }: B11 B12 B13 B22 B23 B33.
struct Shape {
  double b11, b12, b13, b22, b23, b33;
};

namespace detail {

/// Coefficients of q^(-1/3) around q = 1, fitted on 0.9 < q < 1.102: alternating signs, error 2e-10.
inline constexpr double kCubeRoot[7] = {0x1.000000000ceb2p+0, 0x1.5555561f0d039p-2, 0x1.c71c6f831940dp-3,
                                        0x1.61f4d884f0764p-3, 0x1.26fb09e1db7ebp-3, 0x1.03591a822c73ap-3,
                                        0x1.ca5dbedb639b7p-4};

/// Cube root to 3.2 %: an exponent divided by three.
inline double cube_root_guess(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) / 3 + 0x2a9f7893782da1ceULL);
}

/// x in about [1e-300, 1e300]. The polynomial leaves 2e-10 of the guess's error, one Newton step its rounding. One
/// division, because merging waits for this.
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

/// abc of an ellipsoid: V * (0.75 / pi), the constant rounded once.
inline double semi_axes_product(double volume) { return volume * (0.75 / std::numbers::pi); }

}  // namespace detail

/// Cube root without the C library: the same bits on every CPU and C library. Relative error below 1e-15. x finite.
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

/// det B = B33 * minor - rest.
inline double minor33(double b11, double b12, double b22) { return b11 * b22 - b12 * b12; }
inline double rest33(double b11, double b12, double b13, double b22, double b23) {
  return b23 * (b11 * b23 - 2 * (b12 * b13)) + b13 * (b13 * b22);
}

}  // namespace detail

/// det B.
[[nodiscard]] inline double det3(const Shape& s) {
  return s.b33 * detail::minor33(s.b11, s.b12, s.b22) - detail::rest33(s.b11, s.b12, s.b13, s.b22, s.b23);
}

/// B33 from the five stored entries, using det B = (3V/4pi)^2. The divisor is B11*B22 - B12^2; see singular().
[[nodiscard]] inline double b33(const double* b5, double volume) {
  const double abc = detail::semi_axes_product(volume);
  return (abc * abc + detail::rest33(b5[0], b5[1], b5[2], b5[3], b5[4])) / detail::minor33(b5[0], b5[1], b5[3]);
}

/// True if B33 cannot be recovered: B11 B22 - B12^2 <= 1e-14 * B11 * B22, or not finite, or B11 <= 0 or B22 <= 0.
[[nodiscard]] inline bool singular(const double* b5) {
  for (int i = 0; i < 5; ++i)
    if (!std::isfinite(b5[i])) return true;
  if (!(b5[0] > 0) || !(b5[3] > 0)) return true;
  const double product = b5[0] * b5[3];
  const double minor = product - b5[1] * b5[1];
  return !std::isfinite(product) || !(minor > 1e-14 * product);
}

}  // namespace merganser
