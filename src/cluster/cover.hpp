#pragma once
/// Test whether the parcels of a rank cover its block without a large hole, which decides who takes part in the far
/// search.
#include <array>
#include <cstdint>
#include <vector>

#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::cluster {

/// Coverage test of one block. The block of a rank is FULL if the rank can show that every point of it has one of the
/// rank's parcels nearer than half of `cutoff`, the least search cutoff of all ranks (CandidateRanks::min_cutoff). It
/// cuts the block into sub-cells: a parcel in each of diagonal below cutoff / 2 is enough, or where some are empty, in
/// or around each of half that size.
///
/// Let parcel a of rank A have its nearest other parcel c, of rank C, at distance r >= cutoff. The open ball around a
/// through c holds no parcel but a. Let m be a point of the straight way from a to c, at least cutoff / 2 from both. A
/// parcel nearer to m than cutoff / 2 would be nearer to m than c is, so inside the ball, and nearer to m than a is, so
/// another than a: there is none, and the block that contains m is not full. So are the blocks of all such points; one
/// touches the next, because the way is straight and blocks tile the box (on a periodic axis the way is that of the
/// nearest image); the owner of the first of them is a candidate of A and that of the last of C, being within cutoff /
/// 2. Hence:
///
///     A and C are joined by arcs of the process graph that have, each, an end that is not full.
///
/// The same argument bounds where a star's merged parcel lies. Let p be its merged position, c its centre, m_i the
/// sources, r_i their distance to c, w_i their volumes. As p is the mean of c and the m_i, weighted by volume, sum w_i
/// (r_i^2 - |p - m_i|^2) >= |p - c|^2 sum w_i. If the owner of p is no candidate of the rank of c, then |p - c| >=
/// cutoff, so some source j has r_j^2 - |p - m_j|^2 >= cutoff^2 (the nearest image of p does no worse). Then r_j >=
/// cutoff, the ranks of m_j and c are joined as above, and p is in the ball around m_j: within cutoff / 2 of m_j, or of
/// a point of the straight way from p to m_j that is cutoff / 2 or more from m_j and from the rim. The block of such a
/// point is not full, and its owner joined with the rank of m_j by the same argument. Hence:
///
///     the owner of p is joined with the rank of c, or is a candidate of a rank that is.
///
/// Rounding: sub-cells are a little smaller than said, by more than coordinates and cell numbers are rounded.
class Cover {
 public:
  /// Cuts the block of `rank` into the sub-cells of the test, with edges small enough for the cutoff. Local.
  /// @param cutoff  least search cutoff of all ranks, in units of the box; infinite: every block counts as full; 0: no
  /// block counts as full
  Cover(const Decomposition& decomposition, int rank, double cutoff);

  /// Returns true if the block of this rank is full: its parcels leave no large hole. Local. Cost: nothing if the cutoff is
  /// infinite; else O(sub-cells), and as many sites as are read to find a parcel in each sub-cell: a few for each where all
  /// hold many, at most three passes.
  [[nodiscard]] bool is_full(const nearest::PointSet& points);

 private:
  /// Sub-cells of the coverage test: the block of a rank cut into equal parts, each with a mark if it holds a parcel.
  struct Cells {
    Vec3 lower{};
    std::array<std::int64_t, 3> count{1, 1, 1};
    Vec3 inverse{};  // of the edges of a sub-cell
    std::vector<std::uint8_t> marked;
    std::size_t unmarked = 0;  ///< number of cells without a mark

    /// Removes the marks of all sub-cells, before a coverage test.
    void clear();
    /// Marks the sub-cell that holds the position of a parcel; parcels that rounding moves out of the block count in the
    /// sub-cell at its rim.
    void mark(const Site& s);
  };
  [[nodiscard]] bool is_filled(const nearest::PointSet& points);
  [[nodiscard]] bool is_surrounded(const nearest::PointSet& points);

  bool always_ = true;
  double count_ = 0;  // number of sub-cells; may be more than memory holds
  Cells cells_;
  Cells halves_;  // sub-cells of half that edge
  std::vector<std::array<std::int64_t, 3>>
      around_;  // offsets from a cell of halves_ to the cells whose points are all within the reach of all its points
};

}  // namespace merganser::cluster
