// requires: graph
/// Reads a graph in merganser's own format.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_binary(std::string_view input) { return feed_graph(make_file("graph.mgr", input), "binary", input); }

}  // namespace

extern const Target graph_binary_target{"graph_binary", 4096, feed_graph_binary};

}  // namespace merganser::fuzz
