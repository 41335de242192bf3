// pair: measurement of a ping and a put between two ranks, one launch of the settings comparison of `doctor --measure`.
#include <sched.h>

#include <cstdlib>

#include "apps/frame/command.hpp"
#include "apps/frame/json.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/kernels/pair.hpp"

namespace merganser::app {
namespace {

/// Options of the hidden command pair, filled by the option parser.
struct PairCommand {
  double seconds = 0.1;  ///< duration of each measurement of ping and put, s
  int core = -1;         ///< processor that both ranks share; -1: none is chosen
  std::string results;   ///< CBOR file to write the times to
};
/// Lists the command-line options of pair, with their help texts and checks, for the option parser.
template <class V>
void describe(PairCommand& o, V&& option) {
  option("seconds", o.seconds, "of each measurement", positive());
  option("core", o.core, "processor that both ranks share; -1: wherever the launcher has put them");
  option("results", o.results, "file for what was measured", Kind{"FILE"}, Required{});
}

/// Binds this rank's process to one core, to measure oversubscription. @throws UsageError if it may not use that core
void bind_to_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (core >= CPU_SETSIZE || sched_setaffinity(0, sizeof set, &set) != 0)
    throw UsageError("--core is " + std::to_string(core) + ", which this process may not use");
}

/// Body of the hidden command pair: measures a ping and a put between two ranks, and writes the times to a file on rank 0.
int run(PairCommand& o, const Invocation&) {
  if (o.core >= 0) bind_to_core(o.core);
  ::setenv("MERGANSER_SETTINGS", "none", 1);  // what the launcher exports, and nothing else, is measured
  std::string model;
  for (const auto& b : comm::backends())
    if (model.empty() && b.processes) model = b.name;
  comm::run({.backend = model}, [&](comm::Transport& t) {
    if (o.core >= 0) bind_to_core(o.core);  // MPI may have put this rank elsewhere as it started
    const kernels::PairTimes times = kernels::time_pair(t, o.seconds);
    if (t.rank() != 0) return;
    write_cbor(o.results, Json{{"ping_s", times.ping_s},
                               {"put_flush_s", times.put_flush_s},
                               {"put_error", bytes_to_utf8(times.put_error)}});
  });
  return 0;
}

constexpr std::string_view kPairText =
    "Measures a ping and a put between ranks 0 and 1. Started by merganser doctor.\n";

}  // namespace

extern const Command pair_command;
const Command pair_command =
    hidden(make_command<PairCommand, run>("pair", "measure a ping and a put between two ranks", kPairText));

}  // namespace merganser::app
