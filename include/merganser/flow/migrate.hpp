#pragma once
/// Between the stages of a time step parcels move to the ranks of their cells.
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// Brings parcels home that a flow has moved. Other than Clusterer::rehome() it leaves parcels beyond the walls where
/// they are: between stages they may lie there, until reflect() at the end of the step.
class Migration {
 public:
  /// Collective. @throws UsageError if the decomposition is for another number of ranks
  Migration(comm::Transport& transport, const Decomposition& decomposition);

  /// Wraps x and y into the box, and sends parcels whose cells are of other ranks there, in one neighbour wave. The order of
  /// the others may change. Called by every rank. @return parcels sent
  /// @throws InputError, naming the id, for a position that is not finite, or that is beyond the blocks which touch this
  /// rank's
  std::int64_t send(Parcels& parcels);

 private:
  [[nodiscard]] bool surely_here(const Site& site) const noexcept;
  [[nodiscard]] std::size_t next_away(const Parcels& parcels, std::size_t i) const noexcept;
  [[nodiscard]] std::size_t arc_to(const Parcels& parcels, std::size_t i) const;

  Decomposition decomposition_;
  int rank_;
  Vec3 low_{};  // well inside the block
  Vec3 high_{};
  std::vector<int> neighbours_;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::size_t> holes_;
};

}  // namespace merganser::flow
