// Properties of a process graph for records and reports of the topo verbs. Its weights are bytes.
#include "apps/topo/graph_facts.hpp"

#include "apps/frame/table.hpp"

namespace merganser::app {
namespace {

/// Sums the weights of all arcs of a process graph, bytes.
double total_bytes(const graphs::ProcessGraph& graph) {
  double sum = 0;
  for (int r = 0; r < graph.ranks(); ++r)
    for (const auto& arc : graph.row(r)) sum += arc.bytes;
  return sum;
}

}  // namespace

Json graph_json(const graphs::ProcessGraph& graph) {
  return {{"ranks", graph.ranks()},
          {"arcs", graph.arcs()},
          {"mean_degree", graph.mean_degree()},
          {"max_degree", graph.max_degree()},
          {"symmetric", graph.is_symmetric()},
          {"weighted", graph.is_weighted()},
          {"bytes", total_bytes(graph)},
          {"digest", graph.digest()}};
}

std::string graph_text(const graphs::ProcessGraph& graph) {
  std::string out = count_text(graph.ranks()) + (graph.ranks() == 1 ? " rank, " : " ranks, ") +
                    count_text(graph.arcs()) + " arcs, degree " + fixed_text(graph.mean_degree(), 2) +
                    " on average and at most " + count_text(graph.max_degree()) +
                    (graph.is_symmetric() ? ", symmetric" : ", not symmetric");
  if (graph.is_weighted()) out += ", weights " + general_text(total_bytes(graph), 6) + " in all";
  return out + "\ndigest " + graph.digest() + '\n';
}

bool sizes_unknown(const graphs::ProcessGraph& graph, const std::vector<std::string>& sizes) {
  return !graph.is_weighted() && sizes == std::vector<std::string>{"weights"};
}

std::vector<std::string> sizes_for(const graphs::ProcessGraph& graph, const std::vector<std::string>& sizes) {
  if (!sizes_unknown(graph, sizes)) return sizes;
  return {"8", "1024", "65536"};
}

double graph_bytes(const graphs::ProcessGraph& graph) {
  return 64.0 * static_cast<double>(graph.arcs()) + 32.0 * graph.ranks();
}

}  // namespace merganser::app
