// requires: graph
/// Reads a METIS file of a graph.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_metis(std::string_view input) { return feed_graph(make_file("graph.metis", input), "metis", input); }

}  // namespace

extern const Target graph_metis_target{"graph_metis", 16384, feed_graph_metis};

}  // namespace merganser::fuzz
