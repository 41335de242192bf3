// requires: nothing
/// Reads a METIS file of a graph.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed(std::string_view input) { return feed_graph(file_of("graph.metis", input), "metis", input); }

}  // namespace

extern const Target graph_metis_target{"graph_metis", 16384, feed};

}  // namespace merganser::fuzz
