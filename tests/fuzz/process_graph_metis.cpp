// requires: graph
/// Reads a process graph in a METIS file.
#include "src/graphs/process_files/formats.hpp"
#include "tests/fuzz/support/process_graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_process_graph_metis(std::string_view input) { return feed_process_graph(graphs::detail::parse_metis, input); }

}  // namespace

extern const Target process_graph_metis_target{"process_graph_metis", 4096, feed_process_graph_metis};

}  // namespace merganser::fuzz
