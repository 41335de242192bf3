// Vectorised inner loop of the exact nearest-neighbour search. Compiled once per vector target by Highway; the end of
// the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/block_search.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "merganser/base/detail/highway.hpp"
#include "merganser/links/links.hpp"
#include "src/nearest/block_search.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, 16>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;

constexpr std::int32_t kFar = 0x7fffffff;   // key of no candidate
constexpr std::uint32_t kCandidates = 256;  // of one node, at most: numbers fit the low byte of a key

constexpr std::uint32_t kCandidateRoom =
    1024;                            // of a few columns of cells: at least two of kCandidates, and whole vectors
constexpr std::uint32_t kGroup = 4;  // queries of one node that are compared with its candidates together

/// Candidates of block_search() for the nodes of one row along x: the parcels of the four rows of cells around it, copied column by
/// column. A column is the four cells at one position along x, so the candidates of a node, the 2x2x2 cells around it, are two
/// columns, one behind the other in memory, and every cell is copied once for a row of nodes.
class CandidateRow {
 public:
  alignas(64) float x[kCandidateRoom];
  alignas(64) float y[kCandidateRoom];
  alignas(64) float z[kCandidateRoom];
  /// The number of no candidate is that of the last one possible, which may be beyond the room: its vertex is read, and not used.
  alignas(64) std::int32_t vertex[kCandidateRoom + kCandidates];

  /// Begins the row of nodes (jy, jz), before its first node.
  HWY_INLINE void begin_row(const BlockSearch& s, int jy, int jz) {
    first_ = middle_ = end_ = 0;
    before_ = here_ = 0;
    rows_ = 0;
    for (int cz = jz - 1; cz <= jz; ++cz)
      for (int cy = jy - 1; cy <= jy; ++cy) {
        if (cz < 0 || cz >= s.cells[2] || cy < 0 || cy >= s.cells[1]) continue;
        const auto row =
            (static_cast<std::size_t>(cz) * static_cast<std::size_t>(s.cells[1]) + static_cast<std::size_t>(cy)) *
            static_cast<std::size_t>(s.cells[0]);
        start_[rows_++] = s.cell_start + 2 * row;
      }
    mark_end();
  }

  /// Goes on to the next node of the row: drops the column two before it, and copies column `cx`, which the row of cells must have.
  HWY_INLINE void append(const BlockSearch& s, int cx) {
    pass();
    const std::size_t at = 2 * static_cast<std::size_t>(cx);
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
    const F f;
    const I i;
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
    const VI iota = hn::Iota(i, 0);
    const float* const from_x = s.x;
    const float* const from_y = s.y;
    const float* const from_z = s.z;
    std::uint32_t to = end_;
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t stop = to + count[r];
      // A vector may end beyond the cell: the next one overwrites what is there.
      for (std::uint32_t v = begin[r]; to < stop; to += lanes, v += lanes) {
        hn::StoreU(hn::LoadU(f, from_x + v), f, x + to);
        hn::StoreU(hn::LoadU(f, from_y + v), f, y + to);
        hn::StoreU(hn::LoadU(f, from_z + v), f, z + to);
        hn::StoreU(hn::Add(iota, hn::Set(i, static_cast<std::int32_t>(v))), i, vertex + to);
      }
      to = stop;
    }
    end_ = to;
    mark_end();
  }
  /// Goes on to the last node of the row, behind its last column.
  HWY_INLINE void pass() {
    first_ = middle_;
    middle_ = end_;
    before_ = here_;
    here_ = 0;
  }

  /// Returns the number of candidates of the node reached; they are in memory only if that is at most kCandidates.
  HWY_INLINE std::uint32_t size() const { return before_ + here_; }
  /// Returns the index of the node's first candidate in x, y, z and vertex.
  HWY_INLINE std::uint32_t first() const { return first_; }

 private:
  static constexpr std::uint32_t kSlack = 64;  // entries beyond the last candidate, which vectors may write and read

  /// Writes a vector of places at no finite distance behind the last candidate: they fill the last vector of a node.
  HWY_INLINE void mark_end() { hn::StoreU(hn::Set(F(), 1e30F), F(), x + end_); }
  /// Moves the column before to the front of the memory, to make room.
  HWY_INLINE void move_to_front() {
    for (std::uint32_t i = 0; i < end_ - first_; ++i) {
      x[i] = x[first_ + i];
      y[i] = y[first_ + i];
      z[i] = z[first_ + i];
      vertex[i] = vertex[first_ + i];
    }
    middle_ -= first_;
    end_ -= first_;
    first_ = 0;
  }

  const std::uint32_t* start_[4];  // of the rows of cells around the row of nodes: entries of cell_start
  int rows_;                       // number of these rows: 4, fewer at faces
  std::uint32_t first_;            // first candidate of the column before the node
  std::uint32_t middle_;           // first candidate of the column behind the node
  std::uint32_t end_;              // one beyond its last candidate
  std::uint32_t before_;           // parcels in the column before the node
  std::uint32_t here_;             // parcels in the column behind it
};

/// Merges a vector of candidates, by the bits of their squared distances, into the two smallest keys per lane. A key is
/// a squared distance (single precision) with its low byte replaced by the number of the candidate, so that one integer
/// minimum keeps distance and candidate together: floats >= 0 compare as their bits do. Vectors of SVE cannot be
/// members, so the keys of a parcel are two variables.
template <class M>
HWY_INLINE void update_minima(VI d2, VI number, M self, VI& first, VI& second) {
  const I i;
  VI key = hn::OrAnd(number, d2, hn::Set(i, ~0xff));
  key = hn::IfThenElse(self, hn::Set(i, kFar), key);
  second = hn::Min(second, hn::Max(first, key));
  first = hn::Min(first, key);
}

/// Returns the bits of the squared distances from one parcel to a vector of candidates; as integers they compare as the
/// distances do. Fused or not as the target has it: is_unique() allows for either rounding, and what it leaves open is searched
/// exactly, so that the nearest parcel is the same on every target.
HWY_INLINE VI distance2(VF x, VF y, VF z, VF px, VF py, VF pz) {
  const VF dx = hn::Sub(x, px);
  const VF dy = hn::Sub(y, py);
  const VF dz = hn::Sub(z, pz);
  return hn::BitCast(I(), hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx))));
}

/// Merges the two smallest keys (first <= second) of each lane of two vectors into those of the pair.
template <class V>
HWY_INLINE void merge_minima(V& first, V& second, V other_first, V other_second) {
  second = hn::Min(hn::Min(second, other_second), hn::Max(first, other_first));
  first = hn::Min(first, other_first);
}

/// Two smallest keys of each query of a group.
struct GroupMinima {
  alignas(64)
      std::int32_t first[16];  // of query q at q, after reduce(); beyond the group room for the parts of a reduction
  alignas(64) std::int32_t second[16];
};

#if HWY_TARGET != HWY_SCALAR
/// Merges pairs of lanes of two queries' smallest keys: afterwards `first` and `second` hold a in even lanes and b in odd ones.
HWY_INLINE void merge_lanes(VI a_first, VI a_second, VI b_first, VI b_second, VI& first, VI& second) {
  const I i;
  first = hn::InterleaveLower(i, a_first, b_first);
  second = hn::InterleaveLower(i, a_second, b_second);
  merge_minima(first, second, hn::InterleaveUpper(i, a_first, b_first), hn::InterleaveUpper(i, a_second, b_second));
}

/// Reduces the two smallest keys per lane of four queries to two of each query: a transposition of 128-bit blocks whose steps take
/// minima.
HWY_INLINE void reduce(VI a_first, VI a_second, VI b_first, VI b_second, VI c_first, VI c_second, VI d_first,
                       VI d_second, GroupMinima& to) {
  const I i;
  const hn::RepartitionToWide<I> pairs;
  VI ab_first;
  VI ab_second;
  VI cd_first;
  VI cd_second;
  merge_lanes(a_first, a_second, b_first, b_second, ab_first, ab_second);
  merge_lanes(c_first, c_second, d_first, d_second, cd_first, cd_second);
  const auto ab1 = hn::BitCast(pairs, ab_first);
  const auto ab2 = hn::BitCast(pairs, ab_second);
  const auto cd1 = hn::BitCast(pairs, cd_first);
  const auto cd2 = hn::BitCast(pairs, cd_second);
  VI first = hn::BitCast(i, hn::InterleaveLower(pairs, ab1, cd1));
  VI second = hn::BitCast(i, hn::InterleaveLower(pairs, ab2, cd2));
  merge_minima(first, second, hn::BitCast(i, hn::InterleaveUpper(pairs, ab1, cd1)),
               hn::BitCast(i, hn::InterleaveUpper(pairs, ab2, cd2)));
  hn::Store(first, i, to.first);
  hn::Store(second, i, to.second);
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(i));
  if (lanes == kGroup) return;
  const hn::CappedTag<std::int32_t, kGroup> block;
  auto least = hn::Load(block, to.first);
  auto next = hn::Load(block, to.second);
  for (std::uint32_t at = kGroup; at < lanes; at += kGroup)
    merge_minima(least, next, hn::Load(block, to.first + at), hn::Load(block, to.second + at));
  hn::Store(least, block, to.first);
  hn::Store(next, block, to.second);
}
#else
/// Stores the two smallest keys of four queries, whose vectors have one lane.
HWY_INLINE void reduce(VI a_first, VI a_second, VI b_first, VI b_second, VI c_first, VI c_second, VI d_first,
                       VI d_second, GroupMinima& to) {
  const I i;
  hn::Store(a_first, i, to.first);
  hn::Store(b_first, i, to.first + 1);
  hn::Store(c_first, i, to.first + 2);
  hn::Store(d_first, i, to.first + 3);
  hn::Store(a_second, i, to.second);
  hn::Store(b_second, i, to.second + 1);
  hn::Store(c_second, i, to.second + 2);
  hn::Store(d_second, i, to.second + 3);
}
#endif

/// Queries of one node that are searched together, in filter coordinates; unused places hold numbers.
struct QueryGroup {
  alignas(16) float x[kGroup];
  alignas(16) float y[kGroup];
  alignas(16) float z[kGroup];
  std::uint32_t vertex[kGroup];
};

/// Compares query q of a group with a vector of candidates, and updates its minima.
HWY_INLINE void compare(const QueryGroup& group, std::uint32_t q, VF x, VF y, VF z, VI vertex, VI number, VI& first,
                        VI& second) {
  const F f;
  const VI d2 = distance2(x, y, z, hn::Set(f, group.x[q]), hn::Set(f, group.y[q]), hn::Set(f, group.z[q]));
  const VI self = hn::Set(I(), static_cast<std::int32_t>(group.vertex[q]));
  update_minima(d2, number, hn::Eq(vertex, self), first, second);
}

/// Compares the first kCount queries of a group with all candidates of their node together: candidates are loaded once, and the
/// chains of minima interleave.
template <std::uint32_t kCount>
HWY_INLINE void search(const CandidateRow& candidates, const QueryGroup& group, GroupMinima& to) {
  const F f;
  const I i;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
  const VI step = hn::Set(i, static_cast<std::int32_t>(lanes));
  VI number = hn::Iota(i, 0);
  VI a_first = hn::Set(i, kFar);
  VI a_second = a_first;
  VI b_first = a_first;
  VI b_second = a_first;
  VI c_first = a_first;
  VI c_second = a_first;
  VI d_first = a_first;
  VI d_second = a_first;
  const std::uint32_t end = candidates.first() + candidates.size();
  for (std::uint32_t at = candidates.first(); at < end; at += lanes) {
    const VF x = hn::LoadU(f, candidates.x + at);
    const VF y = hn::LoadU(f, candidates.y + at);
    const VF z = hn::LoadU(f, candidates.z + at);
    const VI vertex = hn::LoadU(i, candidates.vertex + at);
    compare(group, 0, x, y, z, vertex, number, a_first, a_second);
    if constexpr (kCount > 1) compare(group, 1, x, y, z, vertex, number, b_first, b_second);
    if constexpr (kCount > 2) compare(group, 2, x, y, z, vertex, number, c_first, c_second);
    if constexpr (kCount > 3) compare(group, 3, x, y, z, vertex, number, d_first, d_second);
    number = hn::Add(number, step);
  }
  reduce(a_first, a_second, b_first, b_second, c_first, c_second, d_first, d_second, to);
}

/// Lower and upper face, on one axis, of the two cells around a node: beyond them no candidate has been read.
struct Faces {
  float lower;
  float upper;
};

/// Returns the faces of the two cells around a node on one axis, infinite at walls.
HWY_INLINE Faces node_faces(const BlockSearch& s, int axis, int node) {
  Faces f;
  f.lower = node <= 1 ? s.far[axis][0] : static_cast<float>(node - 1) * s.width[axis];
  f.upper = node + 1 >= s.cells[axis] ? s.far[axis][1] : static_cast<float>(node + 1) * s.width[axis];
  return f;
}

/// Faces of the two cells around a node on each axis.
struct NodeFaces {
  Faces x;
  Faces y;
  Faces z;
};

/// Results of the filter for each query of a group, as masks: all bits or none.
struct Decisions {
  alignas(16) std::int32_t found[kGroup];  ///< one candidate is nearest beyond doubt
  alignas(16) std::int32_t sure[kGroup];   ///< and nothing beyond the candidates can be nearer
};

/// Decides for each query of a group whether one candidate is nearest beyond doubt (rounding leaves one only, and there is one),
/// and whether it is near enough that no parcel beyond the faces of the node's cells can be nearer. Of all keys two of each query
/// suffice: of two or more below the limit, two are seen.
HWY_INLINE void decide(const GroupMinima& minima, const QueryGroup& group, const NodeFaces& faces,
                       float coordinate_error, Decisions& to) {
  const hn::CappedTag<float, kGroup> f;
  const hn::RebindToSigned<decltype(f)> i;
  const float error = 2.0F * coordinate_error;  // of a distance, > sqrt(3) * coordinate_error
  const auto e = hn::Set(f, error);
  const auto low = hn::Set(i, 0xff);
  for (std::uint32_t q = 0; q < kGroup; q += static_cast<std::uint32_t>(hn::Lanes(f))) {
    const auto first = hn::Load(i, minima.first + q);
    const auto d2 = hn::BitCast(f, hn::Or(first, low));
    const auto d = hn::Sqrt(d2);
    // Upper bound of the filter's squared distance of any candidate that may be at least as near as the best one exactly.
    // 1/8192 covers the digits that the low byte replaces and the rounding of the sums; 4.01 e (d + e) the change of two
    // squares by an error e of each distance; 1e-37 underflow.
    const auto limit =
        hn::Add(hn::Add(hn::Mul(d2, hn::Set(f, 1.0F + 1.0F / 8192)), hn::Mul(hn::Set(f, 4.01F * error), hn::Add(d, e))),
                hn::Set(f, 1e-37F));
    const auto unique = hn::Gt(hn::Load(i, minima.second + q), hn::Or(hn::BitCast(i, limit), low));
    const auto found = hn::And(hn::VecFromMask(i, unique), hn::VecFromMask(i, hn::Lt(first, hn::Set(i, 0x7f000000))));
    const auto x = hn::Load(f, group.x + q);
    const auto y = hn::Load(f, group.y + q);
    const auto z = hn::Load(f, group.z + q);
    const auto reach_x = hn::Min(hn::Sub(x, hn::Set(f, faces.x.lower)), hn::Sub(hn::Set(f, faces.x.upper), x));
    const auto reach_y = hn::Min(hn::Sub(y, hn::Set(f, faces.y.lower)), hn::Sub(hn::Set(f, faces.y.upper), y));
    const auto reach_z = hn::Min(hn::Sub(z, hn::Set(f, faces.z.lower)), hn::Sub(hn::Set(f, faces.z.upper), z));
    // 1.5 errors of a coordinate: that of the parcel and that of a face, each computed
    const auto reach = hn::Sub(hn::Min(hn::Min(reach_x, reach_y), reach_z), hn::Set(f, 1.5F * coordinate_error));
    const auto distance = hn::Add(hn::Mul(d, hn::Set(f, 1.0001F)), e);
    const auto near = hn::VecFromMask(i, hn::RebindMask(i, hn::Lt(distance, reach)));
    hn::Store(found, i, to.found + q);
    hn::Store(hn::And(found, near), i, to.sure + q);
  }
}

/// Searches the candidates of a node for its small parcels begin .. end - 1 of by_node, a group of them at a time.
HWY_INLINE void search_node(const BlockSearch& s, const CandidateRow& candidates, const NodeFaces& faces,
                            std::uint32_t begin, std::uint32_t end, QueryGroup& group) {
  GroupMinima minima;
  Decisions decisions;
  for (std::uint32_t k = begin; k < end; k += kGroup) {
    const std::uint32_t count = end - k < kGroup ? end - k : kGroup;
    for (std::uint32_t q = 0; q < count; ++q) {
      const std::uint32_t v = s.by_node[k + q];
      group.vertex[q] = v;
      group.x[q] = s.x[v];
      group.y[q] = s.y[v];
      group.z[q] = s.z[v];
    }
    switch (count) {
      case 1:
        search<1>(candidates, group, minima);
        break;
      case 2:
        search<2>(candidates, group, minima);
        break;
      case 3:
        search<3>(candidates, group, minima);
        break;
      default:
        search<4>(candidates, group, minima);
    }
    decide(minima, group, faces, s.coordinate_error, decisions);
    for (std::uint32_t q = 0; q < count; ++q) {
      const auto number = static_cast<std::uint32_t>(minima.first[q] & 0xff);
      // kNone has all bits set
      const std::uint32_t candidate =
          static_cast<std::uint32_t>(candidates.vertex[candidates.first() + number] | ~decisions.found[q]);
      s.target[group.vertex[q]] = candidate;
      if (decisions.sure[q] == 0) s.open->push_back({group.vertex[q], candidate});
    }
  }
}

/// Body of block_search(): searches the candidates around every node for the node's small parcels.
void SearchNodes(const BlockSearch& s) {
  // Beyond the last candidate, y and z must be numbers: a NaN may compare as the least key.
  CandidateRow candidates{};
  QueryGroup group{};
  std::size_t node = 0;
  for (int jz = 0; jz <= s.cells[2]; ++jz)
    for (int jy = 0; jy <= s.cells[1]; ++jy) {
      NodeFaces faces{{}, node_faces(s, 1, jy), node_faces(s, 2, jz)};
      candidates.begin_row(s, jy, jz);
      for (int jx = 0; jx <= s.cells[0]; ++jx, ++node) {
        if (jx < s.cells[0]) {
          candidates.append(s, jx);
        } else {
          candidates.pass();
        }
        const std::uint32_t begin = s.node_start[node];
        const std::uint32_t end = s.node_start[node + 1];
        if (begin == end) continue;
        if (candidates.size() > kCandidates) {
          for (std::uint32_t k = begin; k < end; ++k) s.open->push_back({s.by_node[k], links::kNone});
          continue;
        }
        faces.x = node_faces(s, 0, jx);
        search_node(s, candidates, faces, begin, end, group);
      }
    }
}

/// Returns Highway's name of the vector instruction set that this copy of the file is compiled for.
const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(SearchNodes);
HWY_EXPORT(TargetName);

void block_search(const BlockSearch& s) { MERGANSER_DISPATCH(SearchNodes)(s); }
const char* block_search_target() { return MERGANSER_DISPATCH(TargetName)(); }

}  // namespace merganser::nearest
#endif
