/* Test program: calls of the C interface after MPI_Finalize, over every model. Functions that would communicate return
 * MG_COMMUNICATION, functions that free succeed, and none ends the program. Exits with 1 and a message on failure. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "merganser/merganser.h"

enum { MODELS = 4 };

static int failed = 0;
static int world_rank;

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d failed: %s; last error: %s\n", world_rank, what, mg_error());
  failed = 1;
}

/* A call that would communicate. */
static void check_refused(int status, const char* what) {
  check(status == MG_COMMUNICATION && strstr(mg_error(), "MPI is finalised") != NULL, what);
}

struct objects {
  mg_transport* transport;
  mg_decomposition* blocks;
  mg_schema* schema;
  mg_finder* finder;
  mg_clusterer* clusterer;
  mg_announcer* announcer;
};

static const mg_box box = {sizeof box, {0, 0, 0}, {1, 1, 1}, {1, 1, 0}, 0};
static const int64_t cells[3] = {8, 8, 8};
static double xyz[3], volume[1] = {1e-9};
static const uint8_t small[1] = {1};
static int64_t ids[1];
static mg_points points = {sizeof points, 1, xyz, xyz + 1, xyz + 2, 3};
static mg_columns columns = {sizeof columns, 1, xyz, xyz + 1, xyz + 2, 3, volume, 0, NULL, NULL, ids};

static void make(struct objects* o, const char* model) {
  const mg_open_options options = {sizeof options, model, NULL};
  double upper[3];
  int rank = 0, ranks = 0;
  if (mg_open(MPI_COMM_WORLD, &options, &o->transport)) {
    check(strstr(mg_error(), "not in this build") != NULL, model); /* OpenSHMEM may be missing */
    return;
  }
  check(!mg_transport_rank(o->transport, &rank) && !mg_transport_size(o->transport, &ranks), "rank and size");
  check(!mg_decomposition_new(&box, cells, ranks, NULL, &o->blocks), "blocks");
  check(!mg_decomposition_block(o->blocks, rank, xyz, upper), "a block");
  ids[0] = rank;
  check(!mg_schema_new(&o->schema), "a schema");
  check(!mg_finder_new(o->transport, o->blocks, NULL, &o->finder), "a finder");
  check(!mg_clusterer_new(o->transport, o->blocks, o->schema, NULL, &o->clusterer), "a clusterer");
  check(!mg_announcer_new(o->transport, "torus", 1, NULL, &o->announcer), "an announcer");
  check(!mg_finder_find(o->finder, &points, small, ids), "find");
  check(!mg_clusterer_put(o->clusterer, &columns), "put");
}

static void use(struct objects* o) {
  char digest[33];
  int64_t sum[1] = {1};
  double rows[8];
  size_t n = 0;
  mg_finder* finder = NULL;
  mg_decomposition* blocks = NULL;
  check_refused(mg_transport_barrier(o->transport), "barrier");
  check_refused(mg_transport_sum(o->transport, sum, 1), "sum");
  check_refused(mg_finder_find(o->finder, &points, small, ids), "find");
  check_refused(mg_clusterer_step(o->clusterer, NULL), "step");
  check_refused(mg_clusterer_redistribute(o->clusterer, NULL), "redistribute");
  check_refused(mg_clusterer_distribute(o->clusterer), "distribute");
  check_refused(mg_clusterer_digest(o->clusterer, digest), "digest");
  check_refused(mg_announcer_step(o->announcer, &n), "a step of announcements");
  check_refused(mg_decomposition_of_ranks(o->transport, &box, NULL, xyz, xyz, &blocks), "blocks of ranks");
  check_refused(mg_finder_new(o->transport, o->blocks, NULL, &finder), "another finder");
  check(mg_finder_migrate(o->finder, rows, 8, rows, sizeof rows) != MG_OK, "migrate after a find that was refused");
  check(finder == NULL && blocks == NULL, "nothing is made");
  check(!mg_clusterer_count(o->clusterer, &n) && n == 1, "what is here can be asked for");
}

static void free_objects(struct objects* o) {
  check(!mg_announcer_free(o->announcer) && !mg_clusterer_free(o->clusterer), "free");
  check(!mg_transport_close(o->transport) && !mg_finder_free(o->finder), "close, and free what was made over it");
  check(!mg_decomposition_free(o->blocks) && !mg_schema_free(o->schema), "free");
}

int main(int argc, char** argv) {
  const char* const models[MODELS] = {"p2p", "neighborhood", "rma", "shmem"};
  struct objects all[MODELS];
  mg_transport* late = NULL;
  int i;
  memset(all, 0, sizeof all);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  for (i = 0; i < MODELS; ++i) make(&all[i], models[i]);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  for (i = 0; i < MODELS; ++i)
    if (all[i].transport != NULL) use(&all[i]);
  check(mg_open_fortran(0, NULL, &late) == MG_USAGE && late == NULL, "open");
  check(mg_decomposition_cartesian(0, &box, cells, NULL, &all[0].blocks) == MG_USAGE, "a Cartesian communicator");
  for (i = 0; i < MODELS; ++i) free_objects(&all[i]);
  return failed;
}
