#pragma once
/// Whether the parcels of a rank leave a large hole in its block.
#include <array>
#include <cstdint>
#include <vector>

#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Cuts a block into sub-cells whose diagonal is shorter than half of `sight`. The block is FULL if each holds a parcel.
///
/// Let parcel a of rank A have its nearest other parcel c, of rank C, at distance r >= sight, where `sight` is what every
/// rank sees at least (ProcessGraph::least_sight). The open ball around a through c holds no parcel but a. Let m be a
/// point of the straight way from a to c, at least sight / 2 from both. Every point of the sub-cell that m lies in is
/// nearer to m than both a and c are: it is inside the ball, and a is not in it. So this sub-cell is empty, and the rank
/// that owns m is not full. The owners of all such points are therefore not full; one touches the next, because the way is
/// straight and blocks tile the box (on a periodic axis the way is that of the nearest image); A may ask the first of them
/// and C the last, being within sight / 2. Hence:
///
///     A and C are joined by arcs of the process graph that have, each, an end that is not full.
///
/// The same tells where a star goes. Let p be its merged position, c its centre, m_i the sources, r_i their distance to c,
/// w_i their volumes. As p is the mean of c and the m_i, weighted by volume,
/// sum w_i (r_i^2 - |p - m_i|^2) >= |p - c|^2 sum w_i. If the rank of c may not ask the owner of p, then |p - c| >= sight,
/// so some source j has r_j^2 - |p - m_j|^2 >= sight^2 (the nearest image of p does no worse). Then r_j >= sight, the
/// ranks of m_j and c are joined as above, and p is in the ball around m_j: within sight / 2 of m_j, or of a point of the
/// straight way from p to m_j that is sight / 2 or more from m_j and from the rim. The owner of such a point is not full,
/// and joined with the rank of m_j by the same argument. Hence:
///
///     the owner of p is joined with the rank of c, or may be asked by a rank that is.
///
/// Rounding: sub-cells are a little smaller than said, by more than coordinates and cell numbers are rounded.
class Cover {
 public:
  /// @param sight  infinite: every block counts as full; 0: none does
  Cover(const Decomposition& decomposition, int rank, double sight);

  /// Whether the block is full. Cost: nothing if the sight is infinite; else as many sites as it takes to find each
  /// sub-cell full, at most two passes over them, and O(sub-cells).
  [[nodiscard]] bool is_full(const Site* sites, std::size_t n);

 private:
  void mark(const Site& s);

  bool always_ = true;
  double count_ = 0;  // of sub-cells; may be more than memory holds
  Vec3 lower_{};
  Vec3 inverse_{};
  std::array<std::int64_t, 3> cells_{1, 1, 1};
  std::vector<std::uint8_t> marked_;
  std::size_t unmarked_ = 0;
};

}  // namespace merganser::cluster
