#pragma once
/// Non-owning view of positions in arrays of the caller.
#include <cstddef>

#include "merganser/base/language.hpp"

namespace merganser {

/// Non-owning strided view of the positions of points in arrays of the caller, which must outlive it. Nothing is copied.
struct PointView {
  const double* x = nullptr;  ///< x coordinate of the first point
  const double* y = nullptr;  ///< y coordinate of the first point
  const double* z = nullptr;  ///< z coordinate of the first point; null: two dimensions, on the lower face of the box
  std::size_t stride = 1;     ///< distance, in doubles, from one point to the next in each of the arrays
  std::size_t size = 0;       ///< number of points

  /// Makes a view of one array of n rows (x, y, z), such as double xyz[n][3] or Fortran's xyz(3, n). May be null if n is 0.
  static PointView rows(const double* xyz, std::size_t n) {
    if (xyz == nullptr) return {nullptr, nullptr, nullptr, 3, n};
    return {xyz, xyz + 1, xyz + 2, 3, n};
  }
  /// Makes a view, in two dimensions, of one array of n rows (x, y), such as double xy[n][2] or Fortran's xy(2, n). May be null if
  /// n is 0.
  static PointView rows_2d(const double* xy, std::size_t n) {
    if (xy == nullptr) return {nullptr, nullptr, nullptr, 2, n};
    return {xy, xy + 1, nullptr, 2, n};
  }
  /// Makes a view of three arrays of n coordinates each; z is null in two dimensions.
  static PointView columns(const double* x, const double* y, const double* z, std::size_t n) { return {x, y, z, 1, n}; }
};

}  // namespace merganser
