// Connected components: labels of the trees of a spanning forest, by Boruvka's algorithm on its edges.
#include "merganser/msf/labels.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/id_table.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/msf/boruvka.hpp"

namespace merganser::msf {
namespace {

/// Message to the owner of the root of a tree of the forest: the least vertex of the tree that the sender owns, a candidate for the
/// component label.
struct LeastVertex {
  std::uint64_t tree;    ///< root vertex of the tree
  std::uint64_t vertex;  ///< least vertex of the tree on the sending rank
};

/// Relabels the trees of a forest: the parent of every vertex, the root of its tree, is replaced by the least vertex of the tree.
/// Called by every rank: the owner of a root computes the minimum over the ranks, then every rank queries the owners.
void name_by_least(Components& components, Peers& peers) {
  const auto& ranges = components.ranges();
  auto& parent = components.change_parents();
  IdTable trees;
  std::vector<std::uint64_t> least;
  for (std::size_t v = 0; v < parent.size(); ++v)  // ascending, so that the first one of a tree is its least
    if (trees.insert(parent[v]) == least.size()) least.push_back(components.first() + v);
  for (std::size_t i = 0; i < least.size(); ++i)
    peers.post(ranges.owner(trees.keys()[i]), LeastVertex{trees.keys()[i], least[i]});
  peers.step();
  std::vector<std::uint64_t> name(parent.size(), UINT64_MAX);
  for (int r = 0; r < peers.transport().size(); ++r) {
    for (const LeastVertex& l : peers.records<LeastVertex>(r)) {
      std::uint64_t& lowest = name[static_cast<std::size_t>(l.tree - components.first())];
      lowest = std::min(lowest, l.vertex);
    }
  }
  const std::vector<std::uint64_t> pointers = parent;
  parent = name;
  const auto answer = components.query_parents(trees.keys());
  for (std::size_t v = 0; v < parent.size(); ++v) parent[v] = answer[trees.insert(pointers[v])];
}

}  // namespace

// Connected components of a forest: contraction by Boruvka's algorithm, then each component is named by its least
// vertex.
std::vector<std::uint64_t> component_labels(const Forest& forest, comm::Transport& transport) {
  comm::agree(transport, [&] {
    for (const auto& e : forest.edges)
      if (e.low >= forest.vertices || e.high >= forest.vertices)
        throw InputError("edge (" + std::to_string(e.low) + ", " + std::to_string(e.high) + ") of a forest of " +
                         std::to_string(forest.vertices) + " vertices; allowed: ends below the number of vertices");
  });
  Peers peers(transport);
  Components components(graphs::Ranges::even(forest.vertices, transport.size()), peers);
  Report report;
  std::vector<graphs::Edge24> found;
  Boruvka<graphs::Edge24>(components, peers, {links::Policy::trees, std::uint64_t{1} << 16}, report)
      .run(forest.edges, found);
  components.flatten();
  name_by_least(components, peers);
  return std::move(components.change_parents());
}

}  // namespace merganser::msf
