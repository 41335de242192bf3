// topo replay: measures exchanges along the process graph of a program in every model.
// Alone it starts itself again on as many ranks as the graph has; the job prints and writes what the user asked for.
#include <fmt/core.h>

#include <iostream>

#include "apps/frame/launcher.hpp"
#include "apps/frame/table.hpp"
#include "apps/topo/bench.hpp"
#include "apps/topo/bench_report.hpp"
#include "apps/topo/extract_sources.hpp"
#include "apps/topo/graph_facts.hpp"
#include "apps/topo/launches.hpp"
#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::app {
namespace {

/// Options of topo replay, filled by the option parser.
struct TopoReplayOptions {
  std::string input;       ///< process graph or traffic to replay
  int coarsen = 0;         ///< ranks of the coarsened graph; 0: as many as the graph has
  TopoBenchOptions bench;  ///< settings of the measurement, as of topo bench
};

/// Lists the command-line options of topo replay, with their help texts and checks, for the option parser.
template <class V>
void describe(TopoReplayOptions& o, V&& option) {
  auto& b = o.bench;
  option.positional("FILE", o.input, "process graph or traffic, in any form that topo extract reads or writes",
                    Required{}, Reads{});
  option("coarsen", o.coarsen, "replay on so many ranks, each standing for a block of the graph's, weights added",
         at_least(2), Kind{"N"}, ShownDefault{"as many as the graph has"});
  describe_exchanges(b, option, "bytes along an arc: weights (those of the graph), weights*X, or numbers",
                     ShownDefault{"weights, or 8,1024,65536 where the graph has none"});
  option.section("How");
  describe_measuring(b, option, "0.35 for each kernel and size");
  option.section("Output");
  describe_outputs(b, option);
}

/// Sets the defaults of topo replay that differ from those of topo bench: messages as long as the weights of the arcs.
void apply_implied_defaults(TopoReplayOptions& o) { o.bench.sizes = {"weights"}; }

/// Reads the process graph that topo replay exchanges along, coarsened if asked to. @param ranks  ranks of the job; 0: it is still
/// to be started @throws UsageError if the graph has another number of ranks than the job, InputError for a graph without arcs
graphs::ProcessGraph replayed_graph(const TopoReplayOptions& o, int ranks) {
  graphs::ProcessGraph graph = read_pattern(o.input);
  if (o.coarsen > graph.ranks()) {
    throw UsageError(
        fmt::format("--coarsen: {}; allowed: 2 to {}, the ranks of {}", o.coarsen, graph.ranks(), o.input));
  }
  const std::string of = fmt::format("{} has {}{}", o.input, graph.ranks(), graph.ranks() == 1 ? " rank" : " ranks");
  if (o.coarsen > 0) graph = graph.coarsened(o.coarsen);
  if (graph.arcs() == 0)
    throw InputError(of + (o.coarsen > 0 ? ", and" : " and") +
                     " no arcs: nothing to replay; allowed: graphs with arcs");
  if (ranks > 0 && graph.ranks() != ranks) {
    throw UsageError(
        fmt::format("{}{}, the launcher started {}; start {}{}", of,
                    o.coarsen > 0 ? fmt::format(", coarsened to {}", o.coarsen) : "", ranks, graph.ranks(),
                    graph.ranks() > ranks ? fmt::format(", or replay it coarser: --coarsen {}", ranks) : ""));
  }
  return graph;
}

/// Measures exchanges along the replayed graph on the ranks of this process or job, and reports on rank 0. Collective.
/// @return exit code
int replay_here(TopoReplayOptions& o, const Invocation& in, const graphs::ProcessGraph& graph,
                const ChosenKernels& kernels) {
  o.bench.given = {o.input, graph};
  BenchResults results;
  const int code = measure_here(o.bench, kernels, results);
  if (code == 0 && comm::launcher_world().rank == 0) report(o.bench, in, results);
  return code;
}

/// Runs topo replay: measures under the launcher that there is, or with threads, else starts a job of itself with as many ranks as
/// the graph has. @return exit code
int run(TopoReplayOptions& o, const Invocation& in) {
  for (const auto& size : o.bench.sizes) (void)parse_message_size(size);
  if (o.bench.sizes.empty()) throw UsageError("--sizes: none; allowed: weights, weights*X, numbers");
  const bool launched = comm::launched();
  const graphs::ProcessGraph graph = replayed_graph(o, launched ? comm::launcher_world().size : 0);
  const bool unknown = sizes_unknown(graph, o.bench.sizes);
  o.bench.sizes = sizes_for(graph, o.bench.sizes);
  const ChosenKernels kernels = choose_kernels(o.bench, launched || why_no_processes().empty());
  o.bench.ranks = graph.ranks();
  if (unknown && !launched && !o.bench.quiet)
    std::cerr
        << "note: the graph knows no sizes; it is replayed with 8, 1024 and 65536 bytes along every arc (--sizes)\n";
  if (launched) {
    if (kernels.processes.empty())
      throw UsageError("--models threads under a launcher; allowed: models of processes, or no launcher");
    return replay_here(o, in, graph, kernels);
  }
  if (kernels.processes.empty()) return replay_here(o, in, graph, kernels);
  std::vector<std::string> arguments{"topo", "replay"};
  arguments.insert(arguments.end(), in.arguments.begin(), in.arguments.end());
  const LaunchPlan plan = plan_launch(graph.ranks(), arguments, true);
  if (!o.bench.quiet) std::cerr << "+ " << plan.to_summary() << std::endl;
  return launch_and_report(plan);
}

constexpr std::string_view kTopoReplayText =
    "Exchanges the pattern of a program, arc by arc and byte by byte, in every model, and ranks the models within "
    "each\n"
    "completion class. Alone it starts the ranks itself. The numbers are those of topo bench.\n\n"
    "  merganser topo replay app.bin\n"
    "  merganser topo replay app.json --coarsen 4 --models p2p,rma --json replay.json\n"
    "  merganser run -n 4 -- topo replay app.bin --sizes weights,weights*2\n";

}  // namespace

extern const Command topo_replay_command;
const Command topo_replay_command = make_command<TopoReplayOptions, run>(
    "topo replay", "exchange the pattern of a program in every model", kTopoReplayText);

}  // namespace merganser::app
