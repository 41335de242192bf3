// requires: graph
/// Reads a ParHIP file.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_parhip(std::string_view input) { return feed_graph(make_file("graph.parhip", input), "parhip", input); }

}  // namespace

extern const Target graph_parhip_target{"graph_parhip", 4096, feed_graph_parhip};

}  // namespace merganser::fuzz
