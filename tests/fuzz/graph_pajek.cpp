// requires: graph
/// Reads a network of Pajek.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"
#include "tests/graphs/whole_graph.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_pajek(std::string_view input) {
  const std::string path = make_file("graph.net", input);
  const bool read = feed_graph(path, "pajek", input);
  // With names fewer files are read, and the edges are the same.
  graphs::ReadOptions options;
  options.format = "pajek";
  options.names = true;
  test::WholeGraph named;
  if (read_or_refuse([&] { named = test::read_whole(path, options); })) {
    require(read, "a file is read only with names");
    require(named.edges == test::read_whole(path, {"pajek"}).edges, "with names the graph is another");
  }
  return read;
}

}  // namespace

extern const Target graph_pajek_target{"graph_pajek", 4096, feed_graph_pajek};

}  // namespace merganser::fuzz
