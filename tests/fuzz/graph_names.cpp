// requires: graph
/// Reads an edge list whose vertices are named by text.
/// Three ranks must find the same edges and names as one, and what is written must be read as as many edges.
#include <algorithm>

#include "merganser/comm/runtime.hpp"
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"
#include "tests/graphs/whole_graph.hpp"

namespace merganser::fuzz {
namespace {

test::NamedGraph named_on(int ranks, const std::string& path, const std::string& copy = {}) {
  test::NamedGraph whole;
  graphs::ReadOptions options;
  options.format = "edge-list";
  options.names = true;
  std::vector<std::vector<std::string>> parts(static_cast<std::size_t>(ranks));
  whole.graph = test::on_threads(ranks, [&](comm::Transport& t, graphs::ReadLog& log) {
    graphs::EdgeList mine = graphs::read_graph(path, options, t, log);
    if (!copy.empty()) graphs::write_graph(copy, mine, graphs::Format::edge_list, t);
    parts[static_cast<std::size_t>(t.rank())] = mine.text_names;
    return mine;
  });
  for (auto& part : parts) whole.names.insert(whole.names.end(), part.begin(), part.end());
  return whole;
}

bool feed_graph_names(std::string_view input) {
  const std::string path = make_file("names.txt", input);
  test::NamedGraph alone, dealt, again;
  const bool read = read_or_refuse([&] { alone = named_on(1, path); });
  if (is_selected(128, input)) {
    require(read_or_refuse([&] { dealt = named_on(3, path); }) == read,
            "one number of ranks reads the file, another does not");
    require(dealt.graph.edges == alone.graph.edges && dealt.names == alone.names, "three ranks read another graph");
  }
  if (!read) return false;
  require(alone.names.size() == alone.graph.vertices, "a vertex without a name");
  auto sorted = alone.names;
  std::sort(sorted.begin(), sorted.end());
  require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "a name of two vertices");
  if (!is_selected(32, input) || alone.graph.edges.empty()) return true;
  const std::string copy = make_file("copy.txt", "");
  static_cast<void>(named_on(1, path, copy));
  require(read_or_refuse([&] { again = named_on(1, copy); }), "what was written is refused");
  require(again.graph.edges.size() == alone.graph.edges.size(), "what was written has other edges");
  for (const std::string& name : again.names)
    require(std::binary_search(sorted.begin(), sorted.end(), name), "what was written has another name");
  return true;
}

}  // namespace

extern const Target graph_names_target{"graph_names", 4096, feed_graph_names};

}  // namespace merganser::fuzz
