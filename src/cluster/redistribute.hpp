#pragma once
/// Redistribution of parcels to their owners, and the checks of parcels before a step.
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

/// @throws UsageError unless the decomposition is for the ranks of the transport
void check_ranks(const Decomposition& decomposition, const comm::Transport& transport);
/// Grid and decomposition as values that every rank must give alike; with a schema as well.
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const Decomposition& decomposition);
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const Schema& schema, const Decomposition& decomposition);

/// Checks that the parcels of a rank are on their owner and their volumes within bounds; ids: distinct_ids.hpp. For the
/// decorator `checked`. @throws InputError
void check_parcels(const Parcels& parcels, const Decomposition& decomposition, int rank);
/// Checks that points lie in the block of their rank. For the decorator `checked`. @throws InputError
void check_points(const nearest::PointSet& points, const Decomposition& decomposition, int rank);
/// How far beyond a face of the box rounding may have brought a position, on one axis.
[[nodiscard]] inline double rounding_of(const Box& box, int axis) {
  return 1e-12 * (box.extent[axis] + std::fabs(box.lower[axis]));
}

/// Numbers of parcels that this rank has sent.
struct Redistributed {
  std::int64_t sent = 0;
  std::int64_t in_transit = 0;  ///< of these, sent to a rank that is not their owner
};
/// One neighbour wave; see Clusterer::redistribute.
/// @param around  where merged parcels may have to go far: the ranks joined with this one, which send them first to
///                ranks of which the owners are candidates; null: nobody near has such parcels
Redistributed redistribute(Parcels& parcels, const Decomposition& decomposition, int rank, comm::Mailbox& mailbox,
                           FarComponent* around);

/// What becomes of a parcel outside of a wall: one that is given is refused, unless it is beyond by rounding; one that has moved
/// there between steps is put onto it.
enum class Walls : std::uint8_t { refuse, clamp };
/// Moves a parcel into the box: wrapped on periodic axes, clamped at walls. @throws InputError if it is not finite, or outside of a wall that refuses
void wrap_into_box(const Box& box, const Parcels& parcels, std::size_t i, Site& s, Walls walls);
/// Removes the marked parcels, keeping the order of the others.
void remove(Parcels& parcels, const std::vector<std::uint8_t>& gone);

}  // namespace merganser::cluster
