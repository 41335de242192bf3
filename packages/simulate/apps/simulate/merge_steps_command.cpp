// The command merge-steps: merge steps of artificial parcels, timed on every rank and reported as sums and extremes, so that no
// result grows with the square of the ranks. For ./x simulate, which runs it on simulated ranks, and for comparison on real ones.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>

#include "apps/cluster/merge_options.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "apps/gen/random_options.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/base/timer.hpp"

namespace merganser::app {
namespace {

/// Values of the command line of `merganser merge-steps`.
struct MergeSteps {
  GridOptions grid;
  RandomParcels parcels{.per_cell = 20, .min_volume_ratio = 20};
  double small_within = 1;  ///< share of the domain along x in which parcels are small
  int cycles = 1;           ///< number of merge steps, each of parcels made anew
  double late_ms = 0.5;     ///< milliseconds after the fastest rank from which a rank counts as late
  MethodOptions method;
  RankOptions ranks;
  BlockOptions blocks;
  std::string json;
};

/// Passes name, value, meaning and range of every option of `merganser merge-steps` to option(...).
void describe(MergeSteps& o, auto&& option) {
  option("cycles", o.cycles, "merge steps, each of parcels made anew", at_least(1));
  option("late", o.late_ms, "milliseconds after the fastest rank from which a rank counts as late", positive());
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  describe(o.grid, option);
  describe_random(o.parcels, option);
  option("small-within", o.small_within, "share of the domain along x in which parcels are small", between(0, 1));
  describe(o.method, option);
  describe(o.ranks, option);
  describe(o.blocks, option);
}

/// Replaces this rank's parcels by random ones for one timed merge step; beyond `small_within` along x those that would be small
/// get the least volume kept.
void make_parcels(const MergeSteps& o, const Decomposition& blocks, int rank, int cycle, Parcels& parcels) {
  RandomParcels random = o.parcels;
  random.seed += static_cast<std::uint64_t>(cycle);
  random.shuffle = true;
  generate_random(random, blocks, rank, parcels);
  const Grid& grid = blocks.grid();
  const double end = grid.box.lower[0] + o.small_within * grid.box.extent[0];
  const double least = grid.cell_volume() / random.min_volume_ratio;
  for (std::size_t i = 0; i < parcels.size() && o.small_within < 1; ++i) {
    Site& site = parcels.site(i);
    if (site.x >= end) site.volume = std::max(site.volume, least);
  }
}

/// Splits the digest of a rank's parcels into four 32-bit quarters, which can be added over up to 2^31 ranks without overflow.
std::array<std::int64_t, 4> split_quarters(const Digest& d) {
  const auto low = [](std::uint64_t w) { return static_cast<std::int64_t>(w & 0xffffffffU); };
  return {low(d.a), low(d.a >> 32), low(d.b), low(d.b >> 32)};
}
/// Joins sums over ranks of digest quarters to the digest of all parcels, as adding the ranks' digests modulo 2^64 gives it.
Digest join_quarters(std::span<const std::int64_t> q) {
  const auto word = [&](std::size_t i) { return static_cast<std::uint64_t>(q[i]); };
  return {word(0) + (word(1) << 32), word(2) + (word(3) << 32)};
}

/// Reduces the seconds of the stages of one merge step over ranks for the run record: slowest and mean of each stage, late ranks.
/// Collective.
Json times_json(comm::Transport& t, const StageSeconds& mine, double late_s) {
  StageSeconds most = mine;
  StageSeconds sum = mine;
  double fastest = mine.back();
  t.all_reduce(most, comm::Op::max);
  t.all_reduce(sum, comm::Op::sum);
  t.all_reduce({&fastest, 1}, comm::Op::min);
  const auto late = t.all_reduce(mine.back() > fastest + late_s ? 1 : 0, comm::Op::sum);
  Json out;
  for (std::size_t i = 0; i < kStages.size(); ++i) {
    out["slowest_s"][kStages[i]] = most[i];
    out["mean_s"][kStages[i]] = sum[i] / t.size();
  }
  out["fastest_s"] = fastest;
  out["late_ranks"] = late;
  return out;
}

/// Returns the distribution of one time of a merge step over ranks, by its logarithm: "ranks" took at most "up_to_us" and more
/// than that of the preceding entry; 16 entries for a factor of two, empty ones left out. Collective.
Json spread_json(comm::Transport& t, double seconds) {
  constexpr double kEntries = 16;         // for a factor of two
  std::array<std::int64_t, 512> ranks{};  // up to 2^32 us
  const double at = seconds > 1e-6 ? std::ceil(kEntries * std::log2(seconds * 1e6)) : 0;
  ranks[static_cast<std::size_t>(std::min(at, static_cast<double>(ranks.size() - 1)))] = 1;
  t.all_reduce(ranks, comm::Op::sum);
  Json out = Json::array();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] > 0) out.push_back({{"up_to_us", std::exp2(static_cast<double>(i) / kEntries)}, {"ranks", ranks[i]}});
  }
  return out;
}

/// Reduces the counts of a merge step over ranks for the run record: sums of messages and parcels, maxima of waves and rounds,
/// the digest of all parcels. Collective.
Json counts_json(comm::Transport& t, const StepReport& mine, const Digest& digest) {
  const auto& c = mine.counters;
  const auto& p = mine.pruning;
  std::array<std::int64_t, 15> sums{mine.before, mine.small, mine.merged, mine.after,      mine.cross_links, c.messages,
                                    c.bytes,     c.puts,     c.gets,      p.words_written, p.words_read};
  const auto q = split_quarters(digest);
  std::copy(q.begin(), q.end(), sums.end() - 4);
  t.all_reduce(sums, comm::Op::sum);
  std::array<std::int64_t, 7> most{c.waves, c.syncs, c.collectives, p.rounds, p.syncs, p.reductions, c.epochs};
  t.all_reduce(most, comm::Op::max);
  return {{"before", sums[0]},
          {"small", sums[1]},
          {"merged", sums[2]},
          {"after", sums[3]},
          {"cross_links", sums[4]},
          {"messages", sums[5]},
          {"bytes", sums[6]},
          {"puts", sums[7]},
          {"gets", sums[8]},
          {"prune_puts", sums[9]},
          {"prune_gets", sums[10]},
          {"most_waves", most[0]},
          {"most_syncs", most[1]},
          {"most_collectives", most[2]},
          {"prune_rounds", most[3]},
          {"prune_syncs", most[4]},
          {"prune_reductions", most[5]},
          {"most_epochs", most[6]},
          {"digest", join_quarters(std::span(sums).last(4)).to_string()}};
}

/// Returns the seconds to copy a rank's parcels in memory once, an estimate for packing and unpacking migrating parcels.
double copy_seconds(const Parcels& p) {
  std::vector<std::byte> to(p.size() * p.parcel_bytes());
  const double begin = now();
  const std::size_t sites = p.size() * sizeof(Site);
  std::memcpy(to.data(), p.sites(), sites);
  std::memcpy(to.data() + sites, p.rows(), to.size() - sites);
  return now() - begin;
}

/// Makes the merge steps of the command and returns the times and counts of each, over all ranks, as JSON. Collective.
Json measure(comm::Transport& t, const MergeSteps& o, const Decomposition& blocks) {
  std::optional<Clusterer> clusterer;
  Json cycles = Json::array();
  Parcels parcels;
  for (int cycle = 0; cycle < o.cycles; ++cycle) {
    make_parcels(o, blocks, t.rank(), cycle, parcels);
    if (!clusterer)
      clusterer.emplace(t, blocks, parcels.schema(), cluster_options(o.method, o.parcels.min_volume_ratio), &parcels);
    const double copy = t.rank() == 0 && parcels.size() > 0 ? copy_seconds(parcels) : 0;
    t.barrier();
    const double begin = now();
    const StepReport report = clusterer->step(parcels);
    StageSeconds seconds = stage_seconds(report.seconds);
    seconds.back() = now() - begin;
    Json one = times_json(t, seconds, o.late_ms / 1000);
    one["copy_s"] = copy;
    one["prune_spread"] = spread_json(t, report.seconds.prune);
    one["step_spread"] = spread_json(t, seconds.back());
    one["counts"] = counts_json(t, report, digest(parcels));
    cycles.push_back(std::move(one));
  }
  return cycles;
}

/// Runs the command `merganser merge-steps` on all ranks; rank 0 prints the digest or writes the run record. @return exit status
int run(MergeSteps& o, const Invocation& in) {
  const Grid grid = make_grid(o.grid);
  return run_on_ranks(o.ranks, [&](comm::Transport& t) {
    const double set_up = now();
    const Decomposition blocks = collective_try([&] { return decompose(grid, o.blocks, Parcels(), t); });
    const Json cycles = measure(t, o, blocks);
    if (t.rank() != 0) return;
    Json record = make_record(
        in, {t.size(), std::string(t.name()), std::string(t.choice()), o.ranks.decorators, blocks.describe()});
    record["result"] = {{"cycles", cycles}, {"seconds_in_all", now() - set_up}, {"simulated", kSimulated}};
    if (o.json.empty()) std::cout << "digest " << cycles.back()["counts"]["digest"].get<std::string>() << '\n';
    if (!o.json.empty()) write_record(o.json, record);
  });
}

}  // namespace

extern const Command merge_steps_command;
const Command merge_steps_command =
    hidden(make_command<MergeSteps, run>("merge-steps", "merge steps, timed with sums alone", ""));

}  // namespace merganser::app
