// Point input of commands (--points): generated points, points of files, periodic axes, check of memory, facts for reports.
#include "apps/msf/points_input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "apps/frame/standard_input.hpp"
#include "apps/msf/points_file.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

constexpr double kSpread = 0.01;  // standard deviation of a cluster in the unit box
constexpr double kMaxPoints = 0x1p40;
constexpr double kMaxDimension = 1000;  // of generated points
constexpr const char* kSpecs =
    "uniform:DIM:N, normal:DIM:N, clusters:DIM:N:K, lattice:DIM:SIDE, line:N, equal:N, a file, or - for standard input";

/// Parsed SPEC of generated points, "uniform:3:1000", filled by parse_spec().
struct GeneratedPoints {
  std::string shape;        ///< distribution: uniform, normal, clusters, lattice, line, equal
  int dimension = 3;        ///< coordinates per point
  std::uint64_t count = 0;  ///< number of points of all ranks
  std::uint64_t more = 0;   ///< number of clusters, or the side of a lattice
};

/// Parses a whole number of [least, most] in the SPEC of generated points. @throws UsageError naming the SPEC
std::uint64_t parse_in_range(const std::string& spec, std::string_view text, std::int64_t least, double most) {
  std::int64_t value = -1;
  try {
    value = merganser::detail::parse_integer(std::string(text));
  } catch (const UsageError&) {
    value = -1;
  }
  if (value < least || static_cast<double>(value) > most)
    throw UsageError(
        fmt::format("--points {}: \"{}\"; allowed: whole numbers from {} to {}", spec, text, least, number_text(most)));
  return static_cast<std::uint64_t>(value);
}

/// Parses the SPEC of --points. @return false if it does not name generated points, so that it is a path @throws UsageError if
/// malformed
bool parse_spec(const std::string& spec, GeneratedPoints& made) {
  const auto pieces = split_at(spec, ':');
  made.shape = pieces[0];
  const bool short_form = made.shape == "line" || made.shape == "equal";
  const bool known = short_form || made.shape == "uniform" || made.shape == "normal" || made.shape == "clusters" ||
                     made.shape == "lattice";
  if (!known || pieces.size() == 1) return false;
  const std::size_t expected = short_form ? 2 : made.shape == "clusters" ? 4 : 3;
  if (pieces.size() != expected) throw UsageError("--points " + spec + "; allowed: " + std::string(kSpecs));
  if (!short_form) made.dimension = static_cast<int>(parse_in_range(spec, pieces[1], 1, kMaxDimension));
  made.count = parse_in_range(spec, pieces[short_form ? 1 : 2], 0, made.shape == "lattice" ? 0x1p20 : kMaxPoints);
  if (made.shape == "clusters") made.more = parse_in_range(spec, pieces[3], 1, kMaxPoints);
  if (made.shape == "lattice") {
    made.more = made.count;
    if (std::pow(static_cast<double>(made.more), made.dimension) > kMaxPoints)
      throw UsageError("--points " + spec + ": more than 2^40 points; allowed: up to those");
    made.count = 1;
    for (int a = 0; a < made.dimension; ++a) made.count *= made.more;
  }
  return true;
}

/// Draws a random number of the standard normal distribution (Box-Muller), for generated points.
double draw_normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * random.uniform());
}

/// Generates the coordinates `at` of point i of a SPEC, which depend on neither the number of points nor of ranks.
void generate_point(const GeneratedPoints& made, std::uint64_t seed, std::uint64_t i, std::span<double> at) {
  Random random(seed, i, 0);
  if (made.shape == "uniform") {
    for (auto& x : at) x = random.uniform();
  } else if (made.shape == "normal") {
    for (auto& x : at) x = draw_normal(random);
  } else if (made.shape == "clusters") {
    // The centre is a function of the number of the cluster, so that all its points compute the same one.
    Random centre(seed, random.below(made.more), 1);
    for (auto& x : at) x = centre.uniform() + kSpread * draw_normal(random);
  } else if (made.shape == "lattice") {
    for (auto& x : at) {
      x = static_cast<double>(i % made.more);
      i /= made.more;
    }
  } else if (made.shape == "line") {
    std::fill(at.begin(), at.end(), random.uniform());
  } else {
    std::fill(at.begin(), at.end(), 0.5);
  }
}

/// Generates this rank's share of the points of a SPEC. Local. @throws InputError for 2^31 or more on a rank
msf::Points generate_points(const GeneratedPoints& made, std::uint64_t seed, const comm::Transport& transport) {
  msf::Points points;
  points.dimension = made.dimension;
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  const auto rank = static_cast<std::uint64_t>(transport.rank());
  const auto first = [&](std::uint64_t r) { return made.count / ranks * r + made.count % ranks * r / ranks; };
  if (first(rank + 1) - first(rank) >= (std::uint64_t{1} << 31))
    throw InputError(fmt::format("{} points on {} ranks; allowed: below 2^31 on each", made.count, ranks));
  const auto dimension = static_cast<std::size_t>(made.dimension);
  points.coordinates.resize(dimension * (first(rank + 1) - first(rank)));
  for (std::uint64_t i = first(rank); i < first(rank + 1); ++i)
    generate_point(made, seed, i, std::span(points.coordinates).subspan(dimension * (i - first(rank)), dimension));
  return points;
}

/// Returns a flag per axis of the points, true if periodic by --periodic or --periodic-axes. @throws UsageError for axes that
/// points of this dimension do not have
std::vector<bool> periodic_axes(const PointsOptions& o, int dimension) {
  std::vector<bool> axes(static_cast<std::size_t>(dimension), o.periodic_axes == "all");
  for (std::size_t a = 0; a < 3; ++a) {
    if (!o.periodic[a]) continue;
    if (a >= axes.size()) {
      const std::string letters = std::string("xyz").substr(0, axes.size());
      throw UsageError(std::string("--periodic ") + "xyz"[a] + " of points in " + std::to_string(dimension) +
                       (dimension == 1 ? " dimension" : " dimensions") + "; allowed: " + letters);
    }
    axes[a] = true;
  }
  if (o.periodic_axes.empty() || o.periodic_axes == "all") return axes;
  for (const auto& text : split_commas(o.periodic_axes)) {
    const std::int64_t axis = merganser::detail::parse_integer(text);
    if (axis < 0 || axis >= dimension)
      throw UsageError("--periodic-axes " + o.periodic_axes + "; allowed: all, or numbers from 0 to " +
                       std::to_string(dimension - 1));
    axes[static_cast<std::size_t>(axis)] = true;
  }
  return axes;
}

/// Returns the periodic axes of the points with their lengths (--extent). @param natural  extent of generated points; 0: they have
/// none
/// @throws UsageError for a missing or bad extent
std::vector<msf::Period> make_periods(const PointsOptions& o, int dimension, double natural) {
  const auto periodic = periodic_axes(o, dimension);
  const bool any = std::find(periodic.begin(), periodic.end(), true) != periodic.end();
  if (o.extent.empty() && any && natural == 0)
    throw UsageError("--periodic without --extent; allowed: without only for made points in a box");
  std::vector<double> extent{natural};
  if (!o.extent.empty()) {
    extent.clear();
    for (const auto& text : split_commas(o.extent)) extent.push_back(merganser::detail::parse_number(text));
    if (extent.size() != 1 && extent.size() != periodic.size())
      throw UsageError(
          fmt::format("--extent {}; allowed: one length, or one for each of {} axes", o.extent, dimension));
    for (const double length : extent)
      if (!(length > 1e-140 && length <= 1e150))
        throw UsageError("--extent " + o.extent + "; allowed: lengths above 1e-140, up to 1e150");
  }
  std::vector<msf::Period> periods;
  for (std::size_t a = 0; a < periodic.size(); ++a)
    if (periodic[a]) periods.push_back({static_cast<int>(a), 0, extent[extent.size() == 1 ? 0 : a]});
  return periods;
}

/// Checks that memory and disk suffice for the spanning tree of the points and for the work after it. Collective. @throws
/// UsageError for generated points, InputError for files, on every rank, unless --force is given
void check_memory(const PointsOptions& options, const PointsSize& size, bool is_file, const AfterLoading& after,
                  comm::Transport& transport) {
  // Measured with 10^6 points in two and three dimensions: 180 bytes for each on one rank, 250 on two.
  const double bytes_per_point = size.dimension > msf::kMaxTreeDimension ? 16.0 * size.dimension + 100
                                                                         : 280 + 32 * std::max(0, size.dimension - 3);
  const auto ranks = static_cast<double>(transport.size());
  const double points = size.points;
  Need need;
  need.what = input_name(options.points) + (size.exact ? " (" : " (about ") +
              count_text(static_cast<std::int64_t>(points)) + " points)";
  need.rank_bytes = std::max(size.bytes_to_read, points * (bytes_per_point + after.bytes_per_vertex)) / ranks;
  need.first_bytes = points * (after.first_bytes_per_vertex + size.dimension * after.first_bytes_per_coordinate);
  need.disk_bytes = points * (after.disk_bytes_per_vertex + after.disk_bytes_per_edge);
  need.file = after.file;
  need.of_file = is_file;
  need.help = is_file ? "use more ranks on more machines" : "make fewer points, or use more ranks on more machines";
  require(need, options.force, transport);
}

/// Warns of coordinates that the tree takes as 0, where metrics compare coordinates as they are. Collective.
void warn_of_tiny_coordinates(const PointsOptions& options, const msf::Points& points, comm::Transport& transport) {
  const auto is_tiny = [](double x) { return x != 0 && std::fabs(x) < 1e-140; };
  const auto here = std::count_if(points.coordinates.begin(), points.coordinates.end(), is_tiny);
  const std::int64_t all = transport.all_reduce(static_cast<std::int64_t>(here), comm::Op::sum);
  const msf::Distance metric = options.metric;
  if (all == 0 || metric == msf::Distance::great_circle || metric == msf::Distance::cosine ||
      metric == msf::Distance::correlation)
    return;
  log(Level::warning, transport.rank(),
      fmt::format("{}: coordinates nearer to 0 than 1e-140, of which there are {}, count as 0; where they matter, "
                  "multiply all coordinates by a power of two",
                  input_name(options.points), count_text(all)));
}

}  // namespace

// Forecast callback of the commands msf and linkage: the cost of comparing all pairs of points goes to the log.
void log_forecast(const msf::PairsForecast& f) {
  constexpr double kLong = 10;  // seconds from which the forecast is a warning
  log(f.seconds > kLong ? Level::warning : Level::info, 0,
      fmt::format("{} dimensions: every pair is compared, {:.3g} distances, up to about {} and {} on each rank",
                  f.dimension, f.distances, seconds_text(f.seconds), bytes_text(f.rank_bytes)));
}

// Loading of a command's points: options are checked, memory is forecast, then each rank generates or reads its share.
LoadedPoints load_points(const PointsOptions& options, comm::Transport& transport, const AfterLoading& after) {
  GeneratedPoints made;
  bool is_made = false;
  comm::agree(transport, [&] {
    if (options.angle == msf::Angle::degrees && options.metric != msf::Distance::great_circle)
      throw UsageError("--angle degrees without --metric great-circle; allowed: with it");
    if (options.points.empty()) throw UsageError("--points is empty; allowed: " + std::string(kSpecs));
    is_made = parse_spec(options.points, made);
    if (!is_made && options.points != "-" && !std::filesystem::exists(options.points))
      throw InputError("--points " + options.points + ": no such file; allowed: " + kSpecs);
  });
  PointsSize size{0, static_cast<double>(made.count), true, made.dimension, 0};
  const std::string file = is_made ? "" : readable_input(options.points, transport);
  comm::agree(transport, [&] {
    if (!is_made && transport.rank() == 0) size = estimate_points_size(file);
  });
  size = comm::broadcast_from_first(transport, std::span<const PointsSize>(&size, 1)).at(0);
  check_memory(options, size, !is_made, after, transport);
  LoadedPoints loaded;
  msf::Points& points = loaded.points;
  double natural = 0;
  if (is_made) {
    comm::agree(transport, [&] { points = generate_points(made, options.seed, transport); });
    natural = made.shape == "normal" ? 0 : made.shape == "lattice" ? static_cast<double>(made.more) : 1;
  } else {
    auto [of_file, format] = read_points(file, transport, size.bytes);
    points = std::move(of_file);
    loaded.format = std::move(format);
    if (!loaded.format.empty()) log(Level::info, transport.rank(), input_name(options.points) + ": " + loaded.format);
  }
  comm::agree(transport, [&] { points.periods = make_periods(options, points.dimension, natural); });
  points.metric = options.metric;
  points.angle = options.angle;
  warn_of_tiny_coordinates(options, points, transport);
  return loaded;
}

// Lines of the report that describe a command's points.
std::string points_text(const PointsOptions& options, const LoadedPoints& loaded, std::int64_t count) {
  const int d = loaded.points.dimension;
  std::string text = fmt::format("{}: {} points in {} dimension{}", input_name(options.points), count_text(count), d,
                                 d == 1 ? "" : "s");
  return loaded.format.empty() ? text : text + "\ntext: " + loaded.format;
}

Json points_json(const PointsOptions& options, const LoadedPoints& loaded, std::int64_t count) {
  Json facts = {{"source", input_name(options.points)}, {"points", count}, {"dimension", loaded.points.dimension}};
  if (!loaded.format.empty()) facts["format"] = loaded.format;
  return facts;
}

}  // namespace merganser::app
