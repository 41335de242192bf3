// The command compare: a regression gate for any two run records of one verb.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "apps/compare/report.hpp"
#include "apps/compare/turns.hpp"
#include "apps/frame/command.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

constexpr int kRegression = 5;  // exit code of compare for a regression

/// Options of the command compare, filled by the option parser.
struct CompareCommand {
  std::string before, after;                         ///< run records, or with --run commands
  std::vector<std::string> more_before, more_after;  ///< records of further launches of each side
  std::string threshold = "5%";                      ///< smallest slowdown of times that matters
  std::string false_alarms = "1%";                   ///< probability to find a slowdown where there is none
  std::string launch_floor = "7%";                   ///< assumed standard deviation between launches
  std::string block_floor = "5%";                    ///< assumed standard deviation between the two sides
  int launches = 0;                                  ///< --run: launches of each command; 0: records are read
  std::string keep;                                  ///< folder for the records of --run; empty: none are kept
  int rows = 20;                                     ///< largest number of timings in compare's table
  std::string json;                                  ///< path of the comparison as JSON; empty: none
};

/// Lists the command-line options of compare, with their help texts and checks, for the option parser.
template <class V>
void describe(CompareCommand& o, V&& option) {
  option.positional("BEFORE", o.before, "run record; with --run a command in quotes", Required{}, Reads{});
  option.positional("AFTER", o.after, "run record of the same command; with --run a command", Required{}, Reads{});
  option("run", o.launches, "launch both commands so many times each, in turns, and compare their records",
         between(1, 10000), ShownDefault{"none"});
  option("keep", o.keep, "with --run: folder for the records", Kind{"FOLDER"}, ShownDefault{"none are kept"});
  option("more-before", o.more_before, "records of further launches of BEFORE", Kind{"FILE,..."}, Reads{});
  option("more-after", o.more_after, "records of further launches of AFTER", Kind{"FILE,..."}, Reads{});
  option("threshold", o.threshold, "smallest slowdown that matters, as 5% or 0.05", Kind{"SHARE"});
  option("false-alarms", o.false_alarms, "chance to find a slowdown where there is none", Kind{"SHARE"});
  option("launch-floor", o.launch_floor,
         "standard deviation between launches that is assumed as far as sides have fewer than five", Kind{"SHARE"});
  option(
      "block-floor", o.block_floor,
      "standard deviation assumed of what changes on the machine between launches of one side and those of the other, "
      "where they were not taken in turns",
      Kind{"SHARE"});
  option.section("Output");
  option("rows", o.rows, "timings shown, those with the largest effect first", at_least(0));
  option("json", o.json, "comparison to write (- for standard output)", Kind{"FILE"}, Writes{});
}

/// Parses a share between 0 and 1 of an option of compare: "5%" or "0.05". @param name  name of the option, for the message
/// @throws UsageError for another text
double parse_share(const std::string& text, const std::string& name) {
  const bool percent = !text.empty() && text.back() == '%';
  double x = 0;
  std::size_t used = 0;
  try {
    x = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() - (percent ? 1 : 0) || !((percent ? x / 100 : x) > 0) ||
      !((percent ? x / 100 : x) < 1))
    throw UsageError(name + ": \"" + text + "\"; allowed: a share between 0 and 1, as 5% or 0.05");
  return percent ? x / 100 : x;
}

/// Reads one side of a comparison of run records, before or after: a record, and records of further launches of the same command.
RecordFacts read_side(const std::string& first, const std::vector<std::string>& more) {
  RecordFacts facts = read_facts(first);
  for (const auto& path : more) add_launches(facts, read_facts(path));
  return facts;
}

/// Adapts the standard deviations of times that compare assumes to the records: all are multiplied by the records' largest load per
/// core, because times scatter more on a busy machine. If the launches of the two sides were not taken in turns, the
/// standard deviation between the sides, from `block_floor`, is set too.
void scale_floors(CompareOptions& o, double block_floor, const Order& order, const RecordFacts& before,
                  const RecordFacts& after) {
  double by = 1;
  for (const auto* side : {&before, &after}) {
    by = std::max(by, load_per_core(side->origin.provenance));
    for (const auto& more : side->joined) by = std::max(by, load_per_core(more.provenance));
  }
  for (double* floor : {&o.launch_floor, &o.single_floor}) *floor *= by;
  if (!order.in_turns) o.between_sides = block_floor * by * std::sqrt(1 / order.blocks_before + 1 / order.blocks_after);
}

/// Returns both sides of a comparison of run records: read from the records named, or, with --run, measured by launches in turns.
Sides read_sides(const CompareCommand& o, const OptionTable& table) {
  if (!table.is_given("run")) {
    if (!o.keep.empty()) throw UsageError("--keep without --run; allowed: with it");
    return {read_side(o.before, o.more_before), read_side(o.after, o.more_after)};
  }
  if (!o.more_before.empty() || !o.more_after.empty())
    throw UsageError("--run with --more-before or --more-after; allowed: one of the two ways to give launches");
  return run_in_turns(o.before, o.after, o.launches, o.keep);
}

/// Body of the command compare: reads or measures both sides, compares them, and prints the result.
int run(CompareCommand& o, const Invocation& in) {
  CompareOptions options;
  options.threshold = parse_share(o.threshold, "--threshold");
  options.false_alarms = parse_share(o.false_alarms, "--false-alarms");
  options.launch_floor = parse_share(o.launch_floor, "--launch-floor");
  const double block_floor = parse_share(o.block_floor, "--block-floor");
  const auto [before, after] = read_sides(o, in.table);
  Order order = detect_order(before, after);
  if (in.table.is_given("run")) order.known = order.in_turns = true;
  scale_floors(options, block_floor, order, before, after);
  RecordComparison c = compare_records(before, after, options);
  c.order = order;
  write_result(o.json, in, to_json(c));
  if (o.json != "-") std::cout << format_comparison(c, static_cast<std::size_t>(o.rows));
  return c.regression() ? kRegression : 0;
}

constexpr std::string_view kCompareText =
    "Finds what two run records of the same command both timed, and tells whether it has become slower: everything\n"
    "together, each kernel or stage, each timing. Exit code 0: no regression; 5: a regression; 3: not comparable.\n"
    "More of what is counted (messages, bytes) and another result of the same input are regressions too. Launches of "
    "one\n"
    "side after those of the other are judged with more caution than launches in turns, which --run makes.\n\n"
    "  merganser compare before.json after.json\n"
    "  merganser compare --run 10 'old/bin/merganser cluster in.nc' 'new/bin/merganser cluster in.nc'\n"
    "  merganser compare b1.json a1.json --more-before b2.json,b3.json --more-after a2.json,a3.json --threshold 3%\n";

}  // namespace

extern const Command compare_command;
const Command compare_command =
    make_command<CompareCommand, run>("compare", "tell whether a record is slower than another", kCompareText);

}  // namespace merganser::app
