#include "apps/topo/graph_file.hpp"

#include "merganser/graphs/process_graph_files.hpp"

namespace merganser::app {

GraphFile::GraphFile(const graphs::ProcessGraph& graph) : path_(folder_.file("graph.bin")) {
  graphs::write_process_graph(path_, graph, graphs::ProcessGraphFormat::binary);
}

bool sizes_unknown(const graphs::ProcessGraph& graph, const std::vector<std::string>& sizes) {
  return !graph.weighted() && sizes == std::vector<std::string>{"weights"};
}

std::vector<std::string> sizes_for(const graphs::ProcessGraph& graph, const std::vector<std::string>& sizes) {
  if (!sizes_unknown(graph, sizes)) return sizes;
  return {"8", "1024", "65536"};
}

}  // namespace merganser::app
