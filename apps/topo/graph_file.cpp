#include "apps/topo/graph_file.hpp"

#include "merganser/topology/graph_files.hpp"

namespace merganser::app {

GraphFile::GraphFile(const topology::ProcessGraph& graph) : path_(folder_.file("graph.bin")) {
  topology::write_graph(path_, graph, topology::GraphFormat::binary);
}

bool sizes_unknown(const topology::ProcessGraph& graph, const std::vector<std::string>& sizes) {
  return !graph.weighted() && sizes == std::vector<std::string>{"weights"};
}

std::vector<std::string> sizes_for(const topology::ProcessGraph& graph, const std::vector<std::string>& sizes) {
  if (!sizes_unknown(graph, sizes)) return sizes;
  return {"8", "1024", "65536"};
}

}  // namespace merganser::app
