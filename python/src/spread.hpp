#pragma once
/// Points of Python's arrays spread over ranks: their box, and the blocks of it to which calls send them.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"

namespace merganser::python {

/// Coordinates of a corner, or extents, of a box in two or three dimensions.
using Corner = std::vector<double>;
/// Box of points as Python passes it, in two or three dimensions: lower corner, extents, and a flag per axis, true if periodic.
using BoxGiven = std::tuple<Corner, Corner, std::vector<bool>>;

/// Converts the box of points from Python; in two dimensions z gets the range 0 to 1, not periodic.
[[nodiscard]] Box to_box(const BoxGiven& given);

/// Points of this process that a call spreads over ranks by their positions. It refers to an array of Python.
struct SpreadPoints {
  const Rows<double>& points;     ///< coordinates, shape (n, 2) or (n, 3)
  const std::optional<Box>& box;  ///< domain of the points; none: the bounding box of all ranks' points

  /// Returns point i of the array, with z on the lower face of the box in two dimensions. Local.
  [[nodiscard]] Vec3 at(std::size_t i, const Box& in) const;
  /// Returns point i of the array, wrapped into the box along periodic axes. Local.
  [[nodiscard]] Vec3 wrapped_at(std::size_t i, const Box& in) const;
};

/// Returns the arguments of a call with points that must be equal on all ranks, as texts to compare before anything else, since the
/// lengths of messages depend on them. Local. @param ids  ids of the points; none: consecutive
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const SpreadPoints& spread,
                                                             const std::optional<Line<std::int64_t>>& ids);

/// Returns the domain of points: the caller's box, or else the bounding box of all ranks' points, after validating the points of
/// this rank. Collective. @param share  rows of the array that this rank passes
/// @throws InputError on every rank, naming a point that is not finite or outside
[[nodiscard]] Box common_box(const SpreadPoints& spread, RowRange share, comm::Transport& transport);

/// Returns a decomposition of the box into one block per rank with about equally many points in each, from histograms of all ranks'
/// coordinates along each axis. Collective.
[[nodiscard]] Decomposition balanced_blocks(const SpreadPoints& spread, RowRange share, const Box& box,
                                            comm::Transport& transport);

/// Returns the ids of this rank's points: those given, or consecutive ones in the order of ranks. Collective.
/// @throws InputError on every rank for an id that points of two ranks have
[[nodiscard]] std::vector<std::int64_t> spread_ids(const std::optional<Line<std::int64_t>>& ids, RowRange share,
                                                   comm::Transport& transport);

}  // namespace merganser::python
