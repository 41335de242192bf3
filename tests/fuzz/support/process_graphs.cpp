// requires: graph
#include "tests/fuzz/support/process_graphs.hpp"

#include "src/graphs/process_files/formats.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

using graphs::ProcessGraph;
using namespace graphs::detail;

void read_again(const std::string& bytes, ParseGraph parse, const ProcessGraph& graph) {
  require(parse("again", bytes) == graph, "what was written is another graph");
  require(parse_any("again", bytes) == graph, "what was written is another graph where the format is seen");
}

}  // namespace

bool feed_process_graph(ParseGraph parse, std::string_view input) {
  ProcessGraph graph;
  if (!read_or_refuse([&] { graph = parse("file", std::string(input)); })) return false;
  require(graph.ranks() >= 1, "a graph without ranks");
  // A graph of a million ranks without arcs takes a few bytes in some formats, and many in others.
  constexpr int kWritten = 512;
  if (graph.ranks() > kWritten) return true;
  read_again(serialize_binary(graph), parse_binary, graph);
  read_again(serialize_adjacency(graph), parse_adjacency, graph);
  read_again(serialize_pairs(graph), parse_pairs, graph);
  read_again(serialize_matrix_market(graph), parse_matrix_market, graph);
  std::string metis;
  if (read_or_refuse([&] { metis = serialize_metis("file", graph); })) read_again(metis, parse_metis, graph);
  return true;
}

}  // namespace merganser::fuzz
