// topo convert: writes a process graph in another format, or on fewer ranks. Ranks of a job beyond the first do nothing.
#include <iostream>
#include <sstream>

#include "apps/topo/graph_facts.hpp"
#include "apps/topo/known_words.hpp"
#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/process_graph_files.hpp"

namespace merganser::app {
namespace {

/// Options of topo convert, filled by the option parser.
struct TopoConvertOptions {
  std::string input;   ///< process graph to read
  std::string output;  ///< file to write the process graph to; empty: none
  std::string from;    ///< format of `input`; empty: recognised by its content
  std::string format;  ///< format of `output`; empty: by its extension
  int ranks = 0;       ///< ranks of the coarsened graph; 0: as in `input`
  std::string json;    ///< path of topo convert's run record; empty: none
};

/// Lists the command-line options of topo convert, with their help texts and checks, for the option parser.
template <class V>
void describe(TopoConvertOptions& o, V&& option) {
  option.positional("IN", o.input, "process graph to read", Required{}, Reads{});
  option.positional("OUT", o.output, "file to write; without it the graph is only told of", Writes{},
                    Instead{"-o", "{command} takes the file to write as its last argument: {value}"},
                    Instead{"--output", "{command} takes the file to write as its last argument: {value}"});
  option.section("Formats: binary, adjacency, pairs, matrix-market, metis");
  option("from", o.from, "format of IN", Kind{"NAME"}, ShownDefault{"what IN holds"}, known_process_formats());
  option("format", o.format, "format of OUT", Kind{"NAME"}, ShownDefault{"by the extension of OUT"}, UsedWith{"OUT"},
         known_process_formats());
  option.section("Graph");
  option("ranks", o.ranks, "make it coarser: so many blocks of consecutive ranks, weights added", at_least(1),
         ShownDefault{"as in IN"});
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
}

/// Runs topo convert: reads a process graph, coarsens it if asked to, writes it in another format and prints its properties.
int run(TopoConvertOptions& o, const Invocation& in) {
  if (comm::launcher_world().rank > 0) return 0;  // one process converts
  graphs::ProcessGraphFormat format{};
  if (!o.output.empty())
    format = o.format.empty() ? graphs::process_format_from_path(o.output) : graphs::parse_process_format(o.format);
  graphs::ProcessGraph graph = o.from.empty()
                                   ? graphs::read_process_graph(o.input)
                                   : graphs::read_process_graph(o.input, graphs::parse_process_format(o.from));
  std::ostringstream out;
  out << o.input << ": " << graph_text(graph);
  if (o.ranks > 0) {
    graph = graph.coarsened(o.ranks);
    out << "coarser: " << graph_text(graph);
  }
  if (!o.output.empty()) {
    graphs::write_process_graph(o.output, graph, format);
    out << o.output << ": " << graphs::to_string(format) << '\n';
  }
  if (can_print_report(in.table)) std::cout << out.str();
  if (o.json.empty()) return 0;  // a digest of the graph takes time
  write_result(o.json, in, {{"graph", graph_json(graph)}}, {graph.ranks(), "", "", "", ""});
  return 0;
}

constexpr std::string_view kTopoConvertText =
    "Reads a process graph in any format, tells of it and writes it in another. Extensions: .bin binary (the layout "
    "of\n"
    "NEVE), .txt adjacency, .adj pairs (as OSU's neighbourhood benchmarks read), .mtx Matrix Market, .graph and "
    ".metis\n"
    "METIS.\n\n"
    "  merganser topo convert g.bin g.mtx\n"
    "  merganser topo convert app.bin app-4.bin --ranks 4\n";

}  // namespace

extern const Command topo_convert_command;
const Command topo_convert_command =
    make_command<TopoConvertOptions, run>("topo convert", "convert a file of a process graph", kTopoConvertText);

}  // namespace merganser::app
