// topo bench: what an exchange along the arcs of a process graph costs, for every model.
#include <fmt/core.h>

#include <algorithm>

#include "apps/frame/launcher.hpp"
#include "apps/topo/bench.hpp"
#include "apps/topo/bench_report.hpp"
#include "apps/topo/launches.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

/// Options that a started job gets from here, not from the user.
constexpr std::array<std::string_view, 9> kOfParent{"ranks",    "json", "csv",    "quiet",  "launches",
                                                    "progress", "here", "launch", "kernels"};

/// A launched job measures what its ranks can.
int measure_launched(const TopoBenchOptions& o, BenchResults& results) {
  ChosenKernels kernels = choose_kernels(o, true);
  if (kernels.processes.empty())
    throw UsageError(
        fmt::format("kernels of model threads under a launcher; allowed: without one, as merganser topo bench --models "
                    "threads --ranks {}",
                    comm::launcher_world().size));
  if (o.launches > 1)
    throw UsageError(fmt::format(
        "--launches: {}, but this is one launch already; call topo bench without a launcher, with --ranks {}",
        o.launches, comm::launcher_world().size));
  const int code = measure_here(o, kernels.processes, results);
  for (const auto& k : kernels.threads)
    results.measured.unusable.push_back({k, "", "", "its ranks are threads, those of this job are processes"});
  return code;
}

int run(TopoBenchOptions& o, const Invocation& in) {
  for (const auto& s : o.sizes) (void)parse_message_size(s);
  if (o.graphs.empty() || o.sizes.empty())
    throw UsageError(fmt::format("topo bench: {} graphs and {} sizes; allowed: at least one of each (--graph, --sizes)",
                                 o.graphs.size(), o.sizes.size()));
  BenchResults results;
  const int code =
      comm::launched() ? measure_launched(o, results) : measure_alone(o, arguments_again(in, kOfParent), 0, results);
  if (code != 0 || comm::launcher_world().rank != 0) return code;
  if (o.here) {
    write_cbor(o.json, whole_json(results));
    return 0;
  }
  report(o, in, results);
  const auto& cells = results.measured.cells;
  if (std::none_of(cells.begin(), cells.end(), [](const auto& c) { return c.exchange.count() > 0; }))
    throw InputError("nothing could be measured" +
                     (results.measured.unusable.empty() ? std::string() : ": " + results.measured.unusable[0].reason));
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
