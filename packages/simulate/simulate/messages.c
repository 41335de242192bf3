// messages ROUNDS: times between two ranks that LogGP's parameters are fitted to (loggp.py), a line "WHAT BYTES COUNT SECONDS"
// each: way: half a round trip; send: the call that starts a message; window: COUNT messages in succession, until all have arrived.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMax = 256, kBytes = 1 << 16 };
static char sent[kBytes], received[kBytes];

// Returns the seconds of half a round trip of messages of `bytes` bytes between the two ranks.
static double way(int rank, int rounds, int bytes) {
  const double began = MPI_Wtime();
  for (int i = 0; i < rounds; ++i) {
    if (rank == 0) MPI_Send(sent, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(received, bytes, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(sent, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - began) / rounds / 2;
}

// Returns the seconds until the receiver has a window of `count` messages of 4 bytes, counted from the sender's first call: both
// leave the barrier before, and simulated clocks agree.
static double window(int rank, int count, double *send_s) {
  MPI_Request requests[kMax];
  for (int k = 0; rank == 1 && k < count; ++k) MPI_Irecv(&received[4 * k], 4, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[k]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int k = 0; rank == 0 && k < count; ++k) MPI_Isend(&sent[4 * k], 4, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[k]);
  *send_s = (MPI_Wtime() - began) / count;
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  double times[2] = {began, MPI_Wtime()};
  double all[4];
  MPI_Allgather(times, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  return all[3] - all[0];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 || rounds < 1) {
    if (rank == 0) fprintf(stderr, "messages: %d ranks, %d rounds; allowed: 2 ranks, 1 round or more\n", size, rounds);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int bytes = 4; bytes <= kBytes; bytes *= 4) {
    const double s = way(rank, rounds, bytes);
    if (rank == 0) printf("way %d 1 %.12f\n", bytes, s);
  }
  for (int count = 4; count <= kMax; count *= 2) {
    double send_s = 0;
    const double s = window(rank, count, &send_s);
    if (rank == 0) printf("window 4 %d %.12f\nsend 4 %d %.12f\n", count, s, count, send_s);
  }
  MPI_Finalize();
  return 0;
}
