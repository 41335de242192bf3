#pragma once
/// Functions that register the bindings of one theme each in the extension module.
#include <nanobind/nanobind.h>

namespace merganser::python {

void bind_errors();
void bind_files(nanobind::module_& m);
void bind_parcel_files(nanobind::module_& m);
void bind_team(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_trees(nanobind::module_& m);
void bind_linkage(nanobind::module_& m);
void bind_nearest(nanobind::module_& m);
void bind_growth(nanobind::module_& m);
void bind_hdbscan(nanobind::module_& m);
void bind_stars(nanobind::module_& m);
void bind_parcels(nanobind::module_& m);
void bind_clusterer(nanobind::module_& m);
void bind_graphs(nanobind::module_& m);
void bind_topology(nanobind::module_& m);
void bind_announcements(nanobind::module_& m);

}  // namespace merganser::python
