/* Test program: the C interface over communicators of the caller, with every model, parts of the world, two transports at once,
 * and errors of one rank. Exits with 1 and a message on failure. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "merganser/merganser.h"

static int failed = 0;
static int world_rank, world_size;

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d failed: %s; last error: %s\n", world_rank, what, mg_error());
  failed = 1;
}

static mg_finder* make_finder(mg_transport* transport, mg_decomposition** blocks) {
  const mg_box box = {sizeof box, {0, 0, 0}, {1, 1, 1}, {1, 0, 0}, 0};
  mg_finder* finder = NULL;
  int rank = -1, ranks = 0;
  double lower[3] = {0, 0, 0}, upper[3] = {1, 1, 1};
  check(!mg_transport_rank(transport, &rank) && !mg_transport_size(transport, &ranks), "rank and size");
  lower[1] = rank / (double)ranks;
  upper[1] = rank + 1 == ranks ? 1 : (rank + 1) / (double)ranks;
  check(!mg_decomposition_of_ranks(transport, &box, NULL, lower, upper, blocks), "slabs");
  check(!mg_finder_new(transport, *blocks, NULL, &finder), "a finder");
  return finder;
}

/* Two points of each rank, near its faces: pairs over the faces between ranks. */
static void stars(mg_transport* transport) {
  mg_decomposition* blocks = NULL;
  mg_finder* finder = make_finder(transport, &blocks);
  int rank = 0, ranks = 0;
  double xyz[6] = {0.5, 0, 0.5, 0.5, 0, 0.5};
  const uint8_t small[2] = {1, 1};
  int64_t ids[2], centres[2], sums[1] = {0};
  mg_points points = {sizeof points, 2, NULL, NULL, NULL, 3};
  mg_transport_rank(transport, &rank);
  mg_transport_size(transport, &ranks);
  xyz[1] = (rank + 0.01) / ranks;
  xyz[4] = (rank + 0.99) / ranks;
  ids[0] = 2 * rank;
  ids[1] = 2 * rank + 1;
  points.x = xyz;
  points.y = xyz + 1;
  points.z = xyz + 2;
  check(!mg_finder_find(finder, &points, small, ids), "find");
  check(!mg_finder_places(finder, NULL, NULL, centres, NULL), "places");
  if (ranks > 1 && rank + 1 < ranks)
    check(centres[1] == -1 || centres[1] == ids[1] + 1, "the partner is over the face");
  if (ranks > 1 && rank > 0) check(centres[0] == -1 || centres[0] == ids[0] - 1, "the partner is over the lower face");
  sums[0] = (centres[0] >= 0) + (centres[1] >= 0);
  check(!mg_transport_sum(transport, sums, 1), "sum");
  /* A pair over every face, and the two at the walls join what is nearest. On two ranks that pair is cut: both ends of it get
   * one of these. */
  check(sums[0] == (ranks <= 2 ? ranks : ranks + 1), "who merges");
  check(!mg_finder_free(finder) && !mg_decomposition_free(blocks), "free");
}

static void test_every_model(void) {
  const char* const models[] = {"p2p", "neighborhood", "rma", "auto", "shmem"};
  size_t i;
  for (i = 0; i < sizeof models / sizeof *models; ++i) {
    mg_open_options options = {sizeof options, NULL, NULL};
    mg_transport* transport = NULL;
    const char* text = NULL;
    options.backend = models[i];
    if (mg_open(MPI_COMM_WORLD, &options, &transport)) {
      check(i == 4 && strstr(mg_error(), "not in this build") != NULL, models[i]); /* OpenSHMEM may be missing */
      continue;
    }
    check(!mg_transport_name(transport, &text) && (i == 3 || !strcmp(text, models[i])), "its name");
    check(!mg_transport_choice(transport, &text) && (i != 3 || world_size == 1 || *text), "what auto chose");
    stars(transport);
    check(!mg_transport_close(transport), "close");
  }
}

/* One half of the world looks for stars, the other half does something else. */
static void test_half_of_the_world(void) {
  MPI_Comm half;
  int one = 1, sum = 0;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
  if (world_rank % 2 == 0) {
    mg_transport* transport = NULL;
    check(!mg_open(half, NULL, &transport), "half");
    stars(transport);
    check(!mg_transport_close(transport), "close half");
  } else {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
    check(sum == world_size / 2, "the other half");
  }
  MPI_Comm_free(&half);
}

static void test_two_transports(void) {
  const mg_open_options rma = {sizeof rma, "rma", NULL};
  MPI_Comm backwards;
  mg_transport* transports[2] = {NULL, NULL};
  mg_decomposition* blocks[2] = {NULL, NULL};
  mg_finder* finders[2];
  int i;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &backwards);
  check(!mg_open(MPI_COMM_WORLD, NULL, &transports[0]), "first");
  check(!mg_open(backwards, &rma, &transports[1]), "second");
  MPI_Comm_free(&backwards); /* it was duplicated */
  for (i = 0; i < 2; ++i) finders[i] = make_finder(transports[i], &blocks[i]);
  for (i = 0; i < 2; ++i) stars(transports[i]);
  for (i = 0; i < 2; ++i) check(!mg_transport_close(transports[i]), "closed before what was made over it");
  for (i = 0; i < 2; ++i) check(!mg_finder_free(finders[i]) && !mg_decomposition_free(blocks[i]), "free");
}

/* With the decorator `checked` every rank is told of the error of one. */
static void test_error_of_one_rank(void) {
  const mg_open_options options = {sizeof options, "p2p", "checked"};
  mg_transport* transport = NULL;
  mg_decomposition* blocks = NULL;
  mg_finder* finder;
  double xyz[3] = {0.5, 0, 0.5};
  const uint8_t small[1] = {1};
  mg_points points = {sizeof points, 1, NULL, NULL, NULL, 3};
  check(!mg_open(MPI_COMM_WORLD, &options, &transport), "checked");
  finder = make_finder(transport, &blocks);
  xyz[1] = world_rank == world_size - 1 ? 7 : (world_rank + 0.5) / world_size;
  points.x = xyz;
  points.y = xyz + 1;
  points.z = xyz + 2;
  check(mg_finder_find(finder, &points, small, NULL) == MG_INPUT, "a point of one rank is outside");
  xyz[1] = (world_rank + 0.5) / world_size;
  check(!mg_finder_find(finder, &points, small, NULL), "and the next find is a good one");
  check(!mg_finder_free(finder) && !mg_decomposition_free(blocks) && !mg_transport_close(transport), "free");
}

static void test_refusals(void) {
  mg_transport* transport = NULL;
  MPI_Comm between;
  MPI_Comm part;
  check(mg_open(MPI_COMM_NULL, NULL, &transport) == MG_USAGE, "no communicator");
  check(mg_open(MPI_COMM_WORLD, NULL, NULL) == MG_USAGE, "no place for the handle");
  if (world_size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0, 0, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, world_rank == 0 ? 1 : 0, 5, &between);
  check(mg_open(between, NULL, &transport) == MG_USAGE && transport == NULL, "an inter-communicator");
  MPI_Comm_free(&between);
  MPI_Comm_free(&part);
}

int main(int argc, char** argv) {
  mg_transport* early = NULL;
  check(mg_open_fortran(0, NULL, &early) == MG_USAGE, "before MPI_Init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  test_every_model();
  test_half_of_the_world();
  test_two_transports();
  test_error_of_one_rank();
  test_refusals();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  check(mg_open_fortran(0, NULL, &early) == MG_USAGE, "after MPI_Finalize");
  return failed;
}
