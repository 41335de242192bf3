// jitter work|wait: delays of ranks by simulated noise. With "work" each rank computes for 100 times 1 ms and calls MPI in between;
// with "wait" all but rank 0 wait for a message that rank 0 sends after 100 ms. Rank 0 writes a line with the milliseconds beyond
// 100 of every rank.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kRanks = 64 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int waits = argc > 1 && strcmp(argv[1], "wait") == 0;
  int rank = 0, word = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double began = MPI_Wtime();
  for (int i = 0; i < 100 && !(waits && rank > 0); ++i) {
    usleep(1000);
    if (!waits) MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);  // costs nothing
  }
  for (int to = 1; waits && rank == 0 && to < kRanks; ++to) MPI_Send(&word, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
  if (waits && rank > 0) MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double late = (MPI_Wtime() - began) * 1000 - 100;
  double all[kRanks];
  MPI_Gather(&late, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < kRanks; ++i) printf("%.4f%c", all[i], i + 1 < kRanks ? ' ' : '\n');
  MPI_Finalize();
  return 0;
}
