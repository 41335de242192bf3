// requires: graph
/// Reads a Matrix Market file of a graph.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_matrix_market(std::string_view input) {
  return feed_graph(make_file("graph.mtx", input), "matrix-market", input);
}

}  // namespace

extern const Target graph_matrix_market_target{"graph_matrix_market", 16384, feed_graph_matrix_market};

}  // namespace merganser::fuzz
