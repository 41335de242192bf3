// topo gen: makes artificial process graphs. A graph is a function of the options alone; ranks beyond the first do nothing.
#include <fmt/core.h>

#include <chrono>
#include <iostream>
#include <sstream>

#include "apps/frame/ranks.hpp"
#include "apps/frame/table.hpp"
#include "apps/topo/graph_facts.hpp"
#include "apps/topo/known_words.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/neve_generator.hpp"
#include "merganser/graphs/process_graph_files.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"

namespace merganser::app {
namespace {

/// Options of topo gen, filled by the option parser.
struct TopoGenOptions {
  std::string kind;                   ///< kind of process graph, perhaps with a parameter, such as "rgg:5"
  graphs::ProcessGraphOptions graph;  ///< ranks, seed and parameters of the kind
  std::string compat;                 ///< "neve": the published generator; empty: our own
  bool lcg = false;                   ///< true: the published generator's other random numbers
  std::string output;                 ///< file to write the process graph to; empty: none
  std::string format;                 ///< format of `output`; empty: by its extension
  std::string json;                   ///< path of topo gen's run record; empty: none
};

/// Lists the command-line options of topo gen, with their help texts and checks, for the option parser.
template <class V>
void describe(TopoGenOptions& o, V&& option) {
  option.positional("KIND", o.kind, "kind of graph, as listed above, perhaps with :PARAMETER", Required{},
                    known_process_graphs());
  option.section("Output");
  option("output", o.output, "file to write; without it the graph is only told of", Letter{'o'}, Kind{"FILE"},
         Writes{});
  option("format", o.format, "binary, adjacency, pairs, matrix-market or metis", Kind{"NAME"},
         ShownDefault{"by the file's extension"}, UsedWith{"--output"}, known_process_formats());
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option.section("Graph");
  option("ranks", o.graph.ranks, "ranks of the graph", at_least(1), own_ranks_advice("-n"));
  option("seed", o.graph.seed, "seed; the graph is a function of it and the options alone",
         UsedWith{"KIND random*|small-world*|power-law*|geometric*|rgg*"});
  option("degree", o.graph.degree,
         "random: degree of every rank; small-world, power-law: even; geometric, rgg: mean degree of the process graph",
         at_least(0), ShownDefault{"that of the kind"},
         UsedWith{"KIND random*|small-world*|power-law*|geometric*|rgg*"},
         NotWith{"KIND random:*|small-world:*|power-law:*|geometric:*|rgg:*", "--compat"});
  option("dims", o.graph.dims, "torus, grid: ranks along x, y, z", at_least(1), ShownDefault{"as equal as can be"},
         UsedWith{"KIND torus*|grid*"}, NotWith{"KIND torus*:*|grid*:*"});
  option("periodic", o.graph.periodic, "torus: periodic axes, as letters", UsedWith{"KIND torus*"});
  option("rewire", o.graph.rewire, "small-world: share of the edges that get a new end", between(0, 1),
         UsedWith{"KIND small-world*"});
  option("senders", o.graph.fan_in, "incast: ranks that send to rank 0", at_least(1), ShownDefault{"all others"},
         UsedWith{"KIND incast*"}, NotWith{"KIND incast:*"});
  option.section("Random geometric graph of vertices (rgg)");
  option("vertices", o.graph.vertices, "vertices per rank", at_least(1), UsedWith{"KIND rgg*"});
  option("cross", o.graph.cross, "cross edges in percent of the vertex edges", at_least(0), UsedWith{"KIND rgg*"},
         NotWith{"KIND rgg:*", "--degree"});
  option("ghost-bytes", o.graph.ghost_bytes, "weight of an arc per ghost vertex; 0: every weight is 1", at_least(0),
         UsedWith{"KIND rgg*"}, NotWith{"--compat"});
  option("compat", o.compat, "neve: the published generator, bit for bit but for its cross edges, which have --seed",
         Words{{"neve"}}, UsedWith{"KIND rgg*"});
  option("lcg", o.lcg, "with --compat neve: its other random numbers, with their overflow", UsedWith{"--compat"});
}

/// Formats the cross edges of a random geometric graph: share of its vertex edges in percent, number, seed.
std::string cross_text(double percent, std::int64_t edges, std::uint64_t seed) {
  return fmt::format("{} % cross edges: {}, seed {}", number_text(percent), count_text(edges), seed);
}

/// Generates the process graph of the published generator (topo gen --compat neve), and prints and records how a correct one
/// differs: vertex edges, lost pairs, cross edges, arcs.
graphs::ProcessGraph make_published(const TopoGenOptions& o, Json& result, std::ostream& out) {
  graphs::PublishedOptions p;
  p.ranks = o.graph.ranks;
  p.vertices = o.graph.vertices;
  p.cross = o.graph.cross;
  p.seed = o.graph.seed;
  p.numbers = o.lcg ? graphs::PublishedNumbers::lcg : graphs::PublishedNumbers::minstd;
  graphs::PublishedGraph g = graphs::generate_published(p);
  const graphs::GeneratedProcessGraph correct = graphs::generate_process_graph("rgg", o.graph);
  Table table({"", "neve" + std::string(o.lcg ? " --lcg" : ""), "merganser"});
  table.row({"seed of the points", std::to_string(graphs::kPublishedSeed), std::to_string(o.graph.seed)});
  table.row({"vertex edges", count_text(g.edges), count_text(correct.vertex_edges)});
  table.row({"vertex edges, directed", count_text(2 * g.edges), count_text(2 * correct.vertex_edges)});
  table.row({"pairs lost", count_text(g.lost_pairs), "0"});
  table.row({"cross edges asked for", count_text(g.tries), count_text(correct.cross_edges)});
  table.row({"cross edges added", count_text(g.added), count_text(correct.cross_edges)});
  table.row({"arcs of the process graph", count_text(g.graph.arcs()), count_text(correct.graph.arcs())});
  out << table.text() << "radius " << number_text(g.radius) << ", " << cross_text(p.cross, g.tries, p.seed) << '\n';
  result["published"] = {{"points_seed", graphs::kPublishedSeed},
                         {"vertex_edges", g.edges},
                         {"percent_base", g.percent_base},
                         {"lost_pairs", g.lost_pairs},
                         {"cross_edges_tried", g.tries},
                         {"cross_edges_added", g.added},
                         {"radius", g.radius}};
  result["correct"] = {{"vertex_edges", correct.vertex_edges},
                       {"cross_edges", correct.cross_edges},
                       {"graph", graph_json(correct.graph)}};
  return std::move(g.graph);
}

/// Generates a process graph of one of the kinds of topo gen, and prints and records its dimensions, radius and edges.
graphs::ProcessGraph make_own(const TopoGenOptions& o, std::string_view kind, Json& result, std::ostream& out) {
  graphs::GeneratedProcessGraph g = graphs::generate_process_graph(kind, o.graph);
  if (!g.dims.empty()) result["dims"] = g.dims;
  if (g.radius > 0) result["radius"] = g.radius;
  if (kind == "rgg") {
    result["vertex_edges"] = g.vertex_edges;
    result["cross_edges"] = g.cross_edges;
    out << count_text(g.vertex_edges) << " vertex edges up to the radius " << number_text(g.radius) << "; ";
    if (o.graph.degree > 0)
      out << count_text(g.cross_edges) << " cross edges between ranks, seed " << o.graph.seed << '\n';
    else
      out << cross_text(o.graph.cross, g.cross_edges, o.graph.seed) << '\n';
  }
  return std::move(g.graph);
}

/// Runs topo gen on the first process of a job: generates a process graph, writes it and prints its properties.
int run(TopoGenOptions& o, const Invocation& in) {
  if (comm::launcher_world().rank > 0) return 0;  // one process makes the graph
  const std::string kind(graphs::parse_process_graph_text(o.kind, o.graph));
  graphs::ProcessGraphFormat format{};
  if (!o.output.empty())
    format = o.format.empty() ? graphs::process_format_from_path(o.output) : graphs::parse_process_format(o.format);

  std::ostringstream out;
  Json result = {{"kind", kind}, {"seed", o.graph.seed}};
  const auto start = std::chrono::steady_clock::now();
  const graphs::ProcessGraph graph = o.compat.empty() ? make_own(o, kind, result, out) : make_published(o, result, out);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  out << kind << ", seed " << o.graph.seed << ": " << graph_text(graph);
  if (!o.output.empty()) {
    graphs::write_process_graph(o.output, graph, format);
    out << o.output << ": " << graphs::to_string(format) << '\n';
  }
  if (can_print_report(in.table)) std::cout << out.str();
  if (o.json.empty()) return 0;  // a digest of the graph takes time
  result["graph"] = graph_json(graph);
  result["seconds"] = seconds.count();
  if (!o.output.empty()) result["file"] = {{"path", o.output}, {"format", graphs::to_string(format)}};
  write_result(o.json, in, std::move(result), {graph.ranks(), "", "", "", ""});
  return 0;
}

constexpr std::string_view kTopoGenText =
    "Makes an artificial process graph: who sends to whom. It is a function of the options alone.\n\n"
    "  chain, ring                       ranks in a row, open or closed\n"
    "  torus[:4x2], torus1d, 2d, 3d      periodic grids; grid[:4x2], grid1d, 2d, 3d with walls\n"
    "  complete                          every pair\n"
    "  incast[:SENDERS]                  directed: ranks 1 to SENDERS send to rank 0\n"
    "  random[:DEGREE]                   every rank has the same number of random neighbours\n"
    "  small-world[:DEGREE]              a ring of near neighbours with some edges moved\n"
    "  power-law[:DEGREE]                preferential attachment\n"
    "  geometric[:DEGREE]                ranks as random points, near ones joined\n"
    "  rgg[:PERCENT]                     random geometric graph of vertices in strips, cross edges in percent\n\n"
    "  merganser topo gen rgg --ranks 16 --cross 2 -o g.bin\n"
    "  merganser topo gen rgg --ranks 1024 --degree 16 --ghost-bytes 8 -o g.txt\n"
    "  merganser topo gen rgg --ranks 16 --cross 2 --compat neve -o published.bin\n"
    "  merganser topo gen torus:4x4x2 --ranks 32 --periodic xy\n";

}  // namespace

extern const Command topo_gen_command;
const Command topo_gen_command =
    make_command<TopoGenOptions, run>("topo gen", "make an artificial process graph", kTopoGenText);

}  // namespace merganser::app
