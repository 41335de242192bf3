#pragma once
/// Points from a file or made: what --points stands for.
#include <cstdint>
#include <string>

#include "apps/frame/forecast.hpp"
#include "apps/frame/json.hpp"
#include "merganser/base/options.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::app {

struct PointsOptions {
  std::string points;  ///< empty: none
  AxisFlags periodic{false, false, false};
  std::string periodic_axes;
  std::string extent;
  msf::Distance metric = msf::Distance::euclidean;
  msf::Angle angle = msf::Angle::radians;
  std::uint64_t seed = 1;  ///< of made points; the caller's option
  bool force = false;      ///< go on where the forecast says that it does not fit; the caller's option
};
template <class V>
void describe(PointsOptions& o, V&& option) {
  option.section("Points");
  option(
      "points", o.points,
      "points: uniform:DIM:N, normal:DIM:N, clusters:DIM:N:K, lattice:DIM:SIDE, line:N, equal:N, or a file: text with "
      "the coordinates of a point per line, or .npy with a row per point",
      Kind{"SPEC"}, Reads{});
  option("metric", o.metric,
         "distance of points: root of the sum of squares, sum or greatest of the differences, or the angle in radians "
         "between latitude, longitude and another",
         msf::distances(), UsedWith{"--points"});
  option("angle", o.angle, "unit of latitudes and longitudes, with --metric great-circle",
         Choices<msf::Angle>{{{"radians", msf::Angle::radians}, {"degrees", msf::Angle::degrees}}},
         UsedWith{"--metric great-circle"});
  option("periodic", o.periodic, "periodic axes, as letters", UsedWith{"--points"});
  option("periodic-axes", o.periodic_axes, "the same by number from 0, for points of more than three dimensions",
         Kind{"A,B,...|all"}, Initial{"none"}, UsedWith{"--points"});
  option("extent", o.extent, "length of the periodic box, one number or one per axis, from 0", Kind{"L|LX,LY,..."},
         Initial{"that of made points; needed for a file"}, UsedWith{"--periodic", "--periodic-axes"});
}

/// Says in the log what comparing all pairs of points will cost; as a warning if that is long.
void tell_forecast(const msf::PairsForecast& forecast);

struct LoadedPoints {
  msf::Points points;
  std::string format;  ///< how a table of text is written, the same on every rank; empty of others
};

/// This rank's share of the points: of n points rank r has numbers n r / P to below n (r + 1) / P, as made or in the order
/// of the file (of a text, those whose lines begin in its share of the bytes); they have no ids. Made points do not depend on the number of ranks. Collective.
/// @throws UsageError for a SPEC or extent that cannot be, InputError for a file with its place; either, as forecast.hpp
/// says, where what the tree of so many points needs is not there; on every rank
[[nodiscard]] LoadedPoints load_points(const PointsOptions& options, comm::Transport& transport,
                                       const AfterLoading& after = {});

/// What a report says of points, `count` of all ranks: where they are from, their dimension, how a table of text is written.
[[nodiscard]] std::string points_text(const PointsOptions& options, const LoadedPoints& loaded, std::int64_t count);
/// Describes points for a run record: source, number, dimension, and how a table of text is written. `count`: of all ranks.
[[nodiscard]] Json points_json(const PointsOptions& options, const LoadedPoints& loaded, std::int64_t count);

}  // namespace merganser::app
