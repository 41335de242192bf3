// topo advise: ranks the communication models for a process graph, measured on it or predicted from records.
// A measurement is one of topo bench on the ranks of the graph; both ways lead through cells of a record.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "apps/frame/picture.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "apps/topo/extract_sources.hpp"
#include "apps/topo/graph_facts.hpp"
#include "apps/topo/known_cells.hpp"
#include "apps/topo/launches.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/process_graph.hpp"
#include "merganser/kernels/exchange.hpp"

namespace merganser::app {
namespace {

/// Returns the default settings of the measurement that topo advise makes: sizes of the graph, 6 s for each size, 2 launches.
TopoBenchOptions initial_settings() {
  TopoBenchOptions o;
  o.sizes = {"weights"};
  o.time = 6;
  o.launches = 2;
  return o;
}

/// Options of topo advise, filled by the option parser.
struct TopoAdviseCommand {
  std::vector<std::string> files;       ///< process graph or traffic to advise on: one path
  std::vector<std::string> records;     ///< --record: run records of topo bench; empty: the graph is measured
  std::vector<std::string> evaluate;    ///< --evaluate: records whose cells are predicted from one another
  std::string completion = "notified";  ///< --class: completion class whose table is printed first
  int max_ranks = 0;                    ///< --max-ranks: largest job that is started to measure; 0: max_ranks(o)
  TopoBenchOptions bench = initial_settings();  ///< settings of the measurement; `time` is seconds for each size
  std::string json;     ///< --json: path of the run record with the advice; "-": standard output
  std::string picture;  ///< --picture: path of the picture of the advice; empty: none
};

/// Lists the command-line options of topo advise, with their help texts and checks, for the option parser.
template <class V>
void describe(TopoAdviseCommand& o, V&& option) {
  option.positional("FILE", o.files, "process graph (.bin .adj .mtx .graph) or traffic of topo extract", Reads{},
                    NotWith{"--evaluate"});
  option("record", o.records, "records of topo bench: predict from them instead of measuring", Kind{"FILE,..."},
         Reads{}, NotWith{"--evaluate"});
  option("sizes", o.bench.sizes, "bytes along an arc: weights (those of the graph) or numbers", Kind{"LIST"},
         ShownDefault{"weights, or 8,1024,65536 where the graph has none"}, NotWith{"--evaluate"});
  option("models", o.bench.models,
         "communication models to choose from: all, or some of p2p, neighborhood, rma, shmem, threads", Kind{"LIST"},
         ShownDefault{"those of processes; threads where there are no others"}, known_models());
  option("class", o.completion, "completion class that is shown first: what must be true when an exchange returns",
         Words{{kernels::kCompletionNames.begin(), kernels::kCompletionNames.end()}}, NotWith{"--evaluate"});
  option("max-ranks", o.max_ranks, "most ranks that are started to measure", at_least(1),
         ShownDefault{"2 for each core, 8 at least"}, NotWith{"--record", "--evaluate"});
  option("time", o.bench.time, "seconds of measuring, for each size",
         Check{"above 0, up to 1e9", [](double x) { return x > 0 && x <= 1e9; }}, NotWith{"--record", "--evaluate"});
  option("launches", o.bench.launches, "times the job is started to measure", at_least(1),
         NotWith{"--record", "--evaluate"});
  option("evaluate", o.evaluate, "how good advice from these records is: each graph is left out in turn",
         Kind{"FILE,..."}, Reads{});
  option.section("Output");
  option("json", o.json, "advice to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("picture", o.picture, "picture of the advice to write, times with their intervals (.svg .png .pdf)",
         Kind{"FILE"}, Writes{}, NotWith{"--evaluate"});
}

/// Returns the measured cells of the communication models in --models. Without that option threads are left out where models of
/// processes were measured: they are no choice for a program of processes. @throws UsageError for a model without cells
std::vector<topology::KnownCell> select_models(std::vector<topology::KnownCell> cells,
                                               const std::vector<std::string>& models) {
  const auto named = [&](const std::string& m) { return std::find(models.begin(), models.end(), m) != models.end(); };
  for (const auto& m : models)
    if (m != "all" && std::none_of(cells.begin(), cells.end(), [&m](const auto& c) { return c.model == m; }))
      throw UsageError("--models: nothing was measured of \"" + m + '"');
  if (named("all")) return cells;
  const bool processes = std::any_of(cells.begin(), cells.end(), [](const auto& c) { return c.model != "threads"; });
  std::erase_if(cells,
                [&](const auto& c) { return models.empty() ? processes && c.model == "threads" : !named(c.model); });
  return cells;
}

/// Measured cells of all files of --record or --evaluate, made on one machine; filled by read_records().
struct KnownMachine {
  std::vector<topology::KnownCell> cells;  ///< those of the models in --models, of all records
  std::string machine;                     ///< cores and processor, as machine_text(): "2 cores of AMD EPYC"
  Json surroundings;                       ///< settings and components of the first record
  bool other_settings = false;             ///< true: a later record was made with other settings than the first
};

/// Reads the run records of topo bench that topo advise predicts from. Local.
/// @throws InputError for two records that are the same or were made on two machines
KnownMachine read_records(const TopoAdviseCommand& o, const std::vector<std::string>& paths) {
  KnownMachine out;
  std::vector<Json> seen;
  for (const auto& path : paths) {
    const Json record = read_json(path);
    if (std::find(seen.begin(), seen.end(), record) != seen.end())
      throw InputError(path + " is given twice: further records must be other ones");
    seen.push_back(record);
    Known known = read_known(record, path);
    auto& cells = known.cells;
    if (!out.machine.empty()) out.other_settings = out.other_settings || known.surroundings != out.surroundings;
    const std::string machine = machine_text(record, path);
    if (!out.machine.empty() && machine != out.machine)
      throw InputError(path + " was made on " + machine + ", " + paths.front() + " on " + out.machine +
                       ": times of one machine tell nothing of another; give records of one");
    out.machine = machine;
    if (out.cells.empty()) out.surroundings = std::move(known.surroundings);
    out.cells.insert(out.cells.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
  }
  out.cells = select_models(std::move(out.cells), o.bench.models);
  return out;
}

/// One message size of --sizes that topo advise gives advice for.
struct AdvisedSize {
  std::string text;   ///< value as the user wrote it
  double bytes = -1;  ///< bytes along every arc of the process graph; negative: the weights of the arcs
};

/// Parses --sizes of topo advise: message sizes that advice on the graph is for. @throws UsageError for none, or one that is no
/// number of bytes up to 1e12
std::vector<AdvisedSize> advised_sizes(const TopoAdviseCommand& o, const graphs::ProcessGraph& graph) {
  std::vector<AdvisedSize> out;
  for (const auto& text : sizes_for(graph, o.bench.sizes)) {
    if (text == "weights") {
      out.push_back({text, -1});
      continue;
    }
    std::size_t used = 0;
    double bytes = -1;
    try {
      bytes = std::stod(text, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used != text.size() || !(bytes >= 0) || bytes != std::floor(bytes) || bytes > 1e12)
      throw UsageError("--sizes: \"" + text + "\"; allowed: weights, or numbers of bytes");
    out.push_back({text, bytes});
  }
  if (out.empty()) throw UsageError("--sizes: none; allowed: weights, or numbers of bytes");
  return out;
}

/// Returns the largest number of ranks that topo advise starts to measure: --max-ranks, or 2 for each core and at least 8.
int max_ranks(const TopoAdviseCommand& o) { return o.max_ranks > 0 ? o.max_ranks : std::max(8, 2 * machine().cores); }

/// Advice of topo advise for one process graph, measured or predicted: prints its tables as they come about, and makes its record.
class Adviser {
 public:
  /// Takes the process graph to advise on. @throws UsageError for sizes in --sizes that are none
  Adviser(const TopoAdviseCommand& o, graphs::ProcessGraph graph)
      : o_(o), graph_(std::move(graph)), cores_(std::max(1, machine().cores)), sizes_(advised_sizes(o, graph_)) {}

  /// Measures the kernels on the graph, or with --record predicts their times, and prints the advice. @return the "advice"
  /// record: graph, way, settings, and for each size the ranking of kernels by completion class
  Json run() {
    KnownMachine known;
    if (o_.records.empty()) {
      check_can_measure();
    } else {
      known = read_records(o_, o_.records);
      cores_ = known.cells.front().load.cores;  // a prediction is for the machine of the records
    }
    Json out = {{"graph", {{"ranks", graph_.ranks()}, {"arcs", graph_.arcs()}, {"digest", graph_.digest()}}},
                {"oversubscribed", graph_.ranks() > cores_},
                {"way", o_.records.empty() ? "measured" : "predicted"}};
    print_heading(known.machine, std::any_of(known.cells.begin(), known.cells.end(),
                                             [](const auto& c) { return c.load_per_core > 1; }));
    if (o_.records.empty()) {
      measure(out);
    } else {
      out["machine"] = known.machine;
      tell_settings(known.surroundings, out);
      if (known.other_settings && o_.json != "-")
        std::cout << "note: the settings are those of " << o_.records.front()
                  << "; another record was made with others: merganser compare tells which\n\n";
      predict(known.cells, out);
    }
    return out;
  }

  /// Returns the reason for which run() could rank no kernel for any size of the graph; empty if it ranked some.
  [[nodiscard]] const std::string& why_none() const { return why_none_; }

 private:
  /// Formats the number of ranks of the advised graph: "1 rank", "4 ranks".
  [[nodiscard]] std::string ranks() const {
    return fmt::format("{}{}", graph_.ranks(), graph_.ranks() == 1 ? " rank" : " ranks");
  }

  /// Prints the graph's size and digest, and notes: oversubscription, unknown message sizes, machine of the records.
  /// @param machine_of_records  empty without records
  /// @param busy  more processes ran than the machine has cores while a record was made
  void print_heading(const std::string& machine_of_records, bool busy) const {
    if (o_.json == "-") return;
    std::cout << o_.files[0] << ": " << ranks() << ", " << graph_.arcs() << " arcs, mean degree "
              << fixed_text(graph_.mean_degree(), 1) << ", digest " << graph_.digest() << '\n';
    if (graph_.ranks() > cores_)
      std::cout
          << "note: " << ranks() << " share " << cores_text(cores_)
          << ": an exchange then waits for the scheduler, and its order of kernels is that of ranks that share cores\n";
    if (sizes_unknown(graph_, o_.bench.sizes))
      std::cout << "note: the graph knows no sizes; advice is for 8, 1024 and 65536 bytes along every arc (--sizes)\n";
    if (!machine_of_records.empty()) {
      std::cout << "note: predicted for " << machine_of_records << ", where the records were made";
      const Machine here = machine();
      const std::string mine = machine_text(here.cores, here.cpu);
      if (mine != machine_of_records) std::cout << "; this machine is another one: " << mine;
      std::cout << '\n';
      if (busy)
        std::cout << "note: other programs used its cores then; that they take more or less of them is not in the "
                     "intervals\n";
    }
    std::cout << '\n';
  }

  /// Throws UsageError if the graph to advise on has more ranks than topo advise may start (--max-ranks).
  void check_can_measure() const {
    if (graph_.ranks() > max_ranks(o_))
      throw UsageError(
          fmt::format("the graph has {}, and at most {} are started here; predict from a record (--record k.json, of: "
                      "merganser topo bench --json k.json), or allow more (--max-ranks)",
                      ranks(), max_ranks(o_)));
  }

  /// Returns the communication models that topo advise measures: --models, else all of processes, else threads.
  /// @param processes  false: no launcher starts processes
  [[nodiscard]] std::vector<std::string> models(bool processes) const {
    if (!o_.bench.models.empty()) return o_.bench.models;
    std::vector<std::string> out;
    for (const auto& b : comm::backends())
      if (b.processes && processes) out.emplace_back(b.name);
    return out.empty() ? std::vector<std::string>{"threads"} : out;
  }

  /// Records and prints the environment variables and library components with which the kernels were measured.
  void tell_settings(const Json& surroundings, Json& out) const {
    out["settings"] = surroundings;
    if (o_.json != "-") std::cout << settings_text(surroundings) << '\n';
  }

  /// Measures all kernels on the graph in jobs of topo bench, and adds the advice for each message size to the record `out`.
  void measure(Json& out) {
    const std::string problem = why_no_processes();
    if (!problem.empty() && o_.json != "-")
      std::cout << "note: " << problem << "; advice among kernels of threads only\n";
    TopoBenchOptions job = o_.bench;
    job.pattern = o_.files[0];
    job.ranks = graph_.ranks();
    job.models = models(problem.empty());
    job.sizes.clear();
    for (const auto& s : sizes_) job.sizes.push_back(s.text);
    job.time *= static_cast<double>(sizes_.size());
    const Known known = measure_known(std::move(job));
    const auto cells = select_models(known.cells, o_.bench.models);
    tell_settings(known.surroundings, out);
    for (const auto& size : sizes_) {
      const double total = load(size).bytes;
      std::vector<topology::KnownCell> mine;
      for (const auto& c : cells)
        if (std::fabs(c.load.bytes - total) <= 0.5 * static_cast<double>(graph_.arcs())) mine.push_back(c);
      add(out, size, topology::advise_measured(mine), {});
    }
    out["unusable"] = unusable_json(known.unusable);
  }

  /// Predicts the kernels' times on the graph from the measured cells of other graphs, and adds the advice for each message size,
  /// and its evaluation by cross-validation, to the record `out`.
  void predict(const std::vector<topology::KnownCell>& cells, Json& out) {
    const topology::Advisor advisor(cells);
    for (const auto& size : sizes_) add(out, size, advisor.advise(load(size)), advisor.unknown(load(size)));
    try {
      const topology::Evaluation e = topology::evaluate_advice(cells);
      out["evaluation"] = evaluation_json(e);
      if (o_.json != "-") std::cout << "how good such advice is, on what the records hold:\n\n" << evaluation_text(e);
    } catch (const UsageError&) {
      out["evaluation"] = nullptr;  // one cell of a kernel: nothing can be left out
    }
  }

  /// Returns the load that an exchange with messages of this size puts on the ranks and cores of the graph.
  [[nodiscard]] topology::Load load(const AdvisedSize& size) const {
    return size.bytes < 0 ? topology::exchange_load(graph_, cores_)
                          : topology::exchange_load(graph_, cores_, size.bytes);
  }

  /// Adds the advice for one message size to the record `out`, and prints its tables and its conclusion.
  /// @param unknown  reasons for which kernels could not be predicted; empty if the graph was measured
  void add(Json& out, const AdvisedSize& size, const std::vector<topology::ClassAdvice>& classes,
           const std::vector<topology::Unknown>& unknown) {
    out["advice"].push_back({{"size", size.text},
                             {"bytes_total", load(size).bytes},
                             {"unknown", unknown_json(unknown)},
                             {"classes", advice_json(classes)}});
    if (!classes.empty()) advised_ = true;
    why_none_ = advised_ || unknown.empty() ? "" : unknown.front().reason;
    if (o_.json == "-") return;
    std::cout << (size.bytes < 0 ? "sizes of the graph" : bytes_text(size.bytes) + " along every arc") << ", "
              << bytes_text(load(size).bytes) << " per exchange; " << (o_.records.empty() ? "measured" : "predicted")
              << "\n\n"
              << unknown_text(unknown);
    if (!unknown.empty()) std::cout << '\n';
    if (classes.empty() && unknown.empty()) std::cout << "  nothing could be measured\n";
    std::cout << advice_text(classes, o_.completion);
    for (const auto& c : classes)
      if (c.completion == o_.completion) std::cout << conclusion_text(c);
  }

  const TopoAdviseCommand& o_;
  graphs::ProcessGraph graph_;
  int cores_;  ///< of this machine, or with --record of that of the records
  std::vector<AdvisedSize> sizes_;
  bool advised_ = false;  ///< true: for some size a kernel was ranked
  std::string why_none_;
};

/// Runs topo advise --evaluate: predicts each graph and each size of the records from the others, and prints the scores.
void evaluate(const TopoAdviseCommand& o, Json& result) {
  const topology::Evaluation e = topology::evaluate_advice(read_records(o, o.evaluate).cells);
  result = evaluation_json(e);
  if (o.json != "-") std::cout << evaluation_text(e);
}

/// Runs topo advise on the process graph in its file. @return reason why no kernel could be ranked; empty if one was
std::string advise(const TopoAdviseCommand& o, Json& result) {
  if (o.files.size() != 1)
    throw UsageError(o.files.empty() ? "FILE is missing; or --evaluate RECORD"
                                     : fmt::format("{} files are given; allowed: one", o.files.size()));
  if (comm::launched()) throw UsageError("topo advise starts ranks itself; call it without a launcher");
  graphs::ProcessGraph graph = read_pattern(o.files[0]);
  if (graph.ranks() <= 1 || graph.arcs() == 0) {
    result = {{"graph", {{"ranks", graph.ranks()}, {"arcs", graph.arcs()}}}, {"advice", Json::array()}};
    if (o.json != "-")
      std::cout << o.files[0] << ": " << graph.ranks() << (graph.ranks() == 1 ? " rank, " : " ranks, ") << graph.arcs()
                << " arcs: nothing to advise\n";
    return "";
  }
  Adviser adviser(o, std::move(graph));
  result = adviser.run();
  return adviser.why_none();
}

/// Runs topo advise, and writes its record. @throws InputError if the records suffice for no prediction
int run(TopoAdviseCommand& o, const Invocation& in) {
  check_picture(o.picture, PictureSource::record);
  Json result;
  std::string why_none;
  if (!o.evaluate.empty()) {
    evaluate(o, result);
  } else {
    why_none = advise(o, result);
  }
  if (!o.picture.empty() && why_none.empty()) {
    Json record = make_record(in, {});
    record["result"] = result;
    write_record_picture(o.picture, record);
  }
  write_result(o.json, in, std::move(result));
  if (!why_none.empty()) throw InputError("cannot be predicted from these records: " + why_none);
  return 0;
}

constexpr std::string_view kTopoAdviseText =
    "Says which kernel, and so which communication model, is the fastest for a process graph and its sizes, in each\n"
    "completion class, what it saves against two-sided messages, and how sure that is. Replays the graph on as many\n"
    "ranks as it has; with --record it predicts from what topo bench measured on other graphs.\n\n"
    "  merganser topo advise app.bin\n"
    "  merganser topo advise big.bin --record k.json --sizes 8,65536\n"
    "  merganser topo advise --evaluate k.json,k2.json\n";

}  // namespace

extern const Command topo_advise_command;
const Command topo_advise_command =
    make_command<TopoAdviseCommand, run>("topo advise", "say which model suits a process graph", kTopoAdviseText);

}  // namespace merganser::app
