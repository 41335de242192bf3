#pragma once
/// Blocks of a program that has a Cartesian communicator.
#include <array>

#include "merganser/comm/open.hpp"
#include "merganser/geometry/decomposition.hpp"

namespace merganser {

/// The decomposition of a Cartesian communicator: its axis i splits axis `axes[i]` of the grid, in the order of its ranks;
/// other axes are whole. Cells are dealt as by Decomposition(grid, ranks), the first blocks of an axis getting those that are
/// left over; for other cuts see Decomposition::from_cuts(). Whether an axis is periodic is the box's to say. Local.
///
///     const auto transport = comm::open(cart);  // both by the Fortran handle, or see comm/mpi.hpp
///     const Decomposition blocks = decomposition_of(grid, comm::cartesian(cart));
///
/// @throws UsageError for more than three axes, or axes that are none of 0, 1, 2 or named twice
/// @throws InputError if an axis has fewer cells than blocks
[[nodiscard]] Decomposition decomposition_of(const Grid& grid, const comm::Cartesian& cartesian,
                                             const std::array<int, 3>& axes = {0, 1, 2});

}  // namespace merganser
