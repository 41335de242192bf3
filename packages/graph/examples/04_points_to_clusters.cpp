// Clusters of points of your own, of any density: ./04_points_to_clusters 4, or mpirun -n 4 ./04_points_to_clusters.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <merganser/base/random.hpp>
#include <merganser/msf/euclidean.hpp>
#include <merganser/msf/hdbscan.hpp>
#include <merganser/msf/linkage.hpp>

#include "start.hpp"

using namespace merganser;

// This rank's share of 6,000 points in a plane: three heaps, each wider than the one before, and scattered points.
msf::Points points(int rank, int size) {
  constexpr std::array<std::array<double, 3>, 3> kHeaps{{{0.25, 0.25, 0.01}, {0.7, 0.3, 0.03}, {0.45, 0.75, 0.06}}};
  msf::Points mine;
  mine.dimension = 2;
  for (std::uint64_t id = static_cast<std::uint64_t>(rank); id < 6000; id += static_cast<std::uint64_t>(size)) {
    Random random(42, 0,
                  static_cast<std::uint32_t>(id));  // a function of the id: the same points on any number of ranks
    double x = random.uniform();
    double y = random.uniform();
    if (id % 4 != 3) {
      const auto& heap = kHeaps[id % 4];
      const double radius = heap[2] * std::sqrt(-2 * std::log(1 - x));
      x = heap[0] + radius * std::cos(2 * M_PI * y);
      y = heap[1] + radius * std::sin(2 * M_PI * y);
    }
    mine.coordinates.insert(mine.coordinates.end(), {x, y});
    mine.ids.push_back(id);
  }
  return mine;
}

void cluster(comm::Transport& transport) {
  msf::Report report;  // times, messages and bytes of each phase
  msf::EuclideanOptions options;
  options.min_samples = 10;  // weights are mutual reachability distances, as HDBSCAN* needs them
  const msf::Forest mine =
      msf::euclidean_forest(points(transport.rank(), transport.size()), transport, options, report);
  const msf::Forest tree = msf::gather_forest(mine, transport);
  if (transport.rank() != 0) return;  // what follows is local, and takes the whole tree
  const msf::Dendrogram dendrogram = msf::dendrogram(tree, msf::Apart::join);
  msf::HdbscanOptions choice;
  choice.min_cluster_size = 100;
  const msf::Hdbscan found = msf::hdbscan(msf::condense(dendrogram, choice.min_cluster_size), choice);
  std::vector<long> sizes(found.clusters);
  for (const auto label : found.labels)
    if (label >= 0) ++sizes[static_cast<std::size_t>(label)];
  for (std::size_t c = 0; c < sizes.size(); ++c) std::printf("cluster %zu: %ld points\n", c, sizes[c]);
  std::printf("noise: %ld points\n", static_cast<long>(std::count(found.labels.begin(), found.labels.end(), -1)));
  std::printf("at distance 0.02, single linkage has %u clusters\n", msf::cut_by_height(dendrogram, 0.02).clusters);
}

int main(int argc, char** argv) { return start(argc, argv, cluster); }
