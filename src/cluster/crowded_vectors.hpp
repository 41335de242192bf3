#pragma once
/// Vectorised passes of steps under a policy, by vector instructions chosen at run time: the check of sites, and parts of the choice of
/// lookers in crowded cells.
#include <cstddef>
#include <cstdint>

#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Grid of cells whose numbers are below 2^31.
struct NumberedCells {
  double lower[3];        ///< lower corner of the box
  double spacing[3];      ///< edges of a cell
  std::int32_t cells[3];  ///< number of cells by axis
};

/// Computes the numbers of the cells of `count` sites, by the arithmetic of Grid::cell(); those outside of the box are in the nearest
/// cell. Local.
void number_cells(const NumberedCells& grid, const Site* sites, std::size_t count, std::int32_t* cell);

/// Returns whether the coordinates and volumes of `count` sites are all from those of `lower` to those of `upper`, inclusive; not a
/// number is not. Local.
bool are_within(const Site* sites, std::size_t count, const Site& lower, const Site& upper);

inline constexpr std::size_t kMaxRanked = 48;  ///< most members that mark_least() compares: it compares all pairs

/// Members of one cell, with distinct ids.
struct RankedMembers {
  double volume[kMaxRanked];       ///< finite
  std::int64_t id[kMaxRanked];     ///< distinct
  std::uint8_t least[kMaxRanked];  ///< written by mark_least()
};

/// Marks the `wanted` least of `count` members by (volume, id): RankedMembers::least is 1 for these and 0 for the others. Without
/// branches: which of two is the less is as good as random. Overwrites what is behind the members. Local.
void mark_least(RankedMembers& members, std::size_t count, std::int64_t wanted);

}  // namespace merganser::cluster
