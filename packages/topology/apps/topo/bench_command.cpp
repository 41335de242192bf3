// topo bench: measures exchanges along the arcs of a process graph with the kernels of every model.
// Under a launcher it measures on the ranks that there are; alone it starts launches of itself and joins their records.
#include <fmt/core.h>

#include "apps/frame/picture.hpp"
#include "apps/topo/bench.hpp"
#include "apps/topo/bench_report.hpp"
#include "apps/topo/launches.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

/// Returns --log and --log-ranks of topo bench, which are passed on to the jobs that it starts.
LogOptions log_options(const OptionTable& table) {
  LogOptions log;
  for (const auto& o : table.options()) {
    if (o.name == "log") log.level = value_text(o.value());
    if (o.name == "log-ranks") log.ranks = value_text(o.value());
  }
  return log;
}

/// Measures in topo bench as one rank of a launched job, with the kernels of processes. Collective over the job. @return exit code
/// @throws UsageError if only kernels of threads are selected, or several launches
int measure_launched(const TopoBenchOptions& o, BenchResults& results) {
  const ChosenKernels kernels = choose_kernels(o, true);
  if (kernels.processes.empty())
    throw UsageError(
        fmt::format("kernels of model threads under a launcher; allowed: without one, as merganser topo bench --models "
                    "threads --ranks {}",
                    comm::launcher_world().size));
  if (o.launches > 1)
    throw UsageError(fmt::format(
        "--launches: {}, but this is one launch already; call topo bench without a launcher, with --ranks {}",
        o.launches, comm::launcher_world().size));
  return measure_here(o, kernels, results);
}

/// Runs topo bench: measures under the launcher that there is, else starts jobs; rank 0 writes and prints the results.
/// @return exit code @throws InputError if nothing could be measured
int run(TopoBenchOptions& o, const Invocation& in) {
  for (const auto& s : o.sizes) (void)parse_message_size(s);
  if (o.graphs.empty() || o.sizes.empty())
    throw UsageError(fmt::format("topo bench: {} graphs and {} sizes; allowed: at least one of each (--graph, --sizes)",
                                 o.graphs.size(), o.sizes.size()));
  if (o.ranks == 1) throw UsageError("topo bench: --ranks 1; 1 rank has nobody to talk to; allowed: 2 and more");
  if (!comm::launched()) check_picture(o.picture, PictureSource::record);
  BenchResults results;
  const int code =
      comm::launched() ? measure_launched(o, results) : measure_alone(o, log_options(in.table), 0, results);
  if (code != 0 || comm::launcher_world().rank != 0) return code;
  report(o, in, results);
  // One launch of several may have measured nothing where others have.
  if (o.launch == 0 && !results.has_measurement()) throw InputError(results.why_nothing());
  return 0;
}

constexpr std::string_view kTopoBenchText =
    "Measures exchanges along the arcs of process graphs, in the very calls that a program would make: every\n"
    "iteration on every rank, all kernels and sizes in shuffled rounds, every byte compared outside the clock. "
    "Kernels\n"
    "are grouped by what is true when a call returns, and compared within a group only.\n"
    "packages/topology/docs/topology-bench.md says what the numbers mean.\n\n"
    "  merganser topo bench                                         # alone: starts 4 ranks itself\n"
    "  merganser run -n 4 -- topo bench --graph chain --json t.json\n"
    "  merganser run -n 4 -- topo bench --graph complete --models all --sizes 8,1024,65536 --json k.json\n"
    "  merganser topo bench --launches 10 --ranks 2 --graph chain --sizes 8,1K,64K --time 10\n";

}  // namespace

extern const Command topo_bench_command;
const Command topo_bench_command = make_command<TopoBenchOptions, run>(
    "topo bench", "measure exchanges along the arcs of a process graph", kTopoBenchText);

}  // namespace merganser::app
