// requires: graph
/// Reads a DIMACS file.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_dimacs(std::string_view input) { return feed_graph(make_file("graph.gr", input), "dimacs", input); }

}  // namespace

extern const Target graph_dimacs_target{"graph_dimacs", 16384, feed_graph_dimacs};

}  // namespace merganser::fuzz
