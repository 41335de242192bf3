#pragma once
/// Migration of flow parcels: between the stages of a time step, parcels move to the ranks that own their cells.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// Half-open box of positions that certainly lie in a rank's block of cells, low <= x < high: a parcel there needs no migration.
/// It is well inside the block along the axes that are divided among ranks, and the whole box along x or y that is not; z is
/// unbounded where it is not divided.
struct InteriorBounds {
  Vec3 low{};   ///< inclusive lower corner of the positions, m
  Vec3 high{};  ///< exclusive upper corner of the positions, m
};
/// Returns the bounds of the positions that certainly lie in the block of cells of `rank`. Local.
[[nodiscard]] InteriorBounds interior_bounds(const Decomposition& decomposition, int rank);

/// Migration of the flow parcels that a Runge-Kutta stage has moved: sends them to the ranks that own their cells. Unlike
/// Clusterer::redistribute() it leaves parcels beyond the walls in place: between stages they may lie there, until reflect() at
/// the end of the step.
class Migration {
 public:
  /// Creates the mailbox for migrating parcels to the ranks whose blocks touch this rank's.
  /// Collective. @throws UsageError if the decomposition is for another number of ranks
  Migration(comm::Transport& transport, const Decomposition& decomposition);

  /// Wraps x and y of all flow parcels into the periodic box, sends every parcel that is in a cell of another rank to that rank, and
  /// appends those that arrive, in one round of messages with the neighbours. The order of the remaining parcels may change. Called by
  /// every rank. @return number of parcels that this rank has sent
  /// @throws InputError, naming the id, for a position that is not finite, or that is beyond the blocks which touch this
  /// rank's
  std::int64_t send(Parcels& parcels);
  /// Wraps into the box, and sends to their owners, only the parcels of `candidates`, after a Runge-Kutta stage in which no other
  /// parcel left the positions that are certainly in this rank's block. Called by every rank.
  /// @param candidates  indices of parcels, in any order; a superset of those that may have left
  /// @return number of parcels sent
  /// @throws InputError, naming the id, for a position that is not finite or beyond the blocks which touch this rank's
  std::int64_t send(Parcels& parcels, std::span<const std::uint32_t> candidates);

 private:
  void send_if_left(Parcels& parcels, std::size_t i);
  std::int64_t exchange(Parcels& parcels);
  [[nodiscard]] std::size_t arc_to(const Parcels& parcels, std::size_t i) const;

  Decomposition decomposition_;
  int rank_;
  InteriorBounds inside_;
  std::vector<int> neighbours_;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::size_t> holes_;
  std::vector<std::uint32_t> candidates_;
};

}  // namespace merganser::flow
