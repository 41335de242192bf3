#pragma once
/// For how many axes the search is compiled, and the norms.
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "merganser/nearest/leaf_scan.hpp"

namespace merganser::msf::euclidean {

using nearest::Norm;

constexpr std::size_t kMostAxes = 16;  // beyond, pairs are compared one by one
constexpr std::size_t kMostLeaf = 64;  // points in a leaf of a tree

/// Calls body with the number of axes to search with: the least that points of `dimension` up to kMostAxes fit in.
template <class Body>
auto with_axes(std::size_t dimension, const Body& body) {
  if (dimension <= 3) return body(std::integral_constant<std::size_t, 3>());
  if (dimension <= 4) return body(std::integral_constant<std::size_t, 4>());
  if (dimension <= 6) return body(std::integral_constant<std::size_t, 6>());
  if (dimension <= 8) return body(std::integral_constant<std::size_t, 8>());
  if (dimension <= 12) return body(std::integral_constant<std::size_t, 12>());
  return body(std::integral_constant<std::size_t, 16>());
}
/// The same numbers, for explicit instantiations.
#define MERGANSER_FOR_AXES(INSTANTIATE) \
  INSTANTIATE(3) INSTANTIATE(4) INSTANTIATE(6) INSTANTIATE(8) INSTANTIATE(12) INSTANTIATE(16)

/// The distance that belongs to what is compared. On the sphere that is the angle of a squared chord.
inline double weight_of(double compared, Norm norm, bool sphere) {
  if (norm != Norm::squares) return compared;
  const double chord = std::sqrt(compared);
  if (!sphere) return chord;
  return 2 * std::asin(chord < 2 ? chord / 2 : 1.0);
}

/// No less than anything that is compared whose distance is up to `weight`.
inline double compared_above(double weight, Norm norm, bool sphere) {
  constexpr double kMore = 1 + 1e-12;  // above what rounds in both directions
  if (norm != Norm::squares) return weight;
  if (!sphere) return weight * weight * kMore;
  if (weight > 3.14) return std::numeric_limits<double>::infinity();
  const double chord = 2 * std::sin(weight / 2);
  return chord * chord * kMore;
}

}  // namespace merganser::msf::euclidean
