// requires: graph
/// Reads a graph whose format its content shows.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_seen(std::string_view input) { return feed_graph(make_file("graph", input), "", input); }

}  // namespace

extern const Target graph_seen_target{"graph_seen", 4096, feed_graph_seen};

}  // namespace merganser::fuzz
