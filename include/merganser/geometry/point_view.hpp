#pragma once
/// A view of positions in the arrays of the caller.
#include <cstddef>

#include "merganser/base/language.hpp"

namespace merganser {

/// Positions of n points in the caller's arrays, which are read where they are.
struct PointView {
  const double* x = nullptr;
  const double* y = nullptr;
  const double* z = nullptr;  ///< null in two dimensions: every point lies on the lower face of the box
  std::size_t stride = 1;     ///< doubles from one point to the next, in each of the arrays
  std::size_t size = 0;       ///< number of points

  /// n rows of three: x, y, z of a point beside each other, as double xyz[n][3] or Fortran's xyz(3, n). Null if n is 0.
  static PointView rows(const double* xyz, std::size_t n) {
    if (xyz == nullptr) return {nullptr, nullptr, nullptr, 3, n};
    return {xyz, xyz + 1, xyz + 2, 3, n};
  }
  /// n rows of two.
  static PointView rows_2d(const double* xy, std::size_t n) {
    if (xy == nullptr) return {nullptr, nullptr, nullptr, 2, n};
    return {xy, xy + 1, nullptr, 2, n};
  }
  /// Three columns of n; z null in two dimensions.
  static PointView columns(const double* x, const double* y, const double* z, std::size_t n) { return {x, y, z, 1, n}; }
};

}  // namespace merganser
