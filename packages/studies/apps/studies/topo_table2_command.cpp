// The command topo table2: reproduces Table 2 of [koutsouheras2024], arcs of process graphs.
#include <fmt/core.h>

#include <cmath>
#include <iostream>

#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "merganser/studies/neve_table2.hpp"

namespace merganser::app {
namespace {

/// Options of topo table2, filled by the option parser.
struct TopoTable2Options {
  std::uint64_t seed = 42;  ///< seed of the cross edges and of the correct graphs
  std::string json;         ///< path of the run record; empty: none
};

/// Lists the command-line options of topo table2, with their help texts, for the option parser.
template <class V>
void describe(TopoTable2Options& o, V&& option) {
  option("seed", o.seed, "seed of the cross edges and of the correct graphs");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
}

/// Formats the deviation of a number of arcs from the expected one, in standard deviations: "exact" or "wrong" if not random.
std::string score_text(double z, bool random) {
  if (!std::isfinite(z)) return "wrong";
  return random ? fixed_text(z, 2) : "exact";
}

/// Makes the two tables of topo table2: arcs of process graphs (published, generated, expected), and vertex edges by ranks.
std::string table_text(const std::vector<studies::Table2Row>& rows) {
  Table table(
      {"ranks", "cross", "published", "ours", "formula", "sigma", "z", "z published", "correct", "z correct", ""});
  Table edges({"ranks", "vertex edges: known", "ours", "correct"});
  for (const auto& row : rows) {
    for (const auto& c : row.cells) {
      table.row({std::to_string(row.ranks), fmt::format("{} %", c.percent), count_text(c.published), count_text(c.ours),
                 fixed_text(c.expected.mean, 1), fixed_text(c.expected.deviation, 1), score_text(c.z, c.random),
                 score_text(c.published_z, c.random), count_text(c.correct), score_text(c.correct_z, c.random),
                 c.ok ? "ok" : "DIFFERS"});
    }
    edges.row({std::to_string(row.ranks), count_text(row.known_edges),
               count_text(row.edges) + (row.edges == row.known_edges ? "" : " DIFFERS"),
               count_text(row.correct_edges)});
  }
  return table.text() + '\n' + edges.text();
}

/// Returns a deviation for the record of topo table2; null where it is infinite.
Json number_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

/// Makes the list "rows" in the record of topo table2: for each number of ranks its entries and counts of vertex edges.
Json table_json(const std::vector<studies::Table2Row>& rows) {
  const auto cell = [](const auto& c) {
    return Json{{"cross_percent", c.percent},
                {"published", c.published},
                {"ours", c.ours},
                {"tries", c.tries},
                {"formula", c.expected.mean},
                {"sigma", c.expected.deviation},
                {"random", c.random},
                {"z", number_or_null(c.z)},
                {"z_published", number_or_null(c.published_z)},
                {"correct", c.correct},
                {"z_correct", number_or_null(c.correct_z)},
                {"ok", c.ok}};
  };
  return json_list(rows, [&](const studies::Table2Row& row) {
    return Json{{"ranks", row.ranks},
                {"known_vertex_edges", row.known_edges},
                {"vertex_edges", row.edges},
                {"correct_vertex_edges", row.correct_edges},
                {"ok", row.ok()},
                {"entries", json_list(row.cells, cell)}};
  });
}

/// Runs topo table2 on the first process of a job. @throws VerificationError if an entry of the published table is not reproduced
int run(TopoTable2Options& o, const Invocation& in) {
  if (comm::launcher_world().rank > 0) return 0;  // one process makes the graphs
  const auto rows = studies::check_table2(o.seed);
  int entries = 0, good = 0, edges = 0;
  for (const auto& row : rows) {
    for (const auto& c : row.cells) ++entries, good += c.ok ? 1 : 0;
    edges += row.edges == row.known_edges ? 1 : 0;
  }
  if (o.json != "-")
    std::cout << "Arcs of process graphs, 4,096 vertices a rank, points of seed " << graphs::kPublishedSeed
              << ", cross edges of seed " << o.seed << ".\n"
              << table_text(rows) << "\n"
              << good << " of " << entries << " entries agree (exactly, or within 4 deviations where chance decides); "
              << edges << " of " << rows.size() << " counts of vertex edges agree exactly\n";
  write_result(o.json, in,
               {{"entries", entries}, {"agree", good}, {"edge_counts_agree", edges}, {"rows", table_json(rows)}});
  if (good == entries && edges == static_cast<int>(rows.size())) return 0;
  throw VerificationError(fmt::format("{} entries and {} counts of edges differ; allowed: none", entries - good,
                                      static_cast<int>(rows.size()) - edges));
}

constexpr std::string_view kTopoTable2Text =
    "Makes the graphs of the published table of process graphs again (16 to 1,024 ranks, without cross edges and with\n"
    "2 % and 5 %), by the published generator and by the correct one, and compares with the table's entries and with "
    "the\n"
    "expected number p (p - 1) - (p - 1) (p - 2) exp(-2 m / p^2) for m cross edges. Exit code 1 if one differs.\n\n"
    "  merganser topo table2 --json table2.json\n";

}  // namespace

extern const Command topo_table2_command;
const Command topo_table2_command = make_command<TopoTable2Options, run>(
    "topo table2", "make the published table of process graphs again", kTopoTable2Text);

}  // namespace merganser::app
