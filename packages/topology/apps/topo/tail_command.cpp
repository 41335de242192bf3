// topo tail: measures the inflation of exchanges by the traffic of other ranks.
// Idle and loaded rounds alternate on the same ranks, so that only the traffic differs.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "apps/frame/forecast.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/table.hpp"
#include "apps/topo/bench.hpp"
#include "apps/topo/bench_faults.hpp"
#include "apps/topo/graph_facts.hpp"
#include "apps/topo/launches.hpp"
#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "merganser/topology/measure_tail.hpp"

namespace merganser::app {
namespace {

/// Options of topo tail, the interference benchmark; filled by the option parser.
struct TopoTail {
  std::string victim = "chain";  ///< process graph of the victims
  /// Kernels of the victims.
  std::vector<std::string> kernels{"p2p.isend-irecv", "rma.put-notify", "shmem.put-signal"};
  std::vector<std::string> sizes{"8", "4096"};       ///< bytes along an arc of the victims
  std::string aggressor = "complete:65536";          ///< process graph of the aggressors, and bytes along an arc
  std::string aggressor_kernel = "p2p.isend-irecv";  ///< kernel of the aggressors
  std::vector<int> aggressor_ranks;                  ///< ranks that are aggressors; empty: every second
  int ranks = 0;                                     ///< ranks to start; 0: 4, or those of the launcher
  double time = 20;                                  ///< duration of the interference benchmark, s
  std::uint64_t seed = 1;                            ///< seed of random graphs, order of rounds, bootstrap
  double watchdog = 30;                              ///< seconds without an iteration before the job is ended
  ForceOption limits;                                ///< --force: measure even if forecasts exceed the free memory
  std::string json;                                  ///< path of topo tail's run record; empty: none
  bool quiet = false;                                ///< true: print no table of inflations
};

/// Lists the command-line options of topo tail, with their help texts and checks, for the option parser.
template <class V>
void describe(TopoTail& o, V&& option) {
  option.section("Victim");
  option("graph", o.victim, "process graph of the victims", Kind{"GRAPH"}, Reads{}, known_process_graphs());
  option("kernels", o.kernels, "kernels of the victims; threads.copy-flag without a launcher", Kind{"LIST"},
         known_kernels({}));
  option("sizes", o.sizes, "bytes along an arc", Kind{"N,N,..."});
  option.section("Aggressor");
  option("aggressor", o.aggressor, "process graph of the aggressors, and after a colon bytes along an arc",
         Kind{"GRAPH:BYTES"}, Reads{});
  option("aggressor-kernel", o.aggressor_kernel, "its kernel", Kind{"NAME"}, known_kernels({}));
  option("aggressor-ranks", o.aggressor_ranks, "ranks that are aggressors; the others are victims", at_least(0),
         ShownDefault{"every second"});
  option.section("How");
  option("ranks", o.ranks, "ranks to start; under a launcher: a check of its number", at_least(0), ShownDefault{"4"},
         own_ranks_advice("-n"), own_ranks_advice("-np"));
  option("time", o.time, "seconds, all told", positive());
  option("seed", o.seed, "of random graphs, of the order of rounds and of the bootstrap");
  option("watchdog", o.watchdog, "seconds without an iteration after which the job is ended, told why; 0: never",
         watchdog_seconds());
  describe(o.limits, option);
  option.section("Output");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("quiet", o.quiet, "print no table");
}

/// Returns true if the user gave this option of topo tail.
bool is_named(const Invocation& in, std::string_view option) { return in.table.is_given(option); }

/// Ranks of a job of topo tail by what they do, both lists in ascending order.
struct TailGroups {
  std::vector<int> victims;     ///< ranks whose exchanges are measured
  std::vector<int> aggressors;  ///< ranks that exchange without pause meanwhile
};

/// Splits the ranks of a job into victims and aggressors. Local.
/// @throws UsageError for fewer than two ranks in a group, and for aggressors that the job does not have or that are named twice
TailGroups tail_groups(const TopoTail& o, int ranks) {
  TailGroups groups;
  groups.aggressors = o.aggressor_ranks;
  if (o.aggressor_ranks.empty())
    for (int r = 1; r < ranks; r += 2) groups.aggressors.push_back(r);
  std::sort(groups.aggressors.begin(), groups.aggressors.end());
  if (!groups.aggressors.empty() && groups.aggressors.back() >= ranks)
    throw UsageError(fmt::format("--aggressor-ranks: {}; allowed: 0 to {} with --ranks {}", groups.aggressors.back(),
                                 ranks - 1, ranks));
  if (const auto twice = std::adjacent_find(groups.aggressors.begin(), groups.aggressors.end());
      twice != groups.aggressors.end())
    throw UsageError(fmt::format("--aggressor-ranks: {} twice; allowed: each rank once", *twice));
  for (int r = 0; r < ranks; ++r)
    if (!std::binary_search(groups.aggressors.begin(), groups.aggressors.end(), r)) groups.victims.push_back(r);
  if (groups.victims.size() >= 2 && groups.aggressors.size() >= 2) return groups;
  if (o.aggressor_ranks.empty())
    throw UsageError(fmt::format("topo tail: {} {}; allowed: 4 and more, for two victims and two aggressors",
                                 comm::launched() ? "-n of the launcher is" : "--ranks", ranks));
  throw UsageError(fmt::format(
      "--aggressor-ranks: {} of {} ranks; allowed: two and more, with two and more ranks left as victims (--ranks)",
      groups.aggressors.size(), ranks));
}

/// Makes the settings of measure_tail() on so many ranks: groups of victims and aggressors, their graphs, kernels and sizes. Local.
/// @throws UsageError for fewer than two ranks in a group, or an aggressor that is no graph with bytes
topology::TailOptions tail_options(const TopoTail& o, int ranks) {
  topology::TailOptions t;
  const auto [victims, aggressors] = tail_groups(o, ranks);
  const auto colon = o.aggressor.rfind(':');
  if (colon == std::string::npos)
    throw UsageError("--aggressor: \"" + o.aggressor + "\"; allowed: a graph and bytes, as complete:65536");
  const auto make_graph = [&](const std::string& text, const std::vector<int>& group) -> topology::NamedGraph {
    return {text, graphs::make_process_graph(text, static_cast<int>(group.size()), o.seed)};
  };
  t.aggressor = {aggressors, make_graph(o.aggressor.substr(0, colon), aggressors), o.aggressor_kernel,
                 parse_message_size(o.aggressor.substr(colon + 1))};
  for (const auto& k : o.kernels)
    for (const auto& s : o.sizes)
      t.victims.push_back({victims, make_graph(o.victim, victims), k, parse_message_size(s)});
  t.seconds = o.time;
  t.seed = o.seed;
  t.watchdog_s = o.watchdog;
  t.on_stall = end_stalled;
  return t;
}

/// Forecasts the memory that topo tail needs on a rank, which holds all graphs, and the buffers of all kernels to the end.
/// Collective. @param options  read on rank 0 only
Need memory_need(const topology::TailOptions& options, comm::Transport& t) {
  constexpr double kCopies = 3;  // of the bytes of a rank: sent, received, expected
  double bytes[1] = {0};
  const auto add = [&](const topology::TailSide& side) {
    double most = 0;
    for (int rank = 0; rank < side.graph.graph.ranks(); ++rank) {
      double sent = 0;
      for (const auto& arc : side.graph.graph.row(rank)) sent += static_cast<double>(side.size.on(arc));
      most = std::max(most, sent);
    }
    bytes[0] += kCopies * most + graph_bytes(side.graph.graph);
  };
  if (t.rank() == 0) {
    add(options.aggressor);
    for (const auto& victim : options.victims) add(victim);
  }
  t.all_reduce(std::span(bytes), comm::Op::max);
  Need need;
  need.what = "topo tail with these graphs and sizes";
  need.rank_bytes = bytes[0];
  need.help = "smaller --sizes or --aggressor";
  return need;
}

/// Makes the object of an inflation (quantile of exchange times loaded to idle) in the record of topo tail; null without one.
Json inflation_json(const std::optional<topology::Inflation>& i) {
  if (!i) return nullptr;
  return {{"idle_ns", i->idle_ns},
          {"loaded_ns", i->loaded_ns},
          {"ratio", i->ratio.value},
          {"ratio_low", i->ratio.low},
          {"ratio_high", i->ratio.high}};
}

/// Counts the timed exchanges of a victim over the histograms of all its rounds.
std::int64_t count_samples(const std::vector<Histogram>& rounds) {
  std::int64_t n = 0;
  for (const auto& h : rounds) n += static_cast<std::int64_t>(h.count());
  return n;
}

/// Makes the object "tail" of the record of topo tail: rate of the aggressors, and the inflation of each victim.
Json to_json(const TopoTail& o, const topology::TailMeasurement& m) {
  Json j = {{"aggressor", o.aggressor},
            {"aggressor_kernel", o.aggressor_kernel},
            {"aggressor_exchanges_per_s", m.aggressor.exchanges_per_s},
            {"aggressor_bytes_per_s", m.aggressor.bytes_per_s},
            {"clock_error_ns", m.clock_error_ns},
            {"seconds", m.seconds}};
  j["cells"] = Json::array();
  for (const auto& r : m.results) {
    Json cell = {{"graph", r.victim.graph.name},
                 {"kernel", r.victim.kernel},
                 {"size", topology::size_text(r.victim.size)},
                 {"ranks", r.victim.ranks}};
    if (r.unusable.empty()) {
      cell["idle_iterations"] = count_samples(r.idle);
      cell["loaded_iterations"] = count_samples(r.loaded);
      cell["uncovered_iterations"] = r.uncovered;
      cell["rounds"] = r.idle.size() + r.loaded.size();
      cell["p50"] = inflation_json(r.inflation(0.5, o.seed));
      cell["p99"] = inflation_json(r.inflation(0.99, o.seed));
    } else {
      cell["unusable"] = r.unusable;
    }
    j["cells"].push_back(cell);
  }
  return j;
}

/// Makes the table of topo tail: median and 99 % quantile of each victim, idle and loaded, with their ratio.
std::string report(const TopoTail& o, const topology::TailMeasurement& m) {
  Table table({"kernel", "bytes", "p50 idle us", "loaded", "ratio [95 %]", "p99 idle us", "loaded", "ratio [95 %]"});
  std::string unusable;
  for (const auto& r : m.results) {
    if (!r.unusable.empty()) {
      unusable += "not measured: " + r.victim.kernel + ": " + r.unusable + '\n';
      continue;
    }
    std::vector<std::string> row{r.victim.kernel, topology::size_text(r.victim.size)};
    for (const double q : {0.5, 0.99}) {
      const auto i = r.inflation(q, o.seed);
      if (i) {
        row.insert(row.end(), {fixed_text(i->idle_ns / 1000, 2), fixed_text(i->loaded_ns / 1000, 2),
                               fixed_text(i->ratio.value, 2) + " [" + fixed_text(i->ratio.low, 2) + ", " +
                                   fixed_text(i->ratio.high, 2) + ']'});
      } else {
        row.insert(row.end(), {"-", "-", "-"});
      }
    }
    table.row(std::move(row));
  }
  return table.text() + unusable + "Loaded: while " + o.aggressor + " (" + o.aggressor_kernel +
         ") runs on other ranks, " + count_text(static_cast<std::int64_t>(m.aggressor.exchanges_per_s)) +
         " exchanges and " + bytes_text(m.aggressor.bytes_per_s) + " per second. - sample too small.\n";
}

/// Runs topo tail: measures with threads, or under the launcher that there is, else starts a job of itself. @return exit code
int run(TopoTail& o, const Invocation& in) {
  if (o.kernels.empty()) throw UsageError("--kernels: none; allowed: names of kernels, as p2p.isend-irecv");
  if (o.sizes.empty()) throw UsageError("--sizes: none; allowed: numbers of bytes, as 8,4096");
  const bool launched = comm::launched();
  const bool threads = !launched && (o.kernels[0].starts_with("threads.") || !why_no_processes().empty());
  if (threads) {
    if (!is_named(in, "kernels")) o.kernels = {"threads.copy-flag"};
    if (!is_named(in, "aggressor-kernel")) o.aggressor_kernel = "threads.copy-flag";
  }
  const int ranks = o.ranks == 0 ? 4 : o.ranks;
  // Groups of more ranks than jobs have are made where memory has been found to suffice.
  constexpr int kMaxListed = 1 << 16;
  if (!launched && ranks <= kMaxListed) (void)tail_groups(o, ranks);
  if (!threads && !launched) {
    constexpr std::string_view kOfParent[] = {"ranks"};
    return launch_and_report(plan_launch(ranks, repeat_arguments(in, kOfParent), true));
  }
  RankOptions rank_options{threads ? "threads" : "p2p", threads ? ranks : o.ranks, ""};
  topology::TailMeasurement measured;
  const int code = run_on_ranks(rank_options, [&](comm::Transport& t) {
    auto m = collective_try([&] {
      topology::TailOptions options;
      comm::agree(t, [&] {
        if (t.rank() == 0) options = tail_options(o, t.size());
      });
      require(memory_need(options, t), o.limits.force, t);
      comm::agree(t, [&] {
        if (t.rank() != 0) options = tail_options(o, t.size());
      });
      ProgressLine line(t.rank() == 0 && !o.quiet);
      options.on_progress = [&line](const topology::Progress& p) {
        line.show_count("second", std::floor(p.seconds), p.total_seconds);
      };
      return topology::measure_tail(t, options);
    });
    if (t.rank() == 0) measured = std::move(m);
  });
  if (code != 0 || comm::launcher_world().rank != 0) return code;
  if (!o.json.empty()) {
    Json record = make_record(in, {});
    record["tail"] = to_json(o, measured);
    write_compact_record(o.json, record);
  }
  if (!o.quiet && o.json != "-") std::cout << report(o, measured);
  return 0;
}

constexpr std::string_view kTopoTailText =
    "Victims exchange along a process graph, in turns while the other ranks sleep and while they, the aggressors,\n"
    "exchange without pause along a graph of their own. Reports by which factor the median and the p99 of the victims\n"
    "grow, with a bootstrap interval over rounds. Put victims and aggressors on the same nodes (the default takes "
    "every\n"
    "second rank) to see what they do to each other there, or on different ones to see the network.\n\n"
    "  merganser run -n 8 -- topo tail --graph chain --aggressor complete:65536\n"
    "  merganser run -n 8 -- topo tail --aggressor incast:4M --aggressor-ranks 4,5,6,7 --json tail.json\n";

}  // namespace

extern const Command topo_tail_command;
const Command topo_tail_command =
    make_command<TopoTail, run>("topo tail", "inflation of exchanges by the traffic of other ranks", kTopoTailText);

}  // namespace merganser::app
