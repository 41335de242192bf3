#pragma once
/// Weight that parcels deposit on the nodes of the grid at shape order 1, before and after a merge step: by how much a step changes
/// the charge density that a particle-in-cell code computes from its parcels.
#include <cstdint>
#include <unordered_map>

#include "merganser/base/exact_sum.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Change of the weight deposited on grid nodes, relative to the mean weight of a node.
struct DepositionError {
  double largest = 0;      ///< greatest magnitude over all nodes
  double rms = 0;          ///< root of the mean square over all nodes
  std::int64_t nodes = 0;  ///< number of nodes of the grid
};

/// Comparison of the weight deposited on grid nodes before and after a merge step. A parcel deposits its volume on the eight nodes of
/// its cell by trilinear weights (cloud in cell); the charge is proportional to it where parcels have one charge per volume.
///
///     DepositionCheck check(transport, grid, parcels);
///     clusterer.step(parcels);
///     const DepositionError error = check.compare(parcels);
///
/// Deposits are added as integers in units of 2^-62 of a bound of all weight, and weights and squares in exact sums, in any order and
/// on any ranks to the same bits; a step that deposits the same up to a few such units has an error of rounding. For tests and audits:
/// memory is about 50 bytes, and messages 16, for each node on which a rank's parcels deposit.
class DepositionCheck {
 public:
  /// Deposits the parcels before a step. Collective. The transport must outlive this object.
  /// @param grid  nodes are the corners of its cells @param before  of this rank, inside the box, on any rank
  DepositionCheck(comm::Transport& transport, const Grid& grid, const Parcels& before);

  /// Returns how much the parcels after the step deposit otherwise. Collective. @param after  of this rank, inside the box
  [[nodiscard]] DepositionError compare(const Parcels& after);

 private:
  void deposit(const Parcels& parcels, bool subtract);
  [[nodiscard]] std::int64_t nodes_along(int axis) const;

  comm::Transport& transport_;
  Grid grid_;
  double unit_ = 0;  // of the integers, a power of 2; 0: there is no weight
  std::int64_t parcels_ = 0;
  ExactSum weight_;                                        // of this rank's parcels before the step
  std::unordered_map<std::int64_t, std::int64_t> change_;  // of this rank's parcels, by node
};

}  // namespace merganser
