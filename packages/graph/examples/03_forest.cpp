// The minimum spanning forest of a graph of your own: ./03_forest 4, or mpirun -n 4 ./03_forest.
#include <cstdio>

#include <merganser/msf/labels.hpp>
#include <merganser/msf/minimum_forest.hpp>

#include "start.hpp"

using namespace merganser;

constexpr std::uint64_t kSide = 300;

// This rank's share of a lattice with holes: edges may lie on any rank, in any order; parallel ones and loops do no harm.
graphs::EdgeList lattice(int rank, int size) {
  graphs::EdgeList graph;
  graph.vertices = kSide * kSide;
  graph.kind = graphs::WeightKind::float32;
  std::vector<graphs::Edge12> edges;
  for (std::uint64_t v = static_cast<std::uint64_t>(rank); v < graph.vertices; v += static_cast<std::uint64_t>(size)) {
    const auto weight = [v](std::uint64_t w) {
      return graphs::ordered_bits(static_cast<float>((v * 7 + w * 13) % 1009) / 8);
    };
    if (v % 5 == 0) continue;  // a hole to the right and above
    if (v % kSide + 1 < kSide) edges.push_back(graphs::make_edge<graphs::Edge12>(v, v + 1, weight(v + 1)));
    if (v + kSide < graph.vertices) edges.push_back(graphs::make_edge<graphs::Edge12>(v, v + kSide, weight(v + kSide)));
  }
  graph.edges = std::move(edges);
  return graph;
}

void forest(comm::Transport& transport) {
  const graphs::EdgeList graph = lattice(transport.rank(), transport.size());
  msf::Report report;  // times, messages and bytes of each phase
  const msf::Forest mine = msf::minimum_spanning_forest(graph, transport, {}, report);
  const msf::ForestTotals all = msf::totals(mine, transport);
  const auto labels = msf::component_labels(mine, transport);  // of Ranges::even(...)'s share of the vertices
  if (transport.rank() != 0) return;
  std::printf("%ld edges in %ld trees, weight %s, digest %s; vertex 0 is in the tree of vertex %lu\n",
              static_cast<long>(all.edges), static_cast<long>(all.components), all.weight.c_str(), all.digest.c_str(),
              static_cast<unsigned long>(labels.front()));
}

int main(int argc, char** argv) { return start(argc, argv, forest); }
