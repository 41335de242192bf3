// verify: the same bits for every number of ranks, model, decomposition, search and pruning.

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "apps/cluster/merge_options.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/elsewhere.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/launch_room.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/table.hpp"
#include "apps/verify/cases.hpp"
#include "apps/verify/runs.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/private_folder.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {
namespace {

/// Options of the command verify, filled by the option parser.
struct VerifyCommand {
  std::vector<std::string> files;          ///< parcel files to verify besides generated inputs
  std::vector<int> ranks{1, 2, 3, 4, 7};   ///< numbers of ranks to verify on
  std::vector<std::string> comm{"all"};    ///< communication models to verify
  std::vector<std::string> prune{"all"};   ///< kinds of pruning of links to verify
  std::vector<std::string> search{"all"};  ///< kinds of search for nearest parcels to verify
  int samples = 18;                        ///< number of generated sets of parcels
  std::uint64_t seed = 1;                  ///< seed of the generated sets of parcels
  int chaos = 0;                           ///< seeds, per model, of runs with disturbed messages
  FileOptions file;                        ///< volume ratio that replaces those of the files
  double timeout = 900;                    ///< seconds that a launched job may take
  std::string json;                        ///< path of verify's run record; empty: none
  ForceOption limits;                      ///< --force: run even if forecasts exceed the free memory
};

/// Returns the allowed words of an option of verify: "all" and the names of an enumeration.
template <class E>
Words words_or_all(const Choices<E>& choices) {
  Words words{{"all"}};
  for (const auto& [word, e] : choices.words) words.words.push_back(word);
  return words;
}

/// Lists the command-line options of verify, with their help texts and checks, for the option parser.
template <class V>
void describe(VerifyCommand& o, V&& option) {
  option.positional("FILE", o.files, "EPIC parcel files to verify besides the generated inputs", Reads{});
  option.section("What is compared");
  option("ranks", o.ranks, "numbers of ranks", at_least(1), own_ranks_advice("-n"), own_ranks_advice("-np"));
  option("comm", o.comm, "models: all, or some of " + model_names().substr(5), Kind{"LIST"}, known_models());
  option("prune", o.prune, "prunings: all, single-pass, iterative", words_or_all(prune_choices()), Kind{"LIST"});
  option("search", o.search, "searches: all, exact, cells8", words_or_all(search_choices()), Kind{"LIST"});
  option.section("Inputs");
  option("samples", o.samples, "generated inputs: random ones, lattices with exact ties, coincident parcels, ...",
         at_least(0));
  option("seed", o.seed, "seed of the generated inputs", NotWith{"--samples 0"});
  option("chaos", o.chaos,
         "seeds, per model, of runs whose messages are reordered, split and delayed in every legal way", at_least(0));
  describe_ratio(o.file, option, "20");
  option.restrict({"min-volume-ratio"}, UsedWith{"FILE"});
  option.section("Output");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("timeout", o.timeout, "seconds a launched job may take", positive(),
         UsedWith{"--comm all|" + process_model_names()});
  describe(o.limits, option);
}

/// Returns true if the list of words of an option of verify selects all choices.
bool has_all(const std::vector<std::string>& list) {
  return list.empty() || std::find(list.begin(), list.end(), "all") != list.end();
}

/// Returns the searches or prunings that the list of words of an option of verify selects.
template <class E>
std::vector<E> select_choices(const std::vector<std::string>& list, const Choices<E>& choices) {
  std::vector<E> out;
  for (const auto& [word, e] : choices.words)
    if (has_all(list) || std::find(list.begin(), list.end(), word) != list.end()) out.push_back(e);
  return out;
}

/// Communication models to verify: threads in this process, and those of launched jobs.
struct Models {
  bool threads = false;                ///< true: the model threads is verified
  std::vector<std::string> processes;  ///< models whose ranks are processes
};

/// Returns the communication models that verify runs on. @throws UsageError for a name that this build does not have
Models select_models(const std::vector<std::string>& list) {
  Models out;
  std::vector<std::string> left = has_all(list) ? std::vector<std::string>() : list;
  for (const auto& b : comm::backends()) {
    const std::string name(b.name);
    const auto at = std::find(left.begin(), left.end(), name);
    if (!has_all(list) && at == left.end()) continue;
    if (at != left.end()) left.erase(at);
    if (b.processes) {
      out.processes.push_back(name);
    } else {
      out.threads = true;
    }
  }
  if (!left.empty())
    throw UsageError("--comm: unknown or missing model \"" + left[0] + "\"; allowed: all|" + model_names().substr(5));
  return out;
}

/// Group of runs of verify, on one model and number of ranks: a line of its report.
struct RunGroup {
  RunGroup(std::string m, int r) : model(std::move(m)), ranks(r) {}
  std::string model;   ///< communication model of the runs
  int ranks;           ///< number of ranks of the runs
  Tally tally;         ///< counts of runs and failures
  double seconds = 0;  ///< time of the runs, s
  std::string broken;  ///< reason why there is no outcome; empty if there is
};

/// Driver of the command verify: executes the runs of all models and numbers of ranks and prints a line for each.
class Verification {
 public:
  /// Makes the plan of verify, without expected results. @throws UsageError for a missing model, or without an input
  explicit Verification(const VerifyCommand& o) : o_(o), models_(select_models(o.comm)) {
    plan_.samples = o.samples;
    plan_.seed = o.seed;
    plan_.files = o.files;
    plan_.searches = select_choices(o.search, search_choices());
    plan_.prunes = select_choices(o.prune, prune_choices());
    plan_.chaos = o.chaos;
    plan_.ranks = o.ranks;
    if (plan_.inputs() == 0)
      throw UsageError("nothing to verify: --samples 0 and no FILE; allowed: one of the two at least");
  }

  /// Computes the expected results and executes the runs of all models and numbers of ranks, printing a line for each.
  void run() {
    std::cout << plan_.inputs() << " inputs, " << plan_.searches.size() << " searches, " << plan_.prunes.size()
              << " prunings, up to 7 decompositions, " << kVerifySteps << " steps each" << std::endl;
    check_memory();
    compute_expected(plan_);
    write_record(work_.file("plan.json"), to_json(plan_));
    for (const int ranks : o_.ranks) {
      if (models_.threads) run_threads(ranks);
      if (!models_.processes.empty()) run_processes(ranks);
    }
  }

  /// Returns the outcomes of verify by model and number of ranks, in the order of execution.
  [[nodiscard]] const std::vector<RunGroup>& lines() const { return lines_; }
  /// Returns the plan of all runs of verify, with the expected digests once run() has been called.
  [[nodiscard]] const VerifyPlan& plan() const { return plan_; }

 private:
  /// Resolves the volume ratios of the parcel files, and throws an error for ranks, samples and files that do not fit into this
  /// host, before the first run.
  void check_memory() {
    for (const int ranks : o_.ranks) {
      if (models_.threads) comm::check_thread_ranks(ranks);
      if (!models_.processes.empty()) check_processes(ranks);
    }
    constexpr double kDigests = 512;  // of a sample: here and in the plan that jobs read
    Need samples;
    samples.what = "--samples " + count_text(o_.samples);
    samples.rank_bytes = samples.disk_bytes = kDigests * o_.samples;
    samples.file = work_.file("plan.json");
    samples.help = "fewer samples";
    require(samples, o_.limits.force);
    constexpr double kContainers = 7;  // the input, a run on it, the reference, and what is gathered to compare
    for (const auto& file : o_.files) {
      const io::ParcelFileInfo info = io::read_info(file);
      plan_.file_ratios.push_back(resolve_ratio(o_.file, info, 20, answers_.emplace_back(file)));
      for (const auto& warning : answers_.back().warnings()) log(Level::warning, 0, warning);
      std::cout << file << ": " << answers_.back().to_string() << '\n';
      Need need;
      need.what = file + " (" + count_text(info.parcels) + " parcels)";
      need.rank_bytes = kContainers * static_cast<double>(info.parcels) * Parcels().parcel_bytes();
      need.what += " on " + grid_text(info.grid);
      for (const Search search : plan_.searches) need.rank_bytes += search_bytes(search, info.grid, 1);
      need.of_file = true;
      need.help = "smaller files";
      require(need, o_.limits.force);
    }
  }

  /// Prints and stores the outcome of the runs of verify of one model on one number of ranks.
  void add_line(RunGroup line) {
    const Tally& t = line.tally;
    std::cout << "  " << line.model << std::string(14 - std::min<std::size_t>(13, line.model.size()), ' ') << line.ranks
              << (line.ranks == 1 ? " rank   " : " ranks  ")
              << (line.broken.empty() ? count_text(t.runs + t.chaos_runs) + " runs, " +
                                            (t.failures == 0 ? "all equal" : count_text(t.failures) + " DIFFER")
                                      : "BROKEN: " + line.broken)
              << "   " << seconds_text(line.seconds) << std::endl;
    lines_.push_back(std::move(line));
  }

  /// Executes the runs of the model threads on so many threads of this process.
  void run_threads(int ranks) {
    RunGroup line("threads", ranks);
    const double start = now();
    try {
      if (const int code = run_all(plan_, "threads", ranks, line.tally); code != 0)
        line.broken = fmt::format("ended with code {}", code);
    } catch (const Error& e) {
      line.broken = e.what();
    }
    line.seconds = now() - start;
    add_line(std::move(line));
  }

  /// Executes the runs of all models of processes in one launched job, and reads their outcomes.
  void run_processes(int ranks) {
    const std::string out = work_.file(fmt::format("tally{}.json", ranks));
    std::vector<std::string> arguments{"verify-child", work_.file("plan.json"), out};
    arguments.insert(arguments.end(), models_.processes.begin(), models_.processes.end());
    const double start = now();
    const int code = launch(plan_launch(ranks, arguments, true), o_.timeout);
    const double seconds = now() - start;  // for models of which nothing else is known
    Json tallies = Json::object();
    if (std::filesystem::exists(out)) tallies = read_json(out);
    for (const auto& model : models_.processes) {
      RunGroup line(model, ranks);
      line.seconds = seconds / static_cast<double>(models_.processes.size());
      if (tallies.contains(model)) {
        line.tally = parse_tally(tallies[model]);
        line.seconds = line.tally.seconds;
      } else {
        line.broken = code == kTimedOut ? "no end within " + seconds_text(o_.timeout)
                                        : fmt::format("the launched job ended with code {}", code);
      }
      add_line(std::move(line));
    }
    if (code != 0 && std::all_of(models_.processes.begin(), models_.processes.end(),
                                 [&](const auto& m) { return tallies.contains(m); })) {
      RunGroup line("(end of job)", ranks);
      line.broken = fmt::format("the runs were made, but the job ended with code {}", code);
      add_line(std::move(line));
    }
  }

  const VerifyCommand& o_;
  Models models_;
  VerifyPlan plan_;
  PrivateFolder work_{shared_folder()};
  std::vector<RunGroup> lines_;
  std::vector<Answers> answers_;  // by file: sources of the volume ratio
};

/// Makes the list "lines" in the record of verify: outcome and time of each group of runs.
Json lines_json(const std::vector<RunGroup>& lines) {
  Json out = Json::array();
  for (const auto& l : lines) {
    Json line = to_json(l.tally);
    line.update({{"model", l.model}, {"ranks", l.ranks}, {"seconds", l.seconds}, {"broken", l.broken}});
    out.push_back(line);
  }
  return out;
}

/// Runs the command verify. @throws VerificationError if a result differs from the serial reference, CommError if a group of runs
/// did not end
int run(VerifyCommand& o, const Invocation& in) {
  if (comm::launched()) throw UsageError("verify under a launcher; allowed: without one, it starts its runs itself");
  if (o.ranks.empty()) throw UsageError("--ranks: \"\"; allowed: numbers of ranks, like 1,2,3,4,7");
  Verification v(o);
  v.run();
  std::int64_t runs = 0, failures = 0, broken = 0;
  std::string first;
  for (const auto& l : v.lines()) {
    runs += l.tally.runs + l.tally.chaos_runs;
    failures += l.tally.failures;
    broken += l.broken.empty() ? 0 : 1;
    if (first.empty()) first = l.tally.first_failure;
  }
  write_result(o.json, in,
               {{"runs", runs},
                {"failures", failures},
                {"broken", broken},
                {"first_failure", first},
                {"file_ratios", v.plan().file_ratios},
                {"lines", lines_json(v.lines())}});
  if (failures > 0)
    throw VerificationError(count_text(failures) + " of " + count_text(runs) +
                            " runs differ from the serial reference; first: " + first);
  if (broken > 0)
    throw CommError(count_text(broken) + " of " + count_text(static_cast<std::int64_t>(v.lines().size())) +
                    " groups of runs did not end well");
  std::cout << count_text(runs) << " runs, all equal to the serial reference, every bit\n";
  return 0;
}

constexpr std::string_view kVerifyText =
    "Merges generated and given inputs in every combination of ranks, model, decomposition, search and pruning, and\n"
    "compares each result, bit for bit, with that of a slow serial reference that shares no algorithm with the fast\n"
    "path. Starts the runs itself: threads in this process, the other models under the launcher, all in one job per\n"
    "number of ranks. Exit code 1 and the first difference if there is one.\n\n"
    "  merganser verify\n"
    "  merganser verify --ranks 2,4 --comm rma,shmem --chaos 100 in.nc\n";

}  // namespace

extern const Command verify_command;
const Command verify_command =
    make_command<VerifyCommand, run>("verify", "prove that ranks, models and methods give the same bits", kVerifyText);

}  // namespace merganser::app
