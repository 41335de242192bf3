/// Python bindings of searches among points: gathering with core distances, and joining new points to fitted ones.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/new_points.hpp"
#include "python/src/forecast.hpp"
#include "python/src/forest.hpp"
#include "python/src/points.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Parameters of a nearest-neighbour search among points for HDBSCAN*, as the Python side passes them.
struct SearchParameters {
  std::string metric;               ///< distance: "euclidean", "haversine", ...
  int min_samples;                  ///< k of core distances: the k-th nearest point, the point itself included
  int threads;                      ///< threads per rank
  std::int64_t most_distances;      ///< limit of distances of a comparison of all pairs
  nb::object forecast;              ///< Python callable that receives the forecast of that comparison
  std::string angle = "radians";    ///< unit of angles: "radians" or "degrees"
  std::vector<Axis> periodic = {};  ///< periodic axes of the domain
  double alpha = 1;                 ///< number by which distances are divided
};

/// Arguments and results of gather_points() and join_points(), searches among fitted points. A PointSearch owns its arrays, since
/// an interrupted call may outlive its caller.
struct PointSearch {
  Rows<double> points;                     ///< coordinates of the fitted points of this process
  std::optional<Line<std::uint64_t>> ids;  ///< ids of the fitted points; none: consecutive over all ranks
  Rows<double> fresh;                      ///< coordinates of the new points of this process, for join_points()
  Line<double> cores;                      ///< core distances of the fitted points of this process, for join_points()
  msf::PointSpace space;
  msf::EuclideanOptions options;
  std::shared_ptr<ForecastCallback> ask;
  std::shared_ptr<ForestObject> tree;  ///< spanning tree of the points that keeps their core distances; null: none
  msf::GatheredPoints gathered;        ///< result of gather_points(), on rank 0
  std::vector<std::int64_t> joined;    ///< id of the fitted point of least mutual reachability distance, by new point
  bool want_nearest = false;           ///< `nearest` is asked for, on all ranks
  std::vector<double> nearest;         ///< distance of each new point to the nearest fitted point; empty: not asked for
  std::vector<double> reach;           ///< mutual reachability distance of each new point to that fitted point
  std::vector<double> found_cores;     ///< result of core_distances(), by fitted point of this process
};

/// Returns the rows of an array of points that this rank searches: a share of one array if all ranks are threads of this process
/// (`here`), else all rows of the rank's own array.
RowRange local_rows(std::size_t rows, bool here, const comm::Transport& transport) {
  return here ? row_share(rows, transport.rank(), transport.size()) : RowRange{0, rows};
}

/// Converts the Python arguments of a search among points to the library's options. Requires the interpreter's lock.
std::shared_ptr<PointSearch> make_task(Rows<double> points, std::optional<Line<std::uint64_t>> ids,
                                       SearchParameters how) {
  auto task = std::make_shared<PointSearch>();
  task->points = std::move(points);
  task->ids = std::move(ids);
  task->space = make_space(task->points.shape(1), how.metric, how.angle, how.periodic);
  task->options.min_samples = how.min_samples;
  task->options.alpha = how.alpha;
  task->options.threads = how.threads;
  task->ask = set_forecast(how.most_distances, std::move(how.forecast), task->options);
  return task;
}

/// Returns the core distances of the points that one rank searches; none where distances are plain.
std::vector<double> share_of(const std::vector<double>& cores, RowRange share) {
  if (cores.empty()) return {};
  return {cores.begin() + static_cast<std::ptrdiff_t>(share.begin),
          cores.begin() + static_cast<std::ptrdiff_t>(share.begin + share.size())};
}

/// Computes the core distances of all ranks' points, unless the tree keeps them, and gathers points and distances on rank 0; runs on one rank. Collective.
void gather_fitted_points(PointSearch& task, bool here, comm::Transport& transport, const Interrupt& interrupt) {
  msf::Report report;
  interrupt.watch(report);
  const RowRange share = local_rows(task.points.shape(0), here, transport);
  const auto set = select_points(task.points, task.ids, task.space, share);
  auto gathered = task.tree ? msf::gather_points(set, share_of(task.tree->cores(), share), transport, task.options,
                                                 transport.size() == 1 ? task.tree->take_neighbours() : nullptr)
                            : msf::gather_points(set, transport, task.options, report);
  if (transport.rank() == 0 || !here) task.gathered = std::move(gathered);
}

/// Gathers all points with their core distances on rank 0 for merganser.gather_points(), after asking the forecast callback.
/// Collective over the team.
std::shared_ptr<msf::GatheredPoints> gather_points(const std::shared_ptr<Team>& team, Rows<double> points,
                                                   std::optional<Line<std::uint64_t>> ids, const std::string& metric,
                                                   const std::string& angle, const std::vector<Axis>& periodic,
                                                   int min_samples, double alpha, int threads,
                                                   std::int64_t most_distances, nb::object forecast,
                                                   std::shared_ptr<ForestObject> tree) {
  const auto task =
      make_task(std::move(points), std::move(ids),
                {metric, min_samples, threads, most_distances, std::move(forecast), angle, periodic, alpha});
  task->tree = std::move(tree);
  run_with_forecast(*task->ask, [&] {
    team->run([task, here = team->is_local()](comm::Transport& transport, const Interrupt& interrupt) {
      gather_fitted_points(*task, here, transport, interrupt);
    });
  });
  return std::make_shared<msf::GatheredPoints>(std::move(task->gathered));
}

/// Computes the core distances of this rank's points among those of all ranks; runs on one rank. Collective.
void find_core_distances(PointSearch& task, bool here, comm::Transport& transport, const Interrupt& interrupt) {
  msf::Report report;
  interrupt.watch(report);
  const RowRange share = local_rows(task.points.shape(0), here, transport);
  const auto cores = msf::core_distances(select_points(task.points, task.ids, task.space, share),
                                         task.options.min_samples, transport, task.options, report);
  std::copy(cores.begin(), cores.end(), task.found_cores.begin() + static_cast<std::ptrdiff_t>(share.begin));
}

/// Computes the core distances of the points of this process among those of all ranks. Collective over the team. @return an array by
/// point
nb::object core_distances(const std::shared_ptr<Team>& team, Rows<double> points,
                          std::optional<Line<std::uint64_t>> ids, const std::string& metric, int min_samples,
                          int threads, std::int64_t most_distances, nb::object forecast) {
  const auto task =
      make_task(std::move(points), std::move(ids), {metric, min_samples, threads, most_distances, std::move(forecast)});
  task->found_cores.resize(task->points.shape(0));
  run_with_forecast(*task->ask, [&] {
    team->run([task, here = team->is_local()](comm::Transport& transport, const Interrupt& interrupt) {
      find_core_distances(*task, here, transport, interrupt);
    });
  });
  return nb::cast(move_to_numpy(std::move(task->found_cores)));
}

/// Finds for each new point of this rank the fitted point of least mutual reachability distance among those of all ranks, as the
/// prediction of HDBSCAN* labels needs it. Collective.
void join_new_points(PointSearch& task, bool here, comm::Transport& transport, const Interrupt& interrupt) {
  msf::Report report;
  interrupt.watch(report);
  const int k = task.options.min_samples;
  const RowRange set_share = local_rows(task.points.shape(0), here, transport);
  const auto set = select_points(task.points, task.ids, task.space, set_share);
  const RowRange share = local_rows(task.fresh.shape(0), here, transport);
  const auto fresh = select_points(task.fresh, {}, task.space, share);
  const auto cores = to_span(task.cores).subspan(set_share.begin, set_share.size());
  if (task.want_nearest) {
    const auto near = msf::nearest_points(set, fresh, 1, transport, task.options, report);
    for (std::size_t i = 0; i < near.size(); ++i) task.nearest[share.begin + i] = near[i].distance;
  }
  const auto joints = msf::join_points(set, cores, fresh, k, transport, task.options, report);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    task.joined[share.begin + i] = static_cast<std::int64_t>(joints[i].id);
    task.reach[share.begin + i] = joints[i].reachability;
  }
}

/// Joins new points to the fitted points of all ranks, to predict HDBSCAN* labels. Collective over the team. @return arrays (id of
/// the fitted point of least mutual reachability distance, that distance, and with `nearest` the distance to the nearest fitted
/// point, else none) by new point of this process
nb::tuple join_points(const std::shared_ptr<Team>& team, Rows<double> points, std::optional<Line<std::uint64_t>> ids,
                      Line<double> cores, Rows<double> fresh, const std::string& metric, int min_samples, int threads,
                      std::int64_t most_distances, nb::object forecast, bool nearest) {
  const auto task =
      make_task(std::move(points), std::move(ids), {metric, min_samples, threads, most_distances, std::move(forecast)});
  task->fresh = std::move(fresh);
  task->cores = std::move(cores);
  task->joined.resize(task->fresh.shape(0));
  task->reach.resize(task->fresh.shape(0));
  task->want_nearest = nearest;
  if (nearest) task->nearest.resize(task->fresh.shape(0));
  run_with_forecast(*task->ask, [&] {
    team->run([task, here = team->is_local()](comm::Transport& transport, const Interrupt& interrupt) {
      join_new_points(*task, here, transport, interrupt);
    });
  });
  return nb::make_tuple(move_to_numpy(std::move(task->joined)), move_to_numpy(std::move(task->reach)),
                        move_to_numpy(std::move(task->nearest)));
}

}  // namespace

// Registers gather_points(), its result class, and join_points().
void bind_nearest(nb::module_& m) {
  nb::class_<msf::GatheredPoints>(m, "GatheredPoints",
                                  "All points with their core distances; of a communicator, on rank 0.");
  m.def("gather_points", &gather_points, nb::arg("team"), nb::arg("points").noconvert(),
        nb::arg("ids").noconvert().none(), nb::arg("metric"), nb::arg("angle"), nb::arg("periodic"),
        nb::arg("min_samples"), nb::arg("alpha"), nb::arg("threads"), nb::arg("most_distances"), nb::arg("forecast"),
        nb::arg("tree").none() = nb::none(),
        "Gathers all points and their core distances on rank 0: see merganser.gather_points(). Collective.");
  m.def("core_distances", &core_distances, nb::arg("team"), nb::arg("points").noconvert(),
        nb::arg("ids").noconvert().none(), nb::arg("metric"), nb::arg("min_samples"), nb::arg("threads"),
        nb::arg("most_distances"), nb::arg("forecast"), "Computes the core distances of points. Collective.");
  m.def("join_points", &join_points, nb::arg("team"), nb::arg("points").noconvert(), nb::arg("ids").noconvert().none(),
        nb::arg("cores").noconvert(), nb::arg("fresh").noconvert(), nb::arg("metric"), nb::arg("min_samples"),
        nb::arg("threads"), nb::arg("most_distances"), nb::arg("forecast"), nb::arg("nearest"),
        "Finds for each new point the fitted point of least mutual reachability distance, and that distance. "
        "Collective.");
}

}  // namespace merganser::python
