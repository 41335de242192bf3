// C interface to spanning forests, linkage and HDBSCAN*: checks arguments, converts records, and calls merganser::msf.
#include "merganser/capi/forest.h"

#include <algorithm>
#include <cstddef>

#include "merganser/base/text.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/msf/cluster_scores.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/grow.hpp"
#include "merganser/msf/hdbscan.hpp"
#include "merganser/msf/linkage.hpp"
#include "merganser/msf/minimum_forest.hpp"

namespace merganser::capi {
namespace {

/// Parameters of the weights of a forest of points, which mg_linkage_sequential() must be given again.
struct ReachOptions {
  int min_samples = 0;  ///< 0: a forest of a graph
  double alpha = 1;
};

/// Core distances of this rank's points of a forest, with the ids by which they were given.
struct KeptCores {
  std::vector<double> cores;       ///< in the caller's order; empty: plain distances
  std::vector<std::uint64_t> ids;  ///< those of the caller; empty: the points were numbered by rank, then position
};

/// Object behind the C handle mg_forest: this rank's share of a spanning forest, with its edges also as records of the C interface.
class ForestObject final : public OverTransport {
 public:
  static constexpr const char* kKind = "forest";
  ForestObject(std::shared_ptr<TransportObject> transport, msf::Forest found, ReachOptions reach = {},
               KeptCores kept_cores = {})
      : OverTransport(std::move(transport)), forest(std::move(found)), of(reach), kept(std::move(kept_cores)) {
    edges.reserve(forest.edges.size());
    for (const auto& e : forest.edges)
      edges.push_back({e.low, e.high, graphs::weight_from_bits(forest.kind, e.weight)});
  }

  const msf::Forest forest;    ///< this rank's share of the forest
  std::vector<mg_edge> edges;  ///< its edges, with weights as double
  const ReachOptions of;       ///< how the weights of a forest of points were made
  const KeptCores kept;        ///< core distances of this rank's points; none with plain distances
};

// mg_linkage_merges() returns the merges of a dendrogram in place, as records of the C interface.
static_assert(sizeof(mg_merge_step) == sizeof(msf::Merge) && offsetof(mg_merge_step, b) == offsetof(msf::Merge, b) &&
              offsetof(mg_merge_step, height) == offsetof(msf::Merge, height) &&
              offsetof(mg_merge_step, size) == offsetof(msf::Merge, size));

/// Object behind the C handle mg_linkage: the dendrogram of single linkage on rank 0, an empty one on the other ranks.
class LinkageObject final : public Object {
 public:
  static constexpr const char* kKind = "linkage";
  explicit LinkageObject(msf::Dendrogram d) : dendrogram(std::move(d)) {}
  const msf::Dendrogram dendrogram;  ///< merges in ascending order of height
};

constexpr std::size_t kMax = std::size_t{1} << 40;  // points or edges of one rank

/// Converts the record of options of a spanning tree of points from the C interface; 0 stands for a default. @throws UsageError for
/// values out of range
msf::EuclideanOptions to_options(const mg_tree_options& record) {
  msf::EuclideanOptions options;
  check_range(record.threads, 0, 1024, "options: threads");
  check_range(record.min_samples, 0, 1 << 30, "options: min_samples");
  if (record.threads > 0) options.threads = record.threads;
  if (record.min_samples > 0) options.min_samples = record.min_samples;
  check_range<std::int64_t>(record.most_distances, 0, std::int64_t{1} << 62, "options: most_distances");
  if (record.most_distances > 0) options.most_distances = record.most_distances;
  if (record.alpha != 0) options.alpha = record.alpha;
  return options;
}

/// Returns a view of this rank's points in the arrays of the C caller, with dimension, metric and periodic axes. @throws UsageError
/// for arguments out of range
msf::PointSet to_point_set(int dimension, const double* coordinates, const std::uint64_t* ids, std::size_t count,
                           const mg_tree_options& record) {
  check_range(dimension, 1, 1 << 16, "dimension");
  check_range(record.metric, 0, 6, "options: metric");
  check_range<std::size_t>(count, 0, kMax, "count");
  msf::PointSet points;
  points.dimension = dimension;
  if (record.box != nullptr) points.periods = msf::periodic_axes(to_box(record.box), dimension);
  points.metric = static_cast<msf::Distance>(record.metric);
  points.angle = read_flag(record.degrees, "options: degrees") ? msf::Angle::degrees : msf::Angle::radians;
  if (record.period != nullptr) {
    if (record.box != nullptr) throw UsageError("options: box and period; allowed: one of them");
    for (int a = 0; a < dimension; ++a)
      if (record.period[a] != 0) points.periods.push_back({a, 0, record.period[a]});
  }
  points.coordinates = checked_array(coordinates, count * static_cast<std::size_t>(dimension), "coordinates");
  if (ids != nullptr) points.ids = {ids, count};
  return points;
}

/// Copies this rank's edges of a graph from the array of the C caller into an edge list with float64 weights. @throws UsageError
/// for a missing array or too many edges, InputError for weights that are NaN
graphs::EdgeList to_edge_list(std::uint64_t vertices, const mg_edge* edges, std::size_t count) {
  check_range<std::size_t>(count, 0, kMax, "count");
  const auto given = checked_array(edges, count, "edges");
  graphs::EdgeList graph;
  graph.vertices = vertices;
  graph.kind = graphs::WeightKind::float64;
  std::vector<graphs::Edge24> list;
  list.reserve(count);
  for (const mg_edge& e : given)
    list.push_back(graphs::make_edge<graphs::Edge24>(e.low, e.high, graphs::ordered_bits(e.weight)));
  graph.edges = std::move(list);
  return graph;
}

/// Converts the record of options of a spanning forest of a graph from the C interface. @throws UsageError for values out of range
msf::ForestOptions to_options(const mg_forest_options* given) {
  const auto record = read_options(given, "options");
  msf::ForestOptions options;
  check_range(record.threads, 0, 1024, "options: threads");
  if (record.threads > 0) options.threads = record.threads;
  options.sense = read_flag(record.maximum, "options: maximum") ? msf::Sense::maximum : msf::Sense::minimum;
  return options;
}

/// Checks that options of mg_linkage_sequential() are those of the forest. @throws UsageError for others, and for a forest of a graph
void check_reach_options(const ReachOptions& of, const msf::EuclideanOptions& how) {
  if (of.min_samples == 0) throw UsageError("forest: of a graph; allowed: of mg_forest_of_points()");
  if (how.min_samples != of.min_samples)
    throw UsageError("options: min_samples: " + std::to_string(how.min_samples) +
                     "; allowed: " + std::to_string(of.min_samples) + ", as of the forest");
  if (how.alpha != of.alpha)
    throw UsageError("options: alpha: " + number_text(how.alpha) + "; allowed: " + number_text(of.alpha) +
                     ", as of the forest");
}

/// Gathers the points of a forest with the core distances that it has kept; computes these again where a rank gives its points in another
/// order, or other ones. Collective.
msf::GatheredPoints gather_again(const ForestObject& object, const msf::PointSet& points, comm::Transport& transport,
                                 const msf::EuclideanOptions& how, std::size_t count) {
  const KeptCores& kept = object.kept;
  const bool as_kept = kept.cores.size() == count && std::ranges::equal(kept.ids, points.ids);
  const std::int64_t others = transport.all_reduce(static_cast<std::int64_t>(!as_kept), comm::Op::sum);
  if (how.min_samples == 1 || others == 0) return msf::gather_points(points, kept.cores, transport, how);
  msf::Report report;
  return msf::gather_points(points, transport, how, report);
}

/// Gathers the edges of a spanning forest from all ranks and computes the dendrogram of single linkage on rank 0; empty on the
/// others. Collective.
msf::Dendrogram gather_dendrogram(ForestObject& object, msf::Apart apart) {
  const msf::Forest all = msf::gather_forest(object.forest, object.transport());
  return object.transport().rank() == 0 ? msf::dendrogram(all, apart) : msf::Dendrogram{};
}

/// Copies the cluster label of every vertex and the number of flat clusters to the memory of the C caller; `clusters` may be null.
void copy_labels(const msf::Labels& found, std::uint32_t* labels, std::uint32_t* clusters) {
  std::copy(found.of.begin(), found.of.end(), labels);
  store_optional(clusters, found.clusters);
}

/// Converts the record of options of HDBSCAN* from the C interface. @throws UsageError for values out of range
msf::HdbscanOptions to_options(const mg_hdbscan_options* given) {
  const auto record = read_options(given, "options", offsetof(mg_hdbscan_options, sequential));  // in the first version
  msf::HdbscanOptions options;
  const auto to_signed = [](std::uint64_t x) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(x, INT64_MAX));
  };
  if (record.min_cluster_size > 0) options.min_cluster_size = to_signed(record.min_cluster_size);
  options.max_cluster_size = to_signed(record.max_cluster_size);
  options.epsilon = record.epsilon;
  if (record.epsilon_max != 0) options.epsilon_max = record.epsilon_max;
  options.persistence = record.persistence;
  options.selection = read_flag(record.leaf, "options: leaf") ? msf::Selection::leaf : msf::Selection::excess_of_mass;
  options.allow_single_cluster = read_flag(record.allow_single_cluster, "options: allow_single_cluster");
  options.ties =
      read_flag(record.sequential, "options: sequential") ? msf::HdbscanTies::sequential : msf::HdbscanTies::together;
  msf::check(options, [](std::string_view field) { return "options: " + std::string(field); });
  return options;
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_forest_of_points(mg_transport* transport, int dimension, const double* coordinates, const uint64_t* ids,
                        size_t count, const mg_tree_options* options, mg_forest** forest) {
  return guard([&] {
    auto over = object_from<TransportObject>(transport);
    msf::PointSet points;
    msf::EuclideanOptions how;
    comm::agree(over->get(), [&] {
      check_not_null(forest, "forest");
      const auto record = read_options(options, "options", offsetof(mg_tree_options, metric));  // in the first version
      how = to_options(record);
      points = to_point_set(dimension, coordinates, ids, count, record);
    });
    msf::Report report;
    KeptCores kept;
    const bool keeps = how.min_samples > 1;
    auto found = msf::euclidean_forest(points, over->get(), how, report, keeps ? &kept.cores : nullptr);
    if (keeps) kept.ids.assign(points.ids.begin(), points.ids.end());
    make_handle<ForestObject>(forest, std::move(over), std::move(found), ReachOptions{how.min_samples, how.alpha},
                              std::move(kept));
  });
}

int mg_forest_of_graph(mg_transport* transport, uint64_t vertices, const mg_edge* edges, size_t count,
                       const mg_forest_options* options, mg_forest** forest) {
  return guard([&] {
    auto over = object_from<TransportObject>(transport);
    graphs::EdgeList graph;
    msf::ForestOptions how;
    comm::agree(over->get(), [&] {
      check_not_null(forest, "forest");
      how = to_options(options);
      graph = to_edge_list(vertices, edges, count);
    });
    msf::Report report;
    auto found = msf::minimum_spanning_forest(graph, over->get(), how, report);
    make_handle<ForestObject>(forest, std::move(over), std::move(found));
  });
}

int mg_forest_edges(mg_forest* forest, const mg_edge** edges, size_t* count) {
  return guard([&] { return_array(object_from<ForestObject>(forest)->edges, edges, count); });
}

// Totals of the forest over all ranks, copied to the caller's record. Collective.
int mg_forest_sums(mg_forest* forest, mg_forest_totals* totals) {
  return guard<ForestObject>(forest, [&](ForestObject& object) {
    check_record(totals, "totals");
    const msf::ForestTotals all = msf::totals(object.forest, object.transport());
    mg_forest_totals record{};
    record.edges = all.edges;
    record.components = all.components;
    record.weight = all.weight_value;
    std::copy_n(all.digest.c_str(), std::min<std::size_t>(all.digest.size(), 32), record.digest);
    write_record(record, totals, "totals");
  });
}

int mg_forest_free(mg_forest* forest) { return guard_free<ForestObject>(forest); }

// Dendrogram of the forest on rank 0. Collective.
int mg_linkage_new(mg_forest* forest, int join, mg_linkage** linkage) {
  return guard<ForestObject>(forest, [&](ForestObject& object) {
    auto apart = msf::Apart::stay;
    comm::agree(object.transport(), [&] {
      check_not_null(linkage, "linkage");
      if (read_flag(join, "join")) apart = msf::Apart::join;
    });
    make_handle<LinkageObject>(linkage, gather_dendrogram(object, apart));
  });
}

// Dendrogram on rank 0 with merges of equal height in scikit-learn's order, for which the points are gathered too. Collective.
int mg_linkage_sequential(mg_forest* forest, int dimension, const double* coordinates, const uint64_t* ids,
                          size_t count, const mg_tree_options* options, int32_t* exact, mg_linkage** linkage) {
  return guard<ForestObject>(forest, [&](ForestObject& object) {
    auto& transport = object.transport();
    msf::PointSet points;
    msf::EuclideanOptions how;
    comm::agree(transport, [&] {
      check_not_null(linkage, "linkage");
      const auto record = read_options(options, "options", offsetof(mg_tree_options, metric));  // in the first version
      how = to_options(record);
      points = to_point_set(dimension, coordinates, ids, count, record);
      check_reach_options(object.of, how);
    });
    const msf::GatheredPoints gathered = gather_again(object, points, transport, how, count);
    const msf::Forest all = msf::gather_forest(object.forest, transport);
    msf::Growth growth;
    msf::Dendrogram found;
    comm::agree(transport, [&] {
      if (!gathered) return;
      growth = msf::grow(all, gathered);
      if (all.vertices > 0) found = msf::grown_dendrogram(growth.edges);
    });
    make_handle<LinkageObject>(linkage, std::move(found));
    store_optional(exact, growth.exact ? 1 : 0);
  });
}

int mg_linkage_merges(mg_linkage* linkage, const mg_merge_step** merges, size_t* count) {
  return guard([&] { return_array_as(object_from<LinkageObject>(linkage)->dendrogram.merges, merges, count); });
}

int mg_linkage_vertices(mg_linkage* linkage, uint64_t* vertices) {
  return guard_get<LinkageObject>(linkage, vertices, "vertices",
                                  [](auto& object) { return object.dendrogram.vertices; });
}

int mg_linkage_cut_height(mg_linkage* linkage, double height, uint32_t* labels, size_t capacity, uint32_t* clusters) {
  return guard<LinkageObject>(linkage, [&](LinkageObject& object) {
    check_capacity(capacity, object.dendrogram.vertices, "capacity");
    check_not_null(labels, object.dendrogram.vertices, "labels");
    copy_labels(msf::cut_by_height(object.dendrogram, height), labels, clusters);
  });
}

int mg_linkage_cut_count(mg_linkage* linkage, uint64_t k, int apart, uint32_t* labels, size_t capacity,
                         uint32_t* clusters) {
  return guard<LinkageObject>(linkage, [&](LinkageObject& object) {
    const auto ties = read_flag(apart, "apart") ? msf::Ties::apart : msf::Ties::together;
    check_capacity(capacity, object.dendrogram.vertices, "capacity");
    check_not_null(labels, object.dendrogram.vertices, "labels");
    copy_labels(msf::cut_by_count(object.dendrogram, k, ties), labels, clusters);
  });
}

int mg_linkage_free(mg_linkage* linkage) { return guard_free<LinkageObject>(linkage); }

int mg_hdbscan(mg_linkage* linkage, const mg_hdbscan_options* options, int32_t* labels, double* probabilities,
               size_t capacity, uint32_t* clusters) {
  return guard<LinkageObject>(linkage, [&](LinkageObject& object) {
    check_capacity(capacity, object.dendrogram.vertices, "capacity");
    check_not_null(labels, object.dendrogram.vertices, "labels");
    const msf::HdbscanOptions choice = to_options(options);
    const msf::Hdbscan found = msf::hdbscan(msf::condense(object.dendrogram, choice), choice);
    std::copy(found.labels.begin(), found.labels.end(), labels);
    if (probabilities != nullptr) std::copy(found.probabilities.begin(), found.probabilities.end(), probabilities);
    store_optional(clusters, found.clusters);
  });
}

}  // extern "C"
