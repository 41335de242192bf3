#pragma once
/// C interface of the star finder: computes which of the caller's points merge into which, from arrays and a mask that stay
/// the caller's, and migrates and merges rows of the caller's data.
#include "merganser/capi/clusterer.h"
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Star finder: links every small point to its nearest other point and prunes the links to stars, in which no centre merges
/// itself.
typedef struct mg_finder mg_finder;

/// Views of the caller's arrays of coordinates: point i is (x[i * stride], y[i * stride], z[i * stride]).
typedef struct mg_points {
  size_t struct_size;  ///< sizeof(mg_points)
  size_t count;        ///< number of points
  const double* x;     ///< coordinates along x
  const double* y;     ///< coordinates along y
  const double* z;     ///< coordinates along z; NULL in two dimensions
  size_t stride;       ///< 0: 1. For double xyz[n][3], Fortran's xyz(3, n): x = xyz, y = xyz + 1, z = xyz + 2, stride 3
} mg_points;

/// Link from a point of this rank that merges to its centre. Records of lists have no struct_size: they are the same in all
/// versions.
typedef struct mg_link {
  uint32_t source;    ///< the point: its position in the arrays given to mg_finder_find()
  int32_t rank;       ///< rank of the centre: this one or another
  uint32_t centre;    ///< the centre's position in the arrays of its rank
  uint32_t unused;    ///< 0, so that records can be compared and written as bytes
  int64_t centre_id;  ///< id of the centre
  double distance2;   ///< squared distance between the two
} mg_link;

/// Star link from a point of another rank to the centre of this rank that it merges into, as mg_finder_receives() lists them.
typedef struct mg_receive {
  uint32_t centre;    ///< the centre: its position in the arrays given to mg_finder_find()
  int32_t rank;       ///< rank of the point
  uint32_t source;    ///< the point's position in the arrays of its rank
  uint32_t unused;    ///< 0, so that records can be compared and written as bytes
  int64_t source_id;  ///< id of the point
  double distance2;   ///< squared distance between the two
} mg_receive;

/// Stars as index lists in the form of EPIC's merging, positions counted from `base`: sources[k] merges into centres[k].
/// The row of receive k stands behind the n points of this rank, at position base + n + k.
typedef struct mg_star_lists {
  size_t struct_size;      ///< sizeof(mg_star_lists)
  size_t merging;          ///< length of sources and centres
  const int32_t* sources;  ///< (EPIC's isma) own points in ascending order, then received ones
  const int32_t* centres;  ///< (EPIC's iclo) centre of each source
  size_t invalid;          ///< length of holes
  const int32_t* holes;  ///< (EPIC's inva) ascending: points that were sent or are merged here, received ones included
} mg_star_lists;

/// Options of a star finder: how links are pruned to stars; the same on every rank. Set
/// struct_size; zero in another field means the default.
typedef struct mg_finder_options {
  size_t struct_size;       ///< sizeof(mg_finder_options)
  int32_t prune;            ///< 0: one pass; 1: iterative, as published. Both give the same
  int32_t subcommunicator;  ///< of iterative: 1: only ranks with links take part
} mg_finder_options;

/// Creates a star finder with its communication objects. Collective. @param options  NULL: defaults
MG_API int mg_finder_new(mg_transport* transport, mg_decomposition* decomposition, const mg_finder_options* options,
                         mg_finder** finder);
/// Finds the stars among the points of all ranks. Called by every rank; communicates with neighbours only. The arrays are read
/// during the call only and not changed.
/// @param points  in this rank's block once periodic axes are wrapped, which the library does in a copy. The upper face of a
///                periodic axis is wrapped to the lower one, as by mg_decomposition_owners()
/// @param small   one byte per point, not 0 for a point that merges with its nearest
/// @param ids     one id per point, distinct over all ranks, which breaks ties between equal distances; NULL: rank * 2^40 +
///                position
/// @return MG_INPUT for a point that is not finite or outside the rank's block, or an id twice on this rank: on this rank
/// alone, before anything is sent, so that others may wait for it. End the job, or open the transport with the decorator
/// "checked", with which the call fails on all ranks. MG_INPUT, on this rank alone, also for an id of a received point that
/// this rank has; with "checked" the ids of all ranks are compared first.
MG_API int mg_finder_find(mg_finder* finder, const mg_points* points, const uint8_t* small, const int64_t* ids);

/// Returns the links of this rank's points that merge, one per point. Local. Valid, like all lists, until the next
/// mg_finder_find() or _free().
MG_API int mg_finder_links(mg_finder* finder, const mg_link** links, size_t* count);
/// Returns the positions of this rank's points whose centre is on another rank, in the order in which their rows are sent.
/// Local.
MG_API int mg_finder_sends(mg_finder* finder, const uint32_t** positions, size_t* count);
/// Returns the links from points of other ranks to centres of this rank, in the order in which their rows are received. Local.
MG_API int mg_finder_receives(mg_finder* finder, const mg_receive** receives, size_t* count);
/// Returns the centre of every point: its rank, position and id, and the squared distance. Local. Each array is NULL (not
/// wanted) or has one entry per point; -1 for points that do not merge.
MG_API int mg_finder_places(mg_finder* finder, int32_t* rank, int64_t* position, int64_t* id, double* distance2);
/// Returns the stars (a centre and the points that merge into it) of the last mg_finder_find() as index lists, in the form in which EPIC's
/// merging takes them. Local. The lists are valid until the next mg_finder_lists(), mg_finder_find() or mg_finder_free().
/// @param base  index of the first point: 0 (C) or 1 (Fortran)
/// @param lists  output; the caller sets its struct_size
MG_API int mg_finder_lists(mg_finder* finder, int base, mg_star_lists* lists);

/// Sends the row of every point of mg_finder_sends() to the rank of its centre. Called by every rank after mg_finder_find(),
/// once or, for several payloads, repeatedly; communicates with neighbours only.
/// @param rows       one row per point, consecutive
/// @param row_bytes  size of a row, 0 to 2^30, the same on every rank
/// @param received   receives one row per entry of mg_finder_receives(), in that order
/// @param capacity   bytes of `received`: at least receives * row_bytes
MG_API int mg_finder_migrate(mg_finder* finder, const void* rows, size_t row_bytes, void* received, size_t capacity);
/// Callback of mg_finder_migrate_packed() that writes the row of the point at a position. It must not call this library.
typedef void (*mg_pack)(uint32_t position, void* row, void* user);
/// Sends the row of every point of mg_finder_sends() to the rank of its centre; a callback packs each row, for data that are
/// not stored in rows. Called by every rank after mg_finder_find(); communicates with neighbours only.
/// @param row_bytes  size of a row, 0 to 2^30, the same on every rank
/// @param user       passed to every call of `pack`
/// @param received   receives one row per entry of mg_finder_receives(), in that order
/// @param capacity   bytes of `received`: at least receives * row_bytes
MG_API int mg_finder_migrate_packed(mg_finder* finder, size_t row_bytes, mg_pack pack, void* user, void* received,
                                    size_t capacity);
/// Merges the stars of the last mg_finder_find() in the caller's columns: sends sources to the ranks of their centres, replaces
/// each centre by the merged parcel, and removes sources from all columns, closing the gaps. Called by every rank.
/// @param columns  the points of mg_finder_find(), in the same order
/// @param left     number of points left on this rank; NULL: not wanted
MG_API int mg_finder_merge(mg_finder* finder, mg_schema* schema, const mg_columns* columns, size_t* left);
/// Frees a star finder; NULL is accepted. Every rank must free it.
MG_API int mg_finder_free(mg_finder* finder);

#ifdef __cplusplus
}
#endif
