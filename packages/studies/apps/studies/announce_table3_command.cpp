// The command announce table3: diameters of Manhattan Street Networks, published in Table III of [berghoff2018] and exact.
#include <fmt/core.h>

#include <iostream>

#include "apps/frame/command.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/studies/announce_published.hpp"

namespace merganser::app {
namespace {

using announce::ManhattanStreetNetwork;
using namespace studies;

/// Options of announce table3, filled by the option parser.
struct Table3Options {
  bool exact = false;  ///< true: search for diameters from every vertex, without limit
  int machines = 7;    ///< number of rows: the first of the machines
  int budget = 28;     ///< steps that an announcement may take
  std::string json;    ///< path of the record of announce table3; empty: none
};

/// Lists the command-line options of announce table3, with their help texts and checks, for the option parser.
template <class V>
void describe(Table3Options& o, V&& option) {
  option("exact", o.exact,
         "search from every vertex whatever it takes: minutes for 114,486 vertices, hours for millions");
  option("budget", o.budget, "steps that an announcement may take: the length of a block less 7", at_least(1));
  option("machines", o.machines, "rows: the first of the machines", between(1, 7), Hidden{});
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
}

/// Entry of Table III: the diameter of one Manhattan Street Network as published, by the rule, and as found here.
struct DiameterEntry {
  int processes;        ///< number of processes, the vertices of the network
  int degree;           ///< out-degree, the dimension of the network
  int published;        ///< diameter of the network in the published table
  int rule;             ///< ceil(sum of extents / 2)
  KnownDiameter ours;   ///< diameter of the network found now, and recorded
  std::string network;  ///< kind and extents of the network
};

/// Computes the diameters of Manhattan Street Networks of all degrees over the processes of one machine.
std::vector<DiameterEntry> fill(const PublishedMachine& machine, bool exact) {
  std::vector<DiameterEntry> row;
  for (std::size_t i = 0; i < machine.diameters.size(); ++i) {
    const int n = kFirstDegree + static_cast<int>(i);
    const ManhattanStreetNetwork network(machine.processes, n);
    row.push_back({machine.processes, n, machine.diameters[i], network.published_diameter(),
                   known_diameter(network, exact), network.describe()});
  }
  return row;
}

/// Describes the error of an entry of Table III: a published number that the rule does not give, a contradiction with the record,
/// or a diameter above the rule by more than one. Empty if there is none.
std::string check_cell(const DiameterEntry& c) {
  const std::string where = fmt::format("{} vertices, degree {}: ", count_text(c.processes), c.degree);
  if ((c.rule == c.published) == is_unexplained_cell(c.processes, c.degree)) {
    return fmt::format("{}published {}, the rule gives {}", where, c.published, c.rule);
  }
  if (!c.ours.consistent()) {
    return fmt::format("{}searched now: {}{}, but {} is on record as exact", where,
                       c.ours.found.exact ? "" : "at least ", c.ours.found.value, *c.ours.recorded);
  }
  if (c.ours.value() > c.rule + 1) {
    return fmt::format("{}the diameter {} is more than one above the rule, {}", where, c.ours.to_string(), c.rule);
  }
  return {};
}

/// Formats an entry of Table III: published diameter ("*": follows no rule), then the one found here.
std::string format_cell(const DiameterEntry& c) {
  return fmt::format("{}{} {}", c.published, is_unexplained_cell(c.processes, c.degree) ? "*" : "", c.ours.to_string());
}

/// Makes the object of an entry of Table III in the record of announce table3.
Json cell_json(const DiameterEntry& c) {
  Json j = {{"processes", c.processes},          {"degree", c.degree},      {"network", c.network},
            {"published", c.published},          {"rule", c.rule},          {"follows_rule", c.rule == c.published},
            {"diameter", c.ours.value()},        {"exact", c.ours.exact()}, {"how", c.ours.found.how},
            {"searched_now", c.ours.found.value}};
  j["recorded_exact"] = c.ours.recorded ? Json(*c.ours.recorded) : Json();
  return j;
}

/// Returns the least degree of a Manhattan Street Network whose diameter is within the budget, by the published or by our
/// diameters; an inexact one is replaced by the rule, and the degree marked by "?".
std::string least_degree(const std::vector<DiameterEntry>& row, int budget, bool published) {
  for (const DiameterEntry& c : row) {
    const int value = published ? c.published : c.ours.exact() ? c.ours.value() : c.rule;
    if (value <= budget) return fmt::format("{}{}", c.degree, published || c.ours.exact() ? "" : "?");
  }
  return "none";
}

/// Prints Table III, published diameters beside those found, and the least degree within the budget by machine.
void print(const std::vector<std::vector<DiameterEntry>>& rows, const Table3Options& o, double seconds) {
  std::vector<std::string> heading{"processes"};
  for (int n = kFirstDegree; n <= 10; ++n) heading.push_back(fmt::format("n={}", n));
  Table table(heading);
  Table choice({"processes", "degree, published", "degree, exact"});
  int same = 0;
  int differ = 0;
  int unknown = 0;
  for (const auto& row : rows) {
    std::vector<std::string> cells{count_text(row.front().processes)};
    for (const DiameterEntry& c : row) {
      cells.push_back(format_cell(c));
      ++(!c.ours.exact() ? unknown : c.ours.value() == c.published ? same : differ);
    }
    table.row(cells);
    choice.row({cells.front(), least_degree(row, o.budget, true), least_degree(row, o.budget, false)});
  }
  std::cout
      << "Diameters of Manhattan Street Networks: published (Table III), then ours\n\n"
      << table.text() << "\n  >=  from a sample of vertices: a lower bound, the others are exact\n"
      << "  *   follows no rule that was found: ceil(sum of extents / 2) gives 73 and 47. Attaching the vertices\n"
      << "      beyond the last full hyperplane by their last dimension only gives 74 and 48, but misses elsewhere.\n\n"
      << "61 of the 63 published numbers are ceil(sum of extents / 2): an estimate, not the diameter. " << same
      << " are exact,\n"
      << differ << " differ from the exact diameter, " << unknown
      << " are known by a sample only. The true diameter is mostly less; in 45 of 2,090\n"
         "small networks (2 to 419 vertices, n = 2 to 6) it is one more, so a time to live must not be taken from "
         "it.\n\n"
      << "Least degree for at most " << o.budget << " steps\n\n"
      << choice.text() << "\n  ?  by the estimate, where the exact diameter is not known\n\n"
      << "took " << seconds_text(seconds) << '\n';
}

/// Runs announce table3. Every rank computes the table, rank 0 reports. @return 1 if an entry is not reproduced
int run(Table3Options& o, const Invocation& in) {
  const double start = now();
  std::vector<std::vector<DiameterEntry>> rows;
  for (const auto& machine : published_machines().first(static_cast<std::size_t>(o.machines)))
    rows.push_back(fill(machine, o.exact));
  const double seconds = now() - start;
  std::vector<std::string> complaints;
  Json cells = Json::array();
  for (const auto& row : rows) {
    for (const DiameterEntry& c : row) {
      if (auto text = check_cell(c); !text.empty()) complaints.push_back(std::move(text));
      cells.push_back(cell_json(c));
    }
  }
  if (comm::launcher_world().rank != 0) return complaints.empty() ? 0 : 1;
  if (o.json != "-") print(rows, o, seconds);
  for (const auto& text : complaints) std::cout << "not reproduced: " << text << '\n';
  if (!o.json.empty()) {
    Json record = make_record(in, {});
    record["timings"]["table"] = seconds;
    record["result"] = {{"cells", cells}, {"reproduced", complaints.empty()}, {"complaints", complaints}};
    write_record(o.json, record);
  }
  return complaints.empty() ? 0 : 1;
}

constexpr std::string_view kAnnounceTable3Text =
    "The diameters of Manhattan Street Networks for seven machines, as published, beside exact ones: searched now up\n"
    "to 30,000 vertices; above that a sample now, and the exact number where a search from every vertex is on record.\n"
    "Takes about 20 s on a free core. Ends with 1 if a published number that follows the rule is not reproduced, or a "
    "search\n"
    "contradicts the record.\n\n"
    "  merganser announce table3\n"
    "  merganser announce table3 --budget 20 --json table3.json\n";

}  // namespace

extern const Command announce_table3_command;
const Command announce_table3_command = make_command<Table3Options, run>(
    "announce table3", "diameters of announcement networks, published and exact", kAnnounceTable3Text);

}  // namespace merganser::app
