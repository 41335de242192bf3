// figures ROUNDS: the tests behind Tables 3 and 4 of the clustering paper (see published.py) between two ranks, one line
// "NAME MICROSECONDS" each: half a round trip; a window of 64 messages and its reply; an epoch of 1 and of 64 operations;
// and, which is not published, an operation and MPI_Win_flush in an epoch that stays open.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWindow = 64 };
typedef void Test(int rank, int rounds, MPI_Win window);

static int sent[kWindow], received[kWindow];

// Sends 4 bytes to and fro between two ranks: two latencies of P2P a round.
static void round_trips(int rank, int rounds, MPI_Win window) {
  (void)window;
  for (int i = 0; i < rounds; ++i) {
    if (rank == 0) MPI_Send(sent, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(received, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(sent, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
}

// Sends a window of 64 messages from rank 0 to rank 1, which replies: the bandwidth test of P2P.
static void windows(int rank, int rounds, MPI_Win window) {
  (void)window;
  MPI_Request requests[kWindow];
  for (int i = 0; i < rounds; ++i) {
    for (int k = 0; k < kWindow; ++k) {
      if (rank == 0) MPI_Isend(&sent[k], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[k]);
      if (rank == 1) MPI_Irecv(&received[k], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[k]);
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 1) MPI_Send(sent, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(received, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Starts `count` puts (or gets) of 4 bytes to rank 1 in an open epoch.
static void operations(int count, int gets, MPI_Win window) {
  for (int k = 0; k < count; ++k) {
    if (gets) MPI_Get(&received[k], 1, MPI_INT, 1, k, 1, MPI_INT, window);
    if (!gets) MPI_Put(&sent[k], 1, MPI_INT, 1, k, 1, MPI_INT, window);
  }
}

// Makes epochs of MPI_Win_lock, `count` puts or gets and MPI_Win_unlock on rank 0, one a round: the tests of RMA.
static void epochs(int rank, int rounds, MPI_Win window, int count, int gets) {
  for (int i = 0; rank == 0 && i < rounds; ++i) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    operations(count, gets, window);
    MPI_Win_unlock(1, window);
  }
}

static void put(int rank, int rounds, MPI_Win window) { epochs(rank, rounds, window, 1, 0); }
static void get(int rank, int rounds, MPI_Win window) { epochs(rank, rounds, window, 1, 1); }
static void puts64(int rank, int rounds, MPI_Win window) { epochs(rank, rounds, window, kWindow, 0); }
static void gets64(int rank, int rounds, MPI_Win window) { epochs(rank, rounds, window, kWindow, 1); }

// Returns the seconds of a put (or get) and MPI_Win_flush in an epoch that stays open; 0 on rank 1.
static double flushed(int rank, int rounds, MPI_Win window, int gets) {
  double took = 0;
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    const double began = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
      operations(1, gets, window);
      MPI_Win_flush(1, window);
    }
    took = MPI_Wtime() - began;
    MPI_Win_unlock(1, window);
  }
  return took / rounds;
}

// Returns the seconds a round of a test takes on this rank, from a barrier on.
static double timed(Test *test, int rank, int rounds, MPI_Win window) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  test(rank, rounds, window);
  const double took = (MPI_Wtime() - began) / rounds;
  MPI_Barrier(MPI_COMM_WORLD);
  return took;
}

static void print(int rank, const char *name, double seconds) {
  if (rank == 0) printf("%s %.6f\n", name, seconds * 1e6);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2 || rounds < 1) {
    if (rank == 0) fprintf(stderr, "figures: %d ranks, %d rounds; allowed: 2 ranks, 1 round or more\n", size, rounds);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int *memory = NULL;
  MPI_Win window;
  MPI_Win_allocate(kWindow * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  print(rank, "p2p", timed(round_trips, rank, rounds, window) / 2);
  print(rank, "put", timed(put, rank, rounds, window));
  print(rank, "get", timed(get, rank, rounds, window));
  print(rank, "p2p64", timed(windows, rank, rounds, window));
  print(rank, "put64", timed(puts64, rank, rounds, window));
  print(rank, "get64", timed(gets64, rank, rounds, window));
  print(rank, "put_flush", flushed(rank, rounds, window, 0));
  print(rank, "get_flush", flushed(rank, rounds, window, 1));
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
