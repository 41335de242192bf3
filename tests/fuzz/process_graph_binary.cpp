// requires: graph
/// Reads a process graph in the binary layout.
#include "src/graphs/process_files/formats.hpp"
#include "tests/fuzz/support/process_graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_process_graph_binary(std::string_view input) {
  return feed_process_graph(graphs::detail::parse_binary, input);
}

}  // namespace

extern const Target process_graph_binary_target{"process_graph_binary", 4096, feed_process_graph_binary};

}  // namespace merganser::fuzz
