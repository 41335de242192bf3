// requires: graph
/// Reads a process graph whose format its content shows.
#include "src/graphs/process_files/formats.hpp"
#include "tests/fuzz/support/process_graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_process_graph_seen(std::string_view input) { return feed_process_graph(graphs::detail::parse_any, input); }

}  // namespace

extern const Target process_graph_seen_target{"process_graph_seen", 4096, feed_process_graph_seen};

}  // namespace merganser::fuzz
