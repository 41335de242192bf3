#pragma once
/// Point input of commands (--points): options, and loading of points from a file or a generator.
#include <cstdint>
#include <string>

#include "apps/frame/forecast.hpp"
#include "apps/frame/json.hpp"
#include "merganser/base/options.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::app {

/// Options of commands that take points (msf, linkage): source, metric, periodic axes.
struct PointsOptions {
  std::string points;  ///< SPEC of generated points, path of a file, "-": standard input; empty: no points
  AxisFlags periodic{false, false, false};          ///< --periodic: periodic axes x, y, z
  std::string periodic_axes;                        ///< --periodic-axes: numbers of periodic axes, or "all"
  std::string extent;                               ///< --extent: length of the periodic box, one or one per axis
  msf::Distance metric = msf::Distance::euclidean;  ///< --metric: distance of points
  msf::Angle angle = msf::Angle::radians;           ///< --angle: unit of latitudes and longitudes
  std::uint64_t seed = 1;                           ///< seed of generated points; the caller's option
  bool force = false;  ///< continue although memory or disk do not suffice by the forecast; the caller's option
};
/// Describes the options of a command's point input (--points).
template <class V>
void describe(PointsOptions& o, V&& option) {
  option.section("Points");
  option("points", o.points,
         "points: uniform:DIM:N, normal:DIM:N, clusters:DIM:N:K, lattice:DIM:SIDE, line:N, equal:N, or a file (- for "
         "standard input): text with the coordinates of a point per line, or .npy with a row per point; it may be "
         "compressed (.gz .bz2 .xz .zst)",
         Kind{"SPEC"}, Reads{});
  option(
      "metric", o.metric,
      "distance of points: root of the sum of squares, sum or greatest of the differences, the angle in radians "
      "between latitude, longitude and another, 1 less the cosine or the correlation of rows, or the share of bits (0, "
      "1) that differ",
      msf::distances(), UsedWith{"--points"});
  option("angle", o.angle, "unit of latitudes and longitudes, with --metric great-circle",
         Choices<msf::Angle>{{{"radians", msf::Angle::radians}, {"degrees", msf::Angle::degrees}}},
         UsedWith{"--metric great-circle"});
  option("periodic", o.periodic, "periodic axes, as letters", UsedWith{"--points"});
  option("periodic-axes", o.periodic_axes, "the same by number from 0, for points of more than three dimensions",
         Kind{"A,B,...|all"}, ShownDefault{"none"}, UsedWith{"--points"});
  option("extent", o.extent, "length of the periodic box, one number or one per axis, from 0", Kind{"L|LX,LY,..."},
         ShownDefault{"that of made points; needed for a file"}, UsedWith{"--periodic", "--periodic-axes"});
}

/// Logs the predicted cost of comparing all pairs of points, as a warning if it takes more than 10 s.
void log_forecast(const msf::PairsForecast& forecast);

/// Points of this rank that load_points() has read or generated.
struct LoadedPoints {
  msf::Points points;  ///< coordinates, metric and periodic axes
  std::string format;  ///< layout of a table of text, the same on every rank; empty for other input
};

/// Reads or generates this rank's share of the points. Collective. Of n points rank r gets those from n r / P to below
/// n (r + 1) / P in the order of generation or of the file (of text, those whose lines begin in its share of the bytes); they
/// have no ids. Generated points do not depend on the number of ranks.
/// @throws UsageError for a malformed SPEC or extent, InputError for a bad file, naming the place; either, see forecast.hpp, if
/// memory or disk space does not suffice for the tree; on every rank
[[nodiscard]] LoadedPoints load_points(const PointsOptions& options, comm::Transport& transport,
                                       const AfterLoading& after = {});

/// Returns the description of a command's points for the report: source, number, dimension, layout of a table of text.
/// @param count  points of all ranks
[[nodiscard]] std::string points_text(const PointsOptions& options, const LoadedPoints& loaded, std::int64_t count);
/// Returns the description of a command's points for a run record: source, number, dimension, layout of a table of text.
/// @param count  points of all ranks
[[nodiscard]] Json points_json(const PointsOptions& options, const LoadedPoints& loaded, std::int64_t count);

}  // namespace merganser::app
