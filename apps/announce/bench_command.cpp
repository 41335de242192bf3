// announce bench: the published weak scaling experiment, announcement network against collective.
#include <iostream>

#include "apps/announce/bench.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {
namespace {

/// Returns the names of all variants of announce bench, as --exchange takes them.
std::vector<std::string> exchange_names() {
  std::vector<std::string> names;
  for (const Exchanged e : kExchanged) names.emplace_back(exchanged_name(e));
  return names;
}

/// Options of announce bench, filled by the option parser.
struct BenchAnnounce {
  AnnounceExperiment experiment;
  std::vector<std::string> exchange = exchange_names();  ///< names of the variants of announce bench to measure
  RankOptions ranks;                                     ///< communication model and number of ranks of announce bench
  ForceOption limits;                                    ///< --force: run even if forecasts exceed the free memory
  std::string json;                                      ///< path of announce bench's run record; empty: none
};

/// Lists the command-line options of announce bench, with their help texts and checks, for the option parser.
template <class V>
void describe(BenchAnnounce& o, V&& option) {
  auto& e = o.experiment;
  option.section("Experiment");
  option("size", e.size,
         "bytes of an announcement, and of each rank's fixed part of an all-gather; published: 400, "
         "8000, 800000",
         between(1, 1 << 30), UsedWith{"--exchange network|all-gather|non-blocking|neighborhood"});
  option("steps", e.steps, "steps of each variant", at_least(1));
  option("work-ms", e.work_ms, "artificial work of a step, a busy wait; published: 65", between(0, 3600000));
  option("edge", e.edge, "cells along the edge of a block; each of six sides sends edge^2 doubles to its neighbour",
         between(0, 10000));
  option("every", e.every, "each rank announces once in so many steps", at_least(1), UsedWith{"--exchange network"});
  option("exchange", o.exchange,
         "variants, measured in turns; non-blocking and neighborhood are all-gathers too. Left out where the model "
         "does not have one",
         Words{exchange_names()}, Kind{"LIST"});
  option("block", e.block, "steps of a variant before the next has its turn", at_least(1));
  option("network", e.network, "manhattan, torus, hypercube or debruijn",
         Words{{announce::network_names().begin(), announce::network_names().end()}}, UsedWith{"--exchange network"});
  option("dimension", e.dimension, "of manhattan and torus; the degree of debruijn; published: 5", between(2, 30),
         UsedWith{"--exchange network"}, NotWith{"--network hypercube"});
  describe(o.ranks, option);
  describe(o.limits, option);
  option.section("Output");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
}

/// Variants of --exchange that announce bench measures, and those that the communication model does not support.
struct Variants {
  std::vector<Exchanged> measured;
  /// A variant that the communication model does not support, with the reason.
  struct Missing {
    Exchanged exchanged;
    std::string reason;
  };
  std::vector<Missing> missing;
};

/// Parses the variants of announce bench --exchange. @throws UsageError for none, and for one given twice
std::vector<Exchanged> parse_exchanges(const BenchAnnounce& o) {
  if (o.exchange.empty()) throw UsageError("--exchange: \"\"; allowed: one or more of the list in --help");
  std::vector<Exchanged> kinds;
  for (const auto& name : o.exchange) {
    const auto* e = std::find_if(kExchanged.begin(), kExchanged.end(),
                                 [&](Exchanged known) { return exchanged_name(known) == name; });
    if (std::find(kinds.begin(), kinds.end(), *e) != kinds.end())
      throw UsageError("--exchange: " + name + " stands twice; allowed: each variant once");
    kinds.push_back(*e);
  }
  return kinds;
}

/// Splits the requested variants of announce bench into those that the model supports and the others. @throws UsageError if it
/// supports none
Variants select_variants(const std::vector<Exchanged>& kinds, const comm::Transport& t) {
  Variants v;
  for (const Exchanged e : kinds) {
    const auto gather = gather_kind(e);
    const std::string reason = gather ? kernels::missing_gather(t, *gather) : std::string();
    if (reason.empty()) {
      v.measured.push_back(e);
    } else {
      v.missing.push_back({e, reason});
    }
  }
  if (v.measured.empty())
    throw UsageError("--exchange: " + v.missing.front().reason +
                     "; allowed: a variant that the model has, as none or network");
  return v;
}

/// Step times of one variant of announce bench in seconds, on rank 0; filled by gather_times().
struct VariantTimes {
  Exchanged exchanged;
  std::vector<double> all;           ///< step times of every step on every rank
  std::vector<double> slowest;       ///< step time of each step on its slowest rank
  std::vector<double> rank_medians;  ///< by rank: median of the step times
};

/// Estimates the memory of a rank in announce bench: announcements in transit, buffers of all-gathers and sides, and the times of
/// its steps.
Need estimate_need(const BenchAnnounce& o, const std::vector<Exchanged>& kinds, int ranks) {
  const AnnounceExperiment& e = o.experiment;
  const double variants = static_cast<double>(kinds.size()), times = e.steps * variants * sizeof(double);
  const double side = 8.0 * e.edge * e.edge;
  double parts = 2.0 * e.dimension;  // of the size of an announcement: outboxes and inboxes
  for (const Exchanged x : kinds) parts += gather_kind(x) ? ranks : x == Exchanged::network ? 2.0 * ranks : 0;
  Need need;
  need.what = "announce bench of " + count_text(e.steps) + " steps with " + count_text(e.size) + " bytes";
  need.rank_bytes = parts * static_cast<double>(e.size) + 18 * side + 3 * times;
  need.first_bytes = 4 * times * ranks;
  need.help = "fewer --steps, ranks or variants, smaller --size or --edge";
  return need;
}

/// Gathers the counts of messages of every rank on rank 0, and returns none on the others: on every rank they would take memory
/// that grows with the square of the number of ranks. Collective.
std::vector<AnnounceCounts> gather_counts(comm::Transport& t, const AnnounceCounts& mine) {
  return comm::gather_to_first(t, std::span(&mine, 1)).flat();
}

/// Gathers the step times of a variant from all ranks on rank 0; empty on the others. Collective.
VariantTimes gather_times(comm::Transport& t, const AnnounceBench& bench, Exchanged e) {
  VariantTimes v{e, {}, {}, {}};
  for (const auto list : comm::gather_to_first(t, bench.seconds(e))) {
    v.all.insert(v.all.end(), list.begin(), list.end());
    v.slowest.resize(list.size(), 0);
    for (std::size_t i = 0; i < list.size(); ++i) v.slowest[i] = std::max(v.slowest[i], list[i]);
    if (!list.empty()) v.rank_medians.push_back(median({list.begin(), list.end()}));
  }
  return v;
}

constexpr double kQuantiles[] = {0.0, 0.1, 0.5, 0.9, 0.99, 1.0};

/// Makes the object of step times in the record of announce bench: summary and quantiles, each with its efficiency `ideal` / time.
/// @param ideal  duration of a step's work, s
Json distribution(const std::vector<double>& seconds, double ideal) {
  Json j = summary_json(summarise(seconds));
  for (const double q : kQuantiles) {
    const double s = quantile(seconds, q);
    j["quantiles"].push_back({{"q", q}, {"seconds", s}, {"efficiency", s > 0 ? ideal / s : 0}});
  }
  return j;
}

/// Name of a count of announce bench in records and in tables, and its member of AnnounceCounts.
struct Counted {
  const char* name;
  const char* title;
  std::int64_t AnnounceCounts::*value;
};
constexpr Counted kCounted[] = {{"messages", "network: messages", &AnnounceCounts::messages},
                                {"bytes", "network: bytes", &AnnounceCounts::bytes},
                                {"announcements_sent", "network: announcements sent", &AnnounceCounts::sent},
                                {"delivered", "network: delivered", &AnnounceCounts::delivered},
                                {"duplicates", "network: duplicates dropped", &AnnounceCounts::duplicates},
                                {"gathers", "all-gathers", &AnnounceCounts::gather_calls},
                                {"gathered_bytes", "all-gathers: bytes delivered", &AnnounceCounts::gathered},
                                {"gather_messages", "neighborhood: messages", &AnnounceCounts::gather_messages},
                                {"gather_bytes", "neighborhood: bytes", &AnnounceCounts::gather_bytes},
                                {"halo_messages", "halo: messages", &AnnounceCounts::halo_messages},
                                {"halo_bytes", "halo: bytes", &AnnounceCounts::halo_bytes},
                                {"collectives", "collective calls beside all-gathers", &AnnounceCounts::collectives}};

/// Makes the object of counts of messages, bytes and calls in the record of announce bench.
Json counts_json(const AnnounceCounts& counts) {
  Json out;
  for (const Counted& c : kCounted) out[c.name] = counts.*c.value;
  return out;
}

/// Sums the counts of messages, bytes and calls over ranks.
AnnounceCounts sum_counts(const std::vector<AnnounceCounts>& ranks) {
  AnnounceCounts sum;
  for (const auto& counts : ranks)
    for (const Counted& c : kCounted) sum.*c.value += counts.*c.value;
  return sum;
}

/// Messages and bytes of one step of all processes by the formulas of [berghoff2018, section II-D]: N processes, degree n, messages
/// of m bytes, diameter d.
struct PublishedCosts {
  double messages;             ///< n N messages of the announcement network
  double one_each;             ///< n N m: every process announces in one step
  double each_step;            ///< n N m d: every process announces in every step, as published
  double each_step_true;       ///< n N^2 m: the corrected formula, since every announcement crosses all n N arcs
  double all_to_all_messages;  ///< N^2 messages of an all-to-all
  double all_to_all;           ///< N^2 m bytes of an all-to-all
};
/// Computes the published costs of a step on so many ranks, with the network and message size of the experiment.
PublishedCosts published_costs(const BenchAnnounce& o, int ranks, const AnnounceBench& bench) {
  const double n = bench.network().degree();
  const double arcs = n * ranks;
  const double pairs = static_cast<double>(ranks) * ranks;
  const auto m = static_cast<double>(o.experiment.size);
  return {arcs, arcs * m, arcs * m * bench.time_to_live(), arcs * ranks * m, pairs, pairs * m};
}

/// Prints the table of step times and efficiency by variant, and the variants that the model does not support.
void print_times(const BenchAnnounce& o, const std::vector<VariantTimes>& variants,
                 const std::vector<Variants::Missing>& missing) {
  Table table({"beside the halo", "step: median", "p10", "p90", "p99", "max", "slowest rank: mean",
               "efficiency: median", "p10 to p90"});
  const double work = o.experiment.work_ms * 1e-3;
  for (const VariantTimes& v : variants) {
    const auto at = [&](double q) { return quantile(v.all, q); };
    const auto share = [&](double q) { return percent_text(work / at(q)); };
    table.row({std::string(exchanged_name(v.exchanged)), seconds_text(at(0.5)), seconds_text(at(0.1)),
               seconds_text(at(0.9)), seconds_text(at(0.99)), seconds_text(at(1)),
               seconds_text(summarise(v.slowest).mean), share(0.5), share(0.9) + " to " + share(0.1)});
  }
  std::cout << table.text() << "  efficiency: work / time of a step, over all steps and ranks\n";
  for (const auto& m : missing)
    std::cout << "  " << exchanged_name(m.exchanged) << ": not in this model (" << m.reason << ")\n";
  std::cout << '\n';
}

/// Prints the table of counted messages, bytes and calls beside those of the formulas. @param exact  true: equal on every rank
void print_counts(const AnnounceCounts& counted, const AnnounceCounts& want, bool exact) {
  Table table({"all ranks, all steps", "counted", "by the formulas"});
  for (const Counted& c : kCounted) {
    if (want.gather_messages == 0 && std::string_view(c.title).starts_with("neighborhood")) continue;
    const std::int64_t a = counted.*c.value;
    const std::int64_t b = want.*c.value;
    table.row({c.title, count_text(a), count_text(b) + (a == b ? "" : "  DIFFERS")});
  }
  std::cout << table.text() << (exact ? "  equal on every rank\n" : "  NOT EQUAL on every rank\n");
}

/// Returns the names of the library calls by which a communication model makes a kind of all-gather.
std::string_view call_names(const comm::Transport& t, kernels::GatherKind kind) {
  const auto all = kernels::gathers();
  return std::find_if(all.begin(), all.end(), [&](const auto& g) { return g.model == t.name() && g.kind == kind; })
      ->description;
}

/// Prints the tables of announce bench and writes its run record. Called on rank 0.
/// @param counted, expected  counts by rank
void report(const BenchAnnounce& o, const Invocation& in, comm::Transport& t, const AnnounceBench& bench,
            const std::vector<VariantTimes>& variants, const std::vector<Variants::Missing>& missing,
            const std::vector<AnnounceCounts>& counted, const std::vector<AnnounceCounts>& expected) {
  const bool exact = counted == expected;
  const PublishedCosts p = published_costs(o, t.size(), bench);
  const AnnounceCounts c = sum_counts(counted);
  if (o.json != "-") {
    std::cout << t.size() << (t.size() == 1 ? " rank, " : " ranks, ") << t.name() << "; " << bench.network().describe()
              << ", time to live " << bench.time_to_live() << " steps; " << count_text(o.experiment.size)
              << " bytes, work " << general_text(o.experiment.work_ms, 4) << " ms\n\n";
    print_times(o, variants, missing);
    print_counts(c, sum_counts(expected), exact);
    std::cout << "  section II-D, bytes of a step if every process announces in every step: n N m d = "
              << bytes_text(p.each_step) << " as published,\n  n N^2 m = " << bytes_text(p.each_step_true)
              << " by counting arcs (headers not counted); all-to-all: N^2 m = " << bytes_text(p.all_to_all)
              << " in N^2 = " << count_text(static_cast<std::int64_t>(p.all_to_all_messages))
              << " messages, of which N go to oneself\n";
  }
  if (o.json.empty()) return;
  Json record = make_record(in, {t.size(), std::string(t.name()), std::string(t.choice()), o.ranks.decorators, ""});
  const double work = o.experiment.work_ms * 1e-3;
  for (const VariantTimes& v : variants) {
    const auto gather = gather_kind(v.exchanged);
    Json j = {{"exchange", exchanged_name(v.exchanged)},
              {"steps_and_ranks", distribution(v.all, work)},
              {"slowest_rank", distribution(v.slowest, work)},
              {"rank_medians", v.rank_medians}};
    if (gather) j["calls"] = call_names(t, *gather);
    record["announce_bench"]["variants"].push_back(std::move(j));
  }
  auto& b = record["announce_bench"];
  b["missing"] = Json::array();
  for (const auto& m : missing)
    b["missing"].push_back({{"exchange", exchanged_name(m.exchanged)}, {"reason", m.reason}});
  b["network"] = {{"name", bench.network().describe()},
                  {"degree", bench.network().degree()},
                  {"time_to_live", bench.time_to_live()}};
  b["counts"] = {
      {"counted", counts_json(c)}, {"expected", counts_json(sum_counts(expected))}, {"equal_on_every_rank", exact}};
  b["section_2d"] = {{"messages_per_step", p.messages},
                     {"bytes_every_process_once", p.one_each},
                     {"bytes_every_process_every_step_published", p.each_step},
                     {"bytes_every_process_every_step", p.each_step_true},
                     {"messages_all_to_all", p.all_to_all_messages},
                     {"bytes_all_to_all", p.all_to_all}};
  write_record(o.json, record);
}

/// Runs announce bench on all ranks. @throws VerificationError on every rank if counts differ from those of the formulas
int run(BenchAnnounce& o, const Invocation& in) {
  const std::vector<Exchanged> kinds = parse_exchanges(o);
  return run_on_ranks(o.ranks, [&](comm::Transport& t) {
    Variants variants;
    std::unique_ptr<AnnounceBench> bench;
    collective_try([&] {
      variants = select_variants(kinds, t);
      require(estimate_need(o, variants.measured, t.size()), o.limits.force, t);
      bench = std::make_unique<AnnounceBench>(t, o.experiment, variants.measured);
    });
    bench->run();
    std::vector<VariantTimes> times;
    for (const Exchanged e : variants.measured) times.push_back(gather_times(t, *bench, e));
    const auto counted = gather_counts(t, bench->counted());
    const auto expected = gather_counts(t, bench->expected());
    const bool equal = comm::broadcast_from_first(t, std::vector<std::uint8_t>{counted == expected})[0] != 0;
    collective_try([&] {
      comm::agree(t, [&] {
        if (t.rank() == 0) report(o, in, t, *bench, times, variants.missing, counted, expected);
      });
      if (!equal) throw VerificationError("messages and bytes are not those of the formulas");
    });
  });
}

constexpr std::string_view kAnnounceBenchText =
    "The published weak scaling experiment: every step is constant work, a halo exchange over six sides with a grid "
    "of\n"
    "blocks, and nothing global, an announcement network, or an all-gather of a fixed size: blocking, non-blocking\n"
    "(started before the work, completed after the halo), or a neighbourhood collective on the complete graph. The\n"
    "variants take turns.\n"
    "Efficiency is work / time of a step. Messages and bytes are compared with formulas; ends with 1 if they differ.\n"
    "With --comm neighborhood halo and network are neighbourhood collectives.\n\n"
    "  merganser run -n 4 -- announce bench --size 8000 --steps 200 --work-ms 5 --json a.json\n"
    "  merganser announce bench --ranks 8 --size 400 --every 10 --dimension 3\n"
    "  merganser run -n 4 -- announce bench --comm p2p --exchange network,non-blocking,neighborhood\n";

}  // namespace

extern const Command announce_bench_command;
const Command announce_bench_command = make_command<BenchAnnounce, run>(
    "announce bench", "time announcement networks against collectives", kAnnounceBenchText);

}  // namespace merganser::app
