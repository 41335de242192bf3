// Command merganser linkage: single linkage and HDBSCAN* clusters of points or of a graph. All ranks compute the spanning forest;
// rank 0 computes the clusters.
#include <algorithm>
#include <iostream>

#include "apps/frame/command.hpp"
#include "apps/frame/memory.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/table.hpp"
#include "apps/graph/input.hpp"
#include "apps/linkage/files.hpp"
#include "apps/linkage/trees_json.hpp"
#include "apps/msf/points_input.hpp"
#include "apps/msf/report.hpp"
#include "merganser/base/release_memory.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/output_name.hpp"
#include "merganser/msf/cluster_scores.hpp"
#include "merganser/msf/detail/describe_euclidean.hpp"
#include "merganser/msf/detail/describe_hdbscan.hpp"
#include "merganser/msf/detail/describe_minimum_forest.hpp"
#include "merganser/msf/grow.hpp"
#include "merganser/msf/hdbscan.hpp"
#include "merganser/msf/minimum_forest.hpp"

namespace merganser::app {
namespace {

/// Clustering by the command merganser linkage: cuts of the single-linkage dendrogram, or HDBSCAN*.
enum class Method : std::uint8_t { single, hdbscan };

/// Options of the command merganser linkage.
struct LinkageCommand {
  GraphInput graph;                ///< graph whose vertices are clustered, unless --points is given
  PointsOptions points;            ///< points that are clustered
  Method method = Method::single;  ///< --method
  int min_samples = 0;             ///< --min-samples, k of core distances; 0: not given
  double alpha = 1;                ///< --alpha, by which distances are divided
  int threads = 1;                 ///< threads of each rank while the tree is made and put in order
  std::int64_t most_distances = msf::EuclideanOptions().most_distances;  ///< limit of distances beyond 16 dimensions
  double height = 0;           ///< --height at which the dendrogram is cut; used if given
  std::uint64_t clusters = 0;  ///< --clusters, number of clusters of the cut; used if given
  bool break_ties = false;     ///< --break-ties: merges of one height are made one by one
  bool join = false;           ///< --join: components of a graph are joined at infinite height
  msf::HdbscanOptions hdbscan;
  std::string linkage, labels, probabilities, condensed, json;  ///< paths of output files; empty: not written
  RankOptions ranks;
};

/// Returns the command line flag of a field of HdbscanOptions: "--min-cluster-size" of min_cluster_size.
std::string flag_name(std::string_view field) {
  std::string flag = "--" + std::string(field);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

/// Describes the options of the command merganser linkage.
void describe(LinkageCommand& o, auto&& option) {
  describe(o.graph, option);
  describe(o.points, option);
  option(
      "min-samples", o.min_samples,
      "of points: mutual reachability with the distance to the N-th nearest point, itself counted; 1: plain distances",
      between(1, 1 << 20), ShownDefault{"1, with --method hdbscan as min-cluster-size"}, UsedWith{"--points"});
  option("alpha", o.alpha, "of points: distances are divided by it where they are compared with core distances",
         between(0.001, 1000.0), UsedWith{"--points"});
  option("most-distances", o.most_distances,
         "of points beyond 16 dimensions, where every pair is compared: more are refused, with what they would cost",
         at_least(1), UsedWith{"--points"});
  option.section("Clusters");
  option("method", o.method, "single linkage, or clusters of any density",
         Choices<Method>{{{"single", Method::single}, {"hdbscan", Method::hdbscan}}});
  option("height", o.height, "of single: clusters are what edges up to this weight connect", ShownDefault{"none"},
         UsedWith{"--method single"}, NotWith{"--clusters"});
  option("clusters", o.clusters, "of single: at most K clusters; merges of one height are made together", at_least(1),
         Kind{"K"}, ShownDefault{"none"}, UsedWith{"--method single"});
  option("break-ties", o.break_ties, "with --clusters: exactly K, merges of one height in the order of vertices",
         UsedWith{"--clusters"});
  option("join", o.join, "of single: join the components of a graph at infinite height, for n - 1 merges in all",
         UsedWith{"--method single"}, NotWith{"--points"});
  option("threads", o.threads, "threads of each rank while the tree is made and put in order", between(1, 1024));
  option.section("HDBSCAN* (--method hdbscan)");
  describe(o.hdbscan, option);
  option.restrict({"min-cluster-size", "selection", "epsilon", "epsilon-max", "persistence", "allow-single-cluster",
                   "max-cluster-size", "ties"},
                  UsedWith{"--method hdbscan"});
  option.section("Output (.npy: an array of NumPy, else text)");
  option("linkage", o.linkage, "merges, as SciPy's functions take them: a b height size", Kind{"FILE"}, Writes{});
  option("labels", o.labels,
         "cluster of each vertex, from 0; -1 is noise; text has names (--names) or sparse ids of vertices before it",
         Kind{"FILE"}, Writes{}, UsedWith{"--height", "--clusters", "--method hdbscan"});
  option("probabilities", o.probabilities, "of hdbscan: how strongly each point belongs to its cluster", Kind{"FILE"},
         Writes{}, UsedWith{"--method hdbscan"});
  option("condensed", o.condensed, "of hdbscan: condensed tree, parent child lambda size", Kind{"FILE"}, Writes{},
         UsedWith{"--method hdbscan"});
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  describe(o.ranks, option);
}

constexpr std::size_t kShownClusters = 8;  // number of cluster sizes in the report

/// Clusters computed by the command merganser linkage, on rank 0.
struct ClusterResult {
  msf::Dendrogram dendrogram;           ///< single-linkage dendrogram
  msf::CondensedTree condensed;         ///< condensed tree of HDBSCAN*
  std::vector<std::uint32_t> selected;  ///< of HDBSCAN*: cluster of the condensed tree, by label
  std::vector<double> probabilities;    ///< of HDBSCAN*: strength of membership of each point
  std::vector<std::int64_t> labels;     ///< cluster of each vertex, -1: noise; empty without a cut
  std::vector<std::int64_t> sizes;      ///< number of vertices of each cluster, by label
  std::int64_t noise = 0;               ///< number of points in no cluster
  bool exact_order = false;             ///< merges of one height are in scikit-learn's order
};

/// Run of the command merganser linkage on one rank.
class LinkageRun {
 public:
  /// Takes options, command line and transport, which must outlive the run; rank 0 shows progress.
  LinkageRun(const LinkageCommand& o, const Invocation& in, comm::Transport& t) : o_(o), in_(in), t_(t) {
    if (t.rank() == 0) report_.progress = progress_callback(true);
  }

  /// Loads the points or graph, computes the spanning forest on all ranks and the clusters on rank 0, and reports. Collective.
  void execute() {
    timed("load", [&] { load(); });
    t_.barrier();
    timed("forest", [&] { compute_forest(); });
    report_.progress = {};
    totals_ = msf::totals(forest_, t_);
    alone_ = vertices_without_edge(forest_, totals_, t_);
    timed("gather", [&] { forest_ = collective_try([&] { return msf::gather_forest(forest_, t_); }); });
    compute_clusters();
    gather_vertex_names();
    report_results();
  }

 private:
  /// Gathers on rank 0 what the input calls the vertices, if that is not their numbers: text, or sparse ids. Collective.
  void gather_vertex_names() {
    names_ = gather_names(loaded_.graph, t_);
    for (const std::uint64_t id : comm::gather_to_first(t_, loaded_.graph.names).flat()) {
      names_.push_back(std::to_string(id));
      separator_ = ' ';
    }
    if (names_.empty()) return;
    for (const auto* path : {&o_.linkage, &o_.labels, &o_.probabilities, &o_.condensed})
      if (!path->empty() && (path != &o_.labels || io::has_suffix(*path, ".npy")))
        loaded_.lines.push_back(
            *path + " has the numbers of vertices, not their " +
            (separator_ == ' ' ? "ids: 0 is the least id" : "names: 0 is the first name in the input"));
  }

  /// Runs `body`, a stage of the clustering, and records its wall time on this rank under the name `what`, in seconds.
  void timed(const char* what, const auto& body) {
    const double start = now();
    body();
    timings_[what] = now() - start;
  }

  /// Loads this rank's share of the points or of the graph to be clustered. Collective.
  void load() {
    const AfterLoading after = after_loading();
    if (!has_points()) {
      loaded_ = collective_try([&] { return load_graph(o_.graph, t_, after); });
      if (!o_.labels.empty() && !io::has_suffix(o_.labels, ".npy"))
        collective_try([&] { check_names_for_labels(loaded_, o_.labels, t_); });
      return;
    }
    collective_try([&] {
      PointsOptions points = o_.points;
      points.seed = o_.graph.seed;
      points.force = o_.graph.limits.force;
      set_ = load_points(points, t_, after);
    });
    points_ = static_cast<std::uint64_t>(t_.all_reduce(static_cast<std::int64_t>(set_.points.size()), comm::Op::sum));
  }

  /// Returns the memory and disk space that are needed after loading: for the forest on all ranks, for the dendrogram and the
  /// clusters on rank 0.
  [[nodiscard]] AfterLoading after_loading() const {
    constexpr double kMerges = 24;
    const double linkage = written_bytes_per_vertex(o_.linkage, 64, 32);
    const double condensed = written_bytes_per_vertex(o_.condensed, 64, 32);
    const double labels = written_bytes_per_vertex(o_.labels, 8, 8);
    const double numbers = written_bytes_per_vertex(o_.probabilities, 20, 8);
    AfterLoading after;
    after.bytes_per_edge = has_points() ? 0 : 4;
    after.bytes_per_vertex = has_points() ? 0 : 16;
    after.first_bytes_per_vertex =
        std::max(msf::kLinkageBytesPerVertex,
                 kMerges + (is_hdbscan() ? 48 : 24) + std::max({linkage, condensed, labels, numbers}));
    if (is_sequential()) {
      after.first_bytes_per_vertex += 190;
      after.first_bytes_per_coordinate = 16;
    }
    after.disk_bytes_per_vertex = linkage + condensed + labels + numbers;
    for (const auto* path : {&o_.linkage, &o_.condensed, &o_.labels, &o_.probabilities})
      if (!path->empty() && *path != "-") after.file = *path;
    return after;
  }

  /// Computes the minimum spanning forest of the graph or the points, and releases the input. Collective.
  void compute_forest() {
    collective_try([&] {
      if (!has_points()) {
        msf::ForestOptions options;
        options.threads = o_.threads;
        forest_ = msf::minimum_spanning_forest(loaded_.graph, t_, options, report_);
        release_memory(loaded_.graph.edges);
        return;
      }
      msf::EuclideanOptions options;
      options.threads = o_.threads;
      options.min_samples = static_cast<int>(num_samples());
      options.alpha = o_.alpha;
      options.most_distances = o_.most_distances;
      options.forecast = log_forecast;
      std::vector<double> cores;
      msf::euclidean::NeighboursPointer neighbours;
      const bool gathers = is_sequential() && options.min_samples > 1;
      forest_ = msf::euclidean_forest(set_.points, t_, options, report_, gathers ? &cores : nullptr,
                                      gathers ? &neighbours : nullptr);
      if (is_sequential()) gathered_ = msf::gather_points(set_.points, cores, t_, options, std::move(neighbours));
      set_.points.coordinates = std::vector<double>();  // {} would keep the memory
    });
  }

  /// Computes the single-linkage dendrogram of the gathered forest, for --ties sequential in the order of Prim's algorithm. On rank
  /// 0.
  [[nodiscard]] msf::Dendrogram make_dendrogram() {
    if (is_sequential()) {
      const msf::Growth growth = msf::grow(forest_, gathered_);
      found_.exact_order = growth.exact;
      return msf::grown_dendrogram(growth.edges);
    }
    return msf::dendrogram(forest_, o_.join || is_hdbscan() ? msf::Apart::join : msf::Apart::stay);
  }

  /// Computes the dendrogram and the clusters on rank 0. Collective: an error is thrown on all ranks.
  void compute_clusters() {
    collective_try([&] {
      comm::agree(t_, [&] {
        if (t_.rank() != 0) return;
        timed("dendrogram", [&] {
          found_.dendrogram = make_dendrogram();
          forest_ = {};
          gathered_ = {};
        });
        timed("clusters", [&] {
          if (is_hdbscan()) {
            found_.condensed = msf::condense(found_.dendrogram, o_.hdbscan);
            store(msf::hdbscan(found_.condensed, o_.hdbscan));
          } else if (in_.table.is_given("height")) {
            store(msf::cut_by_height(found_.dendrogram, o_.height));
          } else if (in_.table.is_given("clusters")) {
            const auto ties = o_.break_ties ? msf::Ties::apart : msf::Ties::together;
            store(msf::cut_by_count(found_.dendrogram, o_.clusters, ties));
          }
          for (const auto label : found_.labels)
            label < 0 ? ++found_.noise : ++found_.sizes[static_cast<std::size_t>(label)];
        });
      });
    });
  }

  /// Stores the flat clusters of a cut dendrogram as the result.
  void store(const msf::Labels& cut) {
    found_.labels.assign(cut.of.begin(), cut.of.end());
    found_.sizes.resize(cut.clusters);
  }

  /// Stores the clusters and probabilities of HDBSCAN* as the result.
  void store(msf::Hdbscan found) {
    found_.labels.assign(found.labels.begin(), found.labels.end());
    found_.sizes.resize(found.clusters);
    found_.probabilities = std::move(found.probabilities);
    found_.selected = std::move(found.selected);
  }

  /// Writes the files of clusters, the report and the run record on rank 0, with measurements of all ranks. Collective.
  void report_results() {
    const Json phases = phases_json(report_, t_);
    const std::int64_t peak = t_.all_reduce(peak_.peak_bytes(), comm::Op::max);
    collective_try([&] {
      comm::agree(t_, [&] {
        if (t_.rank() != 0) return;
        write();
        Json record =
            make_record(in_, {t_.size(), std::string(t_.name()), std::string(t_.choice()), o_.ranks.decorators, ""});
        record["input"] =
            has_points() ? points_json(o_.points, set_, static_cast<std::int64_t>(points_)) : loaded_.facts;
        record["timings"] = timings_;
        record["phases"] = phases["phases"];
        record["facts"] = phases["facts"];
        record["memory"] = {{"peak_bytes_most", peak}, {"method", peak_.method()}};
        record["result"] = result();
        if (!found_.dendrogram.merges.empty()) record["dendrogram"] = dendrogram_json(found_.dendrogram);
        if (!found_.condensed.clusters.empty())
          record["condensed_tree"] = condensed_json(found_.condensed, found_.selected);
        const bool quiet =
            o_.json == "-" || o_.linkage == "-" || o_.labels == "-" || o_.probabilities == "-" || o_.condensed == "-";
        if (!quiet) print(record);
        if (!o_.json.empty()) write_record(o_.json, record);
      });
    });
  }

  /// Writes the dendrogram, labels, probabilities and condensed tree to the files of the options. On rank 0.
  void write() {
    if (!o_.linkage.empty()) write_linkage(o_.linkage, found_.dendrogram);
    if (!o_.labels.empty()) write_labels(o_.labels, found_.labels, names_, separator_);
    if (!o_.probabilities.empty()) write_numbers(o_.probabilities, found_.probabilities);
    if (!o_.condensed.empty()) write_condensed(o_.condensed, found_.condensed);
  }

  /// Prints the report of the clustering: input, forest, dendrogram, clusters, times. On rank 0.
  void print(const Json& record) {
    auto& out = std::cout;
    if (has_points()) {
      out << points_text(o_.points, set_, static_cast<std::int64_t>(points_)) << '\n';
    } else {
      out << graph_input_text(loaded_.facts) << '\n';
      for (const auto& line : loaded_.lines) out << line << '\n';
    }
    out << t_.size() << (t_.size() == 1 ? " rank, " : " ranks, ") << t_.name()
        << "; minimum spanning forest: " << forest_text(totals_, alone_);
    const Json& result = record["result"];
    const auto& merges = found_.dendrogram.merges;
    out << "dendrogram: " << count_text(static_cast<std::int64_t>(merges.size())) << " merges";
    if (!merges.empty()) {
      out << ", heights " << general_text(merges.front().height, 6) << " to " << general_text(merges.back().height, 6)
          << ", median " << general_text(merges[merges.size() / 2].height, 6);
    }
    if (is_sequential()) out << "\norder of equal weights: " << order_text();
    out << "\nlinkage digest " << result["linkage_digest"].get<std::string>() << '\n';
    if (result.contains("clusters")) {
      const Json& c = result["clusters"];
      out << "clusters: " << count_text(c["count"].get<std::int64_t>());
      if (is_hdbscan()) out << ", noise: " << count_text(found_.noise) << " points";
      if (c.contains("largest")) {
        out << "; sizes:";
        for (const auto& size : c["largest"]) out << ' ' << count_text(size.get<std::int64_t>());
        if (found_.sizes.size() > kShownClusters) out << " ... " << count_text(c["smallest"].get<std::int64_t>());
      }
      out << "\nlabels digest " << c["labels_digest"].get<std::string>() << '\n';
    }
    out << "time:";
    for (const auto& [name, seconds] : timings_.items())
      out << ' ' << name << ' ' << seconds_text(seconds.get<double>());
    out << '\n';
  }

  /// Returns the words of the report for the order of merges of equal height under --ties sequential.
  [[nodiscard]] const char* order_text() const {
    if (found_.exact_order) return "of all pairs of points, as Prim's algorithm takes them";
    return has_points() ? "of the forest alone (too many pairs of points to compare); labels may not be scikit-learn's"
                        : "of the forest alone; labels may not be scikit-learn's";
  }

  /// Returns the result of the clustering for the run record: forest, digests, number and sizes of clusters. On rank 0.
  [[nodiscard]] Json result() const {
    const auto& d = found_.dendrogram;
    Json out = {{"forest", forest_json(totals_, d.vertices, alone_)}};
    out["merges"] = d.merges.size();
    out["linkage_digest"] = compute_digest(d);
    if (is_sequential()) out["order_of_equal_weights"] = found_.exact_order ? "all pairs" : "forest";
    if (found_.labels.empty() && !is_hdbscan()) return out;
    auto sizes = found_.sizes;
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    out["clusters"] = {
        {"count", sizes.size()}, {"noise", found_.noise}, {"labels_digest", compute_digest(found_.labels)}};
    if (!sizes.empty()) {
      out["clusters"]["largest"] = std::vector(
          sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(std::min(kShownClusters, sizes.size())));
      out["clusters"]["median"] = sizes[sizes.size() / 2];
      out["clusters"]["smallest"] = sizes.back();
    }
    if (is_hdbscan()) out["clusters"]["condensed"] = found_.condensed.clusters.size();
    return out;
  }

  /// Returns true if points are clustered, false for the vertices of a graph.
  [[nodiscard]] bool has_points() const { return !o_.points.points.empty(); }
  /// Returns true for --method hdbscan.
  [[nodiscard]] bool is_hdbscan() const { return o_.method == Method::hdbscan; }
  /// Returns min_samples of core distances: the option, or by default 1, with --method hdbscan min-cluster-size, limited to the
  /// number of points.
  [[nodiscard]] std::uint64_t num_samples() const {
    if (o_.min_samples > 0) return static_cast<std::uint64_t>(o_.min_samples);
    const auto size = static_cast<std::uint64_t>(o_.hdbscan.min_cluster_size);
    return is_hdbscan() ? std::min(size, std::max<std::uint64_t>(points_, 1)) : 1;
  }
  /// Returns true if HDBSCAN* undoes merges of one height one by one, in scikit-learn's order.
  [[nodiscard]] bool is_sequential() const { return is_hdbscan() && o_.hdbscan.ties == msf::HdbscanTies::sequential; }

  const LinkageCommand& o_;
  const Invocation& in_;
  comm::Transport& t_;
  PeakWatch peak_;
  LoadedGraph loaded_;
  LoadedPoints set_;
  std::uint64_t points_ = 0;  // number of points of all ranks
  msf::Report report_;
  msf::Forest forest_;
  msf::GatheredPoints gathered_;  // on rank 0, if merges of one height are undone one by one
  msf::ForestTotals totals_;
  std::int64_t alone_ = 0;  // vertices without an edge
  ClusterResult found_;
  std::vector<std::string> names_;  // of the vertices, on rank 0, if they are not their numbers
  char separator_ = '\t';           // between a vertex's name and its label in text
  Json timings_;
};

/// Runs the command merganser linkage on all ranks. @return the exit status @throws UsageError for options of HDBSCAN* out of range
int run(LinkageCommand& o, const Invocation& in) {
  msf::check(o.hdbscan, flag_name);
  o.graph.seed_given = in.table.is_given("seed");
  return run_on_ranks(o.ranks, [&](comm::Transport& t) { LinkageRun(o, in, t).execute(); });
}

constexpr std::string_view kLinkageText =
    "Clusters points by their distances, or the vertices of a graph by the weights of its edges: single linkage (a\n"
    "dendrogram, cut by height or number), or HDBSCAN* (clusters of any density, and noise). Both are made of the "
    "minimum\n"
    "spanning forest, which is found by all ranks and gathered on the first: about 60 bytes per vertex there. The "
    "result\n"
    "is the same for any number of ranks, model and order of edges, ties included: the digests tell.\n\n"
    "  merganser linkage --points points.npy --method hdbscan --min-cluster-size 20 --labels labels.npy\n"
    "  merganser linkage --points points.txt --linkage z.npy --clusters 10 --labels labels.txt\n"
    "  merganser run -n 4 -- linkage graph.tsv --height 0.5 --labels labels.npy --json run.json\n"
    "  merganser linkage --gen rgg2d:14:8 --weights euclidean --linkage z.npy --join\n";

}  // namespace

extern const Command linkage_command;
const Command linkage_command =
    make_command<LinkageCommand, run>("linkage", "single linkage and HDBSCAN* of points or of a graph", kLinkageText);

}  // namespace merganser::app
