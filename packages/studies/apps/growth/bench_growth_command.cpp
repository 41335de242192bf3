// The command bench growth: time and memory of every algorithm over four decades of size.
#include <fmt/core.h>

#include <algorithm>
#include <iostream>

#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/record.hpp"
#include "apps/growth/growth.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

/// Returns the names of the algorithms that bench growth measures.
std::vector<std::string> subject_names() {
  std::vector<std::string> names;
  for (const GrowthSubject& s : growth_subjects(true)) names.emplace_back(s.name);
  return names;
}

/// Options of bench growth, filled by the option parser.
struct BenchGrowth {
  std::vector<std::string> only = subject_names();  ///< names of the algorithms to measure
  bool quick = false;                               ///< measure sizes of at most a hundredth of the greatest
  int repeats = 5;                                  ///< timed repeats of each size
  ForceOption limits;                               ///< --force: run even if forecasts exceed the free memory
  bool quiet = false;                               ///< print no tables
  std::string json;                                 ///< path of the run record; empty: none
};

/// Lists the command-line options of bench growth, with their help texts and checks, for the option parser.
template <class V>
void describe(BenchGrowth& o, V&& option) {
  option.section("Measurement");
  option("only", o.only, "algorithms to measure", Words{subject_names()}, Kind{"LIST"});
  option("quick", o.quick, "sizes up to a hundredth of the greatest");
  option("repeats", o.repeats, "timed repeats of each size, after one that warms up", between(1, 1000));
  describe(o.limits, option);
  option.section("Output");
  option("quiet", o.quiet, "print no tables");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
}

/// Forecasts the memory of the greatest size of an algorithm: bytes for a unit as measured with 1 to 10 million of them.
Need estimate_need(const GrowthSubject& subject) {
  constexpr std::pair<std::string_view, double> kBytesPerUnit[]{
      {"step", 400}, {"forest", 80}, {"tree", 250}, {"hdbscan", 500}, {"flow", 700}, {"announcement", 500}};
  Need need;
  for (const auto& [name, bytes] : kBytesPerUnit)
    if (name == subject.name) need.rank_bytes = bytes * subject.sizes.back();
  need.what = fmt::format("{} of {:.0f} {}s", subject.name, subject.sizes.back(), subject.unit);
  need.help = "--quick";
  return need;
}

/// Body of the command bench growth: measures the algorithms one after the other and reports each when it is done.
int run(BenchGrowth& o, const Invocation& in) {
  if (o.only.empty()) throw UsageError("--only: \"\"; allowed: one or more of the list in --help");
  for (const auto& name : o.only)
    if (std::count(o.only.begin(), o.only.end(), name) > 1)
      throw UsageError("--only: " + name + " stands twice; allowed: each algorithm once");
  std::vector<GrowthSubject> subjects = growth_subjects(o.quick);
  std::erase_if(subjects, [&](const GrowthSubject& s) {
    return std::find(o.only.begin(), o.only.end(), s.name) == o.only.end();
  });
  for (const GrowthSubject& s : subjects) require(estimate_need(s), o.limits.force);
  ProgressLine line(!o.quiet);
  Json series = Json::array();
  for (const GrowthSubject& s : subjects) {
    std::vector<GrowthPoint> points;
    for (const double size : s.sizes) {
      line.show(fmt::format("{}: {:.0f} {}s", s.name, size, s.unit));
      points.push_back(measure_growth(s.name, size, o.repeats));
    }
    line.erase();
    if (!o.quiet && o.json != "-") std::cout << growth_text(s, points) << std::flush;
    series.push_back(growth_json(s, points));
  }
  write_result(o.json, in, {{"growth", std::move(series)}});
  return 0;
}

constexpr std::string_view kBenchGrowthText =
    "Measures how time and memory grow with the size of the problem, over four decades: a merge step, the spanning\n"
    "forest of a graph, the tree of points, HDBSCAN* and a step of the flow, each on one rank, and announcements\n"
    "from all ranks to all ranks on up to 512 threads. Beside each processor time stands how many copies of the\n"
    "input take as long: an algorithm that writes as much as it reads takes at least one. An exponent of 1 is linear\n"
    "growth. All sizes take some minutes and up to 5 GB; --quick takes seconds.\n\n"
    "  merganser bench growth --quick --json growth.json\n"
    "  merganser bench growth --only step,tree --repeats 9\n";

}  // namespace

extern const Command bench_growth_command;
const Command bench_growth_command =
    make_command<BenchGrowth, run>("bench growth", "time and memory over four decades of size", kBenchGrowthText);

}  // namespace merganser::app
