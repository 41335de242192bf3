#pragma once
/// Points that Python gives, as the library reads them: where they are.
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

/// A periodic axis: its number, where it begins, how long it is.
using Axis = std::tuple<int, double, double>;

/// The space of points by the words of the Python side.
[[nodiscard]] inline msf::PointSpace space_of(std::size_t dimension, const std::string& metric,
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

/// A rank's share of rows.
[[nodiscard]] inline msf::PointSet points_of_rows(const Rows<double>& rows,
                                                  const std::optional<Line<std::uint64_t>>& ids,
                                                  const msf::PointSpace& space, RowRange share) {
  const std::size_t d = rows.shape(1);
  msf::PointSet set{space, span_of(rows).subspan(share.begin * d, share.size() * d), {}};
  if (ids) set.ids = span_of(*ids).subspan(share.begin, share.size());
  return set;
}

}  // namespace merganser::python
