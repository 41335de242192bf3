#include "apps/msf/points_input.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/msf/points_file.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"

namespace merganser::app {
namespace {

constexpr double kSpread = 0.01;  // standard deviation of a cluster in the unit box
constexpr double kMostPoints = 0x1p40;
constexpr const char* kSpecs =
    "uniform:DIM:N, normal:DIM:N, clusters:DIM:N:K, lattice:DIM:SIDE, line:N, equal:N, or a file";

/// What a SPEC of made points says.
struct Made {
  std::string shape;
  int dimension = 3;
  std::uint64_t count = 0;
  std::uint64_t more = 0;  ///< clusters or the side of a lattice
};

std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    if (c == ':')
      pieces.emplace_back();
    else
      pieces.back().push_back(c);
  }
  return pieces;
}

std::uint64_t number(const std::string& spec, const std::string& text, std::int64_t least, double most) {
  std::int64_t value = -1;
  try {
    value = merganser::detail::parse_integer(text);
  } catch (const UsageError&) {
    value = -1;
  }
  if (value < least || static_cast<double>(value) > most)
    throw UsageError(
        fmt::format("--points {}: \"{}\"; allowed: whole numbers from {} to {}", spec, text, least, number_text(most)));
  return static_cast<std::uint64_t>(value);
}

/// False: not a name of made points.
bool parse(const std::string& spec, Made& made) {
  const auto pieces = pieces_of(spec);
  made.shape = pieces[0];
  const bool short_form = made.shape == "line" || made.shape == "equal";
  const bool known = short_form || made.shape == "uniform" || made.shape == "normal" || made.shape == "clusters" ||
                     made.shape == "lattice";
  if (!known || pieces.size() == 1) return false;
  const std::size_t expected = short_form ? 2 : made.shape == "clusters" ? 4 : 3;
  if (pieces.size() != expected) throw UsageError("--points " + spec + "; allowed: " + std::string(kSpecs));
  if (!short_form) made.dimension = static_cast<int>(number(spec, pieces[1], 2, 3));
  made.count = number(spec, pieces[short_form ? 1 : 2], 0, made.shape == "lattice" ? 0x1p20 : kMostPoints);
  if (made.shape == "clusters") made.more = number(spec, pieces[3], 1, kMostPoints);
  if (made.shape == "lattice") {
    made.more = made.count;
    if (std::pow(static_cast<double>(made.more), made.dimension) > kMostPoints)
      throw UsageError("--points " + spec + ": more than 2^40 points; allowed: up to those");
    made.count = made.more * made.more * (made.dimension == 3 ? made.more : 1);
  }
  return true;
}

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * 3.14159265358979323846 * random.uniform());
}

Vec3 make_point(const Made& made, std::uint64_t seed, std::uint64_t i) {
  Random random(seed, i, 0);
  Vec3 at{0.5, 0.5, 0.5};
  if (made.shape == "uniform") {
    for (auto& x : at) x = random.uniform();
  } else if (made.shape == "normal") {
    for (auto& x : at) x = normal(random);
  } else if (made.shape == "clusters") {
    Random centre(seed, random.below(made.more), 1);
    for (auto& x : at) x = centre.uniform() + kSpread * normal(random);
  } else if (made.shape == "lattice") {
    for (auto& x : at) {
      x = static_cast<double>(i % made.more);
      i /= made.more;
    }
  } else if (made.shape == "line") {
    at.fill(random.uniform());
  }
  return at;
}

msf::Points make_points(const Made& made, std::uint64_t seed, const comm::Transport& transport) {
  msf::Points points;
  points.dimension = made.dimension;
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  const auto rank = static_cast<std::uint64_t>(transport.rank());
  const auto first = [&](std::uint64_t r) { return made.count / ranks * r + made.count % ranks * r / ranks; };
  if (first(rank + 1) - first(rank) >= (std::uint64_t{1} << 31))
    throw InputError(fmt::format("{} points on {} ranks; allowed: below 2^31 on each", made.count, ranks));
  const auto dimension = static_cast<std::size_t>(made.dimension);
  points.coordinates.reserve(dimension * (first(rank + 1) - first(rank)));
  for (std::uint64_t i = first(rank); i < first(rank + 1); ++i) {
    const Vec3 at = make_point(made, seed, i);
    points.coordinates.insert(points.coordinates.end(), at.begin(),
                              at.begin() + static_cast<std::ptrdiff_t>(dimension));
  }
  return points;
}

/// The box, where `natural` is the extent of made points (0: they have none).
Box make_box(const PointsOptions& o, int dimension, double natural) {
  Box box{{0, 0, 0}, {1, 1, 1}, o.periodic};
  if (dimension == 2 && o.periodic[2]) throw UsageError("--periodic z of points in two dimensions; allowed: x, y");
  const bool any = o.periodic[0] || o.periodic[1] || o.periodic[2];
  if (o.extent.empty()) {
    if (any && natural == 0)
      throw UsageError("--periodic without --extent; allowed: without only for made points in a box");
    if (natural > 0) box.extent.fill(natural);
    return box;
  }
  const auto texts = split_commas(o.extent);
  if (texts.size() != 1 && texts.size() != static_cast<std::size_t>(dimension))
    throw UsageError(fmt::format("--extent {}; allowed: one length, or one for each of {} axes", o.extent, dimension));
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimension); ++a) {
    box.extent[a] = merganser::detail::parse_number(texts[texts.size() == 1 ? 0 : a]);
    if (!(box.extent[a] > 1e-140 && box.extent[a] <= 1e150))
      throw UsageError("--extent " + o.extent + "; allowed: lengths above 1e-140, up to 1e150");
  }
  return box;
}

/// Refuses what the tree of so many points cannot be found with.
void check_room(const PointsOptions& options, const PointsSize& size, bool is_file, const AfterLoading& after,
                comm::Transport& transport) {
  // Measured with 10^6 points in two and three dimensions: 215 bytes for each on one rank, 275 on two.
  constexpr double kBytesPerPoint = 280;
  const auto ranks = static_cast<double>(transport.size());
  const double points = size.points;
  Need need;
  need.what =
      options.points + (size.exact ? " (" : " (about ") + count_text(static_cast<std::int64_t>(points)) + " points)";
  need.rank_bytes = std::max(size.bytes_to_read, points * (kBytesPerPoint + after.bytes_per_vertex)) / ranks;
  need.first_bytes = points * after.first_bytes_per_vertex;
  need.disk_bytes = points * (after.disk_bytes_per_vertex + after.disk_bytes_per_edge);
  need.file = after.file;
  need.of_file = is_file;
  need.help = is_file ? "use more ranks on more machines" : "make fewer points, or use more ranks on more machines";
  require(need, options.force, transport);
}

}  // namespace

msf::Points load_points(const PointsOptions& options, comm::Transport& transport, const AfterLoading& after) {
  Made made;
  bool is_made = false;
  comm::agree(transport, [&] {
    if (options.points.empty()) throw UsageError("--points is empty; allowed: " + std::string(kSpecs));
    is_made = parse(options.points, made);
    if (!is_made && !std::filesystem::exists(options.points))
      throw InputError("--points " + options.points + ": no such file; allowed: " + kSpecs);
  });
  PointsSize size{static_cast<double>(made.count), true, 0};
  comm::agree(transport, [&] {
    if (!is_made) size = size_of_points(options.points);
  });
  check_room(options, size, !is_made, after, transport);
  msf::Points points;
  double natural = 0;
  if (is_made) {
    comm::agree(transport, [&] { points = make_points(made, options.seed, transport); });
    natural = made.shape == "normal" ? 0 : made.shape == "lattice" ? static_cast<double>(made.more) : 1;
  } else {
    points = read_points(options.points, transport);
  }
  comm::agree(transport, [&] {
    points.periods = msf::periods_of(make_box(options, points.dimension, natural), points.dimension);
  });
  return points;
}

}  // namespace merganser::app
