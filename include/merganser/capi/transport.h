#pragma once
/// C interface of transports (one rank's end of a communication model) and decompositions (which rank owns which block).
#include "merganser/capi/library.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Transport: one rank's end of a communication model, as MPI's communicator.
typedef struct mg_transport mg_transport;
/// Decomposition of a box into blocks, one per rank.
typedef struct mg_decomposition mg_decomposition;

/// Options for opening a transport (model, decorators); the same on every rank. Set
/// struct_size; zero in another field means the default.
typedef struct mg_open_options {
  size_t struct_size;      ///< sizeof(mg_open_options)
  const char* backend;     ///< "p2p", "neighborhood", "rma", "shmem"; NULL or "auto": the one measured to be fastest
  const char* decorators;  ///< comma list: "checked", "chaos:SEED"; NULL: none
} mg_open_options;

/// Loads the plug-in for the MPI library that the process has loaded, for a library built without MPI, so that communicators
/// of that MPI can be passed to mg_open_fortran(). Local. The first call that succeeds decides; later ones do nothing, as does
/// every call where the library was built with MPI.
/// @param where  folder of the plug-ins or one of them; NULL: `plugins`, then `merganser/plugins`, beside the library
/// @return MG_USAGE if the process has no MPI or two, there is no plug-in for it, or the plug-in is for another MPI
MG_API int mg_use_mpi(const char* where);
/// Opens a transport over a communicator of the caller's, given as Fortran's integer handle, which is duplicated. MPI must be
/// initialised; the library does not finalise it. Collective over the communicator. @param options  NULL: defaults
MG_API int mg_open_fortran(int communicator, const mg_open_options* options, mg_transport** transport);
#if defined(MPI_ABI_VERSION)
/* mg_open(MPI_Comm, options, transport): mg_open_fortran() for a communicator in C, where mpi.h was included before. */
#define mg_open(communicator, options, transport) mg_open_fortran(MPI_Comm_toint(communicator), (options), (transport))
#elif defined(MPI_VERSION)
#define mg_open(communicator, options, transport) \
  mg_open_fortran((int)MPI_Comm_c2f(communicator), (options), (transport))
#endif
/// Opens a transport of one rank, this process, without MPI. Local.
MG_API int mg_open_alone(mg_transport** transport);
/// Callback that mg_run_threads() runs on every rank. @return MG_OK, or the status of the call that failed
typedef int (*mg_body)(mg_transport* transport, void* user);
/// Runs `body` on `ranks` ranks that are threads of this process, and returns when all have ended. If a rank fails, ranks that
/// wait for it are released with failing calls. The transports end with the run: objects made over them can only be freed
/// afterwards.
/// @param ranks  1 to 2^20
/// @param user   passed to every call of `body`
/// @return MG_OK, or the status of the rank that failed by itself, whose text mg_error() returns
MG_API int mg_run_threads(int ranks, mg_body body, void* user);
/// Closes a transport; NULL is accepted. Collective. Its resources are released when no object made over it is left.
MG_API int mg_transport_close(mg_transport* transport);

/// Returns the number of this rank in a transport, from 0. Local.
MG_API int mg_transport_rank(mg_transport* transport, int* rank);
/// Returns the number of ranks of a transport. Local.
MG_API int mg_transport_size(mg_transport* transport, int* size);
/// Returns the name of a transport's communication model, as "p2p". Local. Valid while the transport is.
MG_API int mg_transport_name(mg_transport* transport, const char** name);
/// Returns one line on the measurements by which "auto" chose a transport's model; "" if a model was named. Local. Valid while
/// the transport is.
MG_API int mg_transport_choice(mg_transport* transport, const char** choice);
/// Barrier of a transport: returns after all ranks have called it. Collective.
MG_API int mg_transport_barrier(mg_transport* transport);
/// Replaces each of n integers by its sum over all ranks, on every rank. Collective; meant for reports, not for inner loops.
/// @param n  up to 2^24, the same on every rank
MG_API int mg_transport_sum(mg_transport* transport, int64_t* values, size_t n);

/// Axis-aligned box of the domain, with walls or periodic along each axis.
typedef struct mg_box {
  size_t struct_size;   ///< sizeof(mg_box)
  double lower[3];      ///< lower corner
  double extent[3];     ///< length along each axis, > 0
  int32_t periodic[3];  ///< by axis: 1 periodic, 0 walls
  int32_t unused;       ///< 0; reserved for later versions, which could not use padding
} mg_box;

/// Creates a decomposition by cutting a box into equal cells and assigning rectangular blocks of cells to ranks. Local, as are
/// all functions of decompositions but mg_decomposition_of_ranks().
/// @param ranks  number of blocks, 1 to 2^24
/// @param shape  blocks along the axes: "auto", "1d", "2d", "3d" or "AxBxC"; NULL: auto
MG_API int mg_decomposition_new(const mg_box* box, const int64_t cells[3], int ranks, const char* shape,
                                mg_decomposition** decomposition);
/// Creates a decomposition by cutting each axis at the caller's coordinates. Ranks count along z first, then y, then x, as in a
/// Cartesian communicator. A point on a cut belongs to the block above it.
/// @param cuts   counts[a] coordinates along axis a, strictly ascending inside the box
/// @param cells  grid of which the volume of a cell is used (by mg_clusterer); NULL: one cell
MG_API int mg_decomposition_from_cuts(const mg_box* box, const int64_t cells[3], const double* const cuts[3],
                                      const size_t counts[3], mg_decomposition** decomposition);
/// Creates a decomposition of arbitrary blocks that tile the box: block r, of rank r, has the corners lower[3 r] .. and
/// upper[3 r] ... Faces that differ by rounding (1e-9 of the edge of the box) are joined.
/// @param cells  grid of which the volume of a cell is used (by mg_clusterer); NULL: one cell
MG_API int mg_decomposition_from_boxes(const mg_box* box, const int64_t cells[3], const double* lower,
                                       const double* upper, int ranks, mg_decomposition** decomposition);
/// Creates a decomposition in which every rank passes the corners of its own block; the blocks must tile the box. Collective.
/// @param cells  grid of which the volume of a cell is used (by mg_clusterer); NULL: one cell
MG_API int mg_decomposition_of_ranks(mg_transport* transport, const mg_box* box, const int64_t cells[3],
                                     const double lower[3], const double upper[3], mg_decomposition** decomposition);
/// Creates a decomposition with the shape of a communicator made by MPI_Cart_create, given as Fortran's integer handle. Cells
/// are assigned as by mg_decomposition_new().
/// @param axes  axes[i] is the axis of the box that axis i of the communicator splits; NULL: 0, 1, 2
MG_API int mg_decomposition_cartesian(int communicator, const mg_box* box, const int64_t cells[3],
                                      const int32_t axes[3], mg_decomposition** decomposition);
/// Returns the number of blocks of a decomposition, one for each rank.
MG_API int mg_decomposition_ranks(mg_decomposition* decomposition, int* ranks);
/// Returns the lower and the upper corner of a rank's block in a decomposition.
MG_API int mg_decomposition_block(mg_decomposition* decomposition, int rank, double lower[3], double upper[3]);
/// Computes the rank that owns each of n points. Periodic axes are wrapped.
/// @param xyz     3 n coordinates: x, y, z of point i from xyz[3 i] on
/// @param owners  receives n ranks
/// @return MG_INPUT for a point that is not finite or outside of a wall
MG_API int mg_decomposition_owners(mg_decomposition* decomposition, const double* xyz, size_t n, int32_t* owners);
/// Frees a decomposition; NULL is accepted. Objects made with it hold a copy.
MG_API int mg_decomposition_free(mg_decomposition* decomposition);

#ifdef __cplusplus
}
#endif
