#pragma once
/// Decomposition of the domain that follows a Cartesian communicator of MPI.
#include <array>

#include "merganser/comm/open.hpp"
#include "merganser/geometry/decomposition.hpp"

namespace merganser {

/// Makes the decomposition of a Cartesian communicator: its axis i splits axis `axes[i]` of the grid, in the order of
/// its ranks; other axes are whole. Cells are distributed as by Decomposition(grid, ranks): the first blocks of an axis
/// get those that are left over; for other cuts see Decomposition::from_cuts(). Whether an axis is periodic is
/// determined by the box. Local.
///
///     const auto transport = comm::open(cart);  // both by the Fortran handle, or see comm/mpi.hpp
///     const Decomposition blocks = cartesian_decomposition(grid, comm::cartesian(cart));
///
/// @throws UsageError for more than three axes, or axes that are none of 0, 1, 2 or named twice
/// @throws InputError if an axis has fewer cells than blocks
[[nodiscard]] Decomposition cartesian_decomposition(const Grid& grid, const comm::Cartesian& cartesian,
                                                    const std::array<int, 3>& axes = {0, 1, 2});

}  // namespace merganser
