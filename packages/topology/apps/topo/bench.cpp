// One measurement of topo bench: the meaning of its options, made on rank 0 first so that errors are one line of one rank.
#include "apps/topo/bench.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "apps/frame/forecast.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/picture.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "apps/topo/bench_faults.hpp"
#include "apps/topo/extract_sources.hpp"
#include "apps/topo/graph_facts.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"

namespace merganser::app {
namespace {

// Default of --time: so many seconds for each cell (kernel, graph and size), and at most so many in all.
constexpr double kSecondsPerCell = 0.35;
constexpr double kMaxSeconds = 100;

/// Exchange kernels of `--kernels default` in topo bench: calls that programs use, from each communication model of processes.
constexpr std::array<std::string_view, 8> kDefaultKernels{
    "p2p.isend-irecv", "p2p.persistent", "neighborhood.alltoallv", "rma.put-flush",
    "rma.put-notify",  "rma.fence",      "shmem.put-quiet",        "shmem.put-signal"};

/// Returns true if --kernels or --models of topo bench holds a name.
bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Returns true if `--kernels default` includes an exchange kernel: the copies of threads, and those in kDefaultKernels.
bool is_default(const kernels::KernelInfo& k) {
  return k.name.starts_with("threads.copy") ||
         std::find(kDefaultKernels.begin(), kDefaultKernels.end(), k.name) != kDefaultKernels.end();
}

/// Throws UsageError for a word of --models that names no communication model of this build.
void check_models(const std::vector<std::string>& models) {
  std::string allowed = "all";
  std::vector<std::string> known;
  for (const auto& b : comm::backends()) {
    known.emplace_back(b.name);
    allowed += ", " + known.back();
  }
  for (const auto& m : models)
    if (m != "all" && !contains(known, m)) throw UsageError("--models: \"" + m + "\"; allowed: " + allowed);
}

/// Host name of one rank and the cores that its affinity mask allows; gathered by busiest_host().
struct RankPlace {
  std::array<char, 64> host{};
  cpu_set_t cores{};
};

/// Number of ranks on one host, and of the cores that their affinity masks allow together; computed by busiest_host().
struct HostLoad {
  int ranks = 1;
  int cores = 1;
};

/// Returns the numbers of ranks and cores of the host with most ranks per core, the same on all ranks. Collective.
HostLoad busiest_host(comm::Transport& t) {
  RankPlace mine;
  ::gethostname(mine.host.data(), mine.host.size() - 1);
  if (::sched_getaffinity(0, sizeof mine.cores, &mine.cores) != 0) CPU_SET(0, &mine.cores);
  std::map<std::string, std::pair<int, cpu_set_t>> hosts;
  for (const auto& place : comm::all_gather_value(t, mine)) {
    auto& [ranks, cores] = hosts.try_emplace(place.host.data(), 0, cpu_set_t{}).first->second;
    ++ranks;
    CPU_OR(&cores, &cores, &place.cores);
  }
  HostLoad most{0, 1};
  for (const auto& [name, host] : hosts) {  // ratios are compared by cross-multiplication: no division
    const int cores = std::max(1, CPU_COUNT(&host.second));
    if (host.first * most.cores > most.ranks * cores) most = {host.first, cores};
  }
  return most;
}

/// Returns name, size, degrees and digest of a process graph, as the record of topo bench has them.
GraphSummary summary(const topology::NamedGraph& g) {
  return {g.name,           g.graph.ranks(),      g.graph.arcs(), g.graph.mean_degree(), g.graph.max_degree(),
          g.graph.digest(), g.graph.is_weighted()};
}

/// Generates or reads the process graphs that topo bench measures on so many ranks: the one given in memory, that of the file
/// `pattern`, or those of --graph. Local. @throws UsageError for fewer than 2 ranks, InputError for a graph without arcs
std::vector<topology::NamedGraph> make_graphs(const TopoBenchOptions& o, int ranks) {
  if (ranks < 2) throw UsageError(fmt::format("topo bench: {} rank has nobody to talk to; allowed: 2 and more", ranks));
  std::vector<topology::NamedGraph> graphs;
  if (o.given) return {*o.given};
  if (!o.pattern.empty()) return {{o.pattern, read_pattern(o.pattern)}};
  for (const auto& text : o.graphs) {
    graphs.push_back({text, graphs::make_process_graph(text, ranks, o.seed)});
    if (graphs.back().graph.arcs() == 0)
      throw InputError("graph " + text + " has no arcs: nothing to measure; allowed: graphs with arcs");
  }
  return graphs;
}

/// Forecasts the memory that topo bench needs on a rank, which holds all process graphs whole. Collective.
/// @param graphs  on rank 0; empty on the others
Need memory_need(const std::vector<topology::NamedGraph>& graphs, comm::Transport& t) {
  double bytes = 0, arcs = 0;
  for (const auto& g : graphs) {
    bytes += graph_bytes(g.graph);
    arcs += static_cast<double>(g.graph.arcs());
  }
  double both[2] = {bytes, arcs};
  t.all_reduce(std::span(both), comm::Op::max);
  Need need;
  need.what = "process graphs of " + general_text(both[1], 6) + " arcs";
  need.rank_bytes = both[0];
  need.help = "fewer ranks or smaller --graph";
  return need;
}

/// Formats the progress line of topo bench: a bar of elapsed time, converged medians, seconds left.
std::string progress_text(const topology::Progress& p) {
  const double part = p.total_seconds > 0 ? std::min(1.0, p.seconds / p.total_seconds) : 0;
  const auto full = static_cast<std::size_t>(part * 24);
  return fmt::format("[{}{}] {} of {} medians within width, at most {} s left", std::string(full, '#'),
                     std::string(24 - full, '.'), p.converged, p.cells,
                     fixed_text(std::max(0.0, p.total_seconds - p.seconds), 0));
}

}  // namespace

// Selection of exchange kernels by --kernels and --models: a kernel named is taken whatever its model, sets are limited to models.
ChosenKernels choose_kernels(const TopoBenchOptions& o, bool processes_run) {
  check_models(o.models);
  const bool all_models = o.models.empty() || contains(o.models, "all");
  const bool nothing_said = o.models.empty() && o.kernels == std::vector<std::string>{"default"};
  for (const auto& k : o.kernels)
    if (k != "all" && k != "default") (void)kernels::kernel(k);  // refuses unknown names
  ChosenKernels out;
  for (const auto& k : kernels::kernels()) {
    const bool named = contains(o.kernels, k.name);
    const bool in_set = contains(o.kernels, "all") || (contains(o.kernels, "default") && is_default(k));
    const bool in_model = all_models || contains(o.models, k.model);
    if (!named && !(in_set && in_model)) continue;
    const bool threads = k.model == "threads";
    if (nothing_said && threads == processes_run) continue;
    (threads ? out.threads : out.processes).emplace_back(k.name);
  }
  if (out.threads.empty() && out.processes.empty())
    throw UsageError(
        "--models, --kernels: no kernel of this build is in both; allowed: kernels of the models (merganser doctor)");
  return out;
}

// Parser of a message size of topo bench: bytes with K, M or G as powers of 1024, or a multiple of the arcs' weights.
topology::MessageSize parse_message_size(const std::string& text) {
  const auto refuse = [&text]() -> topology::MessageSize {
    throw UsageError("--sizes: \"" + text + "\"; allowed: bytes from 0 to 2^40, with K, M or G for 2^10, 2^20, 2^30; " +
                     "weights, or weights*X with X > 0");
  };
  if (text == "weights") return {1, true};
  if (text.starts_with("weights*")) {
    double factor = 0;
    try {
      factor = merganser::detail::parse_number(text.substr(8));
    } catch (const UsageError&) {
      return refuse();
    }
    return factor > 0 && factor <= 0x1p40 ? topology::MessageSize{factor, true} : refuse();
  }
  std::string digits = text;
  double unit = 1;
  if (!digits.empty())
    if (const auto at = std::string("KMG").find(digits.back()); at != std::string::npos) {
      unit = std::pow(1024.0, static_cast<double>(at + 1));
      digits.pop_back();
    }
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos || digits.size() > 15)
    return refuse();
  const double bytes = std::stod(digits) * unit;
  return bytes <= 0x1p40 ? topology::MessageSize{bytes, false} : refuse();
}

// One launch of topo bench: graphs and options on all ranks, measurement, results on rank 0.
int measure_here(const TopoBenchOptions& o, const ChosenKernels& kernels, BenchResults& results) {
  const bool threads = kernels.processes.empty();
  RankOptions ranks;
  ranks.comm = "threads";
  if (!threads) {
    const auto at = std::find_if(comm::backends().begin(), comm::backends().end(),
                                 [](const comm::Backend& b) { return b.processes; });
    ranks.comm = at->name;  // two-sided, where there is MPI
  }
  ranks.ranks = threads ? (o.ranks == 0 ? 4 : o.ranks) : o.ranks;
  return run_on_ranks(ranks, [&](comm::Transport& t) {
    topology::MeasureOptions m;
    // Rank 0 makes the graphs first: an error of them is then one line of one rank, and memory is checked before all make them.
    collective_try([&] {
      comm::agree(t, [&] {
        if (t.rank() == 0) m.graphs = make_graphs(o, t.size());
      });
      require(memory_need(m.graphs, t), o.limits.force, t);
      comm::agree(t, [&] {
        if (t.rank() != 0) m.graphs = make_graphs(o, t.size());
        for (const auto& s : o.sizes)  // 1K and 1024 are one size
          if (const auto size = parse_message_size(s); std::find(m.sizes.begin(), m.sizes.end(), size) == m.sizes.end())
            m.sizes.push_back(size);
        m.hooks = make_hooks(o.inject, t.rank(), t.size());
        for (const auto* path : {&o.json, &o.csv, &o.picture})
          if (t.rank() == 0 && !path->empty()) check_output(*path);
        if (t.rank() == 0) check_picture(o.picture, PictureSource::record);
      });
    });
    const HostLoad host = busiest_host(t);
    m.kernels = threads ? kernels.threads : kernels.processes;
    m.sync = o.sync;
    m.buffers = o.buffers;
    const auto cells = static_cast<double>(m.graphs.size() * m.kernels.size() * m.sizes.size());
    m.seconds = o.time > 0 ? o.time : std::min(kMaxSeconds, kSecondsPerCell * cells);
    m.width = o.width / 100;
    const int launch = std::max(0, o.launch - 1);  // from 0
    m.seed = o.seed * 1000 + static_cast<std::uint64_t>(launch);
    const double free = o.memory_mib > 0 ? o.memory_mib * 1048576
                                         : static_cast<double>(machine().available_bytes) / 2 / std::max(1, host.ranks);
    m.memory_bytes = static_cast<double>(t.all_reduce(static_cast<std::int64_t>(free), comm::Op::min));
    m.watchdog_s = o.watchdog;
    m.on_stall = end_stalled;
    ProgressLine line = o.progress ? ProgressLine::forced(t.rank() == 0) : ProgressLine(t.rank() == 0 && !o.quiet);
    m.on_progress = [&line](const topology::Progress& p) {
      if (line.is_due()) line.show(progress_text(p));
    };
    auto measured = collective_try([&] { return topology::measure(t, m); });
    if (t.rank() != 0) return;
    for (auto& cell : measured.cells)
      for (auto& round : cell.rounds) round.launch = launch;
    results.sync = sync_choices().name(o.sync);
    results.buffers = buffer_choices().name(o.buffers);
    for (const auto& g : m.graphs) results.graphs.push_back(summary(g));
    results.measured = std::move(measured);
    if (!threads)
      for (const auto& k : kernels.threads)
        results.measured.unusable.push_back({k, "", "", "its ranks are threads, those of this job are processes"});
    results.oversubscribed = host.ranks > host.cores;
    results.ranks = t.size();
    results.cores = host.cores;
    results.control = t.name();
    results.surroundings = environment_json();
  });
}

}  // namespace merganser::app
