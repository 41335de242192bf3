// Driver of bench random and bench files: merge steps are measured in threads of this process or in jobs that it starts.
#include "apps/bench/bench.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/bench/report.hpp"
#include "apps/frame/elsewhere.hpp"
#include "apps/frame/launch_room.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"
#include "merganser/base/timing.hpp"

namespace merganser::app {
namespace {

/// Options whose values a launched job gets from the process that starts it, not from the user's command line.
constexpr std::array<std::string_view, 14> kOfParent{
    "sub-communicator", "ranks", "json", "csv", "compare", "repeats", "timeout", "quiet", "here", "comm", "prune",
    "search",           "epoch", "steps"};

/// Returns true if a word of --compare names a communication model of this build.
bool is_model(const std::string& word) {
  return std::any_of(comm::backends().begin(), comm::backends().end(), [&](const auto& b) { return b.name == word; });
}

/// Sets the model, pruning, search or epoch of a variant of merge steps that a word of --compare names. @throws UsageError for
/// another word
void apply_word(Variant& v, const std::string& word) {
  v.label = word;
  if (is_model(word)) {
    v.comm = word;
    return;
  }
  const auto set = [&word](const auto& choices, auto& field) {
    for (const auto& [w, e] : choices.words)
      if (w == word) {
        field = e;
        return true;
      }
    return false;
  };
  if (set(prune_choices(), v.method.prune) || set(search_choices(), v.method.search)) return;
  if (set(epoch_choices(), v.method.epoch)) {
    v.method.prune = Prune::iterative;  // epochs are opened there only
    return;
  }
  throw UsageError("--compare: \"" + word + "\"; allowed: single-pass iterative exact cells8 lifetime per-phase " +
                   "per-operation or a model: " + model_names().substr(5));
}

/// Driver of one run of a benchmark of merge steps: loops over numbers of ranks, variants and repeats, in this process or in
/// launched jobs.
class Bench {
 public:
  /// Determines variants and numbers of ranks from the options. @throws UsageError for options that contradict each other
  Bench(const BenchOptions& o, const Invocation& in, const BenchProgram& program)
      : o_(o), in_(in), program_(program), base_{"", o.comm, o.method} {
    for (const auto& [word, prune] : prune_choices().words) {
      if (o.prune != word && o.prune != "all") continue;
      variants_.push_back(base_);
      variants_.back().method.prune = prune;
    }
    base_ = variants_.front();
    comm::check_backend(o.comm);
    const comm::World world = comm::launcher_world();
    ranks_ = o.ranks;
    if (is_within_job()) {
      if (ranks_.size() > 1 || (ranks_.size() == 1 && ranks_[0] != world.size))
        throw UsageError(fmt::format(
            "--ranks: {} asked, but the launcher started {}; allowed: that number, none, or bench without a launcher",
            ranks_[0], world.size));
      ranks_ = {world.size};
    }
    if (ranks_.empty()) ranks_ = {1};
    speaks_ = world.rank == 0;
    if (!o.compare.empty() && o.compare.size() != 2)
      throw UsageError(fmt::format("--compare: {} words; allowed: two, A,B", o.compare.size()));
    if (!o.compare.empty() && variants_.size() > 1)
      throw UsageError("--prune all with --compare, which measures two ways in turns; allowed: --compare A,B alone");
  }

  /// Measures merge steps for all numbers of ranks and variants, and reports them. @return exit code of the first run that failed,
  /// else 0
  int run() {
    check_memory();
    BenchReport report(o_, in_, program_);
    for (const int ranks : ranks_) {
      if (!o_.compare.empty()) {
        if (const int code = compare(ranks, report); code != 0) return code;
        continue;
      }
      for (const Variant& variant : variants_) {
        SeriesSet set(ranks, variant);
        for (int repeat = 0; repeat < o_.repeats; ++repeat)
          if (const int code = measure_into(set, variant, program_.series); code != 0) return code;
        if (speaks_) report.add(std::move(set));
      }
    }
    if (speaks_) report.finish();
    return 0;
  }

 private:
  /// Returns true if the ranks of a variant are threads of this process.
  [[nodiscard]] static bool runs_in_threads(const Variant& v) { return v.comm == "threads" || v.comm == "auto"; }

  /// Throws an error for numbers of ranks, and raw times of merge steps, that do not fit into this host, before any run is started.
  void check_memory() const {
    double cycles = 0;
    for (const int ranks : ranks_) {
      if (!comm::launched() && runs_in_threads(base_)) comm::check_thread_ranks(ranks);
      if (!comm::launched() && !runs_in_threads(base_)) check_processes(ranks);
      cycles += static_cast<double>(o_.steps) * o_.repeats * ranks;
    }
    cycles *= static_cast<double>(o_.compare.empty() ? program_.series.size() * variants_.size() : 2);
    const bool kept = !o_.json.empty() || !o_.csv.empty();
    Need need;
    need.what = "raw times of " + general_text(cycles, 6) + " cycles and ranks";
    need.rank_bytes = cycles * (kept ? Cycle::kRecordBytes : Cycle::kBytes);
    need.disk_bytes = kept ? cycles * Cycle::kRecordBytes / 2 : 0;
    need.file = o_.json.empty() ? o_.csv : o_.json;
    need.help = "fewer --steps or --repeats";
    require(need, o_.limits.force);
  }

  /// Measures the merge steps of the two variants of --compare in turns, so that changes of the machine affect both alike.
  /// @return exit code of the ranks
  int compare(int ranks, BenchReport& report) {
    Comparison c(ranks);
    c.variants.assign(2, base_);
    for (std::size_t i = 0; i < 2; ++i) apply_word(c.variants[i], o_.compare[i]);
    c.sets.assign(2, SeriesSet(ranks, base_));
    for (std::size_t i = 0; i < 2; ++i) c.sets[i].variant = c.variants[i];
    const std::vector<std::string> series{program_.series.front()};
    for (int repeat = 0; repeat < o_.repeats; ++repeat) {
      for (std::size_t turn = 0; turn < 2; ++turn) {
        const std::size_t i = turn_index(repeat, turn, 2);
        SeriesSet once(ranks, c.variants[i]);
        if (const int code = measure_into(once, c.variants[i], series); code != 0) return code;
        if (!speaks_) continue;
        c.seconds[i].push_back(once.series.at(0).second.seconds());
        c.sets[i].merge(once);
      }
    }
    if (speaks_) report.add(std::move(c));
    return 0;
  }

  /// Measures all series of merge steps of a variant once, here or in a job, and adds the cycles to `set`. @return exit code of the
  /// ranks
  int measure_into(SeriesSet& set, const Variant& variant, const std::vector<std::string>& series) {
    const bool threads = runs_in_threads(variant);
    // Processes are launched even for one rank: a process in which MPI has started cannot start a launcher.
    if (!is_within_job() && !o_.here && !threads) return measure_under_launcher(set, variant);
    SeriesSet once(set.ranks, variant);
    for (const auto& name : series) {
      BenchSetup setup = program_.setup(name, set.ranks);
      setup.method = variant.method;
      setup.blocks = o_.blocks;
      setup.steps = o_.steps;
      setup.force = o_.limits.force;
      setup.quiet = o_.quiet;
      setup.memory = set.series.empty() && o_.compare.empty();
      BenchSeries s;
      const int code = run_on_ranks({variant.comm, set.ranks, ""}, [&](comm::Transport& t) {
        BenchSeries local;
        measure(t, setup, local);
        if (t.rank() == 0) s = std::move(local);
      });
      if (code != 0) return code;
      once.series.emplace_back(name, std::move(s));
    }
    set.merge(once);
    return 0;
  }

  /// Measures all series of merge steps of a variant in a launched job, which writes a run record, and adds its cycles to `set`.
  int measure_under_launcher(SeriesSet& set, const Variant& variant) {
    PrivateFolder folder(shared_folder());
    const std::string path = folder.file("record.json");
    std::vector<std::string> arguments = repeat_arguments(in_, kOfParent);
    arguments.insert(arguments.end(), {"--comm=" + variant.comm, "--prune=" + prune_name(variant.method.prune),
                                       "--search=" + search_name(variant.method.search),
                                       fmt::format("--steps={}", o_.steps), "--json=" + path, "--quiet", "--here"});
    if (variant.method.prune == Prune::iterative) {
      arguments.push_back("--epoch=" + epoch_name(variant.method.epoch));
      if (variant.method.sub_communicator) arguments.emplace_back("--sub-communicator");
    }
    const int code = launch(plan_launch(set.ranks, arguments, true), o_.timeout);
    if (code == kTimedOut) throw CommError(fmt::format("the run on {} ranks did not end in time", set.ranks));
    if (code != 0) return code;
    const Json record = read_json(path);
    SeriesSet once(set.ranks, variant);
    once.surroundings = record.at("provenance");
    for (const auto& name : program_.series)
      if (record.at("result").contains(name))
        once.series.emplace_back(name, parse_series(record.at("result").at(name)));
    set.merge(once);
    return 0;
  }

  const BenchOptions& o_;
  const Invocation& in_;
  const BenchProgram& program_;
  Variant base_;
  std::vector<Variant> variants_;  // one, or with --prune all one for each pruning
  std::vector<int> ranks_;
  bool speaks_ = true;  // true on the process that prints and writes
};

}  // namespace

// Words of bench --compare by kind, for its help and for the conditions of other options.
CompareWords compare_words() {
  const auto words = [](const auto& choices) {
    return joined(choices.words, "|", [](const auto& choice) { return choice.first; });
  };
  return {words(prune_choices()), words(search_choices()), words(epoch_choices()), model_names().substr(5),
          process_model_names()};
}

// Defaults of bench with --compare: few merge steps per run and more repeats, since runs are compared in pairs.
void preset_bench(BenchOptions& o) {
  const bool comparing = !o.compare.empty();
  o = BenchOptions();
  if (!comparing) return;
  o.steps = 3;
  o.repeats = 8;
}

// Weak scaling of bench random: cells per rank stay the same.
Grid weak_grid(Grid grid, int ranks) {
  std::size_t axis = 0;
  for (int factor = 2; ranks > 1;) {
    // Trial division yields the prime factors in ascending order; x and y take them in turn, so that the grid stays close to
    // square.
    if (ranks % factor != 0) {
      ++factor;
      continue;
    }
    grid.cells[axis] *= factor;
    grid.box.extent[axis] *= factor;
    ranks /= factor;
    axis = 1 - axis;
  }
  return grid;
}

int run_bench(const BenchOptions& options, const Invocation& in, const BenchProgram& program) {
  return Bench(options, in, program).run();
}

}  // namespace merganser::app
