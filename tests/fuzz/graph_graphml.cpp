// requires: graph expat
/// Reads a graph in GraphML.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"
#include "tests/graphs/whole_graph.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_graphml(std::string_view input) {
  const std::string path = make_file("graph.graphml", input);
  const bool read = feed_graph(path, "graphml", input);
  // With names fewer files are read, and the edges are the same.
  graphs::ReadOptions options;
  options.format = "graphml";
  options.names = true;
  test::WholeGraph named;
  if (read_or_refuse([&] { named = test::read_whole(path, options); })) {
    require(read, "a file is read only with names");
    require(named.edges == test::read_whole(path, {"graphml"}).edges, "with names the graph is another");
  }
  return read;
}

}  // namespace

extern const Target graph_graphml_target{"graph_graphml", 4096, feed_graph_graphml};

}  // namespace merganser::fuzz
