// Merge step over a communicator of a program that calls MPI itself: mpirun -n 4 ./your_communicator. Even ranks merge parcels
// over their half of the world; odd ranks do not take part. The library neither initialises nor finalises MPI.
#include <mpi.h>

#include <cstdio>

#include <merganser/base/error.hpp>
#include <merganser/base/random.hpp>
#include <merganser/cluster/cluster.hpp>
#include <merganser/comm/collectives.hpp>
#include <merganser/comm/mpi.hpp>
#include <merganser/parcels/statistics.hpp>

using namespace merganser;

// Generates this rank's share of 20,000 parcels in a unit cube, half of them small.
Parcels my_parcels(const Grid& grid, int rank, int size) {
  Parcels parcels(Schema{});
  for (std::int64_t id = rank; id < 20000; id += size) {
    Random random(7, 0, static_cast<std::uint32_t>(id));
    parcels.resize(parcels.size() + 1);
    parcels.site(parcels.size() - 1) = {random.uniform(), random.uniform(), random.uniform(),
                                        random.uniform() * grid.cell_volume() / 10};
    parcels.set_id(parcels.size() - 1, id);
  }
  return parcels;
}

void merge(MPI_Comm half) {
  const auto transport = comm::open(half);  // duplicates it; destroyed before MPI_Finalize, by all its ranks
  const Grid grid{.box = {{0, 0, 0}, {1, 1, 1}, {true, true, false}}, .cells = {16, 16, 16}};
  const Decomposition decomposition(grid, transport->size());
  Parcels parcels = my_parcels(grid, transport->rank(), transport->size());
  distribute(parcels, decomposition, *transport);
  Clusterer clusterer(*transport, decomposition, parcels.schema(), ClusterOptions{});
  const StepReport report = clusterer.step(parcels);
  const std::int64_t merged = transport->all_reduce(report.merged, comm::Op::sum);
  Digest all;
  for (const Digest& one : comm::all_gather_value(*transport, digest(parcels))) all += one;
  if (transport->rank() != 0) return;
  std::printf("%ld of 20000 parcels merged into others, digest %s\n", static_cast<long>(merged),
              all.to_string().c_str());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  try {
    if (rank % 2 == 0) merge(half);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.exit_code());
  }
  MPI_Comm_free(&half);
  return MPI_Finalize();
}
