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

/// Small parcel, a query of block_search(), in filter coordinates. `self` is the number of the parcel among the candidates;
/// kCandidates if it is none of them.
struct FilterParcel {
  float x;
  float y;
  float z;
  std::int32_t self;
};

/// Candidates of block_search() for one node: the parcels of the 2x2x2 cells around it, copied from four runs of memory.
struct CandidateBlock {
  alignas(64) float x[kCandidates + 64];
  alignas(64) float y[kCandidates + 64];
  alignas(64) float z[kCandidates + 64];
  std::uint32_t base[4];  // vertex = base[run] + number
  std::uint32_t end[4];   // one beyond the last number of a run
  std::uint32_t size;     // number of candidates

  /// Copies the candidates of node (jx, jy, jz). Returns false if there are more than kCandidates, whose numbers would
  /// not fit the low byte of a key.
  HWY_INLINE bool gather(const BlockSearch& s, int jx, int jy, int jz) {
    const F f;
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
    const int nx = s.cells[0];
    const int x0 = jx > 0 ? jx - 1 : 0;
    const int x1 = jx < nx ? jx : nx - 1;
    size = 0;
    int run = 0;
    for (int cz = jz - 1; cz <= jz; ++cz)
      for (int cy = jy - 1; cy <= jy; ++cy, ++run) {
        base[run] = 0;
        end[run] = size;
        if (cz < 0 || cz >= s.cells[2] || cy < 0 || cy >= s.cells[1]) continue;
        const auto row =
            (static_cast<std::size_t>(cz) * static_cast<std::size_t>(s.cells[1]) + static_cast<std::size_t>(cy)) *
            static_cast<std::size_t>(nx);
        const std::uint32_t b = s.cell_start[2 * (row + static_cast<std::size_t>(x0))];
        const std::uint32_t e = s.cell_start[2 * (row + static_cast<std::size_t>(x1)) + 2];
        const std::uint32_t count = e - b;
        if (size + count > kCandidates) return false;
        for (std::uint32_t i = 0; i < count; i += lanes) {  // may write beyond: the next run overwrites it
          hn::StoreU(hn::LoadU(f, s.x + b + i), f, x + size + i);
          hn::StoreU(hn::LoadU(f, s.y + b + i), f, y + size + i);
          hn::StoreU(hn::LoadU(f, s.z + b + i), f, z + size + i);
        }
        base[run] = b - size;
        size += count;
        end[run] = size;
      }
    hn::StoreU(hn::Set(f, 1e30F), f, x + size);
    return true;
  }

  /// Returns small parcel v in filter coordinates, with its number among the candidates. A parcel within rounding of a
  /// node may be in none of the runs.
  HWY_INLINE FilterParcel load_parcel(const BlockSearch& s, std::uint32_t v) const {
    std::uint32_t self = kCandidates;
    for (int run = 0; run < 4; ++run) {
      const std::uint32_t number = v - base[run];
      const std::uint32_t first = run == 0 ? 0 : end[run - 1];
      self = (number >= first && number < end[run]) ? number : self;
    }
    return {s.x[v], s.y[v], s.z[v], static_cast<std::int32_t>(self)};
  }
  /// Returns the run of memory, 0 to 3, that a candidate was copied from, by its number.
  HWY_INLINE std::uint32_t find_run(std::uint32_t number) const {
    return static_cast<std::uint32_t>(number >= end[0]) + static_cast<std::uint32_t>(number >= end[1]) +
           static_cast<std::uint32_t>(number >= end[2]);
  }
};

/// Merges a vector of candidates, by the bits of their squared distances, into the two smallest keys per lane. A key is
/// a squared distance (single precision) with its low byte replaced by the number of the candidate, so that one integer
/// minimum keeps distance and candidate together: floats >= 0 compare as their bits do. Vectors of SVE cannot be
/// members, so the keys of a parcel are two variables.
HWY_INLINE void update_minima(VI d2, VI number, VI self, VI& first, VI& second) {
  const I i;
  VI key = hn::OrAnd(number, d2, hn::Set(i, ~0xff));
  key = hn::IfThenElse(hn::Eq(number, self), hn::Set(i, kFar), key);
  second = hn::Min(second, hn::Max(first, key));
  first = hn::Min(first, key);
}

/// Returns whether one candidate is nearest beyond doubt, with its number and an upper bound of its distance; false if
/// rounding leaves more than one, or there is none. Two keys per lane suffice: of two or more below the limit, two are
/// seen.
HWY_INLINE bool is_unique(VI first, VI second, float coordinate_error, std::uint32_t* number, float* distance) {
  const I i;
  const std::int32_t best = hn::GetLane(hn::MinOfLanes(i, first));
  float d2;
  const std::int32_t bits = best | 0xff;
  __builtin_memcpy(&d2, &bits, sizeof d2);
  const float error = 2.0F * coordinate_error;  // of a distance, > sqrt(3) * coordinate_error
  const float d = std::sqrt(d2);
  *distance = d * 1.0001F + error;
  // Upper bound of the filter's squared distance of any candidate that may be at least as near as the best one exactly.
  // 1/8192 covers the digits that the low byte replaces and the rounding of the sums; 4.01 e (d + e) the change of two
  // squares by an error e of each distance; 1e-37 underflow.
  const float limit = d2 * (1.0F + 1.0F / 8192) + 4.01F * error * (d + error) + 1e-37F;
  std::int32_t limit_bits;
  __builtin_memcpy(&limit_bits, &limit, sizeof limit);
  const VI l = hn::Set(i, (limit_bits | 0xff) + 1);
  *number = static_cast<std::uint32_t>(best & 0xff);
  return (best < 0x7f000000) & (hn::CountTrue(i, hn::Lt(first, l)) + hn::CountTrue(i, hn::Lt(second, l)) == 1);
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

/// Compares two small parcels of one node with all its candidates together, or for one (kTwo false): candidates are loaded once,
/// and the chains of minima interleave.
template <bool kTwo>
HWY_INLINE void search(const CandidateBlock& block, const FilterParcel& a, const FilterParcel& b, VI& a_first,
                       VI& a_second, VI& b_first, VI& b_second) {
  const F f;
  const I i;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
  const VI step = hn::Set(i, static_cast<std::int32_t>(lanes));
  const VF ax = hn::Set(f, a.x);
  const VF ay = hn::Set(f, a.y);
  const VF az = hn::Set(f, a.z);
  const VI a_self = hn::Set(i, a.self);
  const VF bx = hn::Set(f, b.x);
  const VF by = hn::Set(f, b.y);
  const VF bz = hn::Set(f, b.z);
  const VI b_self = hn::Set(i, b.self);
  VI number = hn::Iota(i, 0);
  a_first = hn::Set(i, kFar);
  a_second = a_first;
  b_first = a_first;
  b_second = a_first;
  for (std::uint32_t at = 0; at < block.size; at += lanes) {
    const VF x = hn::Load(f, block.x + at);
    const VF y = hn::Load(f, block.y + at);
    const VF z = hn::Load(f, block.z + at);
    update_minima(distance2(x, y, z, ax, ay, az), number, a_self, a_first, a_second);
    if constexpr (kTwo) update_minima(distance2(x, y, z, bx, by, bz), number, b_self, b_first, b_second);
    number = hn::Add(number, step);
  }
}

/// Returns the smaller of two distances to faces of cells.
HWY_INLINE float min_of_two(float a, float b) { return a < b ? a : b; }

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

/// Body of block_search(): searches the candidates around every node for the node's small parcels, two parcels at a
/// time.
void SearchNodes(const BlockSearch& s) {
  CandidateBlock block{};  // beyond the last candidate, y and z must be numbers: a NaN may compare as the least key
  std::size_t node = 0;
  for (int jz = 0; jz <= s.cells[2]; ++jz) {
    const Faces fz = node_faces(s, 2, jz);
    for (int jy = 0; jy <= s.cells[1]; ++jy) {
      const Faces fy = node_faces(s, 1, jy);
      for (int jx = 0; jx <= s.cells[0]; ++jx, ++node) {
        const std::uint32_t begin = s.node_start[node];
        const std::uint32_t end = s.node_start[node + 1];
        if (begin == end) continue;
        if (!block.gather(s, jx, jy, jz)) {
          for (std::uint32_t k = begin; k < end; ++k) s.open->push_back({s.by_node[k], links::kNone});
          continue;
        }
        const Faces fx = node_faces(s, 0, jx);
        const auto finish = [&](std::uint32_t v, VI first, VI second) HWY_ATTR {
          const float x = s.x[v];
          const float y = s.y[v];
          const float z = s.z[v];
          std::uint32_t number;
          float distance;
          const bool found = is_unique(first, second, s.coordinate_error, &number, &distance);
          // 1.5 errors of a coordinate: that of the parcel and that of a face, each computed
          const float reach =
              min_of_two(min_of_two(min_of_two(x - fx.lower, fx.upper - x), min_of_two(y - fy.lower, fy.upper - y)),
                         min_of_two(z - fz.lower, fz.upper - z)) -
              1.5F * s.coordinate_error;
          const std::uint32_t candidate = found ? block.base[block.find_run(number)] + number : links::kNone;
          s.target[v] = candidate;
          if (!(found & (distance < reach))) s.open->push_back({v, candidate});
        };
        VI a_first = hn::Zero(I());
        VI a_second = a_first;
        VI b_first = a_first;
        VI b_second = a_first;
        std::uint32_t k = begin;
        for (; k + 2 <= end; k += 2) {
          const FilterParcel a = block.load_parcel(s, s.by_node[k]);
          const FilterParcel b = block.load_parcel(s, s.by_node[k + 1]);
          search<true>(block, a, b, a_first, a_second, b_first, b_second);
          finish(s.by_node[k], a_first, a_second);
          finish(s.by_node[k + 1], b_first, b_second);
        }
        if (k < end) {
          const FilterParcel last = block.load_parcel(s, s.by_node[k]);
          search<false>(block, last, last, a_first, a_second, b_first, b_second);
          finish(s.by_node[k], a_first, a_second);
        }
      }
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
