// Selection of a job's communication model from its options, and the checks of the model before it runs.
#include "src/comm/detail/models.hpp"

#include <cstdlib>

#include "merganser/base/error.hpp"
#include "src/comm/detail/process.hpp"
#include "src/comm/detail/self_test.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {

// Look-up of a communication model by the name in options.
const BackendEntry& find_model(std::string_view name) {
  for (const auto* entry : backend_entries()) {
    if (entry->info.name == name) return *entry;
  }
  std::string text = "unknown communication model '" + std::string(name) + "'; known: auto";
  for (const auto& backend : backends()) text += " " + std::string(backend.name);
  for (const auto& missing : missing_backends()) text += "; not in this build: " + std::string(missing);
  throw UsageError(text);
}

std::string resolve_backend_name(const std::string& backend) {
  if (backend != "auto") return backend;
  const char* pinned = std::getenv("MERGANSER_COMM");
  return pinned != nullptr && *pinned != '\0' ? pinned : "auto";
}

// Rule of the option `comm`: a named model, else threads without a launcher, else the fastest by measurement.
Choice choose_job_model(const RunOptions& options) {
  const std::string name = resolve_backend_name(options.backend);
  if (name != "auto") return {&find_model(name), ""};
  if (options.within_process || (!kSimulated && !launched())) return {&find_model("threads"), ""};
  const auto visit = [](const BackendEntry& entry, const BackendEntry::Each& each) { run_process(entry.start, each); };
  return measure_and_choose({process_models(), visit, options.pattern, options.choose});
}

// Self test of the chosen communication model before a run; simulated ranks have no library to test.
void self_test_over_world(const BackendEntry& entry) {
  if (kSimulated || !entry.info.processes || !launched() || self_test_passed(entry.info.name, launcher_world().size))
    return;
  run_process(entry.start, run_self_test);
}

// Validation of a job's number of ranks against the model (threads or processes) and the launcher.
void check_ranks(const RunOptions& options, const Backend& backend) {
  if (kSimulated && !backend.processes) {
    throw UsageError("model '" + std::string(backend.name) +
                     "' on simulated ranks, where one thread plays all; allowed: p2p, neighborhood, rma");
  }
  if (options.ranks < 0) {
    throw UsageError("ranks is " + std::to_string(options.ranks) + "; allowed: 0 (the default) and more");
  }
  if (options.within_process) {
    if (!backend.processes) return;
    throw UsageError("model '" + std::string(backend.name) +
                     "' needs processes, but ranks within this one are asked for; allowed: threads");
  }
  const int world = launcher_world().size;
  if (!backend.processes && world > 1) {
    throw UsageError("model 'threads' runs in one process, but a launcher started this one as one of " +
                     std::to_string(world) + " ranks; start it without a launcher or choose a model of processes");
  }
  if (backend.processes && options.ranks != 0 && options.ranks != world) {
    throw UsageError(
        "model '" + std::string(backend.name) + "' is asked for " + std::to_string(options.ranks) + " ranks, but " +
        (world > 1 ? "the launcher started " + std::to_string(world) : std::string("no launcher started them")) +
        "; use: mpirun -n " + std::to_string(options.ranks));
  }
}

}  // namespace merganser::comm::detail
