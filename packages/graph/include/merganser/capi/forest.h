#pragma once
/// C interface to minimum spanning forests of points and graphs, single linkage and HDBSCAN*.
#include "merganser/capi/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Handle of a spanning forest whose edges are distributed over the ranks of a transport.
typedef struct mg_forest mg_forest;
/// Handle of a dendrogram, which is held by rank 0.
typedef struct mg_linkage mg_linkage;

/// An undirected, weighted edge between vertices low and high.
typedef struct mg_edge {
  uint64_t low;
  uint64_t high;
  double weight;
} mg_edge;

/// A merge of two clusters, as in SciPy's linkage matrix: merge i makes cluster n + i. Clusters below n are vertices.
typedef struct mg_merge_step {
  uint32_t a;  ///< below b
  uint32_t b;
  double height;  ///< distance at which they merge
  uint32_t size;  ///< vertices of the new cluster
} mg_merge_step;

/// Distances between points.
enum mg_metric {
  MG_EUCLIDEAN = 0,
  MG_MANHATTAN = 1,     ///< sum of the differences
  MG_CHEBYSHEV = 2,     ///< greatest of the differences
  MG_GREAT_CIRCLE = 3,  ///< angle in radians; points are latitude, longitude
  MG_COSINE = 4,        ///< 1 less the cosine of the angle between two points; none is 0
  MG_CORRELATION = 5,   ///< 1 less the correlation of two points; none has equal coordinates only
  MG_HAMMING = 6        ///< share of the coordinates that differ; they are 0 or 1
};

/// Parameters of mg_forest_of_points(); the same on every rank. Zero in every field: the default.
typedef struct mg_tree_options {
  size_t struct_size;      ///< sizeof(mg_tree_options)
  const mg_box* box;       ///< box whose periodic axes are periodic here, up to three; NULL: none
  int32_t threads;         ///< of each rank; 0: 1
  int32_t min_samples;     ///< above 1: mutual reachability distances, as HDBSCAN* needs; 0: 1
  int32_t metric;          ///< an mg_metric
  int32_t degrees;         ///< of MG_GREAT_CIRCLE: 1: points are in degrees; 0: in radians
  const double* period;    ///< length of each axis that is periodic, from 0, and 0 for the others; NULL: as `box` says
  int64_t most_distances;  ///< beyond 16 dimensions, where every pair is compared: more are refused; 0: 2e10
  double alpha;            ///< distances are divided by it where they are compared with core distances; 0: 1
} mg_tree_options;

/// Computes the minimum spanning tree of points. Collective over the transport. Weights are distances.
/// @param coordinates  `dimension` (1 to 65536) numbers per point of this rank
/// @param ids          each of 0 .. all points - 1 on one rank; NULL on all: points are numbered by rank, then place
MG_API int mg_forest_of_points(mg_transport* transport, int dimension, const double* coordinates, const uint64_t* ids,
                               size_t count, const mg_tree_options* options, mg_forest** forest);

/// Parameters of mg_forest_of_graph(); the same on every rank. Zero in every field: the default.
typedef struct mg_forest_options {
  size_t struct_size;  ///< sizeof(mg_forest_options)
  int32_t maximum;     ///< 1: a maximum spanning forest
  int32_t threads;     ///< of each rank; 0: 1
} mg_forest_options;

/// Computes the minimum (or maximum) spanning forest of a graph. Collective over the transport. Every edge is on one rank, its
/// ends in any order; loops and parallel edges are allowed. Weights that are NaN and ends that are no vertices are errors.
MG_API int mg_forest_of_graph(mg_transport* transport, uint64_t vertices, const mg_edge* edges, size_t count,
                              const mg_forest_options* options, mg_forest** forest);

/// Returns this rank's share of the edges, low below high. Local. Valid until the forest is freed.
MG_API int mg_forest_edges(mg_forest* forest, const mg_edge** edges, size_t* count);
/// Numbers of edges and trees, weight and digest of a forest over all ranks. The caller sets `struct_size` before the call.
typedef struct mg_forest_totals {
  size_t struct_size;  ///< sizeof(mg_forest_totals)
  int64_t edges;
  int64_t components;  ///< trees, single vertices too
  double weight;       ///< rounded exact sum
  char digest[33];     ///< 32 hexadecimal digits: the same for any number of ranks, model and order
} mg_forest_totals;
/// Computes the totals of a forest. Collective.
MG_API int mg_forest_sums(mg_forest* forest, mg_forest_totals* totals);
/// Frees a forest. Local.
MG_API int mg_forest_free(mg_forest* forest);

/// Computes the dendrogram of a forest on rank 0; the others get one of no vertices. Collective.
/// @param join  1: components are joined at infinite height, as HDBSCAN* and SciPy's functions need; 0: they stay apart
MG_API int mg_linkage_new(mg_forest* forest, int join, mg_linkage** linkage);
/// Computes the joined dendrogram of a forest of points, with merges of one height in scikit-learn's order: that of Prim's
/// algorithm from point 0 among all pairs of points, sorted as NumPy does without vector instructions. For mg_hdbscan() with
/// `sequential`.
/// Collective. Dimension, coordinates, ids, count and options are those that were given to mg_forest_of_points(), whose core distances
/// the forest has kept: 8 bytes per point, 16 with ids. Points with the same ids in another order, or on other ranks, are allowed: core
/// distances are computed again. MG_INPUT for points whose minimum spanning tree has other weights than the forest.
/// @param exact  becomes 1 on rank 0 if all edges of equal weight were compared; 0: too many points are equally far from each
///               other, and the order is that of the forest's edges alone. 0 on other ranks. NULL: not wanted
MG_API int mg_linkage_sequential(mg_forest* forest, int dimension, const double* coordinates, const uint64_t* ids,
                                 size_t count, const mg_tree_options* options, int32_t* exact, mg_linkage** linkage);
/// Returns the merges in ascending order of height. Local. Valid until the linkage is freed.
MG_API int mg_linkage_merges(mg_linkage* linkage, const mg_merge_step** merges, size_t* count);
/// Returns the number of vertices of the dendrogram: the length of labels and probabilities. Local. 0 on ranks other than 0.
MG_API int mg_linkage_vertices(mg_linkage* linkage, uint64_t* vertices);
/// Computes the clusters at a height: labels of all vertices, from 0, after the merges of at most that height. Local.
/// @param clusters  their number; NULL: not wanted
MG_API int mg_linkage_cut_height(mg_linkage* linkage, double height, uint32_t* labels, size_t capacity,
                                 uint32_t* clusters);
/// Computes at most k clusters: labels of all vertices, from 0. Local.
/// @param apart     1: exactly k clusters, merges of one height in the order of vertices; 0: merges of one height are made
///                  together
/// @param clusters  their number; NULL: not wanted
MG_API int mg_linkage_cut_count(mg_linkage* linkage, uint64_t k, int apart, uint32_t* labels, size_t capacity,
                                uint32_t* clusters);
/// Frees a dendrogram. Local.
MG_API int mg_linkage_free(mg_linkage* linkage);

/// Parameters of mg_hdbscan(). Zero in every field: the default.
typedef struct mg_hdbscan_options {
  size_t struct_size;            ///< sizeof(mg_hdbscan_options)
  uint64_t min_cluster_size;     ///< fewest points of a cluster; 0: 5
  uint64_t max_cluster_size;     ///< larger ones are not taken; 0: any size
  double epsilon;                ///< clusters born below this distance are taken with what they split from
  int32_t leaf;                  ///< 0: the most stable clusters; 1: those that do not split further
  int32_t allow_single_cluster;  ///< 1: all points may be one cluster
  int32_t sequential;            ///< merges of one height are undone: 0: together; 1: one by one, the last one first
  int32_t unused;                ///< 0; reserved for later versions, which could not use padding
  double epsilon_max;            ///< not with `leaf`: clusters born above this distance are not taken; 0: any
  double persistence;            ///< clusters of a shorter life, in 1 / distance, are merged with their sibling first
} mg_hdbscan_options;

/// Computes the clusters of HDBSCAN* from a joined dendrogram of mutual reachability distances. Local. Clusters are numbered in
/// the order of their lowest points, with `sequential` as scikit-learn does.
/// @param labels         by vertex, from 0; -1 is noise
/// @param probabilities  by vertex, 0 to 1; NULL: not wanted
/// @param capacity       entries in each of them: at least the vertices
/// @param clusters       their number; NULL: not wanted
MG_API int mg_hdbscan(mg_linkage* linkage, const mg_hdbscan_options* options, int32_t* labels, double* probabilities,
                      size_t capacity, uint32_t* clusters);

#ifdef __cplusplus
}
#endif
