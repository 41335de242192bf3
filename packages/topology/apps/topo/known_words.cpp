// Words that shells propose for options of the topo commands.
#include "apps/topo/known_words.hpp"

#include "merganser/graphs/process_graph_files.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "merganser/kernels/exchange.hpp"

namespace merganser::app {

Known known_kernels() {
  Known known{{"default", "all"}};
  for (const auto& kernel : kernels::kernels()) known.words.emplace_back(kernel.name);
  return known;
}

Known known_process_graphs() {
  Known known;
  for (const auto& kind : graphs::process_graph_kinds()) known.words.emplace_back(kind.name);
  return known;
}

Known known_process_formats() {
  Known known;
  for (const auto format : graphs::process_formats()) known.words.emplace_back(graphs::to_string(format));
  return known;
}

}  // namespace merganser::app
