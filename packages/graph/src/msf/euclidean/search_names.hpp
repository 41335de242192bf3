#pragma once
/// Names of the search among points (module nearest) that the files of this folder use without qualification.
#include <cstdint>

#include "merganser/nearest/metric.hpp"
#include "merganser/nearest/point_neighbours.hpp"
#include "merganser/nearest/point_tree.hpp"

namespace merganser::msf::euclidean {

using nearest::all_axes;
using nearest::Bounds;
using nearest::compared_above;
using nearest::distance_from_compared;
using nearest::find_neighbours;
using nearest::Fold;
using nearest::IdentifiedPoint;
using nearest::kMaxAxes;
using nearest::kMaxLeafPoints;
using nearest::leaf_points;
using nearest::LeafResult;
using nearest::Metric;
using nearest::NeighbourSearch;
using nearest::Norm;
using nearest::Place;
using nearest::PointTree;
using nearest::Visit;
using nearest::visit_leaves;
using nearest::visit_leaves_from;
using nearest::with_axes;

constexpr std::uint32_t kNone = 0xffffffffU;  // no point, no component

}  // namespace merganser::msf::euclidean
