// Every rank sends its rank to the next one, and all add up what they receive; rank 0 writes "N SUM MICROSECONDS", slowest time.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, before = -1, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Request request;
  const double began = MPI_Wtime();
  MPI_Irecv(&before, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  double took = MPI_Wtime() - began, slowest = 0;
  MPI_Allreduce(&before, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%d %d %.3f\n", size, sum, slowest * 1e6);
  MPI_Finalize();
  return 0;
}
