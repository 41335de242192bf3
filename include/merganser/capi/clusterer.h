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

/// Predicate of a merge policy on the place of a merged parcel. It must be the same on every rank, depend on the place alone, and
/// not call this library. @param user  pointer passed with it @return 0 where no merged parcel may be, as in an embedded boundary
typedef int (*mg_place_predicate)(const double position[3], void* user);

/// Options of the clusterer's merge steps; the same on every rank. Set struct_size; zero in
/// another field means the default.
typedef struct mg_clusterer_options {
  size_t struct_size;       ///< sizeof(mg_clusterer_options)
  double min_volume_ratio;  ///< a parcel is small if its volume is below cell volume / this; 0: 40
  int32_t search;           ///< 0: the true nearest parcel; 1: the nearest within 2x2x2 cells, as published
  int32_t prune;            ///< 0: one pass; 1: iterative, as published. Both give the same
  /// Text of a merge policy, as "crowded:32->16, same:species, within:1cell, place:member" (docs/merge-policies.md): who merges
  /// with whom, how many, where the result goes, what is conserved. Columns are attributes of the schema. NULL: EPIC's
  const char* policy;
  uint64_t policy_step;        ///< number of the next step in the key of the policy's random numbers
  mg_place_predicate allowed;  ///< where merged parcels may be, with a policy that has `within`; NULL: everywhere
  void* allowed_user;          ///< passed to every call of `allowed`
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
  int64_t rounds;       ///< of a merge policy, as all that follow, which are 0 without one: rounds of the step
  int64_t unsettled;    ///< 1 if the greatest number of rounds ended the step
  int64_t answers;      ///< waves in which centres answered their leaves
  int64_t refused;      ///< pairs that a limit or the predicate refused, counted on the rank of the centre
  int64_t winding;      ///< groups of friends that wind round the box and stay as they are, on the rank of their root
  int64_t undone;       ///< groups of two restored in the end, where momentum and energy are conserved
  /// Sum of the volumes of this rank's parcels before the step. Only sums over ranks tell what a step changed
  double weight_before;
  double weight_after;   ///< the same after the step
  double energy_before;  ///< sum of volume times kinetic energy before the step; 0 unless the policy conserves momentum
  double energy_after;   ///< the same after the step
  double momentum_before[3];  ///< sum of volume times momentum before the step; 0 unless the policy conserves momentum
  double momentum_after[3];   ///< the same after the step
  int64_t split;              ///< parcels that splitting has added on this rank
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
/// Makes one merge step. Called by every rank; communicates with neighbours only, but for policies with `friends` or a distance in
/// spacings. @param numbers  NULL: not wanted
MG_API int mg_clusterer_step(mg_clusterer* clusterer, mg_step_numbers* numbers);
/// Returns the number of the next step in the key of the merge policy's random numbers, for `policy_step` of a later run. Local.
MG_API int mg_clusterer_policy_step(mg_clusterer* clusterer, uint64_t* step);
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
