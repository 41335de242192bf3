// Timing of merge steps for bench random and bench files: cycles, memory, and series in run records and CSV.
#include "apps/bench/series.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "apps/cluster/results.hpp"
#include "apps/frame/memory.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/ranks.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timing.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

/// Allocates the target of container copies and writes to all of it, so that no page fault is timed later.
RawBuffer allocate_touched(std::size_t bytes) {
  RawBuffer b(bytes);
  if (bytes > 0) std::memset(b.data(), 1, bytes);
  return b;
}

/// Copies sites and rows of this rank's parcel container once, into `to`, which grows as needed. @return seconds
double time_copy(const Parcels& p, RawBuffer& to) {
  const std::size_t sites = p.size() * sizeof(Site);
  const std::size_t rows = p.size() * p.schema().width() * sizeof(double);
  if (to.bytes() < sites + rows) to = allocate_touched(sites + rows);
  const double start = now();
  if (sites > 0) {
    std::memcpy(to.data(), p.sites(), sites);
    std::memcpy(to.data() + sites, p.rows(), rows);
  }
  return now() - start;
}

/// Executes one cycle of a series, not timed, that measures the memory of a merge step: peak during the step minus resident memory
/// before the container exists, summed over processes. Collective; the barriers separate the phases of all ranks.
void measure_peak(comm::Transport& t, const BenchSetup& setup, const Decomposition& blocks, BenchSeries& series) {
  const bool mine = t.capabilities().processes || t.rank() == 0;  // threads share one process
  trim_memory();
  t.barrier();
  const std::int64_t before = mine ? resident_bytes() : 0;
  t.barrier();
  Parcels p = setup.make(t, blocks, 0);
  Clusterer clusterer(t, blocks, p.schema(), cluster_options(setup.method, setup.min_volume_ratio), &p);
  const auto n = t.all_reduce(static_cast<std::int64_t>(p.size()), comm::Op::sum);
  t.barrier();
  std::optional<PeakWatch> watch;
  if (mine) watch.emplace();
  t.barrier();
  clusterer.step(p);
  t.barrier();
  const std::int64_t peak = t.all_reduce(watch ? watch->peak_bytes() - before : 0, comm::Op::sum);
  if (n > 0) series.peak_bytes_per_parcel = static_cast<double>(peak) / static_cast<double>(n);
  series.peak_method = watch ? watch->method() : "";
}

}  // namespace

double Cycle::step() const {
  double most = 0;
  for (const auto& s : stages) most = std::max(most, s.back());
  return most;
}

double Cycle::copied() const { return copy.empty() ? 0 : *std::max_element(copy.begin(), copy.end()); }

double BenchSeries::seconds() const {
  std::vector<double> all;
  for (const auto& c : cycles) all.push_back(c.step());
  return median(std::move(all));
}

double BenchSeries::copy_seconds() const {
  std::vector<double> all;
  for (const auto& c : cycles) all.push_back(c.copied());
  return median(std::move(all));
}

double BenchSeries::parcels() const {
  return cycles.empty() ? 0 : static_cast<double>(total.before) / static_cast<double>(cycles.size());
}

std::vector<Summary> BenchSeries::stages() const {
  std::vector<StageSeconds> all;
  for (const auto& c : cycles) all.insert(all.end(), c.stages.begin(), c.stages.end());
  return summarise_stages(all);
}

// Measurement of a series: per cycle parcels are made, the container copied once as a yardstick, and merged, each
// between barriers.
void measure(comm::Transport& t, const BenchSetup& setup, BenchSeries& series) {
  Need need = setup.need;
  need.rank_bytes += search_bytes(setup.method.search, setup.grid, t.size());
  collective_try([&] { require(need, setup.force, t); });
  const bool first = series.cycles.empty();
  Decomposition blocks =
      collective_try([&] { return Decomposition(setup.grid, t.size(), setup.blocks.decomposition); });
  if (setup.blocks.balance) blocks = decompose(setup.grid, setup.blocks, setup.make(t, blocks, 0), t);
  if (setup.memory && first) measure_peak(t, setup, blocks, series);
  trim_memory();
  std::optional<Clusterer> clusterer;
  RawBuffer copy;
  ProgressLine line(t.rank() == 0 && !setup.quiet);
  std::optional<Parcels> p;
  StepReport mine;
  double copied = 0;
  const auto make = [&](std::int64_t cycle) {
    line.show_count("cycle", static_cast<double>(cycle + 1), setup.steps);
    p.reset();
    p.emplace(setup.make(t, blocks, static_cast<int>(std::max<std::int64_t>(cycle, 0))));
    if (!clusterer)
      clusterer.emplace(t, blocks, p->schema(), cluster_options(setup.method, setup.min_volume_ratio), &*p);
    t.barrier();
    copied = time_copy(*p, copy);
    t.barrier();
  };
  const auto keep = [&](std::int64_t, double begin, double end) {
    StageSeconds stages = stage_seconds(mine.seconds);
    stages.back() = end - begin;
    Cycle c;
    c.stages = comm::all_gather_value(t, stages);
    c.copy = comm::all_gather_value(t, copied);
    series.total += total_report(t, mine);
    if (t.rank() == 0) series.cycles.push_back(std::move(c));
    series.container_bytes_per_parcel = static_cast<double>(p->parcel_bytes());
  };
  // The first cycle warms up: buffers grow, pages are touched.
  repeat(
      {setup.steps, 1}, now, make, [&](std::int64_t) { mine = clusterer->step(*p); }, keep);
  series.ranks = t.size();
  series.model = t.name();
  series.choice = t.choice();
  series.decomposition = blocks.describe();
}

// Series of merge steps in a run record: figures per step for people, and the raw cycles that parse_series() restores it from.
Json to_json(const BenchSeries& s) {
  const auto n = static_cast<std::int64_t>(std::max<std::size_t>(1, s.cycles.size()));
  const auto share = [&](std::int64_t part) {
    return s.total.before > 0 ? static_cast<double>(part) / static_cast<double>(s.total.before) : 0.0;
  };
  Json out = {{"ns_per_parcel", s.ns_per_parcel()},
              {"container_copies", s.container_copies()},
              {"peak_bytes_per_parcel", s.peak_bytes_per_parcel},
              {"peak_method", s.peak_method},
              {"container_bytes_per_parcel", s.container_bytes_per_parcel},
              {"seconds_per_step", s.seconds()},
              {"copy_seconds", s.copy_seconds()},
              {"ranks", s.ranks},
              {"model", s.model},
              {"choice", s.choice},
              {"decomposition", s.decomposition},
              {"n_before", s.total.before / n},
              {"n_small", s.total.small / n},
              {"n_merged", s.total.merged / n},
              {"n_after", s.total.after / n},
              {"small_share", share(s.total.small)},
              {"merged_share", share(s.total.merged)},
              {"merged_into_big", s.total.merged_into_big / n}};
  const auto stages = s.stages();
  for (std::size_t i = 0; i < kStages.size(); ++i) out["stages"][kStages[i]] = summary_json(stages[i]);
  out["clusters"] = Json::object();
  for (const auto& [size, count] : s.total.clusters) out["clusters"][std::to_string(size)] = count;
  out["counters_all_cycles"] = counters_json(s.total.counters);
  out["pruning_all_cycles"] = pruning_json(s.total);
  out["totals"] = {s.total.before, s.total.small, s.total.merged, s.total.after};
  out["cycles"] = Json::array();
  for (const auto& c : s.cycles) out["cycles"].push_back({{"stages", c.stages}, {"copy", c.copy}});
  return out;
}

// Reader of a series of merge steps from the run record of a launched job.
BenchSeries parse_series(const Json& j) {
  BenchSeries s;
  s.peak_bytes_per_parcel = j.at("peak_bytes_per_parcel").get<double>();
  s.peak_method = j.at("peak_method").get<std::string>();
  s.container_bytes_per_parcel = j.at("container_bytes_per_parcel").get<double>();
  s.ranks = j.at("ranks").get<int>();
  s.model = j.at("model").get<std::string>();
  s.choice = j.value("choice", "");
  s.decomposition = j.at("decomposition").get<std::string>();
  for (const auto& c : j.at("cycles"))
    s.cycles.push_back({c.at("stages").get<std::vector<StageSeconds>>(), c.at("copy").get<std::vector<double>>()});
  const auto& totals = j.at("totals");
  s.total.before = totals.at(0).get<std::int64_t>();
  s.total.small = totals.at(1).get<std::int64_t>();
  s.total.merged = totals.at(2).get<std::int64_t>();
  s.total.after = totals.at(3).get<std::int64_t>();
  for (const auto& [size, count] : j.at("clusters").items())
    s.total.clusters[std::stoi(size)] = count.get<std::int64_t>();
  s.total.counters = parse_counters(j.at("counters_all_cycles"));
  const auto& p = j.at("pruning_all_cycles");
  s.total.cross_links = p.at("cross_links").get<std::int64_t>();
  s.total.merged_into_big = p.at("merged_into_big").get<std::int64_t>();
  s.total.unmatched = p.at("unmatched").get<std::int64_t>();
  s.total.pruning = {p.at("rounds").get<std::int64_t>(), p.at("words_written").get<std::int64_t>(),
                     p.at("words_read").get<std::int64_t>(), p.at("syncs").get<std::int64_t>(),
                     p.at("reductions").get<std::int64_t>()};
  return s;
}

std::string csv_header(const std::string& lead) {
  std::string out = lead + ",cycle,rank";
  for (const char* s : kStages) out += std::string(",") + s + "_s";
  return out + ",copy_s\n";
}

std::string csv_lines(const BenchSeries& series, const std::string& lead) {
  std::string out;
  for (std::size_t i = 0; i < series.cycles.size(); ++i) {
    const Cycle& c = series.cycles[i];
    for (std::size_t r = 0; r < c.stages.size(); ++r) {
      out += fmt::format("{},{},{}", lead, i + 1, r);
      for (const double s : c.stages[r]) out += ',' + number_text(s);
      out += ',' + number_text(c.copy[r]) + '\n';
    }
  }
  return out;
}

}  // namespace merganser::app
