#pragma once
/// The core of the library for C (C99) and everything that can call C: opaque handles, a status from every call, no mpi.h.
///
///     mg_transport* transport; mg_decomposition* blocks; mg_finder* finder;
///     mg_open(comm, NULL, &transport);                                // your MPI_Comm; include mpi.h before this
///     mg_decomposition_new(&box, cells, ranks, NULL, &blocks);
///     mg_finder_new(transport, blocks, NULL, &finder);                // collective
///     if (mg_finder_find(finder, &points, small, ids) != MG_OK) fprintf(stderr, "%s\n", mg_error());
///
/// Packages have headers of their own: merganser/capi/forest.h (graph), merganser/capi/measure.h (topology).
/// docs/embed.md tells the rules that hold for every function. The C++ headers say what the calls do in full.
#include "merganser/capi/announce.h"
#include "merganser/capi/clusterer.h"
#include "merganser/capi/finder.h"
#include "merganser/capi/friends.h"
#include "merganser/capi/library.h"
#include "merganser/capi/transport.h"
