/* Moves known bytes in many ways and prints the expected counts: trace_mpi_program CASE. trace_test compares these with what
 * the tracing library has counted. One line per flow: truth PHASE FROM TO MOVE OPERATIONS BYTES. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE, PUT, GET, MOVES };
enum { MAX_RANKS = 16, PHASES = 3 };
static long operations[PHASES][MAX_RANKS][MOVES];
static long bytes[PHASES][MAX_RANKS][MOVES];
static int rank, ranks, phase;
static char out[1 << 16], in[1 << 16];

static void note(int peer, int move, long n) {
  if (peer == MPI_PROC_NULL) return;
  __atomic_fetch_add(&operations[phase][peer][move], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&bytes[phase][peer][move], n, __ATOMIC_RELAXED);
}

static void tell(void) {
  static const char* const names[] = {"message", "put", "get"};
  char text[1 << 14];
  size_t used = 0;
  for (int p = 0; p < PHASES; ++p)
    for (int peer = 0; peer < ranks; ++peer)
      for (int m = 0; m < MOVES; ++m) {
        if (operations[p][peer][m] == 0 || peer == rank) continue;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "truth %d %d %d %s %ld %ld\n", p, m == GET ? peer : rank,
                             m == GET ? rank : peer, names[m], operations[p][peer][m], bytes[p][peer][m]);
      }
  fwrite(text, 1, used, stdout);
  fflush(stdout);
}

static int right(void) { return (rank + 1) % ranks; }
static int left(void) { return (rank + ranks - 1) % ranks; }

/* Every kind of send on MPI_COMM_WORLD, with a receive posted before. */
static void messages(void) {
  MPI_Request request, sent;
  for (int way = 0; way < 10; ++way) {
    const int n = 3 + 100 * way + rank;
    MPI_Irecv(in, sizeof in, MPI_BYTE, left(), way, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD); /* for ready sends */
    sent = MPI_REQUEST_NULL;
    switch (way) {
      case 0:
        MPI_Send(out, n, MPI_CHAR, right(), way, MPI_COMM_WORLD);
        break;
      case 1:
        MPI_Bsend(out, n, MPI_CHAR, right(), way, MPI_COMM_WORLD);
        break;
      case 2:
        MPI_Ssend(out, n, MPI_CHAR, right(), way, MPI_COMM_WORLD);
        break;
      case 3:
        MPI_Rsend(out, n, MPI_CHAR, right(), way, MPI_COMM_WORLD);
        break;
      case 4:
        MPI_Isend(out, n, MPI_CHAR, right(), way, MPI_COMM_WORLD, &sent);
        break;
      case 5:
        MPI_Ibsend(out, n, MPI_CHAR, right(), way, MPI_COMM_WORLD, &sent);
        break;
      case 6:
        MPI_Issend(out, n, MPI_CHAR, right(), way, MPI_COMM_WORLD, &sent);
        break;
      case 7:
        MPI_Irsend(out, n, MPI_CHAR, right(), way, MPI_COMM_WORLD, &sent);
        break;
      case 8:
        MPI_Sendrecv(out, n, MPI_CHAR, right(), way, in + 32768, 1, MPI_INT, MPI_PROC_NULL, way, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        break;
      default:
        MPI_Sendrecv_replace(out, n, MPI_CHAR, right(), way, MPI_PROC_NULL, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    note(right(), MESSAGE, n);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Irecv(in, sizeof in, MPI_BYTE, left(), 99, MPI_COMM_WORLD, &request);
  PMPI_Send(out, 9, MPI_CHAR, right(), 99, MPI_COMM_WORLD); /* as tools send, which is not of the program */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); /* to nobody */
  MPI_Isend(out, 5, MPI_INT, rank, 0, MPI_COMM_WORLD, &sent);  /* to itself */
  MPI_Recv(in, 5, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

/* A strided type: 7 of every 9 integers are sent. */
static void types(void) {
  MPI_Datatype strided;
  MPI_Type_vector(4, 7, 9, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_Request request;
  MPI_Irecv(in, 2, strided, left(), 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 2, strided, right(), 0, MPI_COMM_WORLD);
  note(right(), MESSAGE, 2 * 4 * 7 * (long)sizeof(int));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&strided);
  MPI_Irecv(in, 0, MPI_INT, left(), 0, MPI_COMM_WORLD, &request);
  MPI_Send(out, 0, MPI_INT, right(), 0, MPI_COMM_WORLD);
  note(right(), MESSAGE, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent(void) {
  MPI_Request requests[3];
  MPI_Recv_init(in, sizeof in, MPI_BYTE, left(), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, 40, MPI_DOUBLE, right(), 0, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 5; ++i) {
    if (i % 2 == 0) {
      MPI_Startall(2, requests);
    } else {
      MPI_Start(&requests[0]);
      MPI_Start(&requests[1]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    note(right(), MESSAGE, 320);
  }
  for (int way = 0; way < 3; ++way) {
    MPI_Request_free(&requests[1]);
    if (way == 0) MPI_Bsend_init(out, 41, MPI_CHAR, right(), 0, MPI_COMM_WORLD, &requests[1]);
    if (way == 1) MPI_Ssend_init(out, 42, MPI_CHAR, right(), 0, MPI_COMM_WORLD, &requests[1]);
    if (way == 2) MPI_Rsend_init(out, 43, MPI_CHAR, right(), 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[0]);
    MPI_Barrier(MPI_COMM_WORLD); /* for ready sends */
    MPI_Start(&requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    note(right(), MESSAGE, 41 + way);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  for (int i = 0; i < 300; ++i) { /* requests made, never started, freed; their addresses come again */
    MPI_Send_init(out, i, MPI_CHAR, right(), 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Request_free(&requests[2]);
  }
}

/* Ranks are reversed, and communicators are created and freed so that their handles are reused. */
static void communicators(void) {
  for (int i = 0; i < 100; ++i) {
    MPI_Comm part;
    const int straight = i % 2;
    MPI_Comm_split(MPI_COMM_WORLD, 0, straight ? rank : ranks - rank, &part);
    MPI_Request request;
    int mine;
    MPI_Comm_rank(part, &mine);
    MPI_Irecv(in, sizeof in, MPI_BYTE, (mine + ranks - 1) % ranks, 0, part, &request);
    MPI_Send(out, 10 + i, MPI_CHAR, (mine + 1) % ranks, 0, part);
    note(straight ? right() : left(), MESSAGE, 10 + i);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&part);
  }
  if (ranks < 2) return;
  /* Between even and odd ranks: a rank in a call is one of the remote group. */
  MPI_Comm half, across;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &across);
  int others;
  MPI_Comm_remote_size(across, &others);
  const int place = rank / 2;
  if (place < others) {
    const int peer = 2 * place + (1 - rank % 2);
    MPI_Sendrecv(out, 123, MPI_CHAR, place, 0, in, 123, MPI_CHAR, place, 0, across, MPI_STATUS_IGNORE);
    note(peer, MESSAGE, 123);
  }
  MPI_Comm_free(&across);
  MPI_Comm_free(&half);
}

/* Every one-sided operation on world rank `peer`, which is `target` in the communicator. */
static void one_sided(MPI_Comm comm, int peer, int target) {
  long* memory;
  MPI_Win window;
  MPI_Request request;
  MPI_Win_allocate(4096, 1, MPI_INFO_NULL, comm, &memory, &window);
  memset(memory, 0, 4096);
  MPI_Barrier(comm);
  MPI_Win_lock_all(0, window);
  long a[8] = {1}, b[8] = {0}, c = 0;
  MPI_Put(a, 3, MPI_LONG, target, 64, 3, MPI_LONG, window);
  note(peer, PUT, 24);
  MPI_Win_flush(target, window);
  MPI_Rput(a, 5, MPI_LONG, target, 256, 5, MPI_LONG, window, &request);
  note(peer, PUT, 40);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get(b, 4, MPI_LONG, target, 512, 4, MPI_LONG, window);
  note(peer, GET, 32);
  MPI_Rget(b, 2, MPI_LONG, target, 512, 2, MPI_LONG, window, &request);
  note(peer, GET, 16);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(target, window);
  MPI_Accumulate(a, 2, MPI_LONG, target, 1024, 2, MPI_LONG, MPI_SUM, window);
  note(peer, PUT, 16);
  MPI_Raccumulate(a, 3, MPI_LONG, target, 1024, 3, MPI_LONG, MPI_SUM, window, &request);
  note(peer, PUT, 24);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Rget_accumulate(a, 3, MPI_LONG, b, 3, MPI_LONG, target, 1024, 3, MPI_LONG, MPI_SUM, window, &request);
  note(peer, PUT, 24);
  note(peer, GET, 24);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_accumulate(a, 1, MPI_LONG, b, 1, MPI_LONG, target, 1032, 1, MPI_LONG, MPI_SUM, window);
  note(peer, PUT, 8);
  note(peer, GET, 8);
  MPI_Get_accumulate(NULL, 0, MPI_LONG, b, 2, MPI_LONG, target, 1024, 2, MPI_LONG, MPI_NO_OP, window);
  note(peer, GET, 16);
  MPI_Fetch_and_op(a, b, MPI_LONG, target, 1040, MPI_SUM, window);
  note(peer, PUT, 8);
  note(peer, GET, 8);
  MPI_Fetch_and_op(NULL, b, MPI_LONG, target, 1040, MPI_NO_OP, window);
  note(peer, GET, 8);
  MPI_Compare_and_swap(a, &c, b, MPI_LONG, target, 1048, window);
  note(peer, PUT, 8);
  note(peer, GET, 8);
  MPI_Put(a, 3, MPI_LONG, MPI_PROC_NULL, 0, 3, MPI_LONG, window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void windows(void) {
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &turned); /* rank r is ranks - 1 - r there */
  for (int i = 0; i < 3; ++i) {                             /* windows come at addresses used before */
    one_sided(MPI_COMM_WORLD, right(), right());
    one_sided(turned, right(), ranks - 1 - right());
  }
  MPI_Comm_free(&turned);
}

/* A graph that every rank states whole: rank 0 and each of the others are neighbours. */
static void star(void) {
  MPI_Comm graph;
  int ends[MAX_RANKS], heads[2 * MAX_RANKS] = {0};
  for (int i = 0; i < ranks; ++i) ends[i] = ranks - 1 + i;
  for (int i = 1; i < ranks; ++i) heads[i - 1] = i;
  MPI_Graph_create(MPI_COMM_WORLD, ranks, ends, heads, 0, &graph);
  MPI_Neighbor_alltoall(out, 9, MPI_CHAR, in, 9, MPI_CHAR, graph);
  for (int i = rank == 0 ? 1 : 0; i < (rank == 0 ? ranks : 1); ++i) note(i, MESSAGE, 9);
  MPI_Comm_free(&graph);
}

static void neighbourhoods(void) {
  MPI_Comm ring, line;
  const int two = ranks > 2; /* else both neighbours are one */
  int to[2] = {right(), left()}, from[2] = {left(), right()}, ones[2] = {1, 1};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1 + two, from, ones, 1 + two, to, ones, MPI_INFO_NULL, 0, &ring);
  MPI_Neighbor_allgather(out, 6, MPI_INT, in, 6, MPI_INT, ring);
  for (int i = 0; i <= two; ++i) note(to[i], MESSAGE, 24);
  MPI_Request request;
  MPI_Ineighbor_alltoall(out, 5, MPI_INT, in, 5, MPI_INT, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i <= two; ++i) note(to[i], MESSAGE, 20);
  int n[2] = {11, 13}, places[2] = {0, 20}, in_n[2] = {11, 13}, in_places[2] = {0, 20};
  MPI_Neighbor_alltoallv(out, n, places, MPI_CHAR, in, in_n, in_places, MPI_CHAR, ring);
  for (int i = 0; i <= two; ++i) note(to[i], MESSAGE, n[i]);
  MPI_Aint at[2] = {0, 800};
  MPI_Datatype kinds[2] = {MPI_SHORT, MPI_DOUBLE};
  MPI_Ineighbor_alltoallw(out, n, at, kinds, in, in_n, at, kinds, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i <= two; ++i) note(to[i], MESSAGE, n[i] * (i == 0 ? 2L : 8L));
  int in_ones[2] = {6, 6};
  MPI_Ineighbor_allgather(out, 6, MPI_INT, in, 6, MPI_INT, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Neighbor_allgatherv(out, 6, MPI_CHAR, in, in_ones, in_places, MPI_CHAR, ring);
  MPI_Ineighbor_allgatherv(out, 6, MPI_CHAR, in, in_ones, in_places, MPI_CHAR, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Neighbor_alltoall(out, 7, MPI_INT, in, 7, MPI_INT, ring);
  MPI_Ineighbor_alltoallv(out, n, places, MPI_CHAR, in, in_n, in_places, MPI_CHAR, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Neighbor_alltoallw(out, n, at, kinds, in, in_n, at, kinds, ring);
  for (int i = 0; i <= two; ++i) {
    const long sent[] = {24, 6, 6, 28, n[i], n[i] * (i == 0 ? 2L : 8L)};
    for (int way = 0; way < 6; ++way) note(to[i], MESSAGE, sent[way]);
  }
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
  for (int way = 0; way < 5; ++way) {
    if (way == 0) MPIX_Neighbor_allgather_init(out, 6, MPI_INT, in, 6, MPI_INT, ring, MPI_INFO_NULL, &request);
    if (way == 1)
      MPIX_Neighbor_allgatherv_init(out, 6, MPI_CHAR, in, in_ones, in_places, MPI_CHAR, ring, MPI_INFO_NULL, &request);
    if (way == 2) MPIX_Neighbor_alltoall_init(out, 7, MPI_INT, in, 7, MPI_INT, ring, MPI_INFO_NULL, &request);
    if (way == 3)
      MPIX_Neighbor_alltoallv_init(out, n, places, MPI_CHAR, in, in_n, in_places, MPI_CHAR, ring, MPI_INFO_NULL,
                                   &request);
    if (way == 4)
      MPIX_Neighbor_alltoallw_init(out, n, at, kinds, in, in_n, at, kinds, ring, MPI_INFO_NULL, &request);
    for (int turn = 0; turn < 2; ++turn) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i <= two; ++i) {
        const long sent[] = {24, 6, 28, n[i], n[i] * (i == 0 ? 2L : 8L)};
        note(to[i], MESSAGE, sent[way]);
      }
    }
    MPI_Request_free(&request);
  }
#endif
  MPI_Comm_disconnect(&ring);
  /* Non-periodic ends: MPI_PROC_NULL neighbours still have a place in the buffer. */
  int walls = 0, before, after;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &walls, 0, &line);
  MPI_Cart_shift(line, 0, 1, &before, &after);
  int m[2] = {3, 5};
  MPI_Neighbor_alltoallv(out, m, places, MPI_CHAR, in, (int[]){5, 3}, in_places, MPI_CHAR, line);
  note(before, MESSAGE, 3);
  note(after, MESSAGE, 5);
  MPI_Comm_free(&line);
  /* Two dimensions: a wall on both sides of the first, a ring in the second. */
  MPI_Comm grid;
  int shape[2] = {1, ranks}, periodic[2] = {0, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periodic, 0, &grid);
  int of_grid[4] = {3, 5, 7, 11}, into_grid[4] = {5, 3, 11, 7}, grid_places[4] = {0, 20, 40, 60};
  MPI_Neighbor_alltoallv(out, of_grid, grid_places, MPI_CHAR, in, into_grid, grid_places, MPI_CHAR, grid);
  note(left(), MESSAGE, 7);
  note(right(), MESSAGE, 11);
  MPI_Comm_free(&grid);
  star();
}

/* Every collective call once, blocking and nonblocking. */
#define BOTH(NAME, INAME, ...)                  \
  MPI_##NAME(__VA_ARGS__, MPI_COMM_WORLD);      \
  MPI_##INAME(__VA_ARGS__, MPI_COMM_WORLD, &request); \
  MPI_Wait(&request, MPI_STATUS_IGNORE);
static void collectives(void) {
  MPI_Request request;
  int n[MAX_RANKS], places[MAX_RANKS], byte_places[MAX_RANKS];
  MPI_Datatype kinds[MAX_RANKS];
  for (int i = 0; i < ranks; ++i) n[i] = 1, places[i] = i, byte_places[i] = 4 * i, kinds[i] = MPI_INT;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  BOTH(Bcast, Ibcast, out, 3, MPI_INT, 0)
  BOTH(Reduce, Ireduce, out, in, 3, MPI_INT, MPI_SUM, 0)
  BOTH(Allreduce, Iallreduce, out, in, 3, MPI_INT, MPI_SUM)
  BOTH(Scan, Iscan, out, in, 3, MPI_INT, MPI_SUM)
  BOTH(Exscan, Iexscan, out, in, 3, MPI_INT, MPI_SUM)
  BOTH(Reduce_scatter_block, Ireduce_scatter_block, out, in, 1, MPI_INT, MPI_SUM)
  BOTH(Reduce_scatter, Ireduce_scatter, out, in, n, MPI_INT, MPI_SUM)
  BOTH(Gather, Igather, out, 1, MPI_INT, in, 1, MPI_INT, 0)
  BOTH(Scatter, Iscatter, out, 1, MPI_INT, in, 1, MPI_INT, 0)
  BOTH(Gatherv, Igatherv, out, 1, MPI_INT, in, n, places, MPI_INT, 0)
  BOTH(Scatterv, Iscatterv, out, n, places, MPI_INT, in, 1, MPI_INT, 0)
  BOTH(Allgather, Iallgather, out, 1, MPI_INT, in, 1, MPI_INT)
  BOTH(Allgatherv, Iallgatherv, out, 1, MPI_INT, in, n, places, MPI_INT)
  BOTH(Alltoall, Ialltoall, out, 1, MPI_INT, in, 1, MPI_INT)
  BOTH(Alltoallv, Ialltoallv, out, n, places, MPI_INT, in, n, places, MPI_INT)
  BOTH(Alltoallw, Ialltoallw, out, n, byte_places, kinds, in, n, byte_places, kinds)
}

static void* worker(void* number) {
  const int me = *(const int*)number;
  char mine[4096], came[4096];
  for (int i = 0; i < 500; ++i) {
    const int n = 1 + (i * 7 + me) % 3000;
    MPI_Request requests[2];
    MPI_Irecv(came, sizeof came, MPI_CHAR, left(), 100 + me, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, n, MPI_CHAR, right(), 100 + me, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    note(right(), MESSAGE, n);
  }
  return NULL;
}

static void threads(void) {
  pthread_t handles[4];
  int numbers[4];
  memset(out, 0, sizeof out);
  for (int round = 0; round < 2; ++round) { /* the second round's threads come after the first's have gone */
    for (int i = 0; i < 4; ++i) {
      numbers[i] = i;
      pthread_create(&handles[i], NULL, worker, &numbers[i]);
    }
    for (int i = 0; i < 4; ++i) pthread_join(handles[i], NULL);
  }
}

static void phases(void) {
  types();
  for (int i = 0; i < 4; ++i) {
    MPI_Pcontrol(phase = 1);
    messages();
    MPI_Pcontrol(phase = 2, "a second argument");
    persistent();
  }
  MPI_Pcontrol(phase = 0);
  types();
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  int provided = 0;
  if (strcmp(name, "threads") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  static char room[1 << 16];
  MPI_Buffer_attach(room, sizeof room);
  if (strcmp(name, "messages") == 0) messages(), types(), persistent();
  if (strcmp(name, "communicators") == 0) communicators();
  if (strcmp(name, "one-sided") == 0) windows();
  if (strcmp(name, "neighbourhoods") == 0) neighbourhoods();
  if (strcmp(name, "threads") == 0 && provided == MPI_THREAD_MULTIPLE) threads();
  if (strcmp(name, "phases") == 0) phases();
  if (strcmp(name, "collectives") == 0) collectives();
  tell();
  if (strcmp(name, "abort") == 0) {
    messages();
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void* gone;
  int size;
  MPI_Buffer_detach(&gone, &size);
  if (strcmp(name, "code") != 0) return MPI_Finalize();
  MPI_Finalize();
  return 7;
}
