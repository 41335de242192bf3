// topo bench: what an exchange along the arcs of a process graph costs, for every model.
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "apps/frame/launcher.hpp"
#include "apps/topo/bench.hpp"
#include "apps/topo/bench_report.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"

namespace merganser::app {
namespace {

/// Options that a started job gets from here, not from the user.
constexpr std::array<std::string_view, 9> kOfParent{"ranks",    "json", "csv",    "quiet",  "launches",
                                                    "progress", "here", "launch", "kernels"};

/// Why no launcher can start ranks here; empty if one can.
std::string why_no_processes() {
  for (const auto& b : comm::backends())
    if (b.processes) return find_launcher().problem;
  return "this build has no model of processes";
}

/// Starts the job once more for every launch and kind of ranks, and joins what they measured.
class Launches {
 public:
  Launches(const TopoBenchOptions& o, const Invocation& in) : o_(o), in_(in) {}

  int all(const ChosenKernels& kernels, BenchResults& results) {
    for (int launch = 0; launch < o_.launches; ++launch)
      for (const auto* list : {&kernels.processes, &kernels.threads}) {
        if (list->empty()) continue;
        if (const int code = once(*list, list == &kernels.processes, launch, results); code != 0) return code;
      }
    return 0;
  }

 private:
  int once(const std::vector<std::string>& kernels, bool processes, int launch, BenchResults& results) {
    PrivateFolder folder;
    const std::string path = folder.file("record.json");
    std::vector<std::string> arguments = arguments_again(in_, kOfParent);
    const int ranks = o_.ranks == 0 ? 4 : o_.ranks;
    arguments.insert(arguments.end(), {"--kernels=" + joined(kernels), "--json=" + path, "--quiet", "--here",
                                       "--launch=" + std::to_string(launch), "--ranks=" + std::to_string(ranks)});
    if (o_.progress || (!o_.quiet && ::isatty(STDERR_FILENO) != 0)) arguments.emplace_back("--progress");
    LaunchPlan plan;
    if (processes) {
      plan = app::plan_launch(ranks, arguments, true);
    } else {
      plan.command = {self_path()};
      plan.command.insert(plan.command.end(), arguments.begin(), arguments.end());
    }
    const int code = app::launch(plan);
    if (code > 128 && code < 128 + 65)
      throw CommError("launch " + std::to_string(launch + 1) + ": a rank was ended by signal " +
                      signal_text(code - 128));
    if (code != 0) return code;
    results.merge(bench_results_of(read_json(path).at("topology")));
    return 0;
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& w : words) out += (out.empty() ? "" : ",") + w;
    return out;
  }

  const TopoBenchOptions& o_;
  const Invocation& in_;
};

/// A launched job measures what its ranks can.
int measure_launched(const TopoBenchOptions& o, BenchResults& results) {
  ChosenKernels kernels = choose_kernels(o, true);
  if (kernels.processes.empty())
    throw UsageError(
        "kernels of model threads under a launcher; allowed: without one, as merganser topo bench --models threads "
        "--ranks " +
        std::to_string(comm::launcher_world().size));
  if (o.launches > 1)
    throw UsageError("--launches: " + std::to_string(o.launches) +
                     ", but this is one launch already; call topo bench without a launcher, with --ranks " +
                     std::to_string(comm::launcher_world().size));
  const int code = measure_here(o, kernels.processes, results);
  for (const auto& k : kernels.threads)
    results.measured.unusable.push_back({k, "", "", "its ranks are threads, those of this job are processes"});
  return code;
}

int measure_alone(const TopoBenchOptions& o, const Invocation& in, BenchResults& results) {
  const std::string problem = why_no_processes();
  const ChosenKernels kernels = choose_kernels(o, problem.empty());
  if (!kernels.processes.empty() && !problem.empty())
    throw CommError(problem + "; threads need none: --models threads");
  if (o.here || (kernels.processes.empty() && o.launches == 1))
    return measure_here(o, kernels.processes.empty() ? kernels.threads : kernels.processes, results);
  return Launches(o, in).all(kernels, results);
}

int run(TopoBenchOptions& o, const Invocation& in) {
  for (const auto& s : o.sizes) (void)parse_message_size(s);
  if (o.graphs.empty() || o.sizes.empty())
    throw UsageError("topo bench: " + std::to_string(o.graphs.size()) + " graphs and " +
                     std::to_string(o.sizes.size()) + " sizes; allowed: at least one of each (--graph, --sizes)");
  BenchResults results;
  const int code = comm::launched() ? measure_launched(o, results) : measure_alone(o, in, results);
  if (code != 0 || comm::launcher_world().rank != 0) return code;
  if (!o.json.empty()) {
    Placement placement;
    placement.ranks = results.ranks;
    placement.model = results.control;
    Json record = make_record(in, placement);
    record["topology"] = to_json(results, o.here);
    write_compact_record(o.json, record);
  }
  if (!o.csv.empty()) write_text_file(o.csv, csv_text(results));
  if (!o.quiet) {
    std::cerr << warnings_text(results);
    if (o.json != "-" && o.csv != "-") std::cout << report_text(results);
  }
  const auto& cells = results.measured.cells;
  if (!o.here && std::none_of(cells.begin(), cells.end(), [](const auto& c) { return c.exchange.count() > 0; }))
    throw InputError("nothing could be measured" +
                     (results.measured.unusable.empty() ? std::string() : ": " + results.measured.unusable[0].reason));
  return 0;
}

constexpr std::string_view kText =
    "Measures exchanges along the arcs of process graphs, in the very calls that a program would make: every\n"
    "iteration on every rank, all kernels and sizes in shuffled rounds, every byte compared outside the clock. "
    "Kernels\n"
    "are grouped by what is true when a call returns, and compared within a group only. docs/topology-bench.md says\n"
    "what the numbers mean.\n\n"
    "  merganser topo bench                                         # alone: starts 4 ranks itself\n"
    "  merganser run -n 4 -- topo bench --graph chain --json t.json\n"
    "  merganser run -n 4 -- topo bench --graph complete --models all --sizes 8,1024,65536 --json k.json\n"
    "  merganser topo bench --launches 10 --ranks 2 --graph chain --sizes 8,1K,64K --time 10\n";

}  // namespace

extern const Command topo_bench_command;
const Command topo_bench_command =
    make_command<TopoBenchOptions, run>("topo bench", "measure exchanges along the arcs of a process graph", kText);

}  // namespace merganser::app
