#pragma once
/// Conversion of Python's arrays of points to the library's point sets, without copies.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "merganser/msf/points.hpp"
#include "python/src/arrays.hpp"
#include "python/src/team.hpp"

namespace merganser::python {

/// Periodic axis of the space of points: its number from 0, its lower end, and its length.
using Axis = std::tuple<int, double, double>;

/// Converts dimension, metric, unit of angles and periodic axes of a set of points, as the Python side passes them, to the
/// library's PointSpace. An unknown metric leaves the default: the Python side has checked it.
[[nodiscard]] inline msf::PointSpace make_space(std::size_t dimension, const std::string& metric,
                                                const std::string& angle = "radians",
                                                const std::vector<Axis>& axes = {}) {
  msf::PointSpace space;
  space.dimension = static_cast<int>(std::min<std::size_t>(dimension, std::numeric_limits<int>::max()));
  for (const auto& [word, distance] : msf::distances().words)
    if (word == metric) space.metric = distance;
  space.angle = angle == "degrees" ? msf::Angle::degrees : msf::Angle::radians;
  for (const auto& [axis, lower, length] : axes) space.periods.push_back({axis, lower, length});
  return space;
}

/// Returns views, without copies, of the coordinates and ids of one rank's share of the points.
/// @param rows  coordinates of the points of this process @param share  rows of the rank
[[nodiscard]] inline msf::PointSet select_points(const Rows<double>& rows,
                                                 const std::optional<Line<std::uint64_t>>& ids,
                                                 const msf::PointSpace& space, RowRange share) {
  const std::size_t d = rows.shape(1);
  msf::PointSet set{space, to_span(rows).subspan(share.begin * d, share.size() * d), {}};
  if (ids) set.ids = to_span(*ids).subspan(share.begin, share.size());
  return set;
}

}  // namespace merganser::python
