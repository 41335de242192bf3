/// Benchmark, no test: CPU time of merge steps under policies, and of the tree of units alone.
///   test_cluster_policy_cost steps [turns] [cells] [policy ...]: ratio to the default policy for each parcel that looks, all
///     policies in turns, or the default policy and those given
///   test_cluster_policy_cost tree [points] [axes] [turns]: build and nearest neighbour of all points, uniform in a cube
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/open.hpp"
#include "src/cluster/unit_tree.hpp"

namespace {

using namespace merganser;
using namespace merganser::cluster;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Returns n parcels uniform in the unit cube times `length`, half of them small, with momenta uniform in 0 .. 1.
Parcels parcels_in_cube(std::size_t n, double length, double cell_volume) {
  Parcels parcels(Schema({{"ux", 1, Rule::mean, {"ux"}, ""},
                          {"uy", 1, Rule::mean, {"uy"}, ""},
                          {"uz", 1, Rule::mean, {"uz"}, ""},
                          {"species", 1, Rule::centre, {"species"}, ""},
                          {"flag", 1, Rule::largest, {"flag"}, ""}}));
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto draw = [&] { return uniform(random); };
  for (std::size_t i = 0; i < n; ++i) {
    const double x = draw(), y = draw(), z = draw(), ux = draw(), uy = draw(), uz = draw();
    const bool small = draw() < 0.5;
    const double row[] = {
        std::bit_cast<double>(static_cast<std::int64_t>(i)), ux, uy, uz, draw() < 0.5 ? 0.0 : 1.0, small ? 1.0 : 0.0};
    parcels.append({x * length, y * length, z * length, small ? cell_volume / 40 : cell_volume / 10}, row);
  }
  return parcels;
}

/// Prints the ratios of steps under policies to the default policy.
void steps(int turns, int cells, const std::vector<std::string>& given) {
  const double length = cells;
  const Grid grid{{{0, 0, 0}, {length, length, length}, {true, true, true}}, {cells, cells, cells}};
  const Decomposition decomposition(grid, 1);
  const auto transport = comm::open_alone();
  const Parcels parcels = parcels_in_cube(std::size_t{20} * cells * cells * cells, length, grid.cell_volume());
  std::vector<std::string> texts{""};
  if (given.empty())
    texts.insert(texts.end(), {"mask:flag", "small, same:species", "crowded:16->10", "small, pairs", "small, greedy:3",
                               "small, phase:ux*0.3", "small, phase:ux*0.3+uy*0.3+uz*0.3",
                               "small, greedy:3, phase:ux*0.3+uy*0.3+uz*0.3"});
  texts.insert(texts.end(), given.begin(), given.end());
  std::vector<std::vector<double>> seconds(texts.size());
  std::vector<double> lookers(texts.size(), 0);
  for (int turn = -1; turn < turns; ++turn)
    for (std::size_t p = 0; p < texts.size(); ++p) {
      ClusterOptions options;
      options.min_volume_ratio = 20;
      options.policy = parse_policy(texts[p]);
      Clusterer clusterer(*transport, decomposition, parcels.schema(), options);
      Parcels copy = parcels;
      const double begin = cpu_seconds();
      const StepReport report = clusterer.step(copy);
      if (turn >= 0) seconds[p].push_back(cpu_seconds() - begin);
      lookers[p] = static_cast<double>(report.small);
    }
  for (std::size_t p = 0; p < texts.size(); ++p) {
    std::vector<double> ratios;
    for (std::size_t turn = 0; turn < seconds[p].size(); ++turn)
      ratios.push_back(seconds[p][turn] / lookers[p] / (seconds[0][turn] / lookers[0]));
    std::printf("%-45s %8.0f look, %7.3f us for each, ratio %6.2f\n", texts[p].c_str(), lookers[p],
                1e6 * median(seconds[p]) / lookers[p], median(ratios));
  }
}

/// Prints times of build and search of the tree of units.
void tree(std::size_t points, int axes, int turns) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {false, false, false}}, {8, 8, 8}};
  Parcels parcels = parcels_in_cube(points, 1, grid.cell_volume());
  const MergePolicy policy = parse_policy(axes == 6   ? "small, phase:ux*1+uy*1+uz*1"
                                          : axes == 5 ? "small, phase:ux*1+uy*1"
                                          : axes == 4 ? "small, phase:ux*1"
                                                      : "small, weight:1e9");
  const PolicyColumns columns(policy, parcels.schema());
  const PairFilter filter(policy, columns, grid);
  Units units(parcels.schema(), false);
  units.assign(parcels, policy, columns);
  std::vector<double> build, search;
  double sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<std::uint32_t> lookers(points);
    std::iota(lookers.begin(), lookers.end(), 0U);
    std::vector<Partner> found(points);
    const double begin = cpu_seconds();
    UnitTree tree;
    tree.build(units, filter);
    const double middle = cpu_seconds();
    tree.sort(lookers);
    tree.find_all(lookers, 1, found);
    build.push_back(middle - begin);
    search.push_back(cpu_seconds() - middle);
    sum = std::accumulate(found.begin(), found.end(), 0.0, [](double s, const Partner& p) { return s + p.distance2; });
  }
  std::printf("%zu points, %d axes: build %.4f s, search %.4f s; sum of squares %.17g\n", points, axes, median(build),
              median(search), sum);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::max(1, std::atoi(argv[i])) : otherwise; };
  if (argc > 1 && std::string(argv[1]) == "tree")
    tree(static_cast<std::size_t>(number(2, 100000)), number(3, 6), number(4, 3));
  else
    steps(number(2, 5), number(3, 14), std::vector<std::string>(argv + std::min(argc, 4), argv + argc));
  return 0;
}
