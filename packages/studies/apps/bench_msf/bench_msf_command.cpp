// The command bench msf: the experiments of a study of spanning forests in MPI and OpenSHMEM, on this machine.
#include <fmt/core.h>

#include <iostream>

#include "apps/bench_msf/analysis.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/elsewhere.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"
#include "merganser/base/text.hpp"

namespace merganser::app {
namespace {

/// Body of a rank of a job that `bench msf` has started for one launch: reads the work from a file, measures it, and
/// writes the results to a file, which the starting process reads. @return exit code
int work_for_parent(const MsfBenchOptions& o) {
  MsfResults results;
  const int code = measure_msf(deserialize<MsfWork>(read_cbor(o.work)), results);
  results.surroundings = environment_json();
  if (code == 0 && comm::launcher_world().rank == 0) write_cbor(o.json, serialize(results));
  return code;
}

/// Returns the communication models that the launches can use: all models, without a launcher only those whose ranks
/// are threads, and if this process is a rank of a job only those whose ranks are processes.
std::vector<std::string> available_models() {
  const bool launched = comm::launched();
  const bool processes = launched || find_launcher().problem.empty();
  std::vector<std::string> models;
  for (const auto& b : comm::backends())
    if (b.processes ? processes : !launched) models.emplace_back(b.name);
  return models;
}

/// Execution of a plan of `bench msf`: models whose ranks are threads run in this process, other models in jobs that
/// this process starts.
class MsfBench {
 public:
  /// Refers to options and plan of bench msf, which must outlive this.
  MsfBench(const MsfBenchOptions& o, const MsfPlan& plan) : o_(o), plan_(plan) {}

  MsfResults results;  ///< of all launches so far; complete on rank 0

  /// Returns true for the exit codes of errors of options or input, with which every further launch of bench msf would end too.
  [[nodiscard]] static bool is_user_error(int code) {
    return code == UsageError("").exit_code() || code == InputError("").exit_code();
  }

  /// Executes all launches of the plan of bench msf. @return exit code of the last one that failed; the others are measured all the
  /// same
  int run() {
    int code = 0;
    const std::size_t all = plan_.launches.size() + plan_.heaps.size();
    std::size_t number = 0;
    for (const auto& work : plan_.launches) {
      report_launch(++number, all, work, "");
      if (const int failed = measure(work, results); failed != 0) code = failed;
      if (is_user_error(code)) return code;
    }
    for (const auto& heap : plan_.heaps) {
      report_launch(++number, all, heap.work, fmt::format(", symmetric heap of {} MiB", heap.mib));
      measure_heap(heap);
    }
    return code;
  }

 private:
  /// Reports the beginning of a launch of bench msf on standard error, on rank 0. @param number  of the launch, from 1 to `all`
  void report_launch(std::size_t number, std::size_t all, const MsfWork& work, const std::string& more) const {
    if (o_.quiet || comm::launcher_world().rank != 0) return;
    std::cerr << '[' << number << " of " << all << "] " << work.ranks << (work.ranks == 1 ? " rank" : " ranks") << more
              << ": " << work.forests.size() << " ways to find forests x " << work.repeats << std::endl;
  }

  /// Measures one launch of bench msf, in threads of this process and in a job, and appends its results. @return exit code
  int measure(const MsfWork& work, MsfResults& into) {
    if (comm::launched()) return measure_msf(work, into);
    const auto [threads, processes] = split(work);
    if (const int code = threads.empty() ? 0 : measure_msf(threads, into); code != 0) return code;
    if (processes.empty()) return 0;
    const int code = measure_elsewhere(processes, 0, into);
    if (code != 0)
      into.notes.push_back(fmt::format("the launch on {} ranks ended with {}", work.ranks, describe_failure(code)));
    return code;
  }

  /// Splits the work of a launch into cases of the model `threads`, measured in this process, and cases of models of processes.
  [[nodiscard]] static std::pair<MsfWork, MsfWork> split(const MsfWork& work) {
    std::pair<MsfWork, MsfWork> parts{work, work};
    const auto drop = [](MsfWork& from, bool threads) {
      const auto dropped = [threads](const auto& c) { return (c.model == "threads") == threads; };
      std::erase_if(from.forests, dropped);
      std::erase_if(from.collectives, dropped);
      std::erase_if(from.arcs.kernels, [threads](const auto& k) { return k.starts_with("threads.") == threads; });
    };
    drop(parts.first, false);
    drop(parts.second, true);
    parts.second.facts.clear();
    return parts;
  }

  /// Measures a launch with its own size of the symmetric heap of OpenSHMEM; a launch that fails is a result too.
  void measure_heap(const HeapWork& heap) {
    MsfResults found;
    const int code = measure_elsewhere(heap.work, heap.mib, found);
    if (code != 0) {
      for (const auto& what : heap.work.forests) {
        ForestResult& r = found.forests.emplace_back();
        r.what = what;
        r.failure = "the launch ended with " + describe_failure(code);
      }
    }
    for (auto& r : found.forests) {
      r.ranks = heap.work.ranks;
      r.heap_mib = heap.mib;
      results.heaps.push_back(std::move(r));
    }
  }

  /// Formats the failure of a launch of bench msf: its exit code, or the time within which it did not end.
  [[nodiscard]] std::string describe_failure(int code) const {
    if (code == kTimedOut) return "nothing within " + number_text(o_.timeout) + " s";
    return fmt::format("exit code {}", code);
  }

  /// Measures the work of a launch in a job that is started for it; work and results pass in files. @return exit code of the job
  /// @param heap_mib  symmetric heap of each process, MiB; 0: as the launcher sets it
  int measure_elsewhere(const MsfWork& work, int heap_mib, MsfResults& into) {
    PrivateFolder folder(shared_folder());
    const std::string task = folder.file("work.cbor");
    const std::string answer = folder.file("results.cbor");
    write_cbor(task, serialize(work));
    LaunchPlan plan = plan_launch(work.ranks, {"bench", "msf", "--work=" + task, "--json=" + answer, "--quiet"}, true);
    if (heap_mib > 0) {
      const bool open_mpi = comm::shmem_library().find("open-mpi") != std::string::npos;
      const std::string name = open_mpi ? "SHMEM_SYMMETRIC_HEAP_SIZE" : "SHMEM_SYMMETRIC_SIZE";
      std::erase_if(plan.exports, [&](const auto& s) { return s.name == name; });
      plan.exports.push_back({name, fmt::format("{}M", heap_mib), "the size that is tried"});
    }
    const int code = launch(plan, o_.timeout);
    if (code == 0) into.add(deserialize<MsfResults>(read_cbor(answer)));
    return code;
  }

  const MsfBenchOptions& o_;
  const MsfPlan& plan_;
};

/// Writes the run record of bench msf and prints its tables. On rank 0.
void report(const MsfBenchOptions& o, const Invocation& in, const MsfPlan& plan, const MsfResults& results) {
  const std::string here = fmt::format("{}{}, 1 node", machine().cores, machine().cores == 1 ? " core" : " cores");
  if (!o.json.empty()) {
    RunPlacement placement;
    if (!plan.launches.empty()) placement.ranks = plan.launches.back().ranks;
    Json record = make_record(in, placement);
    set_environment(record, results.surroundings);
    record["msf_bench"] = serialize(results);
    record["msf_bench"].erase("surroundings");
    record["msf_bench"]["derived"] = msf_derived_json(results);
    record["msf_bench"]["comparable"] = "not with the published numbers: " + here;
    write_record(o.json, record);
  }
  if (!o.quiet && o.json != "-") std::cout << msf_bench_text(plan, results, here);
}

/// Runs bench msf: plans and executes all launches, reports them, and compares the forests that they found. @return exit code
/// @throws UsageError for options that contradict each other
int run(MsfBenchOptions& o, const Invocation& in) {
  if (!o.work.empty()) return work_for_parent(o);
  const bool launched = comm::launched();
  const MsfPlan plan =
      plan_msf_bench(o, launched ? comm::launcher_world().size : 0, available_models(), machine().cores);
  MsfBench bench(o, plan);
  if (launched && plan.wants(Experiment::memory))
    bench.results.notes.emplace_back("T2, T3: need launches of their own; start bench msf without a launcher");
  if (const Machine m = machine(); m.load_before[0] > m.cores)
    bench.results.notes.push_back(fmt::format("the machine was busy when this began: load average {} on {} cores",
                                              fixed_text(m.load_before[0], 1), m.cores));
  int code = bench.run();
  if (comm::launcher_world().rank != 0 || MsfBench::is_user_error(code)) return code;
  report(o, in, plan, bench.results);
  const auto complaints = bench.results.contradictions();
  for (const auto& text : complaints) std::cerr << "verification: " << text << '\n';
  return complaints.empty() ? code : VerificationError("").exit_code();
}

constexpr std::string_view kBenchMsfText =
    "Makes the experiments of a published study of spanning forests in MPI and OpenSHMEM again: graphs, memory\n"
    "configurations, microbenchmarks, scaling, improvements and their correlations, productivity. Published values "
    "stand\n"
    "beside measured ones; packages/studies/docs/msf-bench.md tells what can be compared. Every forest is verified, "
    "and all\n"
    "of a graph must be the same. Alone it starts the ranks itself, a job for each number of ranks; as part of a job "
    "it\n"
    "measures on the ranks that there are.\n\n"
    "  merganser bench msf --quick --json t.json\n"
    "  merganser bench msf --only T4,T9\n"
    "  merganser bench msf --only T8 --graphs web/cnr-2000 --ranks 1,2,4 --repeats 5\n"
    "  merganser run -n 4 -- bench msf --quick --only T4,F5\n";

}  // namespace

extern const Command bench_msf_command;
const Command bench_msf_command =
    make_command<MsfBenchOptions, run>("bench msf", "a published study of spanning forests, made again", kBenchMsfText);

}  // namespace merganser::app
