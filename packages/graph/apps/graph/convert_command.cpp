// Command merganser graph convert: converts graph files from one format to another, and writes generated graphs.
#include <iostream>

#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "apps/graph/input.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/graphs/files.hpp"

namespace merganser::app {
namespace {

/// Options of the command merganser graph convert.
struct GraphConvertOptions {
  GraphInput input;    ///< graph file to be read, or graph to be generated
  std::string output;  ///< path of the file to be written; empty: none
  std::string to;      ///< --to: format of the output; empty: by its extension
  RankOptions ranks;
  std::string json;  ///< --json: path of the run record; empty: none, "-": standard output
};

/// Describes the options of the command merganser graph convert.
void describe(GraphConvertOptions& o, auto&& option) {
  option.positional(
      "GRAPH", o.input.file,
      "graph to read (packages/graph/docs/graph-files.md), - for standard input; of a BVGraph its name without "
      "extension",
      Reads{});
  option.positional("OUT", o.output, "file to write; without it the graph is only told of; with --gen the only file",
                    Writes{}, Instead{"-o", "{command} takes the file to write as its last argument: {value}"},
                    Instead{"--output", "{command} takes the file to write as its last argument: {value}"});
  describe_graph_options(o.input, option);
  option.section("Output");
  option("to", o.to, "format of OUT: edge-list, matrix-market, metis, dimacs, parhip, binary", Kind{"NAME"},
         ShownDefault{"by its extension"}, UsedWith{"OUT", "--gen"},
         Proposes{{"edge-list", "matrix-market", "metis", "dimacs", "parhip", "binary"}});
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  describe(o.ranks, option);
}

/// Prints the report of a graph's conversion and writes the run record. Called on rank 0. @param seconds  time of writing the file
void report(const GraphConvertOptions& o, const Invocation& in, comm::Transport& t, const LoadedGraph& loaded,
            double seconds) {
  if (can_print_report(in.table)) {
    std::cout << graph_input_text(loaded.facts) << '\n';
    for (const std::string& line : loaded.lines) std::cout << "  " << line << '\n';
    std::cout << "  read or made in " << seconds_text(loaded.seconds) << " on " << t.size()
              << (t.size() == 1 ? " rank\n" : " ranks\n");
    if (!o.output.empty()) std::cout << o.output << ": written in " << seconds_text(seconds) << '\n';
  }
  if (o.json.empty()) return;
  Json record = make_record(in, {t.size(), std::string(t.name()), std::string(t.choice()), o.ranks.decorators, ""});
  record["graph"] = loaded.facts;
  record["graph"]["notes"] = loaded.lines;
  record["timings"] = {{"load_seconds", loaded.seconds}, {"write_seconds", seconds}};
  write_record(o.json, record);
}

/// Estimates the disk space of the graph file to be written and the memory for writing it, per edge and vertex: METIS and ParHIP
/// files hold both arcs of each edge.
AfterLoading estimate_writing(const GraphConvertOptions& o, graphs::Format format) {
  if (o.output.empty()) return {};
  AfterLoading after;
  const bool both = format == graphs::Format::metis || format == graphs::Format::parhip;
  after.bytes_per_edge = both ? 2 * 24 : 0;
  after.disk_bytes_per_edge = both ? 16 : 12;
  after.disk_bytes_per_vertex = both ? 2 : 0;
  after.file = o.output;
  return after;
}

/// Runs the command merganser graph convert: reads or generates a graph on all ranks, and writes it. @return the exit status
/// @throws UsageError for options that contradict each other
int run(GraphConvertOptions& o, const Invocation& in) {
  o.input.seed_given = in.table.is_given("seed");
  // With --gen the only positional argument is the file to write.
  if (!o.input.gen.empty() && o.output.empty()) std::swap(o.input.file, o.output);
  if (o.output.empty() && !o.to.empty()) throw UsageError("--to without OUT; allowed: with it");
  const graphs::Format format = o.output.empty() ? graphs::Format::binary
                                : o.to.empty()   ? graphs::format_from_path(o.output)
                                                 : graphs::parse_format(o.to);
  graphs::check_writable(format);
  return run_on_ranks(o.ranks, [&](comm::Transport& t) {
    collective_try([&] {
      comm::agree(t, [&] {
        if (t.rank() == 0 && !o.output.empty()) check_output(o.output);
      });
      LoadedGraph loaded = load_graph(o.input, t, estimate_writing(o, format));
      if (!o.output.empty()) note_lost_names(loaded, loaded.graph, o.output, format, t);
      const double start = now();
      if (!o.output.empty()) graphs::write_graph(o.output, loaded.graph, format, t);
      const double seconds = now() - start;
      comm::agree(t, [&] {
        if (t.rank() == 0) report(o, in, t, loaded, seconds);
      });
    });
  });
}

constexpr std::string_view kGraphConvertText =
    "Reads a graph in any format, or makes one, tells of it and writes it in another. Directed arcs become undirected\n"
    "edges, loops and repetitions are dropped, and a graph without weights gets made ones: the output says so.\n"
    "Extensions: .txt .tsv .csv .el .edges edge list, .mtx Matrix Market, .metis .graph METIS, .gr .col DIMACS,\n"
    ".parhip .bgf ParHIP, .mgr binary, .net Pajek, .gml GML, .graphml GraphML (the last three are read\n"
    "only); text files may be compressed (.gz .bz2 .xz .zst).\n"
    "Names without extension: BVGraph. - is standard input.\n\n"
    "  merganser graph convert roads.gr roads.mgr\n"
    "  merganser graph convert --gen rmat:20:16 rmat.mgr\n"
    "  merganser run -n 4 -- graph convert web.txt.gz web.mgr --json record.json\n";

}  // namespace

extern const Command graph_convert_command;
const Command graph_convert_command = make_command<GraphConvertOptions, run>(
    "graph convert", "convert a file of a graph, or make one", kGraphConvertText);

}  // namespace merganser::app
