// Jobs of topo bench. Each is given its settings as arguments and leaves its record in a folder that is removed with it,
// so a job that fails, is killed or is stopped leaves nothing.
#include "apps/topo/launches.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include "apps/frame/elsewhere.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"

namespace merganser::app {
namespace {

/// Runs one job of topo bench, with kernels of processes only or of threads only, and joins its record to the results.
/// @param limit_s  seconds after which the job is ended; 0: never @return exit code of the job
/// @throws CommError if the job was killed or did not end in time
int run_launch(TopoBenchOptions job, const LogOptions& log, double limit_s, BenchResults& results) {
  PrivateFolder folder(shared_folder());
  job.launches = 1;
  job.json = folder.file("record.json");
  job.csv.clear();
  job.picture.clear();
  job.progress = job.progress || (!job.quiet && ::isatty(STDERR_FILENO) != 0);
  job.quiet = true;
  const auto arguments = job_arguments(job, log);
  LaunchPlan plan;
  if (kernels::kernel(job.kernels.front()).model != "threads") {
    plan = plan_launch(job.ranks, arguments, true);
  } else {
    plan.command = {self_path()};
    plan.command.insert(plan.command.end(), arguments.begin(), arguments.end());
  }
  const int code = launch(plan, limit_s);
  if (code == kTimedOut && limit_s > 0)
    throw CommError("the measurement did not end within " + fixed_text(limit_s, 0) + " s");
  if (code > 128 && code < 128 + 65)
    throw CommError(fmt::format("launch {}: a rank was ended by signal {}", job.launch, signal_text(code - 128)));
  if (code == 0) results.merge(read_results(read_json(job.json)));
  return code;
}

}  // namespace

std::string why_no_processes() {
  for (const auto& b : comm::backends())
    if (b.processes) return find_launcher().problem;
  return "this build has no model of processes";
}

// Arguments of a job of topo bench: options that differ from their defaults, found by walking over two option tables side by side.
std::vector<std::string> job_arguments(const TopoBenchOptions& options, const LogOptions& log) {
  detail::Whole<TopoBenchOptions> job{options, log}, initial;
  const OptionTable table(job), defaults(initial);
  std::vector<std::string> arguments{"topo", "bench"};
  for (std::size_t i = 0; i < table.options().size(); ++i)
    if (const Option& o = table.options()[i]; o.value() != defaults.options()[i].value())
      arguments.push_back(option_argument(o));
  return arguments;
}

// Measurement of topo bench without a launcher: in this process for threads alone in one launch, else in a job for each launch and
// kind of ranks.
int measure_alone(const TopoBenchOptions& options, const LogOptions& log, double limit_s, BenchResults& results) {
  TopoBenchOptions o = options;
  if (o.ranks == 0) o.ranks = 4;
  const std::string problem = why_no_processes();
  const ChosenKernels kernels = choose_kernels(o, problem.empty());
  if (!kernels.processes.empty() && !problem.empty())
    throw CommError(problem + "; threads need none: --models threads");
  if (kernels.processes.empty() && o.launches == 1) return measure_here(o, kernels, results);
  for (o.launch = 1; o.launch <= options.launches; ++o.launch)
    for (const auto* list : {&kernels.processes, &kernels.threads}) {
      if (list->empty()) continue;
      o.kernels = *list;
      if (const int code = run_launch(o, log, limit_s, results); code != 0) return code;
    }
  return 0;
}

// Measurement for topo advise and doctor: results are passed on as a record of topo bench, so that both ways of advice read the
// same.
Known measure_known(TopoBenchOptions options) {
  options.kernels = {"all"};
  options.quiet = true;
  BenchResults results;
  if (const int code = measure_alone(options, {}, 50 + 4 * options.time, results); code != 0)
    throw CommError(fmt::format("the measurement failed with exit code {}", code));
  if (!results.has_measurement()) throw CommError(results.why_nothing());
  const OptionTable table(options);
  Known known = read_known(bench_record({"topo bench", {}, table}, results), "the measurement");
  known.surroundings =
      results.surroundings;  // of this machine: where ranks were bound too, which records of others omit
  return known;
}

}  // namespace merganser::app
