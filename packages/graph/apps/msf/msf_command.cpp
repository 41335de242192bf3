// Command merganser msf: the minimum spanning forest of a graph, or the minimum spanning tree of points.
#include <fmt/core.h>

#include <iostream>
#include <utility>

#include "apps/frame/command.hpp"
#include "apps/frame/memory.hpp"
#include "apps/frame/picture.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/table.hpp"
#include "apps/graph/input.hpp"
#include "apps/msf/points_input.hpp"
#include "apps/msf/report.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/files.hpp"
#include "merganser/mnd/detail/describe_mnd.hpp"
#include "merganser/mnd/mnd.hpp"
#include "merganser/msf/detail/describe_euclidean.hpp"
#include "merganser/msf/detail/describe_minimum_forest.hpp"
#include "merganser/msf/labels.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "merganser/msf/prim.hpp"
#include "merganser/msf/verify.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {
namespace {

/// Algorithm for the spanning forest of a graph: the library's own, or the published multi-node Boruvka.
enum class Algo : std::uint8_t { automatic, mnd };

/// Options of the command merganser msf.
struct MsfCommand {
  GraphInput graph;
  PointsOptions points;
  Algo algo = Algo::automatic;
  bool maximum = false;
  bool verify = false;
  msf::ForestOptions fast;
  mnd::MndOptions mnd;
  msf::EuclideanOptions euclidean;
  int repeats = 1;
  std::string output, labels, json, picture;
  RankOptions ranks;
};

/// Describes the options of the command merganser msf.
template <class V>
void describe(MsfCommand& o, V&& option) {
  describe(o.graph, option);
  describe(o.points, option);
  describe(o.euclidean, option);
  option.restrict({"leaf", "neighbours", "min-samples", "alpha", "most-distances"}, UsedWith{"--points"});
  option.section("Forest");
  option("algo", o.algo, "auto: the fast way; mnd: the published multi-node Boruvka",
         Choices<Algo>{{{"auto", Algo::automatic}, {"mnd", Algo::mnd}}}, NotWith{"--points"});
  option("maximum", o.maximum, "the maximum spanning forest instead", NotWith{"--points"});
  describe(o.fast, option);
  option.restrict({"method", "policy", "base-case"}, NotWith{"--points", "--algo mnd"});
  option.restrict({"policy", "base-case"}, NotWith{"--method kruskal"});
  option.restrict({"threads"}, NotWith{"--algo mnd"});
  option.section("Published algorithm (--algo mnd)");
  describe(o.mnd, option);
  option.restrict({"style", "post", "independent-threshold", "mst-threshold", "stall-threshold", "ring-share",
                   "leader-group", "chunk", "carrier"},
                  UsedWith{"--algo mnd"});
  option.restrict({"leader-group"}, UsedWith{"--post leader"});
  option.restrict({"chunk", "carrier"}, UsedWith{"--style tuned"});
  option.section("Output");
  option("output", o.output, "edges of the forest: a graph file, format by its extension", Letter{'o'}, Kind{"FILE"},
         Writes{});
  option(
      "labels", o.labels,
      "text file: for each vertex, a line with the least vertex of its tree; where ids were too sparse to be kept, or "
      "with --names, both",
      Kind{"FILE"}, Writes{});
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("picture", o.picture, "picture of the phases' times to write (.svg .png .pdf)", Kind{"FILE"}, Writes{});
  option("repeats", o.repeats, "times the forest is computed; the time reported is the median", at_least(1));
  option("verify", o.verify,
         "check every edge against the forest (cycle property), and the forest against another algorithm; points: "
         "against all pairs, up to 65,536 of them");
  describe(o.ranks, option);
}

constexpr std::int64_t kMaxPairs = 65'536;  // points that --verify compares pair by pair

/// Run of the command merganser msf on one rank.
class MsfRun {
 public:
  MsfRun(const MsfCommand& o, const Invocation& in, comm::Transport& t) : o_(o), in_(in), t_(t) {}

  /// Loads the graph or points, computes the spanning forest, verifies it if requested, writes files and reports. Collective.
  void execute() {
    check_picture(o_.picture, PictureSource::record, t_);
    load();
    compute_forest();
    if (o_.verify) check();
    write();
    report_results();
  }

 private:
  [[nodiscard]] AfterLoading after_loading() const;
  void load();
  [[nodiscard]] double time_forest();
  void compute_forest();
  void check();
  void write();
  void write_labels();
  void report_results();
  /// Returns true for the spanning tree of points, false for the forest of a graph.
  [[nodiscard]] bool has_points() const { return !o_.points.points.empty(); }
  [[nodiscard]] msf::Forest compute_with(Algo algo, msf::ForestOptions fast, msf::Report& report);

  const MsfCommand& o_;
  const Invocation& in_;
  comm::Transport& t_;
  PeakWatch peak_;
  LoadedGraph loaded_;
  LoadedPoints set_;
  std::int64_t items_ = 0;  // number of edges or points of all ranks
  msf::Report report_;
  msf::Forest forest_;
  msf::ForestTotals totals_;
  std::int64_t alone_ = 0;  // vertices without an edge
  double load_seconds_ = 0;
  std::vector<double> times_;  // of the repetitions, in seconds: the slowest rank's
  double seconds_ = 0;         // median of times_
  Json verified_;
};

/// Returns the memory and disk space that the command msf needs after loading: for the forest on all ranks, for labels on rank 0.
AfterLoading MsfRun::after_loading() const {
  AfterLoading after;
  after.bytes_per_edge = has_points() ? 0 : 4;
  after.bytes_per_vertex = has_points() ? 0 : 16;
  constexpr double kLabelText = 12;
  if (!o_.labels.empty()) {
    after.first_bytes_per_vertex = 16 + 2 * kLabelText;
    after.disk_bytes_per_vertex += kLabelText;
    after.file = o_.labels;
  }
  if (!o_.output.empty()) {
    after.disk_bytes_per_vertex += 24;  // a tree has fewer edges than vertices
    after.file = o_.output;
  }
  return after;
}

/// Loads this rank's share of the graph or points, and counts edges or points of all ranks. Collective.
void MsfRun::load() {
  const double start = now();
  const AfterLoading after = after_loading();
  if (has_points()) {
    collective_try([&] {
      PointsOptions points = o_.points;
      points.seed = o_.graph.seed;
      points.force = o_.graph.limits.force;
      set_ = load_points(points, t_, after);
    });
    items_ = t_.all_reduce(static_cast<std::int64_t>(set_.points.size()), comm::Op::sum);
  } else {
    loaded_ = collective_try([&] { return load_graph(o_.graph, t_, after); });
    if (!o_.labels.empty()) collective_try([&] { check_names_for_labels(loaded_, o_.labels, t_); });
    items_ = t_.all_reduce(static_cast<std::int64_t>(loaded_.graph.size()), comm::Op::sum);
  }
  load_seconds_ = now() - start;
}

/// Computes the minimum or maximum spanning forest of the graph by one of the algorithms. Collective. @param fast  options of
/// --algo auto
msf::Forest MsfRun::compute_with(Algo algo, msf::ForestOptions fast, msf::Report& report) {
  const msf::Sense sense = o_.maximum ? msf::Sense::maximum : msf::Sense::minimum;
  fast.sense = sense;
  if (algo == Algo::automatic) return msf::minimum_spanning_forest(loaded_.graph, t_, fast, report);
  mnd::MndOptions mnd = o_.mnd;
  mnd.sense = sense;
  return mnd::mnd(loaded_.graph, t_, mnd, report);
}

double MsfRun::time_forest() {
  report_ = msf::Report();
  if (t_.rank() == 0) report_.progress = progress_callback(true);
  forest_ = msf::Forest();
  // Ranks start together, so that the time is that of the algorithm, not of loading.
  t_.barrier();
  const double start = now();
  msf::EuclideanOptions euclidean = o_.euclidean;
  euclidean.threads = o_.fast.threads;
  euclidean.forecast = log_forecast;
  forest_ = collective_try([&] {
    return has_points() ? msf::euclidean_forest(set_.points, t_, euclidean, report_)
                        : compute_with(o_.algo, o_.fast, report_);
  });
  double seconds[1] = {now() - start};
  t_.all_reduce(seconds, comm::Op::max);
  report_.progress = {};
  return seconds[0];
}

void MsfRun::compute_forest() {
  for (int i = 0; i < o_.repeats; ++i) {
    times_.push_back(time_forest());
    const std::string digest = std::exchange(totals_, msf::totals(forest_, t_)).digest;
    collective_try([&] {
      if (i > 0 && digest != totals_.digest)
        throw VerificationError("digest " + totals_.digest + " of repetition " + std::to_string(i + 1) +
                                "; before it " + digest);
    });
  }
  seconds_ = median(times_);
  alone_ = vertices_without_edge(forest_, totals_, t_);
}

/// Verifies the spanning forest (--verify): of points against Prim's algorithm on all pairs; of a graph by the cycle property of
/// every edge, and against another algorithm by digest and weight. Collective. @throws VerificationError on every rank if it is
/// wrong
void MsfRun::check() {
  const double start = now();
  if (has_points()) {
    collective_try([&] {
      if (items_ > kMaxPairs)
        throw UsageError("--verify of " + count_text(items_) + " points; allowed: up to " + count_text(kMaxPairs) +
                         ", all pairs of them are compared");
      const auto other = msf::totals(msf::prim(set_.points, t_, o_.euclidean.min_samples, o_.euclidean.alpha), t_);
      if (other.digest != totals_.digest)
        throw VerificationError("digest " + totals_.digest + ", weight " + totals_.weight + "; all pairs give digest " +
                                other.digest + ", weight " + other.weight);
    });
    verified_ = {{"pairs", items_ * (items_ - 1) / 2}};
  } else {
    collective_try([&] {
      const auto sense = o_.maximum ? msf::Sense::maximum : msf::Sense::minimum;
      msf::Report unused;
      const auto found = msf::verify_forest(loaded_.graph, forest_, sense, t_, unused);
      if (!found.is_correct()) throw VerificationError("not the forest of this graph: " + found.witness);
      // Another algorithm: Kruskal against contraction.
      // base_case 0: no Kruskal at the end, so that the two results share as little code as possible.
      msf::ForestOptions other = o_.fast;
      other.method = o_.algo == Algo::mnd ? msf::ForestMethod::automatic : msf::ForestMethod::boruvka;
      other.base_case = 0;
      if (o_.fast.method == msf::ForestMethod::boruvka) other.method = msf::ForestMethod::kruskal;
      const auto again = msf::totals(compute_with(Algo::automatic, other, unused), t_);
      if (again.digest != totals_.digest || again.weight != totals_.weight)
        throw VerificationError("digest " + totals_.digest + ", weight " + totals_.weight +
                                "; another algorithm gives digest " + again.digest + ", weight " + again.weight);
      verified_ = {{"graph_edges", found.graph_edges}, {"forest_edges", found.forest_edges}, {"trees", found.trees}};
    });
  }
  verified_["seconds"] = now() - start;
}

/// Writes the text file of --labels on rank 0: for each vertex a line with the least vertex of its tree; where the reader
/// relabelled sparse ids, both original ids, and of vertices with names that are text both names, separated by a tab. Collective.
void MsfRun::write_labels() {
  const auto labels = comm::gather_to_first(t_, msf::component_labels(forest_, t_)).flat();
  const auto names = comm::gather_to_first(t_, loaded_.graph.names).flat();  // both by even ranges of vertices
  const auto text_names = gather_names(loaded_.graph, t_);
  collective_try([&] {
    comm::agree(t_, [&] {
      if (t_.rank() != 0) return;
      std::string text;
      for (std::size_t v = 0; v < labels.size(); ++v) {
        const std::uint64_t label = labels[v];
        if (!text_names.empty())
          text += text_names[v] + '\t' + text_names[label];
        else
          text += names.empty() ? std::to_string(label) : fmt::format("{} {}", names[v], names[label]);
        text += '\n';
      }
      write_text_file(o_.labels, text);
    });
  });
}

/// Writes the labels of components and the edges of the forest, as a graph file, where the options name files. Collective.
void MsfRun::write() {
  if (!o_.labels.empty()) write_labels();
  if (o_.output.empty()) return;
  collective_try([&] {
    graphs::EdgeList list;
    list.vertices = forest_.vertices;
    list.kind = forest_.kind;
    list.edges = forest_.edges;
    list.names = loaded_.graph.names;
    list.text_names = loaded_.graph.text_names;
    if (!has_points()) note_lost_names(loaded_, list, o_.output, graphs::format_from_path(o_.output), t_);
    graphs::write_graph(o_.output, list, graphs::format_from_path(o_.output), t_);
  });
}

/// Returns the words ", method kruskal" of the report if the search for the spanning forest chose a method, else an empty text.
std::string method_text(const Json& phases) {
  if (!phases["facts"].contains("method")) return "";
  return ", method " + msf::forest_methods().name(phases["facts"]["method"]["most"].get<msf::ForestMethod>());
}

/// Prints the report of the spanning forest and writes the run record on rank 0, with measurements of all ranks. Collective.
void MsfRun::report_results() {
  const Json phases = phases_json(report_, t_);
  std::int64_t peak = t_.all_reduce(peak_.peak_bytes(), comm::Op::max);
  if (t_.rank() != 0) return;
  const double rate = seconds_ > 0 ? static_cast<double>(items_) / seconds_ : 0;
  const std::string unit = has_points() ? "points" : "edges";
  Json record =
      make_record(in_, {t_.size(), std::string(t_.name()), std::string(t_.choice()), o_.ranks.decorators, ""});
  record["input"] = has_points() ? points_json(o_.points, set_, items_) : loaded_.facts;
  record["timings"] = {{"load", load_seconds_}, {"forest", seconds_}};
  if (o_.repeats > 1) record["timings"]["forest_repeats"] = times_;
  record["rate"] = {{unit + "_per_second", rate}};
  record["phases"] = phases["phases"];
  record["facts"] = phases["facts"];
  record["memory"] = {{"peak_bytes_most", peak}, {"method", peak_.method()}};
  record["result"] = forest_json(totals_, forest_.vertices, alone_);
  if (!verified_.is_null()) record["verified"] = verified_;
  if (can_print_report(in_.table)) {
    std::cout << (has_points() ? points_text(o_.points, set_, items_) : graph_input_text(loaded_.facts)) << '\n';
    for (const auto& line : loaded_.lines) std::cout << line << '\n';
    std::cout << (o_.maximum ? "maximum" : "minimum") << " spanning forest: " << forest_text(totals_, alone_)
              << seconds_text(seconds_) << (o_.repeats > 1 ? fmt::format(" (median of {})", o_.repeats) : "")
              << method_text(phases) << " on " << t_.size() << (t_.size() == 1 ? " rank, " : " ranks, ") << t_.name()
              << ": " << fixed_text(rate * 1e-6, 2) << " million " << unit << "/s; input took "
              << seconds_text(load_seconds_) << "; at most " << bytes_text(static_cast<double>(peak))
              << " of memory per process\n\n"
              << phases_table(phases, t_.size());
    if (!verified_.is_null())
      std::cout << "\nverified" << (has_points() ? " against all pairs" : ": every edge, and by another algorithm")
                << ", " << seconds_text(verified_["seconds"].get<double>()) << '\n';
  }
  if (!o_.json.empty()) write_record(o_.json, record);
  write_record_picture(o_.picture, record);
}

/// Runs the command merganser msf on all ranks. @return the exit status @throws UsageError for an output format that is read only
int run(MsfCommand& o, const Invocation& in) {
  o.graph.seed_given = in.table.is_given("seed");
  if (!o.output.empty()) graphs::check_writable(graphs::format_from_path(o.output));
  return run_on_ranks(o.ranks, [&](comm::Transport& t) { MsfRun(o, in, t).execute(); });
}

constexpr std::string_view kMsfText =
    "Finds the minimum spanning forest of a graph, or of points with their distances (--metric). Edges compare by\n"
    "(weight, lower id, higher id), so there is one forest: the digest is the same for any number of ranks, model,\n"
    "algorithm and order of the input, ties included.\n\n"
    "  merganser msf --gen rmat:20:16 --json m.json\n"
    "  merganser run -n 2 -- msf --gen rgg2d:20:16 --comm rma\n"
    "  merganser msf graph.mtx -o forest.tsv --labels components.txt --verify\n"
    "  merganser run -n 4 -- msf web --algo mnd --style tuned --comm shmem --post leader --verify\n"
    "  merganser run -n 2 -- msf --points uniform:3:1048576\n\n"
    "A web graph in BVGraph format is named without extension. Single linkage and HDBSCAN*: merganser linkage.\n";

}  // namespace

extern const Command msf_command;
const Command msf_command =
    make_command<MsfCommand, run>("msf", "minimum spanning forest of a graph or of points", kMsfText);

}  // namespace merganser::app
