// topo extract: takes the process graph and traffic of a program, from files of a run or from one that it starts.
// Only the ranks of that program load the tracing library, not the launcher.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "apps/frame/launcher.hpp"
#include "apps/frame/one_host.hpp"
#include "apps/frame/picture.hpp"
#include "apps/frame/table.hpp"
#include "apps/frame/traffic_json.hpp"
#include "apps/topo/extract_sources.hpp"
#include "apps/topo/graph_facts.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/process_graph_files.hpp"
#include "merganser/io/output_name.hpp"

namespace merganser::app {
namespace {

namespace fs = std::filesystem;

/// Options of topo extract, filled by the option parser.
struct TopoExtractOptions {
  std::vector<std::string> words;  ///< program to trace with its arguments, or more files of `from`
  std::vector<std::string> from;   ///< files or folders to read traffic from; empty: a program is traced
  int ranks = 2;                   ///< processes of the program to start
  std::string phase;               ///< level of MPI_Pcontrol whose traffic is taken; empty: all
  std::string output;              ///< file to write: process graph, or traffic as .json; "-": standard output
  std::string json;                ///< file to write: traffic as JSON; "-": standard output
  std::string picture;             ///< file to write: picture of the traffic matrix; empty: none
  int arcs = 10;                   ///< number of heaviest arcs of the traffic to print
};

/// Lists the command-line options of topo extract, with their help texts and checks, for the option parser.
template <class V>
void describe(TopoExtractOptions& o, V&& option) {
  option.positional("PROGRAM", o.words,
                    "program to start and trace, with its arguments, after --; or more files of --from", Reads{});
  option.section("Source");
  option("from", o.from, "run record, file of topo extract, folder or parts of a trace, files of Open MPI's monitoring",
         Kind{"FILES"}, Reads{});
  option("ranks", o.ranks, "processes of PROGRAM to start", Letter{'n'}, at_least(1), Kind{"N"}, NotWith{"--from"});
  option("phase", o.phase, "of a trace: only the phase that MPI_Pcontrol(N) begins", Kind{"N"}, ShownDefault{"all"});
  option.section("Output");
  option("output", o.output,
         "process graph to write, by extension (.bin .txt .adj .mtx .graph), or all of the traffic (.json)",
         Letter{'o'}, Kind{"FILE"}, Writes{});
  option("json", o.json, "all of the traffic as JSON, which report and topo advise read (- for standard output)",
         Kind{"FILE"}, Writes{});
  option("picture", o.picture, "picture of the traffic matrix to write (.svg .png .pdf)", Kind{"FILE"}, Writes{});
  option("arcs", o.arcs, "heaviest arcs shown", at_least(0), NotWith{"--output -", "--json -"});
}

/// Parses --phase of topo extract, the level of MPI_Pcontrol; none where it is not given. @throws UsageError for no whole number
std::optional<int> parse_phase(const TopoExtractOptions& o) {
  if (o.phase.empty()) return std::nullopt;
  try {
    return merganser::detail::parse_int(o.phase);
  } catch (const UsageError& e) {
    throw UsageError("--phase: " + std::string(e.what()));
  }
}

/// Returns true if topo extract writes the whole traffic matrix as JSON to this path, and not a process graph.
bool wants_traffic(const std::string& path) { return io::has_suffix(path, ".json") || path == "-"; }

/// Formats the sums of a traffic matrix by kind of operation: "12 messages of 4096 bytes, 3 puts of 24 bytes".
std::string operations_line(const comm::TrafficMatrix& traffic) {
  std::string out;
  for (std::size_t move = 0; move < comm::kMoves; ++move) {
    std::int64_t operations = 0;
    std::int64_t bytes = 0;
    for (const auto& flow : traffic.flows()) {
      if (static_cast<std::size_t>(flow.move) != move) continue;
      operations += flow.operations;
      bytes += flow.bytes;
    }
    if (operations == 0) continue;
    out += (out.empty() ? "" : ", ") + count_text(operations) + ' ' +
           std::string(comm::move_name(static_cast<comm::Move>(move))) + "s of " + count_text(bytes) + " bytes";
  }
  return out.empty() ? "no operations between ranks" : out;
}

/// Makes the table of the heaviest flows of a traffic matrix, most bytes first; empty without flows. @param most  number of rows
std::string heaviest_text(const comm::TrafficMatrix& traffic, std::size_t most) {
  std::vector<const comm::TrafficFlow*> flows;
  for (const auto& flow : traffic.flows()) flows.push_back(&flow);
  std::stable_sort(flows.begin(), flows.end(), [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  flows.resize(std::min(flows.size(), most));
  if (flows.empty()) return "";
  Table table({"heaviest", "from", "to", "operations", "bytes", "bytes each"});
  for (const auto* flow : flows) {
    table.row({std::string(comm::move_name(flow->move)), std::to_string(flow->from), std::to_string(flow->to),
               count_text(flow->operations), count_text(flow->bytes),
               fixed_text(static_cast<double>(flow->bytes) / static_cast<double>(flow->operations), 1)});
  }
  return table.text();
}

/// Prints what the traffic lacks, and how the traced program ended, a line each.
void print_notes(const Extracted& e, std::ostream& out) {
  for (const auto& note : e.notes) out << "note: " << note << '\n';
}

/// Prints the report of topo extract: source and sums of the traffic, its process graph, heaviest arcs, notes.
void print(const Extracted& e, const graphs::ProcessGraph& graph, const TopoExtractOptions& o) {
  auto& out = std::cout;
  const auto& traffic = e.traffic;
  if (!traffic.source.empty()) out << traffic.source << '\n';
  out << operations_line(traffic) << '\n';
  if (traffic.ranks() == 1) {
    out << "one rank: a graph without arcs\n";
  } else if (!traffic.flows().empty()) {
    out << count_text(traffic.exchange_count())
        << (traffic.exchanges ? " exchanges" : " exchanges (most operations of one arc)")
        << "; weights are bytes per exchange\n";
  }
  out << graph_text(graph);
  if (const std::string table = heaviest_text(traffic, static_cast<std::size_t>(o.arcs)); !table.empty())
    out << '\n' << table;
  print_notes(e, out);
}

/// Returns the path of the tracing library libmerganser-trace.so: that in the variable MERGANSER_TRACE_LIBRARY, else where it was
/// built or installed.
/// @throws CommError if it is not there
std::string trace_library() {
  constexpr const char* kName = "libmerganser-trace.so";
  if (const char* named = std::getenv("MERGANSER_TRACE_LIBRARY"); named != nullptr && *named != '\0') {
    if (::access(named, R_OK) != 0) throw CommError(std::string("MERGANSER_TRACE_LIBRARY is ") + named + ", no file");
    return fs::absolute(named).string();
  }
  if (std::string path = library_beside(kName); !path.empty()) return path;
  throw CommError(
      std::string(kName) + " is not beside " + fs::path(self_path()).parent_path().string() +
      ": this build has neither MPI nor OpenSHMEM, or it was moved; set MERGANSER_TRACE_LIBRARY to its path");
}

/// Returns the absolute folder in which traced ranks write their files: that of `output`, since it must be visible on all hosts.
std::string trace_folder(const std::string& output) {
  const fs::path folder = fs::path(output).parent_path();
  return fs::absolute(folder.empty() ? fs::path(".") : folder).lexically_normal().string();
}

/// Starts `ranks` processes of a program under the tracing library, which only they load, and waits until the job has ended.
/// @param folder  receives the files rank-N.trace @param output_to_errors  whether the program's standard output goes to standard error
/// @return exit code of the job
/// @throws CommError if there is no launcher, UsageError if there is no such program
int run_traced(int ranks, const std::vector<std::string>& program, PrivateFolder& folder, bool output_to_errors) {
  const std::string library = trace_library();
  const std::string path = which(program.at(0));
  if (path.empty()) throw UsageError("no program " + program[0] + ": it is no file that can be run, nor on PATH");
  if (const Launcher launcher = find_launcher(); !launcher.problem.empty()) throw CommError(launcher.problem);
  LaunchPlan plan = plan_launch(ranks, {}, true);
  check_launchable(program);
  plan.command.pop_back();  // this program
  plan.of_this_program = false;
  plan.output_to_errors = output_to_errors;
  // Variables that launchers export by themselves differ, and LD_PRELOAD would reach the launcher: env sets it for ranks alone.
  std::string preload = library;
  if (const char* others = std::getenv("LD_PRELOAD"); others != nullptr && *others != '\0')
    preload += ':' + std::string(others);
  const std::string env = which("env");
  plan.command.insert(plan.command.end(), {env.empty() ? "/usr/bin/env" : env, "LD_PRELOAD=" + preload,
                                           "MERGANSER_TRACE_FOLDER=" + folder.path(), path});
  plan.command.insert(plan.command.end(), program.begin() + 1, program.end());
  for (int rank = 0; rank < ranks; ++rank) folder.file(fmt::format("rank-{}.trace", rank));
  std::cerr << "+ " << plan.to_summary() << std::endl;
  return launch(plan);
}

/// Extracts traffic from files or from a program that is traced, prints it and writes it. @param phase  level; none: all phases
/// @return exit code of the traced program, else 0 @throws CommError if not every rank has written its trace
int extract(TopoExtractOptions& o, const OptionTable& table, const std::optional<int>& phase) {
  int code = 0;
  Extracted e;
  if (o.from.empty()) {
    PrivateFolder folder(trace_folder(o.output.empty() || o.output == "-" ? o.json : o.output));
    code = run_traced(o.ranks, o.words, folder, !can_print_report(table));
    const std::string ended = o.words[0] + (code == 0 ? " ended" : fmt::format(" ended with code {}", code));
    if (fs::is_empty(folder.path())) {
      throw CommError(ended + (code == 0 ? ", but no rank has written a trace: it started neither MPI nor OpenSHMEM in "
                                           "a way that can be seen (is it linked statically?)"
                                         : ", and no rank has written a trace: ranks write theirs when they end well"));
    }
    try {
      e = extract_traffic({folder.path()}, phase);
    } catch (const InputError& error) {
      if (code == 0) throw;
      throw CommError(ended + ", before every rank had written its trace: " + error.what());
    }
    if (code != 0) e.notes.push_back(ended);
  } else {
    o.from.insert(o.from.end(), o.words.begin(), o.words.end());
    e = extract_traffic(o.from, phase);
  }
  const graphs::ProcessGraph graph = topology::process_graph_of(e.traffic);
  if (can_print_report(table)) {
    print(e, graph, o);
  } else {
    print_notes(e, std::cerr);
  }
  if (wants_traffic(o.output)) {
    write_text_file(o.output, json_text(traffic_json(e.traffic)) + '\n');
  } else if (!o.output.empty()) {
    graphs::write_process_graph(o.output, graph, graphs::process_format_from_path(o.output));
  }
  if (!o.json.empty()) write_text_file(o.json, json_text(traffic_json(e.traffic)) + '\n');
  write_record_picture(o.picture, traffic_json(e.traffic));
  if (can_print_report(table)) std::cout << written_line({o.output, o.json, o.picture});
  return code;
}

/// Runs topo extract on the first process of a job. @throws UsageError for options that contradict each other
int run(TopoExtractOptions& o, const Invocation& in) {
  if (comm::launcher_world().rank > 0) return 0;  // one process extracts
  if (o.from.empty() && o.words.empty()) {
    throw UsageError("topo extract: neither --from FILES nor a program to start; allowed: one of them");
  }
  if (o.from.empty() && comm::launched()) {
    throw UsageError(fmt::format("topo extract starts {} itself; call it without a launcher, with -n {}", o.words[0],
                                 comm::launcher_world().size));
  }
  if (!o.output.empty() && !wants_traffic(o.output)) (void)graphs::process_format_from_path(o.output);
  check_picture(o.picture, PictureSource::record);
  return extract(o, in.table, parse_phase(o));
}

constexpr std::string_view kTopoExtractText =
    "Takes the process graph and the traffic of a real program: from a run record of merganser, from a trace of any "
    "MPI or\n"
    "OpenSHMEM program, which need not be built anew, or from files of Open MPI's monitoring. An arc's weight is its "
    "bytes\n"
    "per exchange. packages/topology/docs/topology-extract.md tells what is counted.\n\n"
    "  merganser topo extract --from cluster.json -o app.bin\n"
    "  merganser topo extract -n 4 -o app.bin -- ./program --its arguments\n"
    "  merganser topo extract --from prof.*.prof -o app.json\n"
    "  merganser topo extract --from merganser-trace --phase 1 -o halo.bin\n";

}  // namespace

extern const Command topo_extract_command;
const Command topo_extract_command = make_command<TopoExtractOptions, run>(
    "topo extract", "take the process graph and traffic of a program", kTopoExtractText);

}  // namespace merganser::app
