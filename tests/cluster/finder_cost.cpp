/// Benchmark, no test: time of StarFinder::find beside search and pruning of the Clusterer, and of the search of friends of
/// friends beside the search of the Clusterer, on the same parcels in turns in one run: test_cluster_finder_cost [turns]. One
/// rank, 2.6 million parcels, half of them small.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "merganser/base/timing.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/friends.hpp"
#include "merganser/cluster/star_finder.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/parcels/generate.hpp"

namespace {

using namespace merganser;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// 2.6 million parcels, half of them small, on one rank.
struct Input {
  RandomParcels kind;
  Grid grid{{{0, 0, 0}, {64, 64, 32}, {true, true, false}}, {64, 64, 32}};
  Decomposition decomposition{grid, 1};
  Parcels parcels;

  explicit Input(bool shuffle) : kind{.shuffle = shuffle}, parcels(generate_random(kind, decomposition, 0)) {}
  [[nodiscard]] ClusterOptions options() const { return {.min_volume_ratio = kind.min_volume_ratio}; }
  [[nodiscard]] const char* order() const { return kind.shuffle ? "shuffled" : "ordered"; }
};

/// Prints the medians of two rows of seconds and that of their ratios.
void print(const Input& input, const char* first, const std::vector<double>& a, const char* second,
           const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn < b.size(); ++turn) ratios.push_back(b[turn] / a[turn]);
  std::printf("%-8s %zu points, medians of %zu turns: %s %.1f ms, %s %.1f ms, ratio %.3f\n", input.order(),
              input.parcels.size(), b.size(), first, 1e3 * median(a), second, 1e3 * median(b), median(ratios));
}

void compare_finder(comm::Transport& transport, const Input& input, bool details, int turns) {
  const Parcels& parcels = input.parcels;
  const ClusterOptions options = input.options();
  const double small_volume = input.grid.cell_volume() / options.min_volume_ratio;
  std::vector<double> xyz;
  std::vector<std::uint8_t> small;
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    xyz.insert(xyz.end(), {s.x, s.y, s.z});
    small.push_back(s.volume < small_volume);
    ids.push_back(parcels.id(i));
  }
  Clusterer clusterer(transport, input.decomposition, parcels.schema(), options);
  StarFinder finder(transport, input.decomposition, {.details = details});
  std::vector<double> of_clusterer;
  const auto step = [&](std::int64_t) {
    Parcels copy = parcels;
    const StageTimes stages = clusterer.step(copy).seconds;
    of_clusterer.push_back(stages.search + stages.exchange + stages.graph + stages.prune);
  };
  const auto of_finder = time_repeats(
      {.timed = turns}, step, [&](std::int64_t) { finder.find(PointView::rows(xyz.data(), ids.size()), small, ids); });
  print(input, "search and pruning of Clusterer", of_clusterer,
        details ? "StarFinder with details" : "StarFinder without details", of_finder);
}

void compare_friends(comm::Transport& transport, const Input& input, double spacings, int turns) {
  Clusterer clusterer(transport, input.decomposition, input.parcels.schema(), input.options());
  FriendsOfFriends friends(transport, input.decomposition, {.linking = {spacings, Length::Unit::spacing}});
  std::vector<double> of_clusterer, of_friends;
  for (int turn = -1; turn < turns; ++turn) {
    Parcels copy = input.parcels;
    const double search = clusterer.step(copy).seconds.search;
    const double local = friends.label(input.parcels).numbers.local_seconds;
    if (turn < 0) continue;  // the first touches the memory
    of_clusterer.push_back(search);
    of_friends.push_back(local);
  }
  const std::string name = "friends at " + std::to_string(spacings).substr(0, 3) + " spacings";
  print(input, "search of Clusterer", of_clusterer, name.c_str(), of_friends);
}

}  // namespace

int main(int argc, char** argv) {
  const int turns = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const auto transport = comm::open_alone();
  for (const bool shuffle : {false, true}) {
    const Input input(shuffle);
    for (const bool details : {false, true}) compare_finder(*transport, input, details, turns);
    for (const double spacings : {0.2, 0.9}) compare_friends(*transport, input, spacings, turns);
  }
  return 0;
}
