#pragma once
/// Between the stages of a time step parcels move to the ranks of their cells.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// Positions x, low <= x < high, that are a rank's beyond doubt: well inside its block along the axes that are dealt to
/// ranks, and all others inside the box along those that are not; z is not looked at.
struct Sure {
  Vec3 low{};   ///< see above
  Vec3 high{};  ///< see above
};
/// Those of a rank. Local.
[[nodiscard]] Sure surely_inside(const Decomposition& decomposition, int rank);

/// Sends parcels that a flow has moved to their owners. Other than Clusterer::redistribute() it leaves parcels beyond the walls where
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
  /// The same, of a step in which at most these have moved beyond surely_inside(). @param candidates  indices, any order
  std::int64_t send(Parcels& parcels, std::span<const std::uint32_t> candidates);

 private:
  [[nodiscard]] bool surely_here(const Site& site) const noexcept;
  void take_leave(Parcels& parcels, std::size_t i);
  std::int64_t exchange(Parcels& parcels);
  [[nodiscard]] std::size_t arc_to(const Parcels& parcels, std::size_t i) const;

  Decomposition decomposition_;
  int rank_;
  Sure inside_;
  std::vector<int> neighbours_;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::size_t> holes_;
  std::vector<std::uint32_t> candidates_;
};

}  // namespace merganser::flow
