// Validation of the points of a spanning tree on all ranks, and their canonical coordinates.
#include "src/msf/euclidean/given.hpp"

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::msf {
namespace euclidean {
namespace {

constexpr double kZero = 1e-140;  // smaller coordinates are 0: their squares would underflow
constexpr double kMax = 1e150;    // squares of larger ones, or their sum, would overflow
constexpr int kMaxDimension = 1 << 16;
constexpr double kPi = 3.14159265358979323846;

/// Validates a periodic axis of this rank's points. Local. @throws InputError for an axis that the points do not have or that has
/// two periods, and a length or lower end out of range
void check_period(const PointSet& points, const Period& period) {
  if (period.axis < 0 || period.axis >= points.dimension)
    throw InputError("a period of axis " + std::to_string(period.axis) + "; allowed: 0 to " +
                     std::to_string(points.dimension - 1));
  if (!(period.length > kZero && period.length <= kMax && std::fabs(period.lower) <= kMax))
    throw InputError("a period of " + number_text(period.length) + " from " + number_text(period.lower) +
                     "; allowed: above 1e-140, up to 1e150");
  for (const Period& other : points.periods)
    if (&other != &period && other.axis == period.axis)
      throw InputError("two periods of axis " + std::to_string(period.axis) + "; allowed: one");
}

/// Validates dimension, metric and periodic axes of this rank's points. Local. @throws InputError for a dimension out of range or
/// not that of the metric, and for bad periods
void check_space(const PointSet& points) {
  if (points.dimension < 1 || points.dimension > kMaxDimension)
    throw InputError("points of dimension " + std::to_string(points.dimension) + "; allowed: 1 to " +
                     std::to_string(kMaxDimension));
  if (points.metric == Distance::great_circle) {
    if (points.dimension != 2)
      throw InputError("great-circle distances of points of dimension " + std::to_string(points.dimension) +
                       "; allowed: 2, latitude and longitude");
    if (!points.periods.empty())
      throw InputError("great-circle distances with periodic axes; allowed: none, longitudes go around anyway");
  }
  const bool scaled = points.metric == Distance::cosine || points.metric == Distance::correlation;
  if ((scaled || points.metric == Distance::hamming) && !points.periods.empty())
    throw InputError(distances().name(points.metric) + " distances with periodic axes; allowed: none");
  for (const Period& period : points.periods) check_period(points, period);
}

/// Divides the coordinates of a point by their length, for cosine distances, after subtracting their mean, for correlation
/// distances. Largest coordinates are scaled to 1 first, so that no square overflows.
/// @param centred  subtract the mean @return false for a row without a direction: of zeros, or with `centred` of equal numbers
bool divide_by_length(double* row, std::size_t axes, bool centred) {
  const auto [least, greatest] = std::minmax_element(row, row + axes);
  const double largest = std::max(std::fabs(*least), std::fabs(*greatest));
  if (largest == 0 || (centred && *least == *greatest)) return false;
  double sum = 0;
  for (std::size_t a = 0; a < axes; ++a) sum += row[a] /= largest;
  const double mean = centred ? sum / static_cast<double>(axes) : 0;
  double squares = 0;
  for (std::size_t a = 0; a < axes; ++a) {
    row[a] -= mean;
    squares += row[a] * row[a];
  }
  if (!(squares > kZero)) return false;
  const double length = std::sqrt(squares);
  for (std::size_t a = 0; a < axes; ++a) row[a] /= length;
  return true;
}

/// Validates the numbers of coordinates and points of this rank's point set. Local. @throws InputError if there are not `dimension`
/// coordinates per point, or 2^31 or more points
void check_size(const PointSet& points) {
  const auto dimension = static_cast<std::size_t>(points.dimension);
  if (points.coordinates.size() != dimension * points.size())
    throw InputError(std::to_string(points.coordinates.size()) + " coordinates of " + std::to_string(points.size()) +
                     " points; allowed: " + std::to_string(dimension) + " per point");
  if (points.size() >= (std::size_t{1} << 31))
    throw InputError(std::to_string(points.size()) + " points on one rank; allowed: below 2^31");
}

/// Returns a box whose first axis is a periodic axis of the points, so that Box::wrap() can wrap coordinates on it.
Box period_box(const Period& period) { return {{period.lower, 0, 0}, {period.length, 1, 1}, {true, false, false}}; }

/// Returns the periodic axes of a point set as text, by which ranks check that they agree: "0 from -1 by 2".
std::string format_periods(const std::vector<Period>& periods) {
  std::string text;
  for (const Period& p : periods)
    text += (text.empty() ? "" : ", ") + std::to_string(p.axis) + " from " + number_text(p.lower) + " by " +
            number_text(p.length);
  return text.empty() ? "none" : text;
}

}  // namespace

// Validation of the points of a spanning tree on all ranks, before any work.
CheckedPoints::CheckedPoints(const PointSet& points, comm::Transport& transport)
    : points_(points), size_(points.size()) {
  comm::check_uniform_across_ranks(transport, "points",
                                   {{"the dimension", std::to_string(points.dimension)},
                                    {"the metric", distances().name(points.metric)},
                                    {"the unit of angles", points.angle == Angle::degrees ? "degrees" : "radians"},
                                    {"the periods", format_periods(points.periods)}});
  comm::agree(transport, [&] {
    check_space(points);
    check_size(points);
  });
  axes_ = sphere() ? 3 : static_cast<std::size_t>(points.dimension);
  periods_.assign(axes_, kInfinity);
  for (const Period& period : points.periods) periods_[static_cast<std::size_t>(period.axis)] = period.length;
  count_points(transport);
  comm::agree(transport, [&] { check_values(); });
  check_ids(transport);
}

// Numbers of points without ids: by rank, then position. Ids on some ranks only are refused.
void CheckedPoints::count_points(comm::Transport& transport) {
  const auto [before, all] = comm::compute_share(transport, size_);
  first_ = before;
  total_ = all;
  // Ranks without points have no ids either way.
  std::int64_t kinds[2] = {size_ > 0 && points_.ids.empty(), size_ > 0 && !points_.ids.empty()};
  transport.all_reduce(kinds, comm::Op::max);
  if (kinds[0] != 0 && kinds[1] != 0)
    throw InputError("ids of the points of some ranks only; allowed: on all ranks or on none");
}

std::string CheckedPoints::axis_text(std::size_t axis) const {
  const std::string number = "axis " + std::to_string(axis);
  if (sphere()) return number + (axis == 0 ? " (latitude)" : " (longitude)");
  if (points_.dimension <= 3) return number + " (" + "xyz"[axis] + ")";
  return number + " of 0 to " + std::to_string(points_.dimension - 1);
}

// Validation of this rank's coordinates, latitudes and ids; the constructor makes all ranks throw if one does.
void CheckedPoints::check_values() const {
  const auto dimension = static_cast<std::size_t>(points_.dimension);
  for (std::size_t i = 0; i < points_.coordinates.size(); ++i) {
    const double x = points_.coordinates[i];
    if (!(std::fabs(x) <= kMax))
      throw InputError("coordinate " + number_text(x) + " of point " + std::to_string(id(i / dimension)) + " on " +
                       axis_text(i % dimension) + "; allowed: finite, within +-1e150");
  }
  if (sphere()) {
    const bool degrees = points_.angle == Angle::degrees;
    for (std::size_t i = 0; i < size_; ++i)
      if (!(std::fabs(points_.coordinates[2 * i]) <= (degrees ? 90 : kPi / 2)))
        throw InputError("latitude " + number_text(points_.coordinates[2 * i]) + " of point " + std::to_string(id(i)) +
                         "; allowed: " + (degrees ? "-90 to 90 degrees" : "-pi/2 to pi/2 radians"));
  }
  check_rows();
  for (const auto id : points_.ids)
    if (id >= total_)
      throw InputError("point " + std::to_string(id) + " of " + std::to_string(total_) +
                       "; allowed: every number below that once");
}

// Rows of metrics that do not take every finite number.
void CheckedPoints::check_rows() const {
  const auto dimension = static_cast<std::size_t>(points_.dimension);
  const bool centred = points_.metric == Distance::correlation;
  if (points_.metric == Distance::hamming) {
    for (std::size_t i = 0; i < points_.coordinates.size(); ++i)
      if (points_.coordinates[i] != 0 && points_.coordinates[i] != 1)
        throw InputError("coordinate " + number_text(points_.coordinates[i]) + " of point " +
                         std::to_string(id(i / dimension)) + "; allowed with Hamming distances: 0 and 1");
  } else if (centred || points_.metric == Distance::cosine) {
    std::vector<double> row(dimension);
    for (std::size_t i = 0; i < size_; ++i) {
      std::copy_n(points_.coordinates.data() + dimension * i, dimension, row.data());
      if (!divide_by_length(row.data(), dimension, centred))
        throw InputError("point " + std::to_string(id(i)) +
                         (centred ? ": all coordinates equal" : ": all coordinates 0") + "; allowed with " +
                         distances().name(points_.metric) + " distances: rows with " +
                         (centred ? "two different coordinates" : "one that is not 0"));
    }
  }
}

// Distributed test that ids are a permutation of 0 .. total - 1, without an exchange of ids.
void CheckedPoints::check_ids(comm::Transport& transport) const {
  // All ids are below the total and there are as many: they are distinct exactly if their multiset is 0 .. total - 1, which sums
  // of 64-bit hashes tell but for improbable collisions. Each rank subtracts a share of the expected ids.
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  const auto rank = static_cast<std::uint64_t>(transport.rank());
  std::uint64_t sum = 0;
  for (const auto id : points_.ids) sum += mix64(id + 1);
  std::int64_t some = points_.ids.empty() ? 0 : 1;
  if (transport.all_reduce(some, comm::Op::max) == 0) return;
  for (std::uint64_t id = rank; id < total_; id += ranks) sum -= mix64(id + 1);
  if (transport.all_reduce(static_cast<std::int64_t>(sum), comm::Op::sum) != 0)
    throw InputError("a point is there twice; allowed: every number below " + std::to_string(total_) + " once");
}

// Canonical coordinates, on which all distances are computed: equal points get equal bits.
void CheckedPoints::write_coordinates(std::size_t i, double* to) const {
  const auto dimension = static_cast<std::size_t>(points_.dimension);
  const double* const from = points_.coordinates.data() + dimension * i;
  if (sphere())
    place_on_sphere(from, to);
  else
    std::copy_n(from, dimension, to);
  if (points_.metric == Distance::cosine || points_.metric == Distance::correlation)
    divide_by_length(to, dimension, points_.metric == Distance::correlation);
  for (const Period& period : points_.periods) {
    double& x = to[period.axis];
    x = period_box(period).wrap(0, x) - period.lower;
    if (!(x >= 0 && x < period.length)) x = 0;  // rounded up to the end, which is the beginning
  }
  for (std::size_t a = 0; a < axes_; ++a) to[a] = std::fabs(to[a]) < kZero ? 0.0 : to[a];
}

// Latitude and longitude to the unit sphere: equal places get equal bits, at the poles and at longitudes of +-180 degrees too.
void CheckedPoints::place_on_sphere(const double* at, double* to) const {
  double latitude = at[0];
  double longitude = at[1];
  if (points_.angle == Angle::degrees) {
    if (std::fabs(latitude) == 90) {  // a pole has one place whatever the longitude; cos(pi / 2) would not be 0
      to[0] = to[1] = 0;
      to[2] = latitude / 90;
      return;
    }
    longitude = std::remainder(longitude, 360);  // exact
    if (longitude == -180) longitude = 180;
    latitude *= kPi / 180;
    longitude *= kPi / 180;
  }
  to[0] = std::cos(latitude) * std::cos(longitude);
  to[1] = std::cos(latitude) * std::sin(longitude);
  to[2] = std::sin(latitude);
}

Norm to_norm(Distance metric) {
  if (metric == Distance::manhattan || metric == Distance::hamming) return Norm::sum;
  return metric == Distance::chebyshev ? Norm::most : Norm::squares;
}

// Half the squared chord of unit vectors is 1 less their cosine; a sum of differing bits over their number is a share.
double to_divisor(const PointSpace& space) {
  if (space.metric == Distance::cosine || space.metric == Distance::correlation) return 2;
  return space.metric == Distance::hamming ? space.dimension : 0;
}

}  // namespace euclidean

Choices<Distance> distances() {
  return {{{"euclidean", Distance::euclidean},
           {"manhattan", Distance::manhattan},
           {"chebyshev", Distance::chebyshev},
           {"great-circle", Distance::great_circle},
           {"cosine", Distance::cosine},
           {"correlation", Distance::correlation},
           {"hamming", Distance::hamming}}};
}

std::vector<Period> periodic_axes(const Box& box, int dimension) {
  std::vector<Period> periods;
  for (std::size_t a = 0; a < 3 && static_cast<int>(a) < dimension; ++a)
    if (box.periodic[a]) periods.push_back({static_cast<int>(a), box.lower[a], box.extent[a]});
  return periods;
}

}  // namespace merganser::msf
