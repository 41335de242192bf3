// Queries of a point set by new points: k nearest points and joints, with a tree of boxes or by comparing all pairs.
#include "merganser/msf/new_points.hpp"

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/detail/uniform_values.hpp"
#include "src/msf/euclidean/fitted.hpp"

namespace merganser::msf {
namespace euclidean {
namespace {

/// Validates a query of a point set by new points (nearest_points(), join_points()). Local. @throws UsageError for new points of
/// another space and k below 1, InputError for k above the number of points of the set on all ranks
void check_query(const CheckedPoints& points, const PointSpace& space, const PointSpace& fresh, int k) {
  if (!(space == fresh))
    throw UsageError("new points of another space; allowed: dimension, metric, unit of angles and periods of the set");
  if (k < 1) throw UsageError("k " + std::to_string(k) + "; allowed: 1 and more");
  if (static_cast<std::uint64_t>(k) > points.total())
    throw InputError("the " + std::to_string(k) + " nearest of " + std::to_string(points.total()) +
                     " points; allowed: up to their number");
}

/// Validates the core distances that the caller of join_points() gives for this rank's points of the set. Local. @throws InputError
/// unless there is a core distance >= 0 for each point
void check_cores(const CheckedPoints& points, std::span<const double> cores) {
  if (cores.size() != points.size())
    throw InputError(std::to_string(cores.size()) + " core distances of " + std::to_string(points.size()) +
                     " points; allowed: one for each");
  for (std::size_t i = 0; i < cores.size(); ++i)
    if (!(cores[i] >= 0))
      throw InputError("core distance " + number_text(cores[i]) + " of point " + std::to_string(points.id(i)) +
                       "; allowed: 0 and more");
}

/// Answers the queries of a point set by all ranks' new points (k nearest points, joints), after validation of the arguments: with
/// a tree of boxes, or beyond kMaxAxes axes by comparing all pairs. Collective. @return results for this rank's new points
QueryResult query(const PointSet& set, std::span<const double> cores, const PointSet& new_ones, const QueryKind& what,
                  comm::Transport& transport, EuclideanOptions options, Report& report) {
  check_uniform_options(options, transport);
  comm::check_uniform_across_ranks(transport, "new points", {{"k", std::to_string(what.k)}});
  const CheckedPoints points(set, transport);
  // Ids of new points are ignored, so that they may repeat those of the set.
  PointSet unnumbered = new_ones;
  unnumbered.ids = {};
  comm::agree(transport, [&] {
    check_query(points, set, new_ones, static_cast<int>(what.k));
    if (what.join) check_cores(points, cores);
  });
  const CheckedPoints fresh(unnumbered, transport);
  if (points.axes() > kMaxAxes) return query_by_pairs(points, cores, fresh, what, transport, options, report);
  return with_axes(points.axes(), [&](auto axes) {
    return query_tree<axes.value>(points, cores, fresh, what, transport, options, report);
  });
}

}  // namespace

// Query of a point set of many axes by comparing all pairs.
QueryResult query_by_pairs(const CheckedPoints& points, std::span<const double> cores, const CheckedPoints& fresh,
                           const QueryKind& what, comm::Transport& transport, const EuclideanOptions& options,
                           Report& report) {
  const double pairs = static_cast<double>(points.total()) * static_cast<double>(fresh.total());
  forecast_pairs(points, transport, options, what.join ? 2 * pairs : pairs, report);
  const Report::Scope scope(report, "new points", transport);
  const Slab slab(points);
  std::vector<double> rows(fresh.size() * slab.axes());
  for (std::size_t i = 0; i < fresh.size(); ++i) fresh.write_coordinates(i, rows.data() + i * slab.axes());
  QueryResult looked;
  looked.near = nearest_by_pairs(slab, rows, what.k, options.threads, transport);
  if (!what.join) return looked;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const double core = points.distance(looked.near[i * what.k + what.k - 1].d2);
    looked.joints.push_back({~std::uint64_t{0}, kInfinity, core, kInfinity});
  }
  join_by_pairs(slab, cores, rows, looked.joints, transport);
  return looked;
}

}  // namespace euclidean

// k nearest points of a set to each new point.
std::vector<NearPoint> nearest_points(const PointSet& points, const PointSet& fresh, int k, comm::Transport& transport,
                                      const EuclideanOptions& options, Report& report) {
  const auto looked = euclidean::query(points, {}, fresh, {static_cast<std::size_t>(std::max(k, 0)), false}, transport,
                                       options, report);
  const auto norm = euclidean::to_norm(points.metric);
  const bool sphere = points.metric == Distance::great_circle;
  const double divisor = euclidean::to_divisor(points);
  std::vector<NearPoint> out;
  out.reserve(looked.near.size());
  for (const auto& near : looked.near)
    out.push_back({euclidean::distance_from_compared(near.d2, norm, sphere, divisor), near.id});
  return out;
}

// Edge by which each new point would join the spanning tree of mutual reachability, for labels of new points.
std::vector<Joint> join_points(const PointSet& points, std::span<const double> cores, const PointSet& fresh, int k,
                               comm::Transport& transport, const EuclideanOptions& options, Report& report) {
  return euclidean::query(points, cores, fresh, {static_cast<std::size_t>(std::max(k, 0)), true}, transport, options,
                          report)
      .joints;
}

}  // namespace merganser::msf
