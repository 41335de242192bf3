#pragma once
/// Small inputs that are hard on a merge step: lattices with exact ties, coincident parcels, near-empty boxes, clumps on
/// faces, odd boxes, besides plain random ones.
#include <cstdint>
#include <string>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::app {

struct Case {
  std::string name;  ///< "3: lattice with exact ties"
  Grid grid;
  double min_volume_ratio = 20;
  Parcels parcels;  ///< all of them
};

/// Kinds of cases; case i is of kind i modulo this.
inline constexpr int kCaseKinds = 9;

/// Case `index` of a seed: the same on every machine and rank.
[[nodiscard]] Case make_case(std::uint64_t seed, int index);

}  // namespace merganser::app
