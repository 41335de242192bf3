#include "apps/topo/launches.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <map>

#include "apps/compare/record.hpp"
#include "apps/frame/elsewhere.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/base/private_folder.hpp"
#include "merganser/base/text.hpp"

namespace merganser::app {
namespace {

/// One job: this program measures kernels of one kind, and leaves what it has measured in a file.
int measure_once(const TopoBenchOptions& o, std::vector<std::string> arguments, const std::vector<std::string>& kernels,
                 int launch, double limit_s, BenchResults& results) {
  PrivateFolder folder(folder_of_ranks());
  const std::string path = folder.file("results.cbor");
  arguments.insert(arguments.end(), {"--kernels=" + joined(kernels, ","), "--json=" + path, "--quiet", "--here",
                                     fmt::format("--launch={}", launch), fmt::format("--ranks={}", o.ranks)});
  if (o.progress || (!o.quiet && ::isatty(STDERR_FILENO) != 0)) arguments.emplace_back("--progress");
  LaunchPlan plan;
  if (kernels::kernel(kernels.front()).model != "threads") {
    plan = plan_launch(o.ranks, arguments, true);
  } else {
    plan.command = {self_path()};
    plan.command.insert(plan.command.end(), arguments.begin(), arguments.end());
  }
  const int code = app::launch(plan, limit_s);
  if (code == kTimedOut && limit_s > 0)
    throw CommError("the measurement did not end within " + fixed_text(limit_s, 0) + " s");
  if (code > 128 && code < 128 + 65)
    throw CommError(fmt::format("launch {}: a rank was ended by signal {}", launch + 1, signal_text(code - 128)));
  if (code == 0) results.merge(bench_results_of(read_cbor(path)));
  return code;
}

}  // namespace

std::string why_no_processes() {
  for (const auto& b : comm::backends())
    if (b.processes) return find_launcher().problem;
  return "this build has no model of processes";
}

int measure_alone(const TopoBenchOptions& options, const std::vector<std::string>& arguments, double limit_s,
                  BenchResults& results) {
  TopoBenchOptions o = options;
  if (o.ranks == 0) o.ranks = 4;
  const std::string problem = why_no_processes();
  const ChosenKernels kernels = choose_kernels(o, problem.empty());
  if (!kernels.processes.empty() && !problem.empty())
    throw CommError(problem + "; threads need none: --models threads");
  if (o.here || (kernels.processes.empty() && o.launches == 1))
    return measure_here(o, kernels.processes.empty() ? kernels.threads : kernels.processes, results);
  for (int launch = 0; launch < o.launches; ++launch)
    for (const auto* list : {&kernels.processes, &kernels.threads}) {
      if (list->empty()) continue;
      if (const int code = measure_once(o, arguments, *list, launch, limit_s, results); code != 0) return code;
    }
  return 0;
}

Known known_of(const BenchResults& results) {
  Known out{{}, results.measured.unusable, results.oversubscribed, results.surroundings};
  const Machine here = machine();
  for (const auto& c : results.measured.cells) {
    if (c.exchange.empty()) continue;
    const GraphSummary& graph = results.graphs.at(c.graph);
    const auto& kernel = kernels::kernel(c.kernel);
    topology::KnownCell known;
    known.graph = graph.digest;
    known.kernel = c.kernel;
    known.model = kernel.model;
    known.completion = kernels::completion_name(kernel.completion);
    known.load.ranks = graph.ranks;
    known.load.cores = here.cores;
    known.load.arcs = static_cast<double>(graph.arcs);
    known.load.degree = graph.max_degree;
    known.load.bytes = static_cast<double>(c.bytes_total);
    known.load.rank_bytes = known.load.bytes / known.load.arcs * known.load.degree;
    std::map<int, std::vector<double>> launches;
    for (const auto& round : c.rounds) launches[round.launch].push_back(round.p50_ns);
    for (auto& [launch, times] : launches) known.launches.push_back(std::move(times));
    known.source = "the measurement";
    known.load_per_core = load_per_core(here.load_before[0], here.all_cores);
    out.cells.push_back(std::move(known));
  }
  if (out.cells.empty())
    throw CommError("nothing could be measured" + (out.unusable.empty() ? "" : ": " + out.unusable.front().reason));
  return out;
}

Known measure_job(const MeasurePlan& plan) {
  TopoBenchOptions o;
  o.graphs.clear();
  (plan.pattern ? o.pattern : o.graphs.emplace_back()) = plan.graph;
  o.models = plan.models;
  o.kernels = {"all"};
  o.sizes = plan.sizes;
  o.ranks = plan.ranks;
  o.launches = plan.launches;
  o.time = plan.seconds;
  o.quiet = true;
  BenchResults results;
  const int code = measure_alone(
      o,
      {"topo", "bench", (plan.pattern ? "--pattern=" : "--graph=") + plan.graph, "--models=" + joined(plan.models, ","),
       "--sizes=" + joined(plan.sizes, ","), "--time=" + number_text(plan.seconds)},
      30 + 4 * plan.seconds + 20, results);
  if (code != 0) throw CommError(fmt::format("the measurement failed with exit code {}", code));
  return known_of(results);
}

}  // namespace merganser::app
