// requires: graph
/// Reads a process graph as lines of neighbours.
#include "src/graphs/process_files/formats.hpp"
#include "tests/fuzz/support/process_graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_process_graph_adjacency(std::string_view input) {
  return feed_process_graph(graphs::detail::parse_adjacency, input);
}

}  // namespace

extern const Target process_graph_adjacency_target{"process_graph_adjacency", 4096, feed_process_graph_adjacency};

}  // namespace merganser::fuzz
