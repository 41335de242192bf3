#pragma once
/// C interface of friends of friends: groups of points in the caller's arrays that distances up to a linking length connect, over
/// all ranks. A clusterer with the policy "friends:LENGTH" merges them.
#include "merganser/capi/finder.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Finder of friends of friends and the groups of its last search.
typedef struct mg_friends mg_friends;

/// Options of friends of friends; the same on every rank.
typedef struct mg_friends_options {
  size_t struct_size;  ///< sizeof(mg_friends_options)
  /// Linking length, inclusive: a number in units of the box, or with `cell` or `spacing` behind it, as "0.2spacing" (mean distance
  /// of points); below half of every periodic extent
  const char* linking_length;
  int64_t least_members;  ///< mg_friends_groups() lists groups of at least so many points; 0: 1
} mg_friends_options;

/// Columns of points in the caller's arrays. Entry i of a column is data[i * stride]. Zero in a field means that there is none.
typedef struct mg_friend_columns {
  size_t struct_size;                 ///< sizeof(mg_friend_columns)
  const double* mass;                 ///< masses, finite and positive; NULL: 1
  size_t mass_stride;                 ///< stride of `mass`; 0: 1
  const double* velocity[3];          ///< components of the velocity, finite; NULL: none
  size_t velocity_stride;             ///< stride of the components of the velocity; 0: 1
  size_t same;                        ///< number of columns in which friends are equal (species, group)
  const double* const* same_columns;  ///< these columns, stride 1
} mg_friend_columns;

/// Group of friends of friends, as mg_friends_groups() lists it on the rank of its root, which holds the point of the lowest id.
typedef struct mg_friend_group {
  int64_t id;          ///< lowest id of its points
  int64_t members;     ///< number of points
  double mass;         ///< sum of the masses
  double centre[3];    ///< mean position by mass, in the box; NaN if the group winds round it
  double velocity[3];  ///< mean velocity by mass; 0 without a velocity
  int32_t winds;       ///< 1 if the group winds round the box through periodic faces, so that it has no centre
  int32_t unused;      ///< 0, so that records can be compared and written as bytes
} mg_friend_group;

/// Creates a finder of friends of friends. Collective.
MG_API int mg_friends_new(mg_transport* transport, mg_decomposition* decomposition, const mg_friends_options* options,
                          mg_friends** friends);
/// Labels the groups of the points of all ranks. Collective; an error is returned on every rank alike.
/// @param points   in this rank's block and in the box, faces included
/// @param ids      one id per point, distinct over all ranks; NULL: rank * 2^40 + position
/// @param columns  NULL: masses are 1, without velocity. As many of each kind on every rank; those of a rank without points do
///                 not matter
/// @param groups   receives the id of the group of each point, the lowest id of its points; NULL: not wanted
MG_API int mg_friends_label(mg_friends* friends, const mg_points* points, const int64_t* ids,
                            const mg_friend_columns* columns, int64_t* groups);
/// Returns the groups whose root is on this rank, by id ascending. Local. Valid until the next mg_friends_label() or
/// mg_friends_free().
MG_API int mg_friends_groups(mg_friends* friends, const mg_friend_group** groups, size_t* n);
/// Returns the linking length of the last search in units of the box. Local.
MG_API int mg_friends_length(mg_friends* friends, double* length);
/// Frees a finder of friends of friends; NULL is accepted. Every rank must free it.
MG_API int mg_friends_free(mg_friends* friends);

#ifdef __cplusplus
}
#endif
