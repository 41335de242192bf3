/// Python bindings of searches among points: gathering with core distances, and joining new points to fitted ones.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/new_points.hpp"
#include "python/src/forecast.hpp"
#include "python/src/points.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Parameters of a search among points, as the Python side passes them.
struct How {
  std::string metric;
  int min_samples;
  int threads;
  std::int64_t most_distances;
  nb::object forecast;
  std::string angle = "radians";
  std::vector<Axis> periodic = {};
};

/// Arguments and results of a search among points. A LookUp owns its arrays, since an interrupted call may outlive its
/// caller.
struct LookUp {
  Rows<double> points;
  std::optional<Line<std::uint64_t>> ids;
  Rows<double> fresh;
  msf::PointSpace space;
  msf::EuclideanOptions options;
  std::shared_ptr<Ask> ask;
  msf::GatheredPoints gathered;
  std::vector<std::int64_t> joined;  // nearest fitted point of each new point of this process
  std::vector<double> reach;         // mutual reachability distance of each new point to it
};

/// Returns the rows of this rank: a share of one array if all ranks are in this process, else all rows of its own array.
RowRange local_rows(std::size_t rows, bool here, const comm::Transport& transport) {
  return here ? row_share(rows, transport.rank(), transport.size()) : RowRange{0, rows};
}

// Converts the arguments of a search while the interpreter's lock is held.
std::shared_ptr<LookUp> make_task(Rows<double> points, std::optional<Line<std::uint64_t>> ids, How how) {
  auto task = std::make_shared<LookUp>();
  task->points = std::move(points);
  task->ids = std::move(ids);
  task->space = make_space(task->points.shape(1), how.metric, how.angle, how.periodic);
  task->options.min_samples = how.min_samples;
  task->options.threads = how.threads;
  task->ask = set_forecast(how.most_distances, std::move(how.forecast), task->options);
  return task;
}

// Search on one rank: gathers all points and their core distances on rank 0. Collective.
void gather(LookUp& task, bool here, comm::Transport& transport, const Interrupt& interrupt) {
  msf::Report report;
  interrupt.watch(report);
  const RowRange share = local_rows(task.points.shape(0), here, transport);
  auto gathered =
      msf::gather_points(select_points(task.points, task.ids, task.space, share), transport, task.options, report);
  if (transport.rank() == 0 || !here) task.gathered = std::move(gathered);
}

std::shared_ptr<msf::GatheredPoints> gather_points(const std::shared_ptr<Team>& team, Rows<double> points,
                                                   std::optional<Line<std::uint64_t>> ids, const std::string& metric,
                                                   const std::string& angle, const std::vector<Axis>& periodic,
                                                   int min_samples, int threads, std::int64_t most_distances,
                                                   nb::object forecast) {
  const auto task = make_task(std::move(points), std::move(ids),
                              {metric, min_samples, threads, most_distances, std::move(forecast), angle, periodic});
  run_with_forecast(*task->ask, [&] {
    team->run([task, here = team->is_local()](comm::Transport& transport, const Interrupt& interrupt) {
      gather(*task, here, transport, interrupt);
    });
  });
  return std::make_shared<msf::GatheredPoints>(std::move(task->gathered));
}

// Search on one rank: nearest fitted point of each new point of this rank. Collective.
void join(LookUp& task, bool here, comm::Transport& transport, const Interrupt& interrupt) {
  msf::Report report;
  interrupt.watch(report);
  const int k = task.options.min_samples;
  const auto set = select_points(task.points, task.ids, task.space, local_rows(task.points.shape(0), here, transport));
  const RowRange share = local_rows(task.fresh.shape(0), here, transport);
  const auto fresh = select_points(task.fresh, {}, task.space, share);
  const auto cores = msf::core_distances(set, k, transport, task.options, report);
  const auto joints = msf::join_points(set, cores, fresh, k, transport, task.options, report);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    task.joined[share.begin + i] = static_cast<std::int64_t>(joints[i].id);
    task.reach[share.begin + i] = joints[i].reachability;
  }
}

nb::tuple join_points(const std::shared_ptr<Team>& team, Rows<double> points, std::optional<Line<std::uint64_t>> ids,
                      Rows<double> fresh, const std::string& metric, int min_samples, int threads,
                      std::int64_t most_distances, nb::object forecast) {
  const auto task =
      make_task(std::move(points), std::move(ids), {metric, min_samples, threads, most_distances, std::move(forecast)});
  task->fresh = std::move(fresh);
  task->joined.resize(task->fresh.shape(0));
  task->reach.resize(task->fresh.shape(0));
  run_with_forecast(*task->ask, [&] {
    team->run([task, here = team->is_local()](comm::Transport& transport, const Interrupt& interrupt) {
      join(*task, here, transport, interrupt);
    });
  });
  return nb::make_tuple(move_to_numpy(std::move(task->joined)), move_to_numpy(std::move(task->reach)));
}

}  // namespace

void bind_nearest(nb::module_& m) {
  nb::class_<msf::GatheredPoints>(m, "GatheredPoints",
                                  "All points with their core distances; of a communicator, on rank 0.");
  m.def("gather_points", &gather_points, nb::arg("team"), nb::arg("points").noconvert(),
        nb::arg("ids").noconvert().none(), nb::arg("metric"), nb::arg("angle"), nb::arg("periodic"),
        nb::arg("min_samples"), nb::arg("threads"), nb::arg("most_distances"), nb::arg("forecast"),
        "Gathers all points and their core distances on rank 0: see merganser.gather_points(). Collective.");
  m.def("join_points", &join_points, nb::arg("team"), nb::arg("points").noconvert(), nb::arg("ids").noconvert().none(),
        nb::arg("fresh").noconvert(), nb::arg("metric"), nb::arg("min_samples"), nb::arg("threads"),
        nb::arg("most_distances"), nb::arg("forecast"),
        "Finds for each new point the fitted point of least mutual reachability distance, and that distance. "
        "Collective.");
}

}  // namespace merganser::python
