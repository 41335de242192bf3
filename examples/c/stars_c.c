/* Star finder of the C interface on points in arrays of the program's, and a migration of rows to the ranks of centres.
 * ./stars_c 4 runs 4 ranks as threads, mpirun -n 4 ./stars_c runs them as processes. */
#ifdef STARS_WITH_MPI
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>

#include <merganser/merganser.h>

enum { POINTS = 20000 };

/* Mixes the bits of a number (splitmix64), so that coordinates follow from the number of a point on any number of ranks. */
static uint64_t bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
/* Returns a coordinate of point i, in the unit cube. */
static double coordinate(uint64_t i, uint64_t axis) {
  return (double)(bits(4 * i + axis + 0x9e3779b97f4a7c15u) >> 11) / 9007199254740992.0;
}

struct points {
  size_t n;
  double* xyz;
  uint8_t* small; /* 1: merges with its nearest */
  int64_t* ids;
};

/* Generates the points in this rank's block. Returns a status. */
static int make_points(mg_decomposition* blocks, int rank, struct points* p) {
  int64_t i;
  p->n = 0;
  p->xyz = (double*)malloc(3 * POINTS * sizeof(double));
  p->small = (uint8_t*)malloc(POINTS);
  p->ids = (int64_t*)malloc(POINTS * sizeof(int64_t));
  if (!p->xyz || !p->small || !p->ids) return MG_MEMORY;
  for (i = 0; i < POINTS; ++i) {
    double* at = p->xyz + 3 * p->n;
    int32_t owner;
    int axis, status;
    for (axis = 0; axis < 3; ++axis) at[axis] = coordinate((uint64_t)i, (uint64_t)axis);
    if ((status = mg_decomposition_owners(blocks, at, 1, &owner))) return status;
    if (owner != rank) continue;
    p->small[p->n] = (uint8_t)(i % 3 == 0);
    p->ids[p->n++] = i;
  }
  return MG_OK;
}

/* Prints the number of links and a digest over all ranks, which do not depend on their number. Collective. Returns a status. */
static int print_summary(mg_transport* transport, mg_finder* finder, const struct points* p, int rank) {
  const mg_link* links;
  const mg_receive* receives;
  size_t count, receive_count, k;
  int64_t sums[3] = {0, 0, 0};
  int64_t* received;
  int status;
  if ((status = mg_finder_links(finder, &links, &count))) return status;
  for (k = 0; k < count; ++k) {
    uint64_t source = (uint64_t)p->ids[links[k].source];
    sums[0] += 1;
    sums[1] += (int64_t)(bits(source * POINTS + (uint64_t)links[k].centre_id) >> 32);
  }
  /* Sends a row of each point that merges to the rank of its centre; here its id, which the link must confirm. */
  if ((status = mg_finder_receives(finder, &receives, &receive_count))) return status;
  received = (int64_t*)malloc((receive_count + 1) * sizeof *received);
  if (!received) return MG_MEMORY;
  status = mg_finder_migrate(finder, p->ids, sizeof *p->ids, received, receive_count * sizeof *received);
  for (k = 0; !status && k < receive_count; ++k) sums[2] += received[k] != receives[k].source_id;
  free(received);
  if (status || (status = mg_transport_sum(transport, sums, 3))) return status;
  if (rank == 0)
    printf("%ld of %d points merge; digest %lx; %ld arrived wrong\n", (long)sums[0], POINTS, (unsigned long)sums[1],
           (long)sums[2]);
  return MG_OK;
}

/* Finds the stars of all points. Runs on every rank. Returns a status. */
static int stars(mg_transport* transport, void* unused) {
  int rank, ranks, status;
  struct points p = {0, NULL, NULL, NULL};
  /* [embed] */
  const mg_box box = {sizeof box, {0, 0, 0}, {1, 1, 1}, {1, 1, 0}, 0}; /* x and y periodic, walls in z */
  const int64_t cells[3] = {16, 16, 16};
  mg_points points = {sizeof points, 0, NULL, NULL, NULL, 3};
  mg_decomposition* blocks = NULL;
  mg_finder* finder = NULL;
  if ((status = mg_transport_rank(transport, &rank)) || (status = mg_transport_size(transport, &ranks)) ||
      (status = mg_decomposition_new(&box, cells, ranks, NULL, &blocks)) ||
      (status = mg_finder_new(transport, blocks, NULL, &finder)) || (status = make_points(blocks, rank, &p)))
    return status; /* mg_error() has the text */
  points.count = p.n;
  points.x = p.xyz; /* double xyz[n][3], read where it is */
  points.y = p.xyz + 1;
  points.z = p.xyz + 2;
  if ((status = mg_finder_find(finder, &points, p.small, p.ids)) ||
      (status = print_summary(transport, finder, &p, rank)))
    return status;
  /* [embed] */
  (void)unused;
  free(p.xyz);
  free(p.small);
  free(p.ids);
  if ((status = mg_finder_free(finder))) return status;
  return mg_decomposition_free(blocks);
}

/* Prints the text of an error and returns the status. */
static int report(int status) {
  if (status) fprintf(stderr, "stars_c: %s\n", mg_error());
  return status;
}

#ifdef STARS_WITH_MPI
static int run_over_mpi(int* argc, char*** argv) {
  mg_transport* transport = NULL;
  int status;
  MPI_Init(argc, argv);
  if ((status = report(mg_open(MPI_COMM_WORLD, NULL, &transport))) || (status = report(stars(transport, NULL))) ||
      (status = report(mg_transport_close(transport))))
    MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return status;
}
#endif

int main(int argc, char** argv) {
  if (argc > 1) return report(mg_run_threads(atoi(argv[1]), stars, NULL));
#ifdef STARS_WITH_MPI
  return run_over_mpi(&argc, &argv);
#else
  return report(mg_run_threads(1, stars, NULL));
#endif
}
