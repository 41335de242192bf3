// Planning of bench msf: from experiments and options to launches.
#include "apps/bench_msf/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/graphs/generate.hpp"
#include "merganser/kernels/exchange.hpp"

namespace merganser::app {
namespace {

/// Experiments of bench msf by the tables (T) and figures (F) of [ing2021] that they reproduce.
constexpr std::array<std::pair<std::string_view, Experiment>, 23> kNames{
    {{"T1", Experiment::facts},     {"T2", Experiment::memory},     {"T3", Experiment::memory},
     {"T4", Experiment::barriers},  {"T5", Experiment::times},      {"T6", Experiment::times},
     {"T7", Experiment::times},     {"T8", Experiment::times},      {"T9", Experiment::productivity},
     {"F3", Experiment::arcs},      {"F4", Experiment::reductions}, {"F5", Experiment::posts},
     {"F6", Experiment::times},     {"F7", Experiment::times},      {"F8", Experiment::times},
     {"F9", Experiment::times},     {"F10", Experiment::times},     {"F11", Experiment::times},
     {"F12", Experiment::arcs},     {"F13", Experiment::arcs},      {"F14", Experiment::reductions},
     {"F15", Experiment::barriers}, {"F16", Experiment::reductions}}};

/// Returns true if a list of models, ranks or experiments of bench msf holds an item.
bool contains(const auto& list, const auto& item) { return std::find(list.begin(), list.end(), item) != list.end(); }

/// Returns the numbers of ranks that bench msf measures by default: 1, 2, 4, 8, and more up to the number of cores.
std::vector<int> default_ranks(const MsfBenchOptions& o, int cores) {
  if (o.quick) return {1, 2, 4};
  std::vector<int> ranks{1, 2, 4, 8};
  for (const int more : {12, 16, 20, 32, 64})
    if (more <= cores) ranks.push_back(more);
  return ranks;
}

/// Returns the graphs of bench msf: those of --graphs and --gen, or six generated ones. @throws UsageError for a name that cannot
/// be generated
std::vector<BenchGraph> chosen_graphs(const MsfBenchOptions& o) {
  std::vector<BenchGraph> chosen;
  for (const auto& file : o.graphs) chosen.push_back({file, true});
  for (const auto& name : o.gen) {
    (void)graphs::forecast_generated(name, {}, 1);  // refuses what makes no sense before anything is started
    chosen.push_back({name, false});
  }
  if (!chosen.empty()) return chosen;
  constexpr std::array kSmall{"rmat:13:16", "rgg2d:13:16", "gnm:13:8", "grid:128x128", "ba:13:4", "rgg3d:13:12"};
  constexpr std::array kLarge{"rmat:18:16", "rgg2d:18:16", "gnm:18:8", "grid:512x512", "ba:18:4", "rgg3d:18:12"};
  for (const char* name : o.quick ? kSmall : kLarge) chosen.push_back({name, false});
  return chosen;
}

/// Returns the communication models that bench msf measures: those of --models, else all available ones, threads only where there
/// is no other. @throws UsageError for one that is not available
std::vector<std::string> chosen_models(const MsfBenchOptions& o, const std::vector<std::string>& models) {
  if (o.models.empty()) {
    std::vector<std::string> processes(models);
    if (processes.size() > 1) std::erase(processes, "threads");
    return processes;
  }
  std::vector<std::string> chosen;
  for (const auto& m : models)
    if (contains(o.models, m)) chosen.push_back(m);
  for (const auto& m : o.models)
    if (!contains(models, m)) throw UsageError("--models: \"" + m + "\"; allowed here: " + joined(models));
  return chosen;
}

/// Returns the message sizes of a microbenchmark in bytes: first, first * factor, ..., up to last.
std::vector<std::int64_t> sizes(std::int64_t first, std::int64_t last, std::int64_t factor) {
  std::vector<std::int64_t> out;
  for (std::int64_t bytes = first; bytes <= last; bytes *= factor) out.push_back(bytes);
  return out;
}

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Planner of the launches of bench msf, one for each number of ranks.
class LaunchPlanner {
 public:
  /// Refers to the options, and to a plan whose experiments, graphs and models are set.
  LaunchPlanner(const MsfBenchOptions& o, const MsfPlan& plan) : o_(o), plan_(plan) {}

  /// Returns the work of the launch on `ranks` ranks: forests, collectives, exchanges along an arc.
  /// @param for_posts  true: the launch measures the kinds of post-processing only
  MsfWork launch(int ranks, bool for_posts) const {
    MsfWork work;
    work.ranks = ranks;
    work.repeats = repeats();
    if (plan_.wants(Experiment::times) && !for_posts) {
      for (const auto& g : plan_.graphs)
        for (const auto& m : plan_.models)
          for (const char* style : {"baseline", "tuned"}) work.forests.push_back({g, m, style, "single"});
    }
    if (plan_.wants(Experiment::posts) && ranks >= 4) add_posts(work);
    if (ranks > 1 && !for_posts) add_calls(work);
    return work;
  }

  /// Returns the number of runs of each forest: --repeats, or 15, or 3 with --quick.
  [[nodiscard]] int repeats() const { return o_.repeats > 0 ? o_.repeats : o_.quick ? 3 : 15; }

 private:
  /// Adds the forests that compare kinds of post-processing (Figure 5), for one model: the published leader's results are for MPI
  /// only.
  void add_posts(MsfWork& work) const {
    const std::string& model = plan_.posts_model();
    const bool has_single = std::any_of(work.forests.begin(), work.forests.end(),
                                        [&](const auto& c) { return c.model == model && c.style == "baseline"; });
    for (const auto& g : plan_.graphs) {
      if (!has_single) work.forests.push_back({g, model, "baseline", "single"});
      work.forests.push_back({g, model, "baseline", "leader"});
    }
  }

  /// Adds the microbenchmarks of a launch: collectives, and on two ranks exchanges along an arc.
  void add_calls(MsfWork& work) const {
    const int iterations = o_.quick ? 200 : 500;
    for (const auto& m : plan_.models) {
      if (plan_.wants(Experiment::barriers)) work.collectives.push_back({"barrier", m, {0}, iterations});
      if (!plan_.wants(Experiment::reductions)) continue;
      work.collectives.push_back({"all-reduce", m, sizes(8, 4096, o_.quick ? 8 : 2), iterations});
      work.collectives.push_back({"all-reduce", m, {kMiB / 64}, iterations / 2});
      work.collectives.push_back({"all-reduce", m, {kMiB}, iterations / 10});
    }
    if (!plan_.wants(Experiment::arcs) || work.ranks != 2) return;
    for (const char* kernel :
         {"p2p.isend-irecv", "rma.put-flush", "rma.get", "shmem.put-quiet", "shmem.get", "threads.copy"}) {
      for (const auto& k : kernels::kernels())
        if (k.name == kernel && contains(plan_.models, k.model)) work.arcs.kernels.emplace_back(kernel);
    }
    work.arcs.bytes = o_.quick ? sizes(1, 4 * kMiB, 16) : sizes(1, 4 * kMiB, 2);
    work.arcs.seconds =
        (o_.quick ? 0.05 : 0.5) * static_cast<double>(work.arcs.kernels.size() * work.arcs.bytes.size());
  }

  const MsfBenchOptions& o_;
  const MsfPlan& plan_;
};

/// Plans the launches that try sizes of OpenSHMEM's symmetric heap (Tables 2 and 3), one for each size and number of ranks; none
/// where the model shmem is not measured.
std::vector<HeapWork> heap_works(const MsfBenchOptions& o, const MsfPlan& plan) {
  std::vector<HeapWork> works;
  if (!contains(plan.models, "shmem")) return works;
  auto heaps = o.heaps;
  if (heaps.empty()) heaps = o.quick ? std::vector<int>{2, 4, 64} : std::vector<int>{2, 4, 16, 64, 256};
  auto ranks = o.ranks;
  if (ranks.empty()) ranks = o.quick ? std::vector<int>{2, 8} : std::vector<int>{2, 4, 8, 16};
  for (const int mib : heaps) {
    for (const int r : ranks) {
      if (r < 2) continue;
      MsfWork work;
      work.ranks = r;
      work.repeats = o.quick ? 1 : 3;
      for (std::size_t i = 0; i < std::min<std::size_t>(2, plan.graphs.size()); ++i)
        work.forests.push_back({plan.graphs[i], "shmem", "tuned", "single"});
      works.push_back({mib, std::move(work)});
    }
  }
  return works;
}

}  // namespace

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const auto& [name, experiment] : kNames) names.emplace_back(name);
  return names;
}

Experiment parse_experiment(const std::string& name) {
  for (const auto& [known, experiment] : kNames)
    if (known == name) return experiment;
  throw UsageError("--only: \"" + name + "\"; allowed: T1 to T9, F3 to F16");
}

bool MsfPlan::wants(Experiment e) const { return contains(experiments, e); }

bool MsfPlan::wants_one_of(const std::vector<std::string>& tables) const {
  return std::any_of(tables.begin(), tables.end(), [this](const auto& t) { return contains(names, t); });
}

const std::string& MsfPlan::posts_model() const {
  const auto p2p = std::find(models.begin(), models.end(), "p2p");
  return p2p == models.end() ? models.front() : *p2p;
}

// With --quick a launch of 8 ranks is added for post-processing: leaders of groups of four differ from a single one only with two
// groups. The properties of graphs are computed in the first launch.
MsfPlan plan_msf_bench(const MsfBenchOptions& o, int here, const std::vector<std::string>& models, int cores) {
  MsfPlan plan;
  plan.names = o.only.empty() ? experiment_names() : o.only;
  for (const auto& name : plan.names) {
    const Experiment e = parse_experiment(name);
    if (!plan.wants(e)) plan.experiments.push_back(e);
  }
  plan.graphs = chosen_graphs(o);
  plan.models = chosen_models(o, models);
  if (here > 0 && !o.ranks.empty() && o.ranks != std::vector<int>{here}) {
    throw UsageError(fmt::format(
        "--ranks: the launcher started {}; allowed: that number, none, or bench msf without a launcher", here));
  }
  auto ranks = here > 0 ? std::vector<int>{here} : o.ranks.empty() ? default_ranks(o, cores) : o.ranks;
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const LaunchPlanner planner(o, plan);
  for (const int r : ranks) plan.launches.push_back(planner.launch(r, false));
  if (o.quick && here == 0 && o.ranks.empty()) plan.launches.push_back(planner.launch(8, true));  // two leaders
  if (plan.wants(Experiment::facts)) plan.launches.front().facts = plan.graphs;
  if (plan.wants(Experiment::times)) plan.launches.front().facts = plan.graphs;  // correlations need them
  std::erase_if(plan.launches, [](const MsfWork& w) { return w.empty(); });
  if (here == 0 && plan.wants(Experiment::memory)) plan.heaps = heap_works(o, plan);
  return plan;
}

}  // namespace merganser::app
