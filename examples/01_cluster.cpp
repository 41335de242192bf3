// One merge step on parcels that the program generates: grid, decomposition, distribution, Clusterer.
// ./01_cluster 4 runs 4 ranks as threads, mpirun -n 4 ./01_cluster runs them as processes.
#include <cstdio>
#include <random>

#include <merganser/cluster/cluster.hpp>

#include "start.hpp"

using namespace merganser;

// Generates this rank's share of 20,000 parcels, half of them smaller than 1/20 of a cell.
Parcels my_parcels(const Grid& grid, int rank, int size) {
  Parcels parcels(Schema{});  // position, volume and id; 02_your_own_attributes.cpp adds more
  std::mt19937_64 random(42);
  auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::int64_t id = 0; id < 20000; ++id) {
    const double x = uniform(), y = uniform(), z = uniform(), volume = uniform() * grid.cell_volume() / 10;
    if (id % size != rank) continue;
    const std::size_t i = parcels.size();
    parcels.resize(i + 1);
    parcels.site(i) = {x, y, z, volume};
    parcels.set_id(i, id);
  }
  return parcels;
}

void print(std::int64_t merged, int rank) {
  if (rank == 0) std::printf("%ld of 20000 parcels merged into others\n", static_cast<long>(merged));
}

// [readme]
void merge(comm::Transport& transport) {
  const Grid grid{.box = {{0, 0, 0}, {1, 1, 1}, {true, true, false}}, .cells = {16, 16, 16}};  // periodic in x and y
  const Decomposition decomposition(grid, transport.size());
  Parcels parcels = my_parcels(grid, transport.rank(), transport.size());
  distribute(parcels, decomposition, transport);  // each to the rank that owns its cell
  ClusterOptions options;
  options.min_volume_ratio = 20;  // small: below 1/20 of a cell
  Clusterer clusterer(transport, decomposition, parcels.schema(), options);
  const StepReport report = clusterer.step(parcels);  // talks to neighbours only
  print(transport.all_reduce(report.merged, comm::Op::sum), transport.rank());
}
// [readme]

int main(int argc, char** argv) { return start(argc, argv, merge); }
