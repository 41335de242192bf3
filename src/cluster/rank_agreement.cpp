// Arguments of Clusterer and StarFinder that must agree on all ranks: number of ranks, grid, decomposition, schema.
#include "src/cluster/rank_agreement.hpp"

#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"

namespace merganser::cluster {

void check_ranks(const Decomposition& decomposition, const comm::Transport& transport) {
  if (transport.size() == decomposition.ranks()) return;
  throw UsageError("decomposition for " + std::to_string(decomposition.ranks()) + " ranks on a transport of " +
                   std::to_string(transport.size()) + "; they must be equal");
}

std::vector<comm::UniformValue> uniform_values(const Schema& schema, const Decomposition& decomposition) {
  std::string attributes;
  for (const Attribute& a : schema.attributes())
    attributes += " " + a.name + ":" + std::to_string(a.components) + ":" + std::to_string(static_cast<int>(a.rule));
  std::vector<comm::UniformValue> uniform{{"the list of attributes", "'" + attributes + "'"}};
  for (auto& where : uniform_values(decomposition)) uniform.push_back(std::move(where));
  return uniform;
}

// Texts of grid and decomposition that Clusterer and StarFinder compare over all ranks.
std::vector<comm::UniformValue> uniform_values(const Decomposition& decomposition) {
  const Grid& grid = decomposition.grid();
  std::string box;
  for (int a = 0; a < 3; ++a) {
    box += std::to_string(grid.cells[a]) + " cells from " + number_text(grid.box.lower[a]) + " over " +
           number_text(grid.box.extent[a]) + (grid.box.periodic[a] ? ", periodic; " : ", walls; ");
  }
  return {{"the grid", "'" + box + "'"}, {"the decomposition", decomposition.identity()}};
}

}  // namespace merganser::cluster
