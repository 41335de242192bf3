// requires: graph
/// Reads a process graph in a Matrix Market file.
#include "src/graphs/process_files/formats.hpp"
#include "tests/fuzz/support/process_graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_process_graph_matrix_market(std::string_view input) {
  return feed_process_graph(graphs::detail::parse_matrix_market, input);
}

}  // namespace

extern const Target process_graph_matrix_market_target{"process_graph_matrix_market", 4096,
                                                       feed_process_graph_matrix_market};

}  // namespace merganser::fuzz
