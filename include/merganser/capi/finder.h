#pragma once
/// Which of the caller's points merge into which, in arrays and with a mask of the caller's own.
#include "merganser/capi/clusterer.h"
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Finds stars: every small point looks for its nearest other point, and links are cut until no point that stays merges
/// itself.
typedef struct mg_finder mg_finder;

/// Positions in the caller's arrays, read where they are: point i is x[i * stride], y[i * stride], z[i * stride].
typedef struct mg_points {
  size_t struct_size;  ///< sizeof(mg_points)
  size_t count;        ///< number of points
  const double* x;
  const double* y;
  const double* z;  ///< NULL in two dimensions
  size_t stride;    ///< 0: 1. For double xyz[n][3], Fortran's xyz(3, n): x = xyz, y = xyz + 1, z = xyz + 2, stride 3
} mg_points;

/// A point of this rank that merges. Records of lists have no size: they never change.
typedef struct mg_link {
  uint32_t source;  ///< the point: its position in the arrays given to mg_finder_find()
  int32_t rank;     ///< where the centre is; this rank or another
  uint32_t centre;  ///< the centre's position in the arrays of its rank
  uint32_t unused;
  int64_t centre_id;
  double distance2;  ///< squared distance between the two
} mg_link;

/// A point of another rank that merges into a centre of this one.
typedef struct mg_receive {
  uint32_t centre;  ///< the centre: its position in the arrays given to mg_finder_find()
  int32_t rank;     ///< where the point is
  uint32_t source;  ///< the point's position in the arrays of its rank
  uint32_t unused;
  int64_t source_id;
  double distance2;
} mg_receive;

/// The same stars in the lists that EPIC's merging works on, positions from `base` on: sources[k] merges into centres[k].
/// Sources of other ranks are received behind the n points of this rank, at base + n + their number among the receives.
typedef struct mg_star_lists {
  size_t struct_size;      ///< sizeof(mg_star_lists)
  size_t merging;          ///< length of the next two
  const int32_t* sources;  ///< (isma) own points in ascending order, then what is received
  const int32_t* centres;  ///< (iclo)
  size_t invalid;          ///< length of the next one
  const int32_t* holes;    ///< (inva) ascending: points that have left or are merged here, received ones too
} mg_star_lists;

/// How stars are cut; the same on every rank. Zero in every field: the default.
typedef struct mg_finder_options {
  size_t struct_size;       ///< sizeof(mg_finder_options)
  int32_t prune;            ///< 0: one pass; 1: iterative, as published. Both give the same
  int32_t subcommunicator;  ///< of iterative: 1: only ranks with links take part
} mg_finder_options;

/// Makes the communication objects. Collective. @param options  NULL: defaults
MG_API int mg_finder_new(mg_transport* transport, mg_decomposition* decomposition, const mg_finder_options* options,
                         mg_finder** finder);
/// Finds the stars. Called by every rank; talks to neighbours only. The arrays are read during the call only.
/// @param points  in the rank's block once periodic axes are wrapped, which is done here for a copy; the arrays stay as they are.
/// The upper face of a periodic axis is wrapped to the lower one, as by mg_decomposition_owners()
/// @param small  a byte per point, not 0 if it looks for a partner
/// @param ids    a number per point, distinct over all ranks, which decides between equal distances; NULL: rank * 2^40 +
/// position
///
/// MG_INPUT for a point that is not finite or outside the rank's block, or an id twice on this rank, is this rank's alone,
/// before anything is sent: end the job, or open the transport with the decorator "checked", with which every rank is told.
/// An id that another rank sends and this one has is MG_INPUT too, on this rank alone, while others may wait; with "checked"
/// all ids of all ranks are compared first.
MG_API int mg_finder_find(mg_finder* finder, const mg_points* points, const uint8_t* small, const int64_t* ids);

/// Points of this rank that merge, each once. Valid, like all lists, until the next mg_finder_find() or _free().
MG_API int mg_finder_links(mg_finder* finder, const mg_link** links, size_t* count);
/// Positions of those of them whose centre is on another rank, in the order in which rows are sent.
MG_API int mg_finder_sends(mg_finder* finder, const uint32_t** positions, size_t* count);
/// Points of other ranks that merge here, in the order in which rows arrive.
MG_API int mg_finder_receives(mg_finder* finder, const mg_receive** receives, size_t* count);
/// By point: where it merges into. Each array is NULL (not wanted) or has an entry per point; -1 where a point stays.
MG_API int mg_finder_places(mg_finder* finder, int32_t* rank, int64_t* position, int64_t* id, double* distance2);
/// The stars as lists with positions from `base` on, 0 or 1.
MG_API int mg_finder_lists(mg_finder* finder, int base, mg_star_lists* lists);

/// Sends the row of every point of mg_finder_sends() to the rank of its centre. Called by every rank after mg_finder_find(), as often as
/// there are payloads; row_bytes the same on every rank.
/// @param rows     row i is that of point i, row_bytes apart
/// @param received  gets a row for each receive
/// @param capacity bytes of `received`: at least receives * row_bytes
MG_API int mg_finder_migrate(mg_finder* finder, const void* rows, size_t row_bytes, void* received, size_t capacity);
/// Writes the row of one point. It must not call this library.
typedef void (*mg_pack)(uint32_t position, void* row, void* user);
/// The same for a payload that lies elsewhere than in rows.
MG_API int mg_finder_migrate_packed(mg_finder* finder, size_t row_bytes, mg_pack pack, void* user, void* received,
                                    size_t capacity);
/// Merges the stars of the last mg_finder_find(), whose points the columns are, in the same order: attributes of sources
/// travel, a centre becomes what its star gives, and sources are taken out of all columns, the others moving up.
/// Called by every rank. @param left  the number of points that are left here; NULL: not wanted
MG_API int mg_finder_merge(mg_finder* finder, mg_schema* schema, const mg_columns* columns, size_t* left);
/// Lets go of it.
MG_API int mg_finder_free(mg_finder* finder);

#ifdef __cplusplus
}
#endif
