// requires: graph
#include "tests/fuzz/support/graphs.hpp"

#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/target.hpp"
#include "tests/graphs/whole_graph.hpp"

namespace merganser::fuzz {
namespace {

using graphs::Format;
using test::WholeGraph;

/// Value of a weight, whatever its type: a text file does not tell whether integers without a sign are of a signed type.
struct Value {
  bool whole;
  __extension__ __int128 integer;
  double real;
  friend bool operator==(const Value&, const Value&) = default;
};

Value weight_value(graphs::WeightKind kind, std::uint64_t bits) {
  if (kind == graphs::WeightKind::unsigned_integer) return {true, bits, 0};
  if (kind == graphs::WeightKind::signed_integer)
    return {true, static_cast<std::int64_t>(bits ^ (std::uint64_t{1} << 63)), 0};
  return {false, 0, weight_from_bits(kind, bits)};
}

bool is_same_graph(const WholeGraph& a, const WholeGraph& b) {
  return a.vertices == b.vertices && a.kind == b.kind && a.edge_bytes == b.edge_bytes && a.edges == b.edges &&
         a.names == b.names;
}

bool has_same_values(const WholeGraph& a, const WholeGraph& b) {
  if (a.vertices != b.vertices || a.edges.size() != b.edges.size()) return false;
  for (std::size_t i = 0; i < a.edges.size(); ++i) {
    const auto &x = a.edges[i], &y = b.edges[i];
    if (x.low != y.low || x.high != y.high || weight_value(a.kind, x.weight) != weight_value(b.kind, y.weight))
      return false;
  }
  return true;
}

void check_ids(const WholeGraph& graph) {
  for (const auto& e : graph.edges)
    require(e.low <= e.high && e.high < graph.vertices, "an edge whose ends are out of order or range");
  require(graph.names.empty() || graph.names.size() == graph.vertices, "names for some of the vertices");
}

/// @return false if the format cannot hold the graph
bool write(const std::string& from, const std::string& format, const std::string& to, Format as) {
  return read_or_refuse([&] {
    static_cast<void>(test::on_threads(1, [&](comm::Transport& t, graphs::ReadLog& log) {
      graphs::EdgeList graph = graphs::read_graph(from, {format}, t, log);
      graphs::write_graph(to, graph, as, t);
      return graph;
    }));
  });
}

void read_again(const std::string& path, const std::string& format, const WholeGraph& graph) {
  const std::string binary = make_path("again.mgr"), own = make_path("again");
  require(write(path, format, binary, Format::binary), "a graph that was read is not written in the binary format");
  require(is_same_graph(test::read_whole(binary), graph), "the binary format gives another graph");
  // Graphs with names are skipped: vertices whose edges are all loops have no line in a text file, so they would be missing.
  const Format as = graph.log.format;
  const bool read_only = as == Format::bvgraph || as == Format::pajek || as == Format::gml || as == Format::graphml;
  if (read_only || as == Format::binary || !graph.names.empty()) return;
  if (!write(path, format, own, as)) return;
  const WholeGraph again = test::read_whole(own, {std::string(to_string(as))});
  require(has_same_values(again, graph), "what was written in the format of the file is another graph");
}

}  // namespace

bool feed_graph(const std::string& path, const std::string& format, std::string_view input) {
  static_cast<void>(read_or_refuse([&] { static_cast<void>(graphs::forecast_file(path, {format}, 2)); }));
  WholeGraph graph;
  const bool read = read_or_refuse([&] { graph = test::read_whole(path, {format}); });
  if (read) check_ids(graph);
  if (is_selected(128, input)) {
    WholeGraph dealt;
    require(read_or_refuse([&] { dealt = test::read_whole(path, {format}, 3); }) == read,
            "one number of ranks reads the file, another does not");
    require(!read || is_same_graph(dealt, graph), "three ranks read another graph");
  }
  if (read && is_selected(32, input)) read_again(path, format, graph);
  return read;
}

}  // namespace merganser::fuzz
