// requires: graph
/// Reads an edge list.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_edge_list(std::string_view input) {
  return feed_graph(make_file("graph.txt", input), "edge-list", input);
}

}  // namespace

extern const Target graph_edge_list_target{"graph_edge_list", 16384, feed_graph_edge_list};

}  // namespace merganser::fuzz
