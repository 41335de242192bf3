#pragma once
/// Merge steps over the caller's columns.
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The attributes of a parcel besides position and volume, and how they merge.
typedef struct mg_schema mg_schema;
/// Merges small parcels with their nearest neighbours, step after step.
typedef struct mg_clusterer mg_clusterer;

/// How an attribute of a merged parcel follows from its members.
enum mg_rule {
  MG_MEAN = 0,      ///< volume-weighted mean
  MG_SUM = 1,       ///< sum
  MG_CENTRE = 2,    ///< the centre's
  MG_LARGEST = 3,   ///< that of the member of largest volume (lowest id among equals)
  MG_ELLIPSOID = 4  ///< B11 B12 B13 B22 B23 of an ellipsoid, 5 components
};
/// Writes an attribute of a merged parcel: values[member * components + c] of `members` members, centre first, then by id,
/// and their volumes, to out[c]. It must not call this library.
typedef void (*mg_merge)(size_t members, const double* values, const double* volumes, double* out, void* user);

/// Makes a schema without attributes.
MG_API int mg_schema_new(mg_schema** schema);
/// Makes EPIC's: vorticity (3, mean), buoyancy (mean), B (5, ellipsoid).
MG_API int mg_schema_epic(mg_schema** schema);
/// Adds an attribute of `components` numbers. @param rule  of enum mg_rule
MG_API int mg_schema_add(mg_schema* schema, const char* name, int components, int rule);
/// Adds an attribute that `merge` merges; `user` is handed to it.
MG_API int mg_schema_add_callback(mg_schema* schema, const char* name, int components, mg_merge merge, void* user);
/// Columns that a parcel's attributes need: their components, added up.
MG_API int mg_schema_columns(mg_schema* schema, size_t* columns);
/// Lets go of a schema. What was made with it has a copy.
MG_API int mg_schema_free(mg_schema* schema);

/// Parcels in arrays of the caller's. Entry i of a column is data[i * stride].
typedef struct mg_columns {
  size_t struct_size;  ///< sizeof(mg_columns)
  size_t count;        ///< parcels
  double* x;
  double* y;
  double* z;               ///< NULL in two dimensions
  size_t position_stride;  ///< of x, y and z; 0: 1. 3 for x = xyz, y = xyz + 1, z = xyz + 2
  double* volume;          ///< 1e-120 to 1e120, stride 1
  size_t attributes;       ///< columns of attributes: mg_schema_columns()
  double* const* columns;  ///< one per component, in the order of the schema
  const size_t* strides;   ///< of each of them; NULL: 1
  int64_t* ids;            ///< unique over all ranks
} mg_columns;

/// What a step does; the same on every rank. Zero in every field: the default.
typedef struct mg_clusterer_options {
  size_t struct_size;       ///< sizeof(mg_clusterer_options)
  double min_volume_ratio;  ///< a parcel is small if its volume is below cell volume / this; 0: 40
  int32_t search;           ///< 0: the true nearest parcel; 1: the nearest within 2x2x2 cells, as published
  int32_t prune;            ///< 0: one pass; 1: iterative, as published. Both give the same
} mg_clusterer_options;

/// Numbers of a step on this rank. The caller sets `size`.
typedef struct mg_step_numbers {
  size_t struct_size;  ///< sizeof(mg_step_numbers)
  int64_t before;
  int64_t small;
  int64_t merged;  ///< sources whose centre is on this rank
  int64_t after;
  int64_t unmatched;  ///< small parcels without any other parcel
  int64_t cross_links;
  double seconds;
} mg_step_numbers;

/// Makes the communication objects. Collective. @param options  NULL: defaults
MG_API int mg_clusterer_new(mg_transport* transport, mg_decomposition* decomposition, mg_schema* schema,
                            const mg_clusterer_options* options, mg_clusterer** clusterer);
/// Takes a copy of the caller's parcels, in place of what was there. Local. Refused: a coordinate or attribute that is not
/// finite, a volume out of range, a shape that is none.
MG_API int mg_clusterer_put(mg_clusterer* clusterer, const mg_columns* columns);
/// Brings every parcel to its owner, from wherever it is. Collective.
MG_API int mg_clusterer_distribute(mg_clusterer* clusterer);
/// Makes one merge step. Called by every rank; talks to neighbours only. @param numbers  NULL: not wanted
MG_API int mg_clusterer_step(mg_clusterer* clusterer, mg_step_numbers* numbers);
/// Sends parcels that left this rank's block to their owner, with one neighbour wave. Called by every rank.
/// @param sent  NULL: not wanted
MG_API int mg_clusterer_redistribute(mg_clusterer* clusterer, int64_t* sent);
/// Parcels on this rank.
MG_API int mg_clusterer_count(mg_clusterer* clusterer, size_t* count);
/// Copies the parcels into the caller's columns: columns->count is their capacity, which must be enough.
/// @param count  the number of parcels; NULL: not wanted
MG_API int mg_clusterer_get(mg_clusterer* clusterer, const mg_columns* columns, size_t* count);
/// Digest of the parcels of all ranks, 32 hexadecimal digits and a zero. Collective.
MG_API int mg_clusterer_digest(mg_clusterer* clusterer, char digest[33]);
/// Lets go of it.
MG_API int mg_clusterer_free(mg_clusterer* clusterer);

#ifdef __cplusplus
}
#endif
