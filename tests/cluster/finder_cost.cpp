/// Benchmark, no test: time of StarFinder::find beyond search and pruning of the Clusterer, on the same parcels in
/// turns in one run: test_cluster_finder_cost [turns]. One rank, 2.6 million parcels, half of them small.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "merganser/base/timing.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/star_finder.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/parcels/generate.hpp"

namespace {

using namespace merganser;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(comm::Transport& transport, bool shuffle, bool details, int turns) {
  const Grid grid{{{0, 0, 0}, {64, 64, 32}, {true, true, false}}, {64, 64, 32}};
  const Decomposition decomposition(grid, 1);
  RandomParcels kind;
  kind.shuffle = shuffle;
  const Parcels parcels = generate_random(kind, decomposition, 0);
  ClusterOptions options;
  options.min_volume_ratio = kind.min_volume_ratio;
  const double small_volume = grid.cell_volume() / options.min_volume_ratio;
  std::vector<double> xyz;
  std::vector<std::uint8_t> small;
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    xyz.insert(xyz.end(), {s.x, s.y, s.z});
    small.push_back(s.volume < small_volume);
    ids.push_back(parcels.id(i));
  }
  Clusterer clusterer(transport, decomposition, parcels.schema(), options);
  StarFinder finder(transport, decomposition, {.details = details});
  std::vector<double> of_clusterer, of_finder, ratios;
  const auto step = [&](std::int64_t) {
    Parcels copy = parcels;
    const StageTimes stages = clusterer.step(copy).seconds;
    of_clusterer.push_back(stages.search + stages.exchange + stages.graph + stages.prune);
  };
  of_finder = time_repeats({.timed = turns}, step,
                           [&](std::int64_t) { finder.find(PointView::rows(xyz.data(), ids.size()), small, ids); });
  for (std::size_t turn = 0; turn < of_finder.size(); ++turn) ratios.push_back(of_finder[turn] / of_clusterer[turn]);
  std::printf("%-8s %-15s %zu points, medians of %d turns: Clusterer %.1f ms, StarFinder %.1f ms, ratio %.3f\n",
              shuffle ? "shuffled" : "ordered", details ? "with details" : "without details", ids.size(), turns,
              1e3 * median(of_clusterer), 1e3 * median(of_finder), median(ratios));
}

}  // namespace

int main(int argc, char** argv) {
  const int turns = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const auto transport = comm::open_alone();
  for (const bool shuffle : {false, true})
    for (const bool details : {false, true}) compare(*transport, shuffle, details, turns);
  return 0;
}
