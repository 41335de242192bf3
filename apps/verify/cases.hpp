#pragma once
/// Generated inputs of `verify` that stress a merge step: lattices with exact ties, coincident parcels, near-empty boxes, clumps on
/// faces between blocks, odd boxes, besides random ones.
#include <cstdint>
#include <string>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::app {

/// Generated input of `verify`, parcels in a box, whole on every rank. Made by make_case().
struct Case {
  std::string name;              ///< "3: lattice with exact ties"
  Grid grid;                     ///< box of the parcels, and its cells
  double min_volume_ratio = 20;  ///< volume of a cell over that below which a parcel is small
  Parcels parcels;               ///< parcels of all ranks
};

/// Number of kinds of generated inputs of verify; case i is of kind i modulo this number.
inline constexpr int kCaseKinds = 9;

/// Generates input `index` of verify from a seed, the same on every host and rank. Local.
[[nodiscard]] Case make_case(std::uint64_t seed, int index);

}  // namespace merganser::app
