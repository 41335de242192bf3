// The command announce table2: degree and diameter of announcement networks for the machines of Table II, and the formulas of
// Table I, of [berghoff2018].
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

using namespace announce;
using namespace studies;

/// Options of announce table2, filled by the option parser.
struct Table2Options {
  int budget = 28;     ///< steps that an announcement may take
  bool exact = false;  ///< true: search for diameters from every vertex, without limit
  int machines = 7;    ///< number of rows: the first of the machines
  std::string json;    ///< path of the record of announce table2; empty: none
};

/// Lists the command-line options of announce table2, with their help texts and checks, for the option parser.
template <class V>
void describe(Table2Options& o, V&& option) {
  option("budget", o.budget, "steps that an announcement may take; decides the dimension of the boxes", at_least(1));
  option("machines", o.machines, "rows: the first of the machines", between(1, 7), Hidden{});
  option("exact", o.exact, "search from every vertex whatever it takes: hours for millions of vertices");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
}

/// Degree and diameter of one announcement network over the processes of one machine.
struct NetworkEntry {
  std::string network;     ///< kind and extents of the network
  int degree;              ///< messages that a rank sends in a step
  KnownDiameter diameter;  ///< steps that an announcement takes
};
/// Row of Table II: all announcement networks over the processes of one machine. Made by fill().
struct MachineRow {
  const PublishedMachine* machine;
  std::vector<NetworkEntry> entries;  ///< degrees and diameters by network, in the order of network_names()
};

/// Computes degree and diameter of all announcement networks over the processes of one machine.
MachineRow fill(const PublishedMachine& machine, const Table2Options& o) {
  MachineRow row{&machine, {}};
  const int n = machine.degree_within(o.budget);
  for (const auto name : network_names()) {
    const auto network = make_network(name, machine.processes, name == "torus" ? (n + 1) / 2 : n);
    row.entries.push_back({network->describe(), network->degree(), known_diameter(*network, o.exact)});
  }
  return row;
}

/// Makes the object "result" in the record of announce table2: entries of Tables I and II, published and found.
Json record_json(const std::vector<RegularNetwork>& table1, const std::vector<MachineRow>& table2) {
  Json out;
  for (const RegularNetwork& f : table1) {
    out["table1"].push_back({{"network", f.network},
                             {"published_degree", f.published_degree},
                             {"degree", f.degree},
                             {"published_diameter", f.published_diameter},
                             {"diameter", f.diameter},
                             {"must_be_as_published", f.must},
                             {"note", f.note}});
  }
  for (const MachineRow& row : table2) {
    Json networks = Json::array();
    for (const NetworkEntry& e : row.entries) {
      networks.push_back({{"network", e.network},
                          {"degree", e.degree},
                          {"diameter", e.diameter.value()},
                          {"exact", e.diameter.exact()},
                          {"how", e.diameter.found.how}});
    }
    out["table2"].push_back({{"machine", row.machine->name},
                             {"cores_table2", row.machine->cores},
                             {"processes_table3", row.machine->processes},
                             {"networks", networks}});
  }
  return out;
}

/// Prints Tables I and II of announcement networks, published numbers beside those found.
void print(const std::vector<RegularNetwork>& table1, const std::vector<MachineRow>& table2) {
  Table regular({"regular network", "degree", "published", "diameter", "published", ""});
  for (const RegularNetwork& f : table1) {
    regular.row({f.network, std::to_string(f.degree), std::to_string(f.published_degree), std::to_string(f.diameter),
                 std::to_string(f.published_diameter),
                 f.as_published() ? "as published"
                 : f.must         ? "NOT REPRODUCED"
                                  : "differs (" + f.note + ")"});
  }
  Table machines({"machine", "cores", "manhattan", "torus", "hypercube", "debruijn"});
  for (const MachineRow& row : table2) {
    std::vector<std::string> cells{
        row.machine->name, count_text(row.machine->cores) + (row.machine->cores != row.machine->processes ? "*" : "")};
    for (const NetworkEntry& e : row.entries) cells.push_back(fmt::format("{} / {}", e.degree, e.diameter.to_string()));
    machines.row(cells);
  }
  std::cout
      << "Degree and diameter of regular networks, searched, beside the formulas of Table I\n\n"
      << regular.text()
      << "\n  (a) Eq. (1) adds 1 only where 4 divides every extent\n  (b) Eq. (1) is for even extents\n\nThe machines "
         "of Table II: degree / diameter of four networks over all cores\n\n"
      << machines.text()
      << "\n  >=  from a sample of vertices: a lower bound, the others are exact\n"
         "  *   Table III has 114,486 processes for these 114,480 cores; one of them is a slip. 114,486 is taken.\n\n"
         "Degree is what a rank sends in a step, diameter the steps that an announcement takes. manhattan has the\n"
         "least degree whose published diameter is within the budget, torus as many dimensions as make that degree\n"
         "(one more arc where it is odd), debruijn the degree of manhattan. debruijn reaches more with as many arcs,\n"
         "hypercube with more; manhattan and torus let the dimension choose.\n";
}

/// Runs announce table2. Every rank computes the tables, rank 0 reports. @return 1 if a published number that must be reproduced is
/// not, or a search contradicts a recorded diameter
int run(Table2Options& o, const Invocation& in) {
  const double start = now();
  const auto table1 = regular_networks();
  std::vector<MachineRow> table2;
  for (const auto& machine : published_machines().first(static_cast<std::size_t>(o.machines)))
    table2.push_back(fill(machine, o));
  bool good = true;
  for (const RegularNetwork& f : table1) good = good && (!f.must || f.as_published());
  for (const MachineRow& row : table2) {
    for (const NetworkEntry& e : row.entries) good = good && e.diameter.consistent();
  }
  if (comm::launcher_world().rank != 0) return good ? 0 : 1;
  const double seconds = now() - start;
  if (o.json != "-") {
    print(table1, table2);
    std::cout << "\ntook " << seconds_text(seconds) << '\n';
  }
  if (!o.json.empty()) {
    Json record = make_record(in, {});
    record["timings"]["table"] = seconds;
    record["result"] = record_json(table1, table2);
    record["result"]["reproduced"] = good;
    write_record(o.json, record);
  }
  return good ? 0 : 1;
}

constexpr std::string_view kAnnounceTable2Text =
    "Degree and diameter of four networks: regular ones beside the published formulas (Table I), and over all cores "
    "of\n"
    "the published machines (Table II). Takes about 10 s on a free core. Ends with 1 if a published number that must "
    "be\n"
    "reproduced is not.\n\n"
    "  merganser announce table2\n"
    "  merganser announce table2 --budget 20 --json table2.json\n";

}  // namespace

extern const Command announce_table2_command;
const Command announce_table2_command = make_command<Table2Options, run>(
    "announce table2", "degree and diameter of announcement networks by machine", kAnnounceTable2Text);

}  // namespace merganser::app
