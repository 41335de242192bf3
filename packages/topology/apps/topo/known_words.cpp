// Words that shells propose for options of the topo commands.
#include "apps/topo/known_words.hpp"

#include <utility>

#include "merganser/graphs/process_graph_files.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "merganser/kernels/exchange.hpp"

namespace merganser::app {

Proposes known_kernels(std::vector<std::string> before) {
  Proposes known{std::move(before)};
  for (const auto& kernel : kernels::kernels()) known.words.emplace_back(kernel.name);
  return known;
}

Proposes known_process_graphs() {
  Proposes known;
  for (const auto& kind : graphs::process_graph_kinds()) known.words.emplace_back(kind.name);
  return known;
}

Proposes known_process_formats() {
  Proposes known;
  for (const auto format : graphs::process_formats()) known.words.emplace_back(graphs::to_string(format));
  return known;
}

}  // namespace merganser::app
