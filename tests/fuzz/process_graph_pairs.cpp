// requires: graph
/// Reads a process graph as pairs of ranks.
#include "src/graphs/process_files/formats.hpp"
#include "tests/fuzz/support/process_graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_process_graph_pairs(std::string_view input) { return feed_process_graph(graphs::detail::parse_pairs, input); }

}  // namespace

extern const Target process_graph_pairs_target{"process_graph_pairs", 4096, feed_process_graph_pairs};

}  // namespace merganser::fuzz
