// Candidates around the nodes of a cell list, for vectorised searches in fixed point. Included by files that Highway compiles once for
// each vector target.
//
// Squared distances are numbers of 16 bits: the squares of differences of coordinates, divided by 2^15 and rounded. The difference of
// two coordinates has an error of 1.5 units: half a unit of each, half a unit of a period, and less than 0.01 of double precision.
// So for a distance d of up to half a cell edge, 2^14 units, the sum over the axes is wrong by less than
//   3 x 0.5 (rounding of the squares) + 2 sqrt(3) d 1.51 / 2^15 + 0.001 < 4.2.
#if defined(MERGANSER_NEAREST_CANDIDATE_ROW) == defined(HWY_TARGET_TOGGLE)
#ifdef MERGANSER_NEAREST_CANDIDATE_ROW
#undef MERGANSER_NEAREST_CANDIDATE_ROW
#else
#define MERGANSER_NEAREST_CANDIDATE_ROW
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "src/nearest/block_search.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint32_t kStep = 32;  // candidates compared at a time, in one vector or more
using U = hn::CappedTag<std::uint16_t, kStep>;
using S = hn::RebindToSigned<U>;
using I = hn::CappedTag<std::int32_t, 16>;
using VU = hn::Vec<U>;
using VS = hn::Vec<S>;

constexpr std::uint32_t kCandidates = 256;  // of one node, at most
constexpr std::uint32_t kCandidateRoom =
    1024;  // of a few columns of cells: at least two of kCandidates, and whole vectors

constexpr double kError = 4.2;       // bound of the rounding of a squared distance of up to kNearest
constexpr std::uint16_t kDoubt = 9;  // candidates whose squared distances differ by more than twice kError are ordered
constexpr double kHalfEdge = 16384;  // half of the widest edge of a cell, in units
/// Squared distances below are those of true neighbours: half a cell edge, less rounding. Differences of more than a cell edge, up
/// to 1.5 of the 2x2x2 cells, wrap around to at least half an edge and so are at least this far.
constexpr std::uint16_t kNearest = 8180;

/// Candidates of block_search() for the nodes of one row along x: the parcels of the four rows of cells around it, copied column by
/// column. A column is the four cells at one position along x, so the candidates of a node, the 2x2x2 cells around it, are two
/// columns, one behind the other in memory, and every cell is copied once for a row of nodes.
/// @tparam kMore  coordinates beside the position that there is room for
template <std::uint32_t kMore>
class CandidateRow {
 public:
  alignas(64) std::uint16_t x[kCandidateRoom];
  alignas(64) std::uint16_t y[kCandidateRoom];
  alignas(64) std::uint16_t z[kCandidateRoom];
  alignas(64) std::int32_t vertex[kCandidateRoom];
  alignas(64) std::uint16_t more[std::max(kMore, 1U)][kMore > 0 ? kCandidateRoom : 1];

  /// Begins the row of nodes (jy, jz), before its first node. Places behind the last candidate get coordinates one cell edge from
  /// the nodes: at least half an edge, on two axes, from any parcel of them.
  HWY_INLINE void begin_row(const BlockSearch& s, int jy, int jz, std::uint16_t node_y, std::uint16_t node_z) {
    first_ = middle_ = end_ = 0;
    before_ = here_ = 0;
    rows_ = 0;
    far_y_ = static_cast<std::uint16_t>(node_y ^ 0x8000U);
    far_z_ = static_cast<std::uint16_t>(node_z ^ 0x8000U);
    for (int cz = jz - 1; cz <= jz; ++cz)
      for (int cy = jy - 1; cy <= jy; ++cy) {
        const Wrapped z_cell = wrap(s, 2, cz);
        const Wrapped y_cell = wrap(s, 1, cy);
        if (z_cell.cell < 0 || y_cell.cell < 0) continue;
        const auto row = (static_cast<std::size_t>(z_cell.cell) * static_cast<std::size_t>(s.cells[1]) +
                          static_cast<std::size_t>(y_cell.cell)) *
                         static_cast<std::size_t>(s.cells[0]);
        shift_y_[rows_] = y_cell.shift;
        shift_z_[rows_] = z_cell.shift;
        start_[rows_++] = s.cell_start + 2 * row;
      }
    mark_end();
  }

  /// Goes on to the next node of the row: drops the column two before it, and copies column `cx`, if the row of cells has it.
  HWY_INLINE void append(const BlockSearch& s, int cx) {
    first_ = middle_;
    middle_ = end_;
    before_ = here_;
    here_ = 0;
    const Wrapped x_cell = wrap(s, 0, cx);
    if (x_cell.cell < 0) return;
    const std::size_t at = 2 * static_cast<std::size_t>(x_cell.cell);
    std::uint32_t begin[4];
    std::uint32_t count[4];
    std::uint32_t all = 0;
    const int rows = rows_;
    for (int r = 0; r < rows; ++r) {
      begin[r] = start_[r][at];
      count[r] = start_[r][at + 2] - begin[r];
      all += count[r];
    }
    here_ = all;
    if (all > kCandidates) return;  // neither of the nodes beside the column is searched here
    if (end_ + all + kSlack > kCandidateRoom) move_to_front();
    const U u;
    const I i;
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(u));
    const auto numbers = static_cast<std::uint32_t>(hn::Lanes(i));
    const auto iota = hn::Iota(i, 0);
    const std::uint16_t* const from_x = s.x;
    const std::uint16_t* const from_y = s.y;
    const std::uint16_t* const from_z = s.z;
    std::uint32_t to = end_;
    const VU shift_x = hn::Set(u, x_cell.shift);
    for (int r = 0; r < rows; ++r) {
      const VU shift_y = hn::Set(u, shift_y_[r]);
      const VU shift_z = hn::Set(u, shift_z_[r]);
      const std::uint32_t stop = to + count[r];
      // A vector may end beyond the cell: the next one overwrites what is there.
      for (std::uint32_t v = begin[r]; to < stop; to += lanes, v += lanes) {
        hn::StoreU(hn::Add(hn::LoadU(u, from_x + v), shift_x), u, x + to);
        hn::StoreU(hn::Add(hn::LoadU(u, from_y + v), shift_y), u, y + to);
        hn::StoreU(hn::Add(hn::LoadU(u, from_z + v), shift_z), u, z + to);
        for (std::uint32_t k = 0; k < lanes; k += numbers)
          hn::StoreU(hn::Add(iota, hn::Set(i, static_cast<std::int32_t>(v + k))), i, vertex + to + k);
        if constexpr (kMore > 0)
          for (std::uint32_t a = 0; a < s.more_axes; ++a) hn::StoreU(hn::LoadU(u, s.more[a] + v), u, more[a] + to);
      }
      to = stop;
    }
    end_ = to;
    mark_end();
  }

  /// Returns the number of candidates of the node reached; they are in memory only if that is at most kCandidates.
  HWY_INLINE std::uint32_t size() const { return before_ + here_; }
  /// Returns the index of the node's first candidate in x, y, z and vertex.
  HWY_INLINE std::uint32_t first() const { return first_; }

 private:
  /// Cell on one axis, and what is added to the coordinates of its parcels.
  struct Wrapped {
    int cell;  // -1: none
    std::uint16_t shift;
  };
  /// Returns the cell that is at index -1 to `cells` on an axis, round the box where the cells go round it.
  HWY_INLINE static Wrapped wrap(const BlockSearch& s, int axis, int cell) {
    if (cell >= 0 && cell < s.cells[axis]) [[likely]]
      return {cell, 0};
    if (s.period[axis] == 0) return {-1, 0};
    const auto period = static_cast<std::uint16_t>(static_cast<std::int64_t>(s.period[axis] + 0.5));
    return cell < 0 ? Wrapped{s.cells[axis] - 1, static_cast<std::uint16_t>(-period)} : Wrapped{0, period};
  }

  static constexpr std::uint32_t kSlack = 64;  // entries beyond the last candidate, which vectors may write and read

  /// Writes far places behind the last candidate: they fill the last step of a node.
  HWY_INLINE void mark_end() {
    const U u;
    for (std::uint32_t k = 0; k < kStep; k += static_cast<std::uint32_t>(hn::Lanes(u))) {
      hn::StoreU(hn::Set(u, far_y_), u, y + end_ + k);
      hn::StoreU(hn::Set(u, far_z_), u, z + end_ + k);
    }
  }
  /// Moves the column before to the front of the memory, to make room.
  HWY_INLINE void move_to_front() {
    for (std::uint32_t i = 0; i < end_ - first_; ++i) {
      x[i] = x[first_ + i];
      y[i] = y[first_ + i];
      z[i] = z[first_ + i];
      vertex[i] = vertex[first_ + i];
      if constexpr (kMore > 0)
        for (auto& axis : more) axis[i] = axis[first_ + i];
    }
    middle_ -= first_;
    end_ -= first_;
    first_ = 0;
  }

  const std::uint32_t* start_[4];  // of the rows of cells around the row of nodes: entries of cell_start
  std::uint16_t shift_y_[4];       // what is added to the coordinates of their parcels
  std::uint16_t shift_z_[4];
  int rows_;              // number of these rows: 4, fewer at faces
  std::uint32_t first_;   // first candidate of the column before the node
  std::uint32_t middle_;  // first candidate of the column behind the node
  std::uint32_t end_;     // one beyond its last candidate
  std::uint32_t before_;  // parcels in the column before the node
  std::uint32_t here_;    // parcels in the column behind it
  std::uint16_t far_y_;   // coordinates of the places behind the last candidate
  std::uint16_t far_z_;
};

/// Node on one axis: its filter coordinate, and the faces of the two cells around it relative to it, in units of the filter. Beyond
/// them no candidate has been read; they are infinite at walls.
struct NodeAxis {
  std::uint16_t at;
  float lower;
  float upper;
};

/// Returns a node on one axis.
HWY_INLINE NodeAxis node_axis(const BlockSearch& s, int axis, int node) {
  const double at = node * s.width[axis];
  const bool wraps = s.period[axis] != 0;
  const double lower = node <= 1 && !wraps ? s.far[axis][0] : at - s.width[axis];
  const double upper = node + 1 >= s.cells[axis] && !wraps ? s.far[axis][1] : at + s.width[axis];
  return {static_cast<std::uint16_t>(static_cast<std::int64_t>(at + 0.5)), static_cast<float>(lower - at),
          static_cast<float>(upper - at)};
}

/// Node whose small parcels are searched. Their distance to it is at most half a cell edge on each axis.
struct Node {
  NodeAxis axis[3];
  /// Parcels with a neighbour whose squared distance is below have it within the node's cells, wherever they are.
  std::int32_t sure;
};

/// Returns the bound Node::sure of a node whose cells, on all axes, reach `inner` units and more beyond its parcels.
HWY_INLINE std::int32_t sure_bound(double inner) {
  const double reach = std::min(inner, kHalfEdge) - 3;
  if (!(reach > 0)) return 0;
  return std::min<std::int32_t>(static_cast<std::int32_t>(reach * reach / kFilterUnits - kError - 1), kNearest);
}

/// Returns whether the faces of a node's cells on one axis are a cell edge away, or farther.
HWY_INLINE bool is_inner(const NodeAxis& node, double width) {
  return -node.lower >= static_cast<float>(width) && node.upper >= static_cast<float>(width);
}

/// Returns whether no parcel beyond the faces of the node's cells is as near to a place as a squared distance below kNearest.
inline HWY_NOINLINE bool is_within(const Node& node, const std::uint16_t (&place)[3], std::uint32_t distance2) {
  float reach = static_cast<float>(kHalfEdge);
  for (int a = 0; a < 3; ++a) {
    const NodeAxis& at = node.axis[a];
    const auto offset = static_cast<float>(static_cast<std::int16_t>(static_cast<std::uint16_t>(place[a] - at.at)));
    reach = std::min(reach, std::min(offset - at.lower, at.upper - offset));
  }
  reach -= 3;  // rounding of the place, of the node and of the faces
  return reach > 0 &&
         (static_cast<float>(distance2) + static_cast<float>(kError + 1)) * static_cast<float>(kFilterUnits) <
             reach * reach;
}

/// Returns squares of differences in fixed point, as the filter compares them.
HWY_INLINE VU filtered_square(VS difference) {
  const U u;
#if HWY_TARGET == HWY_SCALAR
  // Highway's multiplication of a single lane overflows for the least difference.
  const std::int64_t d = hn::GetLane(difference);
  return hn::Set(u, static_cast<std::uint16_t>((d * d + (1 << 14)) >> 15));
#else
  return hn::BitCast(u, hn::MulFixedPoint15(difference, difference));
#endif
}

/// Returns the filtered squared distances from a place to a vector of candidates.
HWY_INLINE VU filtered_distance2(VU px, VU py, VU pz, const std::uint16_t* x, const std::uint16_t* y,
                                 const std::uint16_t* z) {
  const U u;
  const S i;
  const VS dx = hn::BitCast(i, hn::Sub(px, hn::LoadU(u, x)));
  const VS dy = hn::BitCast(i, hn::Sub(py, hn::LoadU(u, y)));
  const VS dz = hn::BitCast(i, hn::Sub(pz, hn::LoadU(u, z)));
  return hn::SaturatedAdd(hn::SaturatedAdd(filtered_square(dx), filtered_square(dy)), filtered_square(dz));
}

/// Returns the squares of differences of coordinates below 2^16 units, as the filter compares them; greater differences count as 2^15 - 1 units.
HWY_INLINE VU filtered_square_of_any(VU p, VU q) {
  const U u;
  const VU difference = hn::Or(hn::SaturatedSub(p, q), hn::SaturatedSub(q, p));
  return filtered_square(hn::BitCast(S(), hn::Min(difference, hn::Set(u, 0x7fff))));
}

/// Returns the least lane of a vector of squared distances.
template <class D, class V>
HWY_INLINE std::uint16_t least(D d, V v) {
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 8) {
    const hn::Half<D> half;
    return least(half, hn::Min(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else
#endif
    return hn::GetLane(hn::MinOfLanes(d, v));
}

/// Squared distances from one small parcel to the candidates of its node.
struct Comparison {
  alignas(64) std::uint16_t distance2[kCandidates];
};

/// Returns which of kStep squared distances are at most `limit`, the lowest bit first.
HWY_INLINE std::uint32_t near_bits(const std::uint16_t* distance2, VU limit) {
  const U u;
#if HWY_TARGET == HWY_AVX2
  const VU a = hn::Load(u, distance2);
  const VU b = hn::Load(u, distance2 + 16);
  const auto near_a = _mm256_cmpeq_epi16(_mm256_min_epu16(a.raw, limit.raw), a.raw);
  const auto near_b = _mm256_cmpeq_epi16(_mm256_min_epu16(b.raw, limit.raw), b.raw);
  // The packed blocks of 8 lanes are those of a, b, a, b.
  const auto both = _mm256_permute4x64_epi64(_mm256_packs_epi16(near_a, near_b), 0xd8);
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(both));
#else
  std::uint32_t bits = 0;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(u));
  for (std::uint32_t k = 0; k < kStep; k += lanes) {
    std::uint8_t bytes[8] = {0};
    const VU some_distances = hn::Load(u, distance2 + k);
    hn::StoreMaskBits(u, hn::Eq(hn::Min(some_distances, limit), some_distances), bytes);
    const std::uint32_t some = bytes[0] | bytes[1] << 8U | static_cast<std::uint32_t>(bytes[2]) << 16U |
                               static_cast<std::uint32_t>(bytes[3]) << 24U;
    bits |= some << k;
  }
  return bits;
#endif
}

/// Reads the candidates of every node that has small parcels, and calls visit(node, begin, end): these are by_node[begin] ..
/// by_node[end - 1]. Candidates are in memory only if they are at most kCandidates.
HWY_INLINE void visit_nodes(const BlockSearch& s, auto& candidates, const auto& visit) {
  // Of nodes whose cells reach a cell edge beyond the node on every axis, parcels are half an edge from it.
  const std::int32_t sure = sure_bound(0.5 * std::min({s.width[0], s.width[1], s.width[2]}));
  std::size_t number = 0;
  const auto nodes_of_row = static_cast<std::size_t>(s.cells[0]) + 1;
  for (int jz = 0; jz <= s.cells[2]; ++jz)
    for (int jy = 0; jy <= s.cells[1]; ++jy) {
      if (s.node_start[number] == s.node_start[number + nodes_of_row]) {
        number += nodes_of_row;
        continue;
      }
      Node node{{{}, node_axis(s, 1, jy), node_axis(s, 2, jz)}, 0};
      const bool inner = is_inner(node.axis[1], s.width[1]) && is_inner(node.axis[2], s.width[2]);
      candidates.begin_row(s, jy, jz, node.axis[1].at, node.axis[2].at);
      int next = -1;  // column that append() copies next
      for (int jx = 0; jx <= s.cells[0]; ++jx, ++number) {
        const std::uint32_t begin = s.node_start[number];
        const std::uint32_t end = s.node_start[number + 1];
        if (begin == end) continue;
        for (next = std::max(next, jx - 1); next <= jx; ++next) candidates.append(s, next);
        node.axis[0] = node_axis(s, 0, jx);
        node.sure = inner && is_inner(node.axis[0], s.width[0]) ? sure : 0;
        visit(node, begin, end);
      }
    }
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
