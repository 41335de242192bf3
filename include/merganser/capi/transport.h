#pragma once
/// Whom a program talks to, and who of them owns which part of a domain.
#include "merganser/capi/library.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One rank's end of a communication model.
typedef struct mg_transport mg_transport;
/// Which rank owns which block of a box.
typedef struct mg_decomposition mg_decomposition;

/// How a transport is opened; the same on every rank. Zero in every field: the default.
typedef struct mg_open_options {
  size_t struct_size;      ///< sizeof(mg_open_options)
  const char* backend;     ///< "p2p", "neighborhood", "rma", "shmem"; NULL or "auto": the fastest is measured
  const char* decorators;  ///< comma list: "checked", "chaos:SEED"; NULL: none
} mg_open_options;

/// For a library built without MPI: opens the plug-in that fits the MPI which the process has loaded, so that communicators of
/// that MPI can be given here. The first call that succeeds decides. Refused (MG_USAGE) with both files named: no MPI or two
/// in the process, no plug-in for this one, a plug-in of another. Nothing to do where the library was built with MPI.
/// @param where  folder of the plug-ins or one of them; NULL: `plugins`, then `merganser/plugins`, beside the library
MG_API int mg_use_mpi(const char* where);
/// Opens a transport over a communicator of the caller's, given as Fortran's integer handle. It is duplicated; MPI must be
/// initialised, and is not finalised. Collective over the communicator. @param options  NULL: defaults
MG_API int mg_open_fortran(int communicator, const mg_open_options* options, mg_transport** transport);
#if defined(MPI_ABI_VERSION)
/* The same for an MPI_Comm, where mpi.h was included before. */
#define mg_open(communicator, options, transport) mg_open_fortran(MPI_Comm_toint(communicator), (options), (transport))
#elif defined(MPI_VERSION)
#define mg_open(communicator, options, transport) \
  mg_open_fortran((int)MPI_Comm_c2f(communicator), (options), (transport))
#endif
/// Opens a transport of one rank, this process, without MPI.
MG_API int mg_open_alone(mg_transport** transport);
/// What mg_run_threads() runs: returns MG_OK, or the status of the call that failed.
typedef int (*mg_body)(mg_transport* transport, void* user);
/// Runs `body` on `ranks` ranks that are threads of this process and returns when all have ended: with MG_OK, or the
/// status and text of the rank that failed by itself. A rank that waits for one that failed is released, and its calls
/// fail. The transports end with the run: what was made over them can only be freed afterwards.
MG_API int mg_run_threads(int ranks, mg_body body, void* user);
/// Lets go of a transport. Collective. It ends when nothing that was made over it is left.
MG_API int mg_transport_close(mg_transport* transport);

/// Number of this rank, from 0.
MG_API int mg_transport_rank(mg_transport* transport, int* rank);
/// Number of ranks.
MG_API int mg_transport_size(mg_transport* transport, int* size);
/// The model that runs: "p2p". Valid while the transport is.
MG_API int mg_transport_name(mg_transport* transport, const char** name);
/// What "auto" measured and chose, one line; "" if a model was named. Valid while the transport is.
MG_API int mg_transport_choice(mg_transport* transport, const char** choice);
/// Returns when every rank has called it. Collective.
MG_API int mg_transport_barrier(mg_transport* transport);
/// Adds up each of n integers over all ranks; every rank gets the sums. Collective. For reports, not for loops.
MG_API int mg_transport_sum(mg_transport* transport, int64_t* values, size_t n);

/// An axis-aligned box.
typedef struct mg_box {
  size_t struct_size;  ///< sizeof(mg_box)
  double lower[3];
  double extent[3];     ///< > 0
  int32_t periodic[3];  ///< by axis: 1 periodic, 0 walls
  int32_t unused;       ///< 0
} mg_box;

/// Cuts a box into cells and deals them to ranks in rectangular blocks. Local, as are all functions of decompositions.
/// @param shape  "auto", "1d", "2d", "3d" or "AxBxC"; NULL: auto
MG_API int mg_decomposition_new(const mg_box* box, const int64_t cells[3], int ranks, const char* shape,
                                mg_decomposition** decomposition);
/// Cuts each axis at the caller's coordinates, strictly ascending inside the box: cuts[a] has counts[a] of them. Ranks count
/// along z first, then y, then x, as in a Cartesian communicator. What lies on a cut belongs to the part above it.
/// @param cells  for those who ask for their volume (mg_clusterer); NULL: one
MG_API int mg_decomposition_from_cuts(const mg_box* box, const int64_t cells[3], const double* const cuts[3],
                                      const size_t counts[3], mg_decomposition** decomposition);
/// Takes blocks of any kind that tile the box: block r, for rank r, from lower[3 r] to upper[3 r]. Faces that differ by
/// rounding (1e-9 of the edge of the box) are taken as one.
MG_API int mg_decomposition_from_boxes(const mg_box* box, const int64_t cells[3], const double* lower,
                                       const double* upper, int ranks, mg_decomposition** decomposition);
/// The same where every rank knows its own block only, as over a Cartesian communicator. Collective.
MG_API int mg_decomposition_of_ranks(mg_transport* transport, const mg_box* box, const int64_t cells[3],
                                     const double lower[3], const double upper[3], mg_decomposition** decomposition);
/// Takes the shape of a communicator made by MPI_Cart_create, given as Fortran's integer handle: its axis i splits axis
/// axes[i] of the box; cells are dealt as by mg_decomposition_new(). @param axes  NULL: 0, 1, 2
MG_API int mg_decomposition_cartesian(int communicator, const mg_box* box, const int64_t cells[3],
                                      const int32_t axes[3], mg_decomposition** decomposition);
/// Number of blocks, one for each rank.
MG_API int mg_decomposition_ranks(mg_decomposition* decomposition, int* ranks);
/// Lower and upper corner of a rank's block.
MG_API int mg_decomposition_block(mg_decomposition* decomposition, int rank, double lower[3], double upper[3]);
/// The rank that owns each of n points: xyz[3 n], x y z of a point beside each other. Periodic axes are wrapped; outside of a
/// wall is refused.
MG_API int mg_decomposition_owners(mg_decomposition* decomposition, const double* xyz, size_t n, int32_t* owners);
/// Lets go of a decomposition. What was made with it has a copy.
MG_API int mg_decomposition_free(mg_decomposition* decomposition);

#ifdef __cplusplus
}
#endif
