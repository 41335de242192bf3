// Prints the kind of vectors that runs, and digests of what the kernels make of it on one rank: the same lines, but for the
// first one, on every processor and with every kind of vectors. digests_test.py compares them.
#include <cstdio>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/generate.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "merganser/nearest/cell_list.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"

namespace {

using namespace merganser;

void tell(const std::string& what, const std::string& digest) { std::printf("%s %s\n", what.c_str(), digest.c_str()); }

void merge(comm::Transport& transport, const Grid& grid, const RandomParcels& given) {
  const Decomposition decomposition(grid, 1);
  Parcels parcels = generate_random(given, decomposition, 0);
  ClusterOptions options;
  options.min_volume_ratio = given.min_volume_ratio;
  Clusterer clusterer(transport, decomposition, parcels.schema(), options);
  for (int step = 0; step < 2; ++step) (void)clusterer.step(parcels);
  tell("parcels", digest(parcels).text());
}

void span_points(comm::Transport& transport, msf::PointSpace space, std::size_t count, int min_samples) {
  msf::Points points{space, {}, {}};
  Random random(3, 0, static_cast<std::uint32_t>(space.dimension));
  for (std::size_t i = 0; i < count * static_cast<std::size_t>(space.dimension); ++i)
    points.coordinates.push_back(i % 3 == 0 ? random.uniform()
                                            : static_cast<double>(static_cast<int>(random.uniform() * 16)) / 16);
  msf::EuclideanOptions options;
  options.min_samples = min_samples;
  msf::Report report;
  const msf::Forest forest = msf::euclidean_forest(points, transport, options, report);
  tell("points", msf::totals(forest, transport).digest);
}

void span_graph(comm::Transport& transport, const char* spec) {
  msf::Report report;
  const graphs::EdgeList graph = graphs::generate(spec, {}, transport);
  tell(spec, msf::totals(msf::minimum_spanning_forest(graph, transport, {}, report), transport).digest);
}

void all(comm::Transport& transport) {
  // Highway has two ways to do without vectors, of which a build has one.
  const std::string vectors = nearest::CellList::vector_target();
  tell("vectors", vectors == "EMU128" ? "SCALAR" : vectors);
  merge(transport, {.box = {{0, 0, 0}, {2, 1, 1.5}, {true, true, false}}, .cells = {9, 5, 6}}, {.per_cell = 20});
  merge(transport, {.box = {{-1, 0, 3}, {1, 1, 1}, {true, true, true}}, .cells = {3, 4, 5}},
        {.per_cell = 40, .variable_per_cell = true, .min_volume_ratio = 40, .small_fraction = 0.8, .shuffle = true});
  using enum msf::Distance;
  for (const int min_samples : {1, 5}) {
    span_points(transport, {.dimension = 3}, 3000, min_samples);
    span_points(transport, {.dimension = 2, .periods = {{0, 0, 1}, {1, 0, 1}}}, 2000, min_samples);
    span_points(transport, {.dimension = 8}, 1000, min_samples);
    span_points(transport, {.dimension = 5, .metric = manhattan}, 1000, min_samples);
    span_points(transport, {.dimension = 40, .metric = chebyshev}, 500, min_samples);
    span_points(transport, {.dimension = 40, .periods = {{2, 0, 1}}}, 500, min_samples);
  }
  span_graph(transport, "rmat:10:8");
  span_graph(transport, "rgg3d:10:8");
}

}  // namespace

int main() {
  try {
    comm::run({.backend = "threads", .ranks = 1, .within_process = true}, all);
  } catch (const merganser::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
