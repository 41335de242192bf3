// Comparison of two sides of run records by key, warnings about differences of their origin, and the report of compare.
#include "apps/compare/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "apps/frame/environment.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {
namespace {

/// Options that do not affect what is measured, hence may differ without a warning.
const std::set<std::string> kIdleOptions{"json", "csv",       "output",  "picture", "quiet",
                                         "log",  "log-ranks", "timeout", "here",    "html"};
/// Keys of the provenance whose difference makes two run records less comparable.
constexpr std::array kMachine{"cpu",   "cores", "kernel",     "mpi",           "openshmem",  "compiler",
                              "flags", "ranks", "build_type", "decomposition", "decorators", "model"};
constexpr std::size_t kListed = 5;  // keys of timings on one side only that the report lists

/// Formats a value of a run record for a warning of compare; "absent" for null.
std::string json_value_text(const Json* j) {
  if (j == nullptr) return "absent";
  const std::string text = j->is_string() ? j->get<std::string>() : j->dump();
  return text.empty() ? "none" : text;
}

/// Returns the member of a JSON object in a run record; null if there is none.
const Json* find_member(const Json& object, const std::string& key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

/// Provenance of two run records, and the names by which warnings call them.
struct ComparedOrigins {
  const RecordOrigin& one;
  const RecordOrigin& other;
  std::string one_name, other_name;
};

/// Adds a warning if the values of a key in options or provenance of two run records differ, or if one has none.
void warn_if_different(const ComparedOrigins& a, const Json& one, const Json& other, const std::string& what,
                       const std::string& key, std::vector<std::string>& out) {
  const Json* b = find_member(one, key);
  const Json* c = find_member(other, key);
  if (b == nullptr && c == nullptr) return;
  if (b != nullptr && c != nullptr && *b == *c) return;
  out.push_back(what + ' ' + key + " differs: " + json_value_text(b) + ' ' + a.one_name + ", " + json_value_text(c) +
                ' ' + a.other_name);
}

/// Adds warnings for library components, environment variables and core bindings that differ between two run records. Skipped if
/// one record has none, as older ones do.
void warn_of_settings(const ComparedOrigins& a, std::vector<std::string>& out) {
  for (const char* part : {"components", "variables"}) {
    const Json* one = find_member(a.one.provenance, part);
    const Json* other = find_member(a.other.provenance, part);
    if (one == nullptr || other == nullptr || !one->is_object() || !other->is_object()) continue;
    std::set<std::string> names;
    for (const auto* side : {one, other})
      for (const auto& [name, value] : side->items())
        if (part == std::string("components") || is_setting(name)) names.insert(name);
    const std::string what = part == std::string("components") ? "component" : "variable";
    for (const auto& name : names) warn_if_different(a, *one, *other, what, name, out);
  }
  if (find_member(a.one.provenance, "binding") != nullptr && find_member(a.other.provenance, "binding") != nullptr)
    warn_if_different(a, a.one.provenance, a.other.provenance, "provenance:", "binding", out);
}

/// Adds a warning for each option and property of the machine or build that differs between two run records.
void warn_of_origin(const ComparedOrigins& a, std::vector<std::string>& out) {
  std::set<std::string> names;
  for (const auto* side : {&a.one.options, &a.other.options})
    if (side->is_object())
      for (const auto& [name, value] : side->items()) names.insert(name);
  for (const auto& name : names)
    if (!kIdleOptions.contains(name)) warn_if_different(a, a.one.options, a.other.options, "option", name, out);
  for (const char* key : kMachine) warn_if_different(a, a.one.provenance, a.other.provenance, "provenance:", key, out);
  warn_of_settings(a, out);
}

/// Adds a warning if a run record was made under a load above half of the cores.
void warn_of_load(const RecordOrigin& origin, std::vector<std::string>& out) {
  const auto load = parse_load(origin.provenance);
  if (load && load->average > 0.5 * load->cores)
    out.push_back("the load was " + fixed_text(load->average, 1) + " on " +
                  cores_text(static_cast<std::int64_t>(load->cores)) + " for " + origin.path +
                  ": its times are longer than on a quiet machine");
}

/// Returns the warnings about options, machine, build and load that make two sides of a comparison less comparable.
std::vector<std::string> collect_warnings(const RecordFacts& before, const RecordFacts& after) {
  std::vector<std::string> out;
  warn_of_origin({before.origin, after.origin, "before", "after"}, out);
  for (const auto* side : {&before, &after}) {
    warn_of_load(side->origin, out);
    for (const auto& more : side->joined) {
      warn_of_origin({side->origin, more, "in " + side->origin.path, "in " + more.path}, out);
      warn_of_load(more, out);
    }
  }
  return out;
}

/// Returns the results or inputs of a side of a comparison by their keys.
std::map<std::string, std::string> index_by_key(const std::vector<RecordResult>& results) {
  std::map<std::string, std::string> out;
  for (const auto& r : results) out[r.key] = r.value;
  return out;
}

/// Returns the keys of input properties (graph digests, parcel counts) that both sides have and whose values differ, and adds a
/// warning for each.
std::set<std::string> changed_inputs(const RecordFacts& before, const RecordFacts& after,
                                     std::vector<std::string>& warnings) {
  std::set<std::string> out;
  const auto a = index_by_key(after.inputs);
  for (const auto& [key, value] : index_by_key(before.inputs)) {
    const auto at = a.find(key);
    if (at == a.end() || at->second == value) continue;
    out.insert(key);
    warnings.push_back("the input differs: " + key + " is " + value + " before, " + at->second + " after");
  }
  return out;
}

/// Returns true if a timing was taken on an input, a process graph, that differs between both sides though its name is the same.
bool is_on_changed_input(const std::string& key, const std::set<std::string>& changed) {
  return std::any_of(changed.begin(), changed.end(),
                     [&key](const auto& input) { return key.find(", " + input + ", ") != std::string::npos; });
}

/// Returns the largest median time of any launch of a timing, s.
double largest_median(const Launches& launches) {
  double out = 0;
  for (const auto& l : launches) out = std::max(out, median(l));
  return out;
}

/// Pairs the timings of both sides by key. Timings of one side only, or on an input that differs, go to `out` as not compared.
std::vector<TimedPair> match_timings(const RecordFacts& before, const RecordFacts& after,
                                     const std::set<std::string>& changed, RecordComparison& out) {
  std::map<std::string, const RecordTiming*> there;
  for (const auto& t : after.timings) there.emplace(t.key, &t);
  std::vector<TimedPair> pairs;
  for (const auto& t : before.timings) {
    const auto at = there.find(t.key);
    if (at == there.end() || is_on_changed_input(t.key, changed)) {
      out.only_before.push_back(t.key);
      if (at != there.end()) out.only_after.push_back(t.key);
      there.erase(t.key);
      continue;
    }
    // The limit is a share of the step before the change, so that it does not depend on changes of other stages.
    const bool large = std::max(largest_median(t.launches), largest_median(at->second->launches)) >= t.least;
    pairs.push_back({t.key, t.family, t.launches, at->second->launches, t.decides && large});
    out.launches_before = std::max(out.launches_before, t.launches.size());
    out.launches_after = std::max(out.launches_after, at->second->launches.size());
    there.erase(at);
  }
  for (const auto& t : after.timings)
    if (there.contains(t.key)) out.only_after.push_back(t.key);
  return pairs;
}

/// Returns the counts of messages and bytes that differ between both sides by more than their slack; an increase is a regression.
std::vector<Difference> count_differences(const RecordFacts& before, const RecordFacts& after) {
  std::vector<Difference> out;
  std::map<std::string, double> there;
  for (const auto& c : after.counts) there[c.key] = c.value;
  for (const auto& c : before.counts) {
    const auto at = there.find(c.key);
    if (at == there.end() || std::fabs(at->second - c.value) <= c.slack * std::max(c.value, at->second)) continue;
    out.push_back({c.key, general_text(c.value, 12), general_text(at->second, 12), at->second > c.value});
  }
  return out;
}

/// Returns the results of runs that differ between both sides; each is a regression.
std::vector<Difference> result_differences(const RecordFacts& before, const RecordFacts& after) {
  std::vector<Difference> out;
  const auto a = index_by_key(after.results);
  for (const auto& [key, value] : index_by_key(before.results)) {
    const auto at = a.find(key);
    if (at != a.end() && at->second != value) out.push_back({key, value, at->second, true});
  }
  return out;
}

/// Lists the first keys of timings that are on one side only, one a line, for the report of compare.
std::string list_keys(const std::vector<std::string>& keys) {
  std::string out;
  for (std::size_t i = 0; i < std::min(kListed, keys.size()); ++i) out += "\n    " + keys[i];
  if (keys.size() > kListed) out += fmt::format("\n    and {} more", keys.size() - kListed);
  return out;
}

/// Throws InputError: the two sides of a comparison have no timing in common.
[[noreturn]] void throw_no_common_timing(const RecordFacts& before, const RecordFacts& after,
                                         const RecordComparison& c) {
  std::string text = "no timing of " + before.origin.path + " is in " + after.origin.path;
  for (const auto& w : c.warnings) text += "; " + w;
  if (!c.only_before.empty()) text += "; only before: " + c.only_before.front();
  if (!c.only_after.empty()) text += "; only after: " + c.only_after.front();
  throw InputError(text);
}

/// Makes the object of one judged change of times in the JSON of compare: ratio, interval, p-value, verdict.
Json change_json(const Change& c) {
  return {{"name", c.name},
          {"timings", c.timings},
          {"before_s", c.before},
          {"after_s", c.after},
          {"ratio", c.ratio},
          {"low", c.low},
          {"high", c.high},
          {"p", c.p},
          {"detectable", c.detectable},
          {"verdict", verdict_name(c.verdict)},
          {"decides", c.decides}};
}

/// Makes the list of counts or results that differ in the JSON of compare.
Json differences_json(const std::vector<Difference>& all) {
  return json_list(all, [](const Difference& d) {
    return Json{{"key", d.key}, {"before", d.before}, {"after", d.after}, {"regression", d.regression}};
  });
}

/// Formats a ratio of times as a change: "+3.1 %", or "x 120" where it is large.
std::string change_text(double ratio) {
  if (ratio >= 100) return "x " + general_text(ratio, 3);
  const double percent = 100 * (ratio - 1);
  return (percent >= 0 ? "+" : "") + fixed_text(percent, 1) + " %";
}

/// Formats the confidence interval of a change of times: "-1.0 % .. +3.1 %".
std::string range_text(const Change& c) { return change_text(c.low) + " .. " + change_text(c.high); }
/// Formats a p-value with four digits; "< 0.0001" below.
std::string p_text(double p) { return p < 0.0001 ? "< 0.0001" : fixed_text(p, 4); }

/// Returns the indices of judged changes of times in the order of the report: regressions first, then by the size of the change on
/// a logarithmic scale.
std::vector<std::size_t> order_by_effect(const std::vector<Change>& changes) {
  std::vector<std::size_t> order(changes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&changes](std::size_t a, std::size_t b) {
    const auto rank = [](const Change& c) { return c.verdict == Verdict::slower && c.decides ? 0 : 1; };
    if (rank(changes[a]) != rank(changes[b])) return rank(changes[a]) < rank(changes[b]);
    return std::fabs(std::log(changes[a].ratio)) > std::fabs(std::log(changes[b].ratio));
  });
  return order;
}

/// Formats the table of compare for all timings together and for each family (kernel or stage).
std::string families_text(const SuiteComparison& s) {
  Table t({"together", "timings", "change", "95 % interval", "p", "smallest detectable", "verdict"});
  const auto row = [&t](const Change& c, const std::string& name) {
    t.row({name, std::to_string(c.timings), change_text(c.ratio), range_text(c), p_text(c.p),
           change_text(1 + c.detectable), std::string(verdict_name(c.verdict)) + (c.decides ? "" : " (not counted)")});
  };
  row(s.suite, "everything");
  if (s.families.size() > 1)
    for (const std::size_t i : order_by_effect(s.families)) row(s.families[i], s.families[i].name);
  return t.text();
}

/// Formats the table of compare for single timings: regressions that count first, then by the size of the effect.
std::string timings_text(const SuiteComparison& s, std::size_t rows) {
  if (rows == 0) return "";
  Table t({"each", "before", "after", "change", "95 % interval", "verdict"});
  const auto order = order_by_effect(s.timings);
  for (std::size_t i = 0; i < std::min(rows, order.size()); ++i) {
    const Change& c = s.timings[order[i]];
    t.row({c.name, seconds_text(c.before), seconds_text(c.after), change_text(c.ratio), range_text(c),
           std::string(verdict_name(c.verdict)) + (c.decides ? "" : " (not counted)")});
  }
  std::string out = "\n" + t.text();
  if (order.size() > rows) out += fmt::format("  and {} more (--rows)\n", order.size() - rows);
  return out;
}

/// Formats counts or results that differ between both sides, a line each, ten at most. @param what  "count" or a kind of result
std::string differences_text(const std::vector<Difference>& all, const std::string& what) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(10, all.size()); ++i)
    out += what + ": " + all[i].key + " was " + all[i].before + ", is " + all[i].after + '\n';
  if (all.size() > 10) out += fmt::format("{}: and {} more\n", what, all.size() - 10);
  return out;
}

}  // namespace

bool RecordComparison::regression() const {
  const auto bad = [](const auto& all) {
    return std::any_of(all.begin(), all.end(), [](const Difference& d) { return d.regression; });
  };
  return suite.slower || bad(counts) || bad(results);
}

// Comparison of two sides of run records: timings on equal inputs by statistics, counts and results by equality.
RecordComparison compare_records(const RecordFacts& before, const RecordFacts& after, const CompareOptions& options) {
  if (before.command != after.command)
    throw InputError(before.origin.path + " is a record of \"" + before.command + "\", " + after.origin.path +
                     " of \"" + after.command + "\": their timings are of different things");
  RecordComparison out;
  out.warnings = collect_warnings(before, after);
  const auto changed = changed_inputs(before, after, out.warnings);
  const auto pairs = match_timings(before, after, changed, out);
  if (pairs.empty()) throw_no_common_timing(before, after, out);
  out.suite = compare_suites(pairs, options);
  out.counts = count_differences(before, after);
  if (changed.empty()) out.results = result_differences(before, after);
  return out;
}

namespace {

/// Returns the largest, over the judged changes that decide, of the smallest slowdowns that would have been detected, as a share.
double largest_detectable(const std::vector<Change>& changes) {
  double most = 0;
  for (const Change& c : changes)
    if (c.decides) most = std::max(most, c.detectable);
  return most;
}

/// Formats the smallest slowdowns that the comparison would have detected, for reports of no regression.
std::string detectable_text(const SuiteComparison& s) {
  return fmt::format(
      "; smallest detectable slowdown (in 19 of 20 cases): {} of everything, {} of a kernel or stage, {} of a timing",
      change_text(1 + s.suite.detectable), change_text(1 + largest_detectable(s.families)),
      change_text(1 + largest_detectable(s.timings)));
}

/// Formats the caveat about launches that were not taken in turns; empty if they were.
std::string order_text(const RecordComparison& c) {
  if (c.order.in_turns) return "";
  return std::string(c.order.known ? "the launches of the two sides were not taken in turns"
                                   : "the records do not tell whether their launches were taken in turns") +
         ": what may have changed on the machine in between\nis assumed (--block-floor). compare --run N takes "
         "turns.\n";
}

}  // namespace

Json to_json(const RecordComparison& c) {
  Json out = {{"regression", c.regression()},
              {"assumed", c.suite.assumed},
              {"launches_before", c.launches_before},
              {"launches_after", c.launches_after},
              {"in_turns", c.order.known ? Json(c.order.in_turns) : Json()},
              {"detectable",
               {{"suite", c.suite.suite.detectable},
                {"family", largest_detectable(c.suite.families)},
                {"timing", largest_detectable(c.suite.timings)}}},
              {"suite", change_json(c.suite.suite)}};
  out["families"] = json_list(c.suite.families, change_json);
  out["timings"] =
      json_list(order_by_effect(c.suite.timings), [&](std::size_t i) { return change_json(c.suite.timings[i]); });
  out["counts"] = differences_json(c.counts);
  out["results"] = differences_json(c.results);
  out["warnings"] = c.warnings;
  out["only_before"] = c.only_before;
  out["only_after"] = c.only_after;
  return out;
}

// Report of the command compare as text: warnings, tables of changes, differences of counts and results, verdict.
std::string format_comparison(const RecordComparison& c, std::size_t rows) {
  std::string out;
  for (const auto& w : c.warnings) out += "warning: " + w + '\n';
  if (!c.only_before.empty())
    out += fmt::format("only before, not compared: {}{}\n", c.only_before.size(), list_keys(c.only_before));
  if (!c.only_after.empty())
    out += fmt::format("only after, not compared: {}{}\n", c.only_after.size(), list_keys(c.only_after));
  if (!out.empty()) out += '\n';
  out += families_text(c.suite) + timings_text(c.suite, rows) + '\n';
  out += differences_text(c.counts, "count") + differences_text(c.results, "result of the same input");
  if (c.suite.assumed)
    out +=
        "fewer than five launches on each side: part of what a launch does to its times is not known but assumed\n"
        "(--launch-floor). Give more launches (--more-before, --more-after, or more launches in a record).\n";
  out += order_text(c);
  if (c.suite.slower) {
    out += "slower\n";
  } else if (c.regression()) {
    out += "not slower, but a regression: see counts and results\n";
  } else {
    out += (c.suite.faster ? "no regression; some of it is faster" : "no regression") + detectable_text(c.suite) + '\n';
  }
  return out;
}

}  // namespace merganser::app
