#pragma once
/// The way of parcels to their owner, and what is asked of them.
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
[[nodiscard]] std::vector<comm::Same> same_of(const Decomposition& decomposition);
[[nodiscard]] std::vector<comm::Same> same_of(const Schema& schema, const Decomposition& decomposition);
/// A number that reads back to the same bits.
[[nodiscard]] std::string exact_text(double value);

/// What a step asks of the parcels of a rank, but that no other rank has their ids: at home, volumes within bounds,
/// ids distinct. For the decorator `checked`. @throws InputError
void check_parcels(const Parcels& parcels, const Decomposition& decomposition, int rank);
/// The same of points, but for volumes.
void check_points(const nearest::PointSet& points, const Decomposition& decomposition, int rank);

struct Rehomed {
  std::int64_t sent = 0;
  std::int64_t travelling = 0;  ///< of these, sent to a rank that is not their owner
};
/// One neighbour wave; see Clusterer::rehome.
/// @param around  where merged parcels may have to go far: the ranks joined with this one, which bring them first to those
///                that may ask their owners; null: nobody near has such parcels
Rehomed rehome(Parcels& parcels, const Decomposition& decomposition, int rank, comm::Mailbox& mailbox,
               FarComponent* around);

/// Into the box: wrapped on periodic axes, clamped on walls. @throws InputError if it is not finite
void settle(const Box& box, const Parcels& parcels, std::size_t i, Site& s);
/// Removes the marked parcels, keeping the order of the others.
void remove(Parcels& parcels, const std::vector<std::uint8_t>& gone);

}  // namespace merganser::cluster
