// Extraction of timings, counts and results from run records of every verb. A record may come from anywhere, so every field is
// checked, and errors name the file and the field.
#include "apps/compare/record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "apps/frame/gather.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kSmallStage = 0.02;    // share of a step below which a stage does not decide
constexpr double kMessageSlack = 0.05;  // the grouping of small records into messages depends on timing
constexpr std::int64_t kMaxRanks = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxLaunches = 1'000'000'000;
constexpr std::int64_t kMaxParcels = 1'000'000'000'000'000'000;
constexpr double kMaxLoadPerCore = 3;  // beyond it scatter grows no more
constexpr double kMinTime = 1e-100;    // seconds or nanoseconds, so that no product or ratio of two leaves the numbers
constexpr double kMaxTime = 1e100;

/// Formats a JSON value of a run record as text of at most 60 characters, for errors.
std::string short_json(const Json& j) {
  const std::string text = json_text(j);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// Formats the number of ranks of a run record, as part of the key of a timing: "4 ranks".
std::string ranks_text(const Field& ranks) {
  const std::int64_t n = ranks.whole(1, kMaxRanks);
  return count_text(n) + (n == 1 ? " rank" : " ranks");
}

/// Formats the number of parcels of a run record, as part of the key of a timing: "512 parcels".
std::string parcels_text(const Field& parcels) { return count_text(parcels.whole(0, kMaxParcels)) + " parcels"; }

/// Converts the times of all launches of a timing from nanoseconds to seconds.
Launches to_seconds(Launches nanoseconds) {
  for (auto& launch : nanoseconds)
    for (double& t : launch) t *= kNanosecond;
  return nanoseconds;
}

/// Returns a text in the part "topology" of a record of topo bench; "unknown" if it is not there.
std::string text_or_unknown(const Field& topology, const char* key) {
  return topology.has(key) ? topology.at(key).text() : "unknown";
}

/// Reads the exchange kernels in a record of topo bench: graphs are inputs, and each configuration is a timing with its counts.
void read_topology(const Field& topology, RecordFacts& facts) {
  std::map<std::string, std::string> graphs;
  for (const Field& g : topology.at("graphs").list()) {
    const std::string name = g.at("name").text();
    graphs[name] = name + " on " + ranks_text(g.at("ranks"));
    facts.inputs.push_back({graphs[name], g.at("digest").text()});
  }
  const std::string how =
      "; start " + text_or_unknown(topology, "sync") + ", buffers " + text_or_unknown(topology, "buffers");
  const Field cells = topology.at("cells");
  if (cells.size() == 0) cells.fail("is empty: nothing was measured");
  for (const Field& c : cells.list()) {
    const std::string graph = c.at("graph").text();
    const std::string kernel = c.at("kernel").text();
    const auto known = graphs.find(graph);
    if (known == graphs.end()) c.at("graph").fail("names a graph that is not in topology.graphs");
    std::string key = kernel + ", " + known->second + ", ";
    if (c.has("bytes") && !c.at("bytes").json().is_null()) {
      key += bytes_text(c.at("bytes").number()) + " an arc";
    } else {
      key += "weights, " + bytes_text(c.at("bytes_total").number()) + " in all";
    }
    facts.timings.push_back({key + how, kernel, to_seconds(launches_ns(c)), true});
    for (const char* count : {"messages_total", "bytes_total", "syncs_total"})
      if (c.has(count)) facts.counts.push_back({key + ": " + count, c.at(count).number(), 0});
  }
}

/// Reads the communication counters of a run record as counts. @param share  divisor, the number of cycles that they were summed
/// over
void read_counters(const Field& counters, const std::string& prefix, double share, RecordFacts& facts) {
  for (const auto& [name, value] : counters.json().items()) {
    if (!value.is_number()) counters.at(name).fail("is " + short_json(value) + "; allowed: a number");
    facts.counts.push_back({prefix + name, counters.at(name).number() / share, name == "messages" ? kMessageSlack : 0});
  }
}

/// Returns the time of a stage of a merge step, s, which may be 0 because the stage was left out. @throws InputError for any other
/// time out of range
double time_or_zero(const Field& time) { return time.number() == 0 ? 0 : time.time(); }

/// Reads one series in a record of bench random or bench files; every cycle is a round of its launch, with the time of the slowest
/// rank.
void read_series(const Field& s, const std::string& name, std::size_t repeats, RecordFacts& facts) {
  const std::string work = name + ", " + ranks_text(s.at("ranks")) + ", " + parcels_text(s.at("n_before"));
  const Field cycles = s.at("cycles");
  if (cycles.size() == 0) cycles.fail("is empty: nothing was measured");
  std::array<std::vector<double>, kStages.size()> times;
  for (const Field& cycle : cycles.list()) {
    const auto ranks = cycle.at("stages").list();
    for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
      double slowest = 0;
      for (const Field& rank : ranks) slowest = std::max(slowest, time_or_zero(rank.at(stage)));
      times[stage].push_back(slowest);
    }
  }
  // A record lists the cycles of one launch after the other. Repeats with threads run in one process, hence are one launch.
  const bool launches = repeats > 1 && cycles.size() % repeats == 0 && s.at("model").text() != "threads";
  const double step = median(times.back());
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    const double mine = median(times[stage]);
    if (!(mine > 0) || *std::min_element(times[stage].begin(), times[stage].end()) <= 0) continue;
    RecordTiming t{work + ": " + kStages[stage], kStages[stage], {}, true, kSmallStage * step};
    const std::size_t each = launches ? times[stage].size() / repeats : times[stage].size();
    for (std::size_t i = 0; i < times[stage].size(); i += each) {
      const auto first = times[stage].begin() + static_cast<std::ptrdiff_t>(i);
      t.launches.emplace_back(first, first + static_cast<std::ptrdiff_t>(each));
    }
    facts.timings.push_back(std::move(t));
  }
  for (const char* input : {"n_before", "n_small"})
    facts.inputs.push_back({work + ": " + input, json_text(s.at(input).json())});
  for (const char* result : {"n_merged", "n_after"})
    facts.results.push_back({work + ": " + result, json_text(s.at(result).json())});
  read_counters(s.at("counters_all_cycles"), work + ", each cycle: ", static_cast<double>(cycles.size()), facts);
}

/// Reads all series in a record of bench random or bench files: of all numbers of ranks, and both variants of --compare.
void read_bench(const Field& result, const Field& options, RecordFacts& facts) {
  const auto repeats =
      static_cast<std::size_t>(options.has("repeats") ? options.at("repeats").whole(0, kMaxLaunches) : 1);
  const auto read_all = [&](const Field& of) {
    for (const auto& [name, value] : of.json().items())
      if (value.is_object() && value.contains("cycles")) read_series(of.at(name), name, repeats, facts);
  };
  if (!result.has("scaling")) read_all(result);
  if (result.has("scaling"))
    for (const Field& set : result.at("scaling").list()) read_all(set);
  if (!result.has("compare")) return;
  for (const Field& comparison : result.at("compare").list())
    for (const char* side : {"a", "b"})
      read_series(comparison.at(std::string("series_") + side), comparison.at(side).text(), repeats, facts);
}

/// Returns the time of the slowest rank in a run record, s: the maximum of a summary over ranks, or the one number that a verb
/// gives.
double slowest_time(const Field& t) { return time_or_zero(t.json().is_number() ? t : t.at("max")); }

/// Reads the object "timings" of a run record, each entry as a single sample: the time of the slowest rank.
void read_timings(const Field& timings, const std::string& work, RecordFacts& facts) {
  const double step = timings.has("step") ? slowest_time(timings.at("step")) : 0;
  for (const auto& [name, value] : timings.json().items()) {
    const double slowest = slowest_time(timings.at(name));
    if (slowest == 0) continue;
    const bool stage = std::find(kStages.begin(), kStages.end(), name) != kStages.end();
    facts.timings.push_back({work + name, name, {{slowest}}, step == 0 || stage, kSmallStage * step});
  }
}

/// Reads the object "samples" of a run record, times by name and launch: {"family": text, "unit": "s", "launches": [[...], ...]}.
void read_samples(const Field& samples, const std::string& work, RecordFacts& facts) {
  for (const auto& [name, value] : samples.json().items()) {
    const Field s = samples.at(name);
    const Field launches = s.at("launches");
    RecordTiming t{work + name, s.has("family") ? s.at("family").text() : name, {}, true};
    for (const Field& launch : launches.list()) {
      auto& times = t.launches.emplace_back();
      for (const Field& time : launch.list()) times.push_back(time.time());
    }
    if (std::all_of(t.launches.begin(), t.launches.end(), [](const auto& l) { return l.empty(); }))
      launches.fail("holds no times");
    facts.timings.push_back(std::move(t));
  }
}

/// Reads input sizes and results in the record of merge steps or of a generated parcel file.
void read_result(const Field& result, RecordFacts& facts) {
  for (const char* input : {"n_before", "n_small"})
    if (result.has(input)) facts.inputs.push_back({input, json_text(result.at(input).json())});
  for (const char* key : {"digest", "n_merged", "n_after"})
    if (result.has(key)) facts.results.push_back({key, json_text(result.at(key).json())});
}

/// Formats the work of a run record by ranks and parcels, as the first part of the keys of its timings: "4 ranks, 512 parcels: ".
std::string describe_work(const Field& record) {
  std::string work;
  if (record.at("provenance").has("ranks")) work = ranks_text(record.at("provenance").at("ranks"));
  if (record.has("result") && record.at("result").has("n_before"))
    work += ", " + parcels_text(record.at("result").at("n_before"));
  return work.empty() ? "" : work + ": ";
}

}  // namespace

void Field::fail(const std::string& what) const { throw InputError(path_ + ' ' + what); }

Field Field::at(const std::string& key) const {
  if (!value_->is_object()) fail("is " + short_json(*value_) + "; allowed: an object with the field " + key);
  const auto found = value_->find(key);
  if (found == value_->end()) fail("has no field \"" + key + '"');
  return {*found, path_ + (path_.find(": ") == std::string::npos ? ": " : ".") + key};
}

Field Field::at(std::size_t index) const {
  if (index >= size()) fail(fmt::format("has {} entries; at least {} are needed", size(), index + 1));
  return {(*value_)[index], fmt::format("{}[{}]", path_, index)};
}

std::size_t Field::size() const {
  if (!value_->is_array()) fail("is " + short_json(*value_) + "; allowed: a list");
  return value_->size();
}

std::vector<Field> Field::list() const {
  std::vector<Field> out;
  for (std::size_t i = 0; i < size(); ++i) out.push_back(at(i));
  return out;
}

double Field::number() const {
  if (!value_->is_number()) fail("is " + short_json(*value_) + "; allowed: a number");
  const auto x = value_->get<double>();
  if (!std::isfinite(x)) fail("is not finite");
  return x;
}

double Field::time() const {
  const double x = number();
  if (!(x >= kMinTime && x <= kMaxTime))
    fail("is " + general_text(x, 6) + "; allowed: a positive time, " + general_text(kMinTime, 3) + " to " +
         general_text(kMaxTime, 3));
  return x;
}

std::int64_t Field::whole(std::int64_t least, std::int64_t most) const {
  const double x = number();
  if (!(x >= static_cast<double>(least) && x <= static_cast<double>(most)) || x != std::floor(x))
    fail(fmt::format("is {}; allowed: a whole number, {} to {}", general_text(x, 6), least, most));
  return static_cast<std::int64_t>(x);
}

std::string Field::text() const {
  if (!value_->is_string()) fail("is " + short_json(*value_) + "; allowed: a text");
  return value_->get<std::string>();
}

// First check of every run record that is read: schema and version.
void check_schema(const Field& record) {
  if (!record.json().is_object() || !record.has("schema"))
    throw InputError(record.path() + " is no run record of merganser: it has no field \"schema\"");
  if (record.at("schema").text() != "merganser-run-record")
    throw InputError(record.path() + " is no run record: its schema is " + record.at("schema").text() +
                     "; allowed: merganser-run-record");
  const double version = record.at("schema_version").number();
  if (version != kRecordVersion)
    throw InputError(fmt::format("{} has schema version {}; this program reads {}", record.path(),
                                 general_text(version, 6), kRecordVersion));
}

// Load under which a run record was made, by which the assumed standard deviations of times are scaled.
std::optional<Load> parse_load(const Json& provenance) {
  if (!provenance.is_object() || !provenance.contains("load_average")) return std::nullopt;
  // The load average counts all cores of the host; a rank that is bound uses fewer. Older records lack all_cores.
  const auto cores = provenance.find(provenance.contains("all_cores") ? "all_cores" : "cores");
  const Json& load = provenance["load_average"];
  if (!load.is_array() || load.empty() || !load[0].is_number() || cores == provenance.end() || !cores->is_number())
    return std::nullopt;
  return Load{load[0].get<double>(), cores->get<double>()};
}

double load_per_core(const Json& provenance) {
  const auto load = parse_load(provenance);
  return load ? load_per_core(load->average, load->cores) : 1;
}

double load_per_core(double load_average, double cores) {
  return std::clamp(load_average / std::max(1.0, cores), 1.0, kMaxLoadPerCore);
}

// Times of one configuration of topo bench by launch: rounds are the finest samples that a record can have, so they are preferred.
Launches launches_ns(const Field& cell) {
  Launches out;
  if (cell.has("rounds") && cell.at("rounds").size() > 0) {
    std::map<std::int64_t, std::vector<double>> by_launch;
    for (const Field& r : cell.at("rounds").list()) {
      const std::int64_t launch = r.has("launch") ? r.at("launch").whole(0, kMaxLaunches) : 0;
      by_launch[launch].push_back(r.at("p50_ns").time());
    }
    for (auto& [launch, times] : by_launch) out.push_back(std::move(times));
    return out;
  }
  if (cell.has("launch_p50_ns") && cell.at("launch_p50_ns").size() > 0) {
    for (const Field& launch : cell.at("launch_p50_ns").list()) out.push_back({launch.time()});
    return out;
  }
  return {{cell.at("exchange").at("p50_ns").time()}};
}

// Facts of a run record by the parts that it has: exchange kernels, benchmark series, timings, samples, results.
RecordFacts extract_facts(const Json& json, const std::string& path) {
  const Field record(json, path);
  check_schema(record);
  RecordFacts facts;
  facts.origin = {path, record.at("options").json(), record.at("provenance").json(),
                  std::hash<std::string>{}(json.dump()), 1};
  facts.command = record.at("command").text();
  const std::string work = describe_work(record);
  if (record.has("topology")) read_topology(record.at("topology"), facts);
  if (record.has("samples")) read_samples(record.at("samples"), work, facts);
  if (facts.command.starts_with("bench ")) {
    read_bench(record.at("result"), record.at("options"), facts);
  } else if (record.has("timings")) {
    read_timings(record.at("timings"), work, facts);
    if (record.has("result")) read_result(record.at("result"), facts);
  }
  if (record.has("counters")) read_counters(record.at("counters"), work, 1, facts);
  if (facts.timings.empty())
    throw InputError(path + " is a record of \"" + facts.command + "\" without timings: nothing to compare");
  for (const auto& t : facts.timings) facts.origin.launches = std::max(facts.origin.launches, t.launches.size());
  return facts;
}

RecordFacts read_facts(const std::string& path) { return extract_facts(read_json(path), path); }

// Further launches of one side of a comparison of run records: samples are appended by key.
void add_launches(RecordFacts& to, const RecordFacts& more) {
  const std::string &path = to.origin.path, &other = more.origin.path;
  if (to.command != more.command)
    throw InputError(path + " is a record of \"" + to.command + "\", " + other + " of \"" + more.command +
                     "\": no launches of the same");
  for (const auto& a : to.inputs)
    for (const auto& b : more.inputs)
      if (a.key == b.key && a.value != b.value)
        throw InputError(other + " is of another input than " + path + ": " + a.key + " is " + b.value + ", not " +
                         a.value);
  const auto same = [&more](const RecordOrigin& o) { return o.content == more.origin.content; };
  if (same(to.origin) || std::any_of(to.joined.begin(), to.joined.end(), same))
    throw InputError(other + " is given twice beside " + path + ": further launches must be other ones");
  to.joined.push_back(more.origin);
  for (const auto& t : more.timings) {
    const auto at = std::find_if(to.timings.begin(), to.timings.end(), [&](const auto& x) { return x.key == t.key; });
    if (at == to.timings.end()) {
      to.timings.push_back(t);
    } else {
      at->launches.insert(at->launches.end(), t.launches.begin(), t.launches.end());
    }
  }
}

}  // namespace merganser::app
