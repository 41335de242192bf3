// Report of bench random and bench files: tables of merge step times, run record, CSV of raw times.
#include "apps/bench/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iostream>

#include "apps/cluster/results.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/table.hpp"

namespace merganser::app {
namespace {

/// Formats the time of a merge step per parcel, given in ns, as microseconds.
std::string microseconds_text(double ns) { return fixed_text(ns / 1000, 4) + " us"; }

/// Returns the ratio of merge step times for each pair of repeats of --compare, first variant over second.
std::vector<double> paired_ratios(const Comparison& c) {
  std::vector<double> out;
  for (std::size_t i = 0; i < std::min(c.seconds[0].size(), c.seconds[1].size()); ++i)
    out.push_back(c.seconds[0][i] / c.seconds[1][i]);
  return out;
}

/// Formats the method of a variant of merge steps: search, pruning, epochs.
std::string variant_text(const Variant& v) {
  std::string out = "search " + search_name(v.method.search) + ", prune " + prune_name(v.method.prune);
  if (v.method.prune == Prune::iterative) {
    out += " (epochs " + epoch_name(v.method.epoch);
    out += v.method.sub_communicator ? ", sub-communicator)" : ")";
  }
  return out;
}

}  // namespace

// Joining of merge step times from a later run of the same variant: cycles are appended by the name of their series.
void SeriesSet::merge(const SeriesSet& o) {
  if (surroundings.is_null()) surroundings = o.surroundings;
  for (const auto& [name, theirs] : o.series) {
    const auto at = std::find_if(series.begin(), series.end(), [&n = name](const auto& s) { return s.first == n; });
    if (at == series.end()) {
      series.emplace_back(name, theirs);
      continue;
    }
    at->second.cycles.insert(at->second.cycles.end(), theirs.cycles.begin(), theirs.cycles.end());
    at->second.total += theirs.total;
  }
}

BenchReport::BenchReport(const BenchOptions& o, const Invocation& in, const BenchProgram& program)
    : o_(o), in_(in), program_(program), prints_(o.json != "-" && o.csv != "-" && !o.quiet) {
  const Machine m = machine();
  if (prints_ && comm::launcher_world().rank == 0 && m.load[0] > 0.5)
    std::cout << "note: the load was " << fixed_text(m.load[0], 1) << " on " << m.cores
              << " cores before this run; times are longer than on a quiet machine\n\n";
  if (prints_ && comm::launcher_world().rank == 0 && program.answers != nullptr)
    std::cout << program.answers->to_string() << "\n\n";
}

/// Prints the results of one series of merge steps: parcels, times by stage, time per parcel, container copies, memory.
void BenchReport::print(const SeriesSet& set, const std::string& name, const BenchSeries& s) const {
  auto& out = std::cout;
  const double before = static_cast<double>(std::max<std::int64_t>(1, s.total.before));
  out << name << ": " << count_text(static_cast<std::int64_t>(s.parcels())) << " parcels, "
      << percent_text(static_cast<double>(s.total.small) / before) << " small, "
      << percent_text(static_cast<double>(s.total.merged) / before) << " merged away; " << s.ranks
      << (s.ranks == 1 ? " rank, " : " ranks, ") << s.model << ", blocks " << s.decomposition << ", "
      << variant_text(set.variant) << "\n\n";
  std::vector<std::string> names(kStages.begin(), kStages.end());
  names.back() = "whole step";
  out << stages_table(
             names, s.stages(),
             fmt::format("time over ranks, {}{}", s.cycles.size(), s.cycles.size() == 1 ? " cycle" : " cycles"))
      << "\n  " << microseconds_text(s.ns_per_parcel()) << " per parcel (whole step of the slowest rank, median)\n  "
      << fixed_text(s.container_copies(), 2) << " times one copy of the container (" << seconds_text(s.copy_seconds())
      << ")\n";
  if (s.peak_bytes_per_parcel > 0)
    out << "  " << fixed_text(s.peak_bytes_per_parcel, 0) << " bytes per parcel at most during the step, "
        << fixed_text(s.peak_bytes_per_parcel / s.container_bytes_per_parcel, 2) << " times the container of "
        << fixed_text(s.container_bytes_per_parcel, 0) << " bytes (" << s.peak_method << ")\n";
  if (const std::string words = program_.published(name, s); !words.empty()) out << "  " << words << '\n';
  out << '\n' << counters_text(s.total) << '\n';
}

// Results of one variant of merge steps, printed as soon as they are measured.
void BenchReport::add(SeriesSet set) {
  if (prints_) {
    for (const auto& [name, s] : set.series) print(set, name, s);
    if (!set.series.empty())
      std::cout << clusters_table(set.series.front().second.total) << "  "
                << count_text(set.series.front().second.total.merged_into_big)
                << " merges into a parcel that is not small\n\n";
    std::cout.flush();
  }
  sets_.push_back(std::move(set));
}

// Results of bench --compare: median ratio of the merge step times of pairs of runs, with its interval.
void BenchReport::add(Comparison c) {
  if (prints_) {
    const Interval r = median_interval(paired_ratios(c));
    Table t({fmt::format("in turns, {} times", c.seconds[0].size()), "step, median", "per parcel", "puts", "gets",
             "messages", "syncs"});
    for (std::size_t i = 0; i < 2; ++i) {
      const BenchSeries& s = c.sets[i].series.at(0).second;
      const auto cycles = static_cast<std::int64_t>(std::max<std::size_t>(1, s.cycles.size()));
      const double seconds = median(c.seconds[i]);
      t.row({c.variants[i].label, seconds_text(seconds), microseconds_text(seconds * 1e9 / std::max(1.0, s.parcels())),
             count_text(s.total.counters.puts / cycles), count_text(s.total.counters.gets / cycles),
             count_text(s.total.counters.messages / cycles), count_text(s.total.counters.syncs / cycles)});
    }
    const BenchSeries& s = c.sets[0].series.at(0).second;
    std::cout << c.sets[0].series[0].first << ": " << count_text(static_cast<std::int64_t>(s.parcels())) << " parcels, "
              << c.ranks << (c.ranks == 1 ? " rank" : " ranks") << ", blocks " << s.decomposition
              << "; counts are per step over all ranks\n\n"
              << t.text() << "\n  " << c.variants[0].label << " takes " << fixed_text(r.value, 3)
              << " times as long as " << c.variants[1].label << " (95 % confidence: " << fixed_text(r.low, 3) << " to "
              << fixed_text(r.high, 3) << ")\n\n";
    std::cout.flush();
  }
  comparisons_.push_back(std::move(c));
}

/// Prints the speed-up, or with --weak the efficiency, of each series of merge steps over numbers of ranks.
void BenchReport::print_scaling() const {
  for (const auto& [name, first] : sets_.front().series) {
    Table t({name, "step, median", "per parcel", o_.weak ? "efficiency" : "speed-up", "container copies"});
    for (const auto& set : sets_)
      for (const auto& [n, s] : set.series) {
        if (n != name) continue;
        const double gain = first.seconds() / s.seconds();
        t.row({fmt::format("{}{}{}", set.ranks, set.ranks == 1 ? " rank" : " ranks",
                           o_.prune == "all" ? ", " + prune_name(set.variant.method.prune) : ""),
               seconds_text(s.seconds()), microseconds_text(s.ns_per_parcel()),
               o_.weak ? percent_text(gain) : fixed_text(gain, 2), fixed_text(s.container_copies(), 2)});
      }
    std::cout << t.text() << '\n';
  }
}

/// Makes the run record of bench random or bench files: all series and comparisons.
Json BenchReport::json() const {
  RunPlacement placement;
  if (!sets_.empty() && !sets_[0].series.empty()) {
    const BenchSeries& s = sets_[0].series[0].second;
    placement = {s.ranks, s.model, s.choice, "", s.decomposition};
  }
  Json record = make_record(in_, placement);
  if (program_.answers != nullptr) program_.answers->add_to(record);
  if (!sets_.empty()) set_environment(record, sets_[0].surroundings);
  if (!comparisons_.empty()) set_environment(record, comparisons_[0].sets[0].surroundings);
  Json& result = record["result"];
  result = Json::object();
  if (!sets_.empty())
    for (const auto& [name, s] : sets_[0].series) result[name] = to_json(s);
  for (const auto& set : sets_) {
    Json entry = {{"ranks", set.ranks}};
    if (o_.prune == "all") entry["prune"] = prune_name(set.variant.method.prune);
    for (const auto& [name, s] : set.series) entry[name] = to_json(s);
    if (sets_.size() > 1) result["scaling"].push_back(entry);
  }
  for (const auto& c : comparisons_) {
    const Interval r = median_interval(paired_ratios(c));
    result["compare"].push_back({{"ranks", c.ranks},
                                 {"a", c.variants[0].label},
                                 {"b", c.variants[1].label},
                                 {"seconds_a", c.seconds[0]},
                                 {"seconds_b", c.seconds[1]},
                                 {"ratio", {{"low", r.low}, {"median", r.value}, {"high", r.high}}},
                                 {"series_a", to_json(c.sets[0].series.at(0).second)},
                                 {"series_b", to_json(c.sets[1].series.at(0).second)}});
  }
  return record;
}

/// Makes the CSV table of bench --csv: raw times of all cycles of all series and comparisons.
std::string BenchReport::csv() const {
  std::string out = csv_header("series,variant,ranks");
  for (const auto& set : sets_)
    for (const auto& [name, s] : set.series)
      out += csv_lines(
          s, fmt::format("{},{},{}", name, o_.prune == "all" ? prune_name(set.variant.method.prune) : "", set.ranks));
  for (const auto& c : comparisons_)
    for (const auto& set : c.sets)
      for (const auto& [name, s] : set.series)
        out += csv_lines(s, fmt::format("{},{},{}", name, set.variant.label, set.ranks));
  return out;
}

void BenchReport::finish() {
  if (prints_ && sets_.size() > 1) print_scaling();
  if (!o_.json.empty()) write_record(o_.json, json());
  if (!o_.csv.empty()) write_text_file(o_.csv, csv());
}

}  // namespace merganser::app
