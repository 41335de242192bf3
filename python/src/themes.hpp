#pragma once
/// Functions that register the Python bindings of one theme each in the extension module merganser._core.
#include <nanobind/nanobind.h>

namespace merganser::python {

void bind_errors();                             ///< translation of the library's exceptions to those of Python
void bind_files(nanobind::module_& m);          ///< output files that appear whole or not at all
void bind_parcel_files(nanobind::module_& m);   ///< checks of NetCDF parcel files
void bind_team(nanobind::module_& m);           ///< teams of ranks, MPI's plug-in, the wait for interrupted calls
void bind_forest(nanobind::module_& m);         ///< spanning forests: edges, weights, totals
void bind_trees(nanobind::module_& m);          ///< searches for spanning trees of points and forests of graphs
void bind_linkage(nanobind::module_& m);        ///< single-linkage dendrograms and their cuts
void bind_nearest(nanobind::module_& m);        ///< core distances, and the joining of new points to fitted ones
void bind_growth(nanobind::module_& m);         ///< spanning tree edges in the order of Prim's algorithm
void bind_hdbscan(nanobind::module_& m);        ///< HDBSCAN* labels and condensed trees
void bind_scores(nanobind::module_& m);         ///< scores of HDBSCAN* clusters and points, memberships, validity
void bind_prediction(nanobind::module_& m);     ///< models for the prediction of clusters of new points
void bind_stars(nanobind::module_& m);          ///< stars of points: links, migration of rows, merges
void bind_parcels(nanobind::module_& m);        ///< schemas and containers of parcels
void bind_policies(nanobind::module_& m);       ///< merge policies
void bind_clusterer(nanobind::module_& m);      ///< merge steps on parcels
void bind_friends(nanobind::module_& m);        ///< friends of friends among points
void bind_graphs(nanobind::module_& m);         ///< generation, reading and writing of graphs
void bind_topology(nanobind::module_& m);       ///< process graphs, measurements of kernels on them, advice
void bind_announcements(nanobind::module_& m);  ///< announcement networks

}  // namespace merganser::python
