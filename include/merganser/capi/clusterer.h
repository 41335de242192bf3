#pragma once
/// C interface of the clusterer: merge steps over parcels that are copied from and to columns of the caller.
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Schema: the attributes of a parcel besides position and volume, each with the rule by which it merges.
typedef struct mg_schema mg_schema;
/// Clusterer: this rank's parcels and the communication objects of merge steps, which merge small parcels with their nearest.
typedef struct mg_clusterer mg_clusterer;

/// Rule by which an attribute of a merged parcel follows from those of its members.
enum mg_rule {
  MG_MEAN = 0,      ///< volume-weighted mean
  MG_SUM = 1,       ///< sum
  MG_CENTRE = 2,    ///< value of the centre
  MG_LARGEST = 3,   ///< value of the member of largest volume (lowest id among equals)
  MG_ELLIPSOID = 4  ///< B11 B12 B13 B22 B23 of an ellipsoid, 5 components
};
/// Callback that computes an attribute of a merged parcel. It must not call this library.
/// @param values   values[m * components + c], component c of member m; the centre first, then in the order of ids
/// @param volumes  of the `members` members, in the same order
/// @param out      receives the components
/// @param user     pointer passed to mg_schema_add_callback()
typedef void (*mg_merge)(size_t members, const double* values, const double* volumes, double* out, void* user);

/// Creates a schema of parcels without attributes. Local, as are all functions of schemas.
MG_API int mg_schema_new(mg_schema** schema);
/// Creates the schema of EPIC's parcels: vorticity (3 components, mean), buoyancy (1, mean), B (5, ellipsoid).
MG_API int mg_schema_epic(mg_schema** schema);
/// Adds an attribute of parcels to a schema. @param components  1 to 4096 @param rule  of enum mg_rule
MG_API int mg_schema_add(mg_schema* schema, const char* name, int components, int rule);
/// Adds an attribute that a callback merges. @param components  1 to 4096 @param user  passed to every call of `merge`
MG_API int mg_schema_add_callback(mg_schema* schema, const char* name, int components, mg_merge merge, void* user);
/// Returns the number of columns that the parcel attributes of a schema need: the sum of their components.
MG_API int mg_schema_columns(mg_schema* schema, size_t* columns);
/// Frees a schema of parcels; NULL is accepted. Objects made with it hold a copy.
MG_API int mg_schema_free(mg_schema* schema);

/// Columns of the caller that hold parcels. Entry i of a column is data[i * stride].
typedef struct mg_columns {
  size_t struct_size;      ///< sizeof(mg_columns)
  size_t count;            ///< number of parcels
  double* x;               ///< coordinates along x
  double* y;               ///< coordinates along y
  double* z;               ///< coordinates along z; NULL in two dimensions
  size_t position_stride;  ///< stride of x, y and z; 0: 1. 3 for x = xyz, y = xyz + 1, z = xyz + 2
  double* volume;          ///< volumes, 1e-120 to 1e120, stride 1
  size_t attributes;       ///< number of columns of attributes: mg_schema_columns()
  double* const* columns;  ///< columns of attributes, one per component, in the order of the schema
  const size_t* strides;   ///< stride of each column of attributes; NULL: 1
  int64_t* ids;            ///< ids of the parcels, unique over all ranks
} mg_columns;

/// Options of the clusterer's merge steps; the same on every rank. Zero in a field means the default.
typedef struct mg_clusterer_options {
  size_t struct_size;       ///< sizeof(mg_clusterer_options)
  double min_volume_ratio;  ///< a parcel is small if its volume is below cell volume / this; 0: 40
  int32_t search;           ///< 0: the true nearest parcel; 1: the nearest within 2x2x2 cells, as published
  int32_t prune;            ///< 0: one pass; 1: iterative, as published. Both give the same
} mg_clusterer_options;

/// Counts and time of a merge step on this rank, filled by mg_clusterer_step(). The caller sets `struct_size`.
typedef struct mg_step_numbers {
  size_t struct_size;   ///< sizeof(mg_step_numbers)
  int64_t before;       ///< number of parcels before the step
  int64_t small;        ///< number of small parcels among them
  int64_t merged;       ///< number of parcels merged away whose centre is on this rank
  int64_t after;        ///< number of parcels after the step
  int64_t unmatched;    ///< number of small parcels without any other parcel
  int64_t cross_links;  ///< number of links of this rank's small parcels to parcels of other ranks
  double seconds;       ///< wall-clock time of the step, in seconds
} mg_step_numbers;

/// Creates a clusterer without parcels, with its communication objects. Collective. @param options  NULL: defaults
MG_API int mg_clusterer_new(mg_transport* transport, mg_decomposition* decomposition, mg_schema* schema,
                            const mg_clusterer_options* options, mg_clusterer** clusterer);
/// Replaces the parcels of this rank's clusterer by a copy of the caller's columns. Local. On failure the former parcels stay.
/// @return MG_INPUT for a coordinate or attribute that is not finite, a volume out of range, an invalid shape, or an id that
/// another parcel of this rank has
MG_API int mg_clusterer_put(mg_clusterer* clusterer, const mg_columns* columns);
/// Sends every parcel of the clusterer to the rank that owns its position, whichever rank holds it. Collective.
MG_API int mg_clusterer_distribute(mg_clusterer* clusterer);
/// Makes one merge step. Called by every rank; communicates with neighbours only. @param numbers  NULL: not wanted
MG_API int mg_clusterer_step(mg_clusterer* clusterer, mg_step_numbers* numbers);
/// Sends parcels that left this rank's block to their owners, with one message to every neighbour. Called by every rank.
/// @param sent  number of parcels that this rank sent; NULL: not wanted
MG_API int mg_clusterer_redistribute(mg_clusterer* clusterer, int64_t* sent);
/// Returns the number of parcels that the clusterer holds on this rank. Local.
MG_API int mg_clusterer_count(mg_clusterer* clusterer, size_t* count);
/// Copies this rank's parcels into the caller's columns. Local. columns->count is their capacity, at least
/// mg_clusterer_count(). @param count  number of parcels; NULL: not wanted
MG_API int mg_clusterer_get(mg_clusterer* clusterer, const mg_columns* columns, size_t* count);
/// Computes the digest of the parcels of all ranks, an order-independent hash, as 32 hexadecimal digits and a zero. Collective.
MG_API int mg_clusterer_digest(mg_clusterer* clusterer, char digest[33]);
/// Frees a clusterer and its parcels; NULL is accepted. Every rank must free it.
MG_API int mg_clusterer_free(mg_clusterer* clusterer);

#ifdef __cplusplus
}
#endif
