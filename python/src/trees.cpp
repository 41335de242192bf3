/// Python bindings of minimum spanning trees of points and minimum spanning forests of graphs.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "python/src/forecast.hpp"
#include "python/src/forest.hpp"
#include "python/src/points.hpp"
#include "python/src/themes.hpp"

namespace merganser::python {
namespace {

/// Arguments and results of merganser.euclidean_tree(), the minimum spanning tree of points. A PointTask owns its arrays, since an
/// interrupted call may outlive its caller.
struct PointTask {
  Rows<double> points;                     ///< coordinates of the points of this process
  std::optional<Line<std::uint64_t>> ids;  ///< ids of the points; none: consecutive over all ranks
  msf::PointSpace space;
  msf::EuclideanOptions options;
  std::shared_ptr<ForecastCallback> ask;
  bool keeps_cores = false;                      ///< core distances are kept for gather_points()
  std::vector<double> cores;                     ///< core distances of the points of this process
  msf::euclidean::NeighboursPointer neighbours;  ///< what gather_points() takes; null: it is not known
  Numbering own;                                 ///< vertices of the tree that this process passed
  msf::Forest forest;                            ///< edges that this process holds
  ForestShares shares;                           ///< edges found by ranks that are threads of this process
};

/// Finds the minimum spanning tree of all ranks' points on one rank, and keeps this rank's share of its edges. Collective.
/// @param here  the ranks are threads of this process, which share one array of points
void find_tree(PointTask& task, bool here, comm::Transport& transport, const Interrupt& interrupt) {
  const std::size_t n = task.points.shape(0);
  const RowRange share = here ? row_share(n, transport.rank(), transport.size()) : RowRange{0, n};
  msf::Report report;
  interrupt.watch(report);
  std::vector<double> cores;
  auto found = msf::euclidean_forest(select_points(task.points, task.ids, task.space, share), transport, task.options,
                                     report, task.keeps_cores ? &cores : nullptr,
                                     task.keeps_cores && transport.size() == 1 ? &task.neighbours : nullptr);
  std::copy(cores.begin(), cores.end(), task.cores.begin() + static_cast<std::ptrdiff_t>(share.begin));
  if (here) {
    task.shares.add(std::move(found));
  } else {
    task.own.first = comm::compute_share(transport, n).before;
    task.forest = std::move(found);
  }
}

/// Computes the minimum spanning tree of all ranks' points by (mutual reachability) distance for merganser.euclidean_tree(), after
/// asking the forecast callback where all pairs are compared. Collective over the team.
std::shared_ptr<ForestObject> euclidean_tree(const std::shared_ptr<Team>& team, Rows<double> points,
                                             std::optional<Line<std::uint64_t>> ids, const std::string& metric,
                                             const std::string& angle, const std::vector<Axis>& periodic,
                                             int min_samples, double alpha, int threads, std::int64_t most_distances,
                                             nb::object forecast, bool keep_cores) {
  const auto task = std::make_shared<PointTask>();
  task->points = std::move(points);
  task->ids = std::move(ids);
  task->space = make_space(task->points.shape(1), metric, angle, periodic);
  task->options.min_samples = min_samples;
  task->options.alpha = alpha;
  task->options.threads = threads;
  task->ask = set_forecast(most_distances, std::move(forecast), task->options);
  task->own.count = task->points.shape(0);
  task->keeps_cores = keep_cores && min_samples > 1;
  if (task->keeps_cores) task->cores.resize(task->points.shape(0));
  run_with_forecast(*task->ask, [&] {
    team->run([task, here = team->is_local()](comm::Transport& transport, const Interrupt& interrupt) {
      find_tree(*task, here, transport, interrupt);
    });
  });
  if (team->is_local()) task->forest = task->shares.release();
  if (task->ids) task->own.ids.assign(task->ids->data(), task->ids->data() + task->ids->size());
  auto forest = std::make_shared<ForestObject>(team, std::move(task->forest), std::move(task->own));
  forest->set_cores(std::move(task->cores), std::move(task->neighbours));
  return forest;
}

/// Arguments and results of merganser.minimum_spanning_forest() of a graph. A GraphTask owns its edges, since an interrupted call
/// may outlive its caller.
struct GraphTask {
  graphs::EdgeList graph;
  msf::ForestOptions options;
  msf::Forest forest;
  ForestShares shares;
};

/// Converts an edge weight of a graph to order-preserving bits, which compare as unsigned integers; floats as the doubles they are.
template <class T>
std::uint64_t weight_bits(T weight) {
  if constexpr (std::is_same_v<T, float>)
    return graphs::ordered_bits(static_cast<double>(weight));
  else
    return graphs::ordered_bits(weight);
}

/// Converts graph edges from arrays of ends and weights to the library's records with order-preserving weights. @throws InputError
/// naming the first edge with an end outside 0 .. vertices - 1
template <class T>
std::vector<graphs::Edge24> make_edges(std::uint64_t vertices, const Line<std::int64_t>& u, const Line<std::int64_t>& v,
                                       const Line<T>& w) {
  std::vector<graphs::Edge24> edges(u.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto a = static_cast<std::uint64_t>(u.data()[i]);
    const auto b = static_cast<std::uint64_t>(v.data()[i]);
    if (std::max(a, b) >= vertices)
      throw InputError("edge " + std::to_string(i) + ": (" + std::to_string(u.data()[i]) + ", " +
                       std::to_string(v.data()[i]) + "); allowed: vertices from 0 to below " +
                       std::to_string(vertices));
    edges[i] = graphs::make_edge<graphs::Edge24>(a, b, weight_bits(w.data()[i]));
  }
  return edges;
}

/// Finds the minimum (or maximum) spanning forest of all ranks' graph edges on one rank, and keeps this rank's share of it. Ranks
/// that are threads of this process (`here`) share the edges of one array. Collective.
void find_forest(GraphTask& task, bool here, comm::Transport& transport, const Interrupt& interrupt) {
  msf::Report report;
  interrupt.watch(report);
  if (!here || transport.size() == 1) {
    task.forest = msf::minimum_spanning_forest(task.graph, transport, task.options, report);
    return;
  }
  const auto& all = std::get<std::vector<graphs::Edge24>>(task.graph.edges);
  const RowRange share = row_share(all.size(), transport.rank(), transport.size());
  graphs::EdgeList mine{task.graph.vertices, task.graph.kind, {}, {}};
  mine.edges = std::vector<graphs::Edge24>(all.begin() + static_cast<std::ptrdiff_t>(share.begin),
                                           all.begin() + static_cast<std::ptrdiff_t>(share.end));
  task.shares.add(msf::minimum_spanning_forest(mine, transport, task.options, report));
}

/// Computes the minimum or maximum spanning forest of a graph for merganser.minimum_spanning_forest(), with edges u, v and weights
/// w from all ranks. Collective over the team. @param ids  numbers of the vertices for which this process receives labels, in its
/// order; none: all, on rank 0 @throws UsageError for arrays of different lengths
template <class T>
std::shared_ptr<ForestObject> spanning_forest(const std::shared_ptr<Team>& team, std::uint64_t vertices,
                                              Line<std::int64_t> u, Line<std::int64_t> v, Line<T> w, bool maximum,
                                              int threads, const std::optional<Line<std::uint64_t>>& ids) {
  if (u.size() != v.size() || u.size() != w.size())
    throw UsageError("edges: " + std::to_string(u.size()) + ", " + std::to_string(v.size()) + " and " +
                     std::to_string(w.size()) + " numbers in u, v and w; allowed: as many in each");
  const auto task = std::make_shared<GraphTask>();
  task->graph.vertices = vertices;
  task->graph.kind = std::is_same_v<T, std::uint64_t>  ? graphs::WeightKind::unsigned_integer
                     : std::is_same_v<T, std::int64_t> ? graphs::WeightKind::signed_integer
                                                       : graphs::WeightKind::float64;
  task->options.sense = maximum ? msf::Sense::maximum : msf::Sense::minimum;
  task->options.threads = threads;
  const bool here = team->is_local();
  team->run([=](comm::Transport& transport, const Interrupt& interrupt) {
    if (!here || transport.rank() == 0)
      comm::agree(transport, [&] { task->graph.edges = make_edges(vertices, u, v, w); });
    else
      comm::agree(transport, [] {});
    find_forest(*task, here, transport, interrupt);
  });
  if (here && team->ranks() > 1) task->forest = task->shares.release();
  Numbering own{0, static_cast<std::size_t>(here || team->rank() == 0 ? vertices : 0), {}};
  if (ids) own = {0, ids->size(), {ids->data(), ids->data() + ids->size()}};
  return std::make_shared<ForestObject>(team, std::move(task->forest), own);
}

/// Registers spanning_forest() for edge weights of type T.
template <class T>
void bind_spanning_forest(nb::module_& m) {
  m.def("spanning_forest", &spanning_forest<T>, nb::arg("team"), nb::arg("vertices"), nb::arg("u").noconvert(),
        nb::arg("v").noconvert(), nb::arg("w").noconvert(), nb::arg("maximum"), nb::arg("threads"),
        nb::arg("ids").noconvert().none() = nb::none(),
        "Computes the spanning forest of a graph: see merganser.minimum_spanning_forest(). Collective.");
}

}  // namespace

// Registers euclidean_tree() of points and, for each type of edge weights, spanning_forest() of graphs.
void bind_trees(nb::module_& m) {
  m.def("euclidean_tree", &euclidean_tree, nb::arg("team"), nb::arg("points").noconvert(),
        nb::arg("ids").noconvert().none(), nb::arg("metric"), nb::arg("angle"), nb::arg("periodic"),
        nb::arg("min_samples"), nb::arg("alpha"), nb::arg("threads"), nb::arg("most_distances"), nb::arg("forecast"),
        nb::arg("keep_cores") = false,
        "Computes the minimum spanning tree of points: see merganser.euclidean_tree(). Collective.");
  bind_spanning_forest<std::uint64_t>(m);
  bind_spanning_forest<std::int64_t>(m);
  bind_spanning_forest<double>(m);
}

}  // namespace merganser::python
