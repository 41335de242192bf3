#pragma once
/// Redistribution of parcels to their owners by neighbour waves, and the validation of parcels and points before a
/// step.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/point_set.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/cluster/far_component.hpp"

namespace merganser::cluster {

/// Checks that the decomposition is for the ranks of the transport. Local. @throws UsageError
void check_ranks(const Decomposition& decomposition, const comm::Transport& transport);
/// Returns grid and decomposition as values that must be equal on all ranks; with a schema also its attributes and
/// rules.
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const Decomposition& decomposition);
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const Schema& schema, const Decomposition& decomposition);

/// Validates the parcels of a rank for the decorator `checked`: each lies in the block of this rank, and its volume is
/// within bounds. Ids are checked by distinct_ids.hpp. Local. @throws InputError
void check_parcels(const Parcels& parcels, const Decomposition& decomposition, int rank);
/// Validates the points of a rank for the decorator `checked`: each lies in the block of this rank, up to rounding.
/// Local. @throws InputError
void check_points(const nearest::PointSet& points, const Decomposition& decomposition, int rank);
/// Returns the distance by which rounding may have moved a position beyond a face of the box on one axis, in units of
/// the box.
[[nodiscard]] inline double rounding_bound(const Box& box, int axis) {
  return 1e-12 * (box.extent[axis] + std::fabs(box.lower[axis]));
}

/// Numbers of parcels sent by this rank in one redistribution.
struct Redistributed {
  std::int64_t sent = 0;        ///< parcels sent
  std::int64_t in_transit = 0;  ///< of these, those sent to a rank that is not their owner
};
/// Sends parcels to their owners, or one hop towards them, in one neighbour wave; see Clusterer::redistribute. Called
/// by every rank.
/// @param around  component of this rank if owners of merged parcels may be no candidates of this rank: such parcels
/// are first sent to members that have the owners as candidates; null: no such parcels
Redistributed redistribute(Parcels& parcels, const Decomposition& decomposition, int rank, comm::Mailbox& mailbox,
                           FarComponent* around);

/// Treatment of a parcel outside of a wall of the box. `refuse`, for input: an error, unless the parcel is outside by
/// rounding only; `clamp`, for parcels that have moved between steps: the parcel is moved onto the wall.
enum class Walls : std::uint8_t { refuse, clamp };
/// Moves a parcel into the box: wrapped on periodic axes, clamped at walls. @throws InputError if a coordinate is not
/// finite, or outside of a wall with Walls::refuse
void wrap_into_box(const Box& box, const Parcels& parcels, std::size_t i, Site& s, Walls walls);
/// Removes the marked parcels, keeping the order of the others.
void remove_parcels(Parcels& parcels, const std::vector<std::uint8_t>& gone);

}  // namespace merganser::cluster
