// Trilinear weights of points of parcels at the nodes of their cells, one parcel per lane, for kernels that Highway compiles once
// per vector target; private to the flow module.
#if defined(MERGANSER_FLOW_WEIGHTS) == defined(HWY_TARGET_TOGGLE)
#ifdef MERGANSER_FLOW_WEIGHTS
#undef MERGANSER_FLOW_WEIGHTS
#else
#define MERGANSER_FLOW_WEIGHTS
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/flow/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using I = hn::Rebind<std::int32_t, D>;

HWY_INLINE V set(double x) { return hn::Set(D(), x); }

/// Returns p. The compiler does not see that, so that it addresses what is near p by constant distances from one register, where it
/// would else keep an address in memory for each.
template <class T>
HWY_INLINE T* hide(T* p) {
  __asm__("" : "+r"(p));
  return p;
}
/// Vector in space, one per lane; of positions in units of cells where nothing else is said.
struct Vector {
  V x, y, z;
};
/// Converts a coordinate of parcels, m, to units of grid cells from the lower corner of the box. Near a face of a cell the
/// product with 1 / spacing could round into another cell than the quotient that Grid::cell() computes, so there it is divided
/// too.
HWY_INLINE V to_cell_units(V x, const Cells& cells, int axis) {
  const V from_lower = hn::Sub(x, set(cells.lower[axis]));
  const V g = hn::Mul(from_lower, set(cells.inverse[axis]));
  const auto doubtful = hn::Le(hn::Abs(hn::Sub(g, hn::Round(g))), set(1e-9));
  if (hn::AllFalse(D(), doubtful)) return g;
  return hn::IfThenElse(doubtful, hn::Div(from_lower, set(cells.spacing[axis])), g);
}
/// Distances, in nodes, from a grid node to the next in x and y, as doubles; in z it is 1.
struct Steps {
  double x, y;
};

/// Returns x steps.x + y steps.y + z, the index of a node. Exact, fused or not: whole numbers below 2^53.
HWY_INLINE V node_index(V x, V y, V z, const Steps& steps) {
  return hn::MulAdd(x, set(steps.x), hn::MulAdd(y, set(steps.y), z));
}

/// Computes the trilinear weights of one parcel point per lane, x slowest among the eight nodes of its cell, and the index of its
/// cell's lowest node less `origin`, and calls store(weights, index).
HWY_INLINE void weigh(const Vector& point, V origin, const Steps& steps, const auto& store) {
  const Vector cell{hn::Floor(point.x), hn::Floor(point.y), hn::Floor(point.z)};
  const V x = hn::Sub(point.x, cell.x);
  const V y = hn::Sub(point.y, cell.y);
  const V z = hn::Sub(point.z, cell.z);
  const V one = set(1);
  const V rest_x = hn::Sub(one, x);
  const V rest_y = hn::Sub(one, y);
  const V rest_z = hn::Sub(one, z);
  const V xy[4] = {hn::Mul(rest_x, rest_y), hn::Mul(rest_x, y), hn::Mul(x, rest_y), hn::Mul(x, y)};
  const V weights[8] = {hn::Mul(xy[0], rest_z), hn::Mul(xy[0], z), hn::Mul(xy[1], rest_z), hn::Mul(xy[1], z),
                        hn::Mul(xy[2], rest_z), hn::Mul(xy[2], z), hn::Mul(xy[3], rest_z), hn::Mul(xy[3], z)};
  store(weights, hn::DemoteTo(I(), node_index(cell.x, cell.y, hn::Sub(cell.z, origin), steps)));
}

/// Distances of the eight nodes of a cell from the lowest, in doubles of a node field, x slowest.
struct CornerOffsets {
  std::size_t at[8];
  HWY_INLINE explicit CornerOffsets(const Lines& lines, std::size_t width) {
    for (std::size_t n = 0; n < 8; ++n) at[n] = ((n >> 2) * lines.x + ((n >> 1) & 1) * lines.y + (n & 1)) * width;
  }
};

/// Stores trilinear weights and nodes of one point of the parcels of one vector of lanes of a batch.
struct StoreWeights {
  Weights& to;
  std::size_t point;
  std::size_t at;  // first lane
  HWY_INLINE void operator()(const V (&weight)[8], hn::Vec<I> node) const {
    for (std::size_t n = 0; n < 8; ++n) hn::Store(weight[n], D(), to.weight[point][n] + at);
    hn::Store(node, I(), to.node[point] + at);
  }
};

HWY_INLINE Vector load(const double (&from)[3][kBatch], std::size_t at) {
  const D d;
  return {hn::Load(d, from[0] + at), hn::Load(d, from[1] + at), hn::Load(d, from[2] + at)};
}
HWY_INLINE Vector plus(const Vector& a, const Vector& b) {
  return {hn::Add(a.x, b.x), hn::Add(a.y, b.y), hn::Add(a.z, b.z)};
}
HWY_INLINE Vector minus(const Vector& a, const Vector& b) {
  return {hn::Sub(a.x, b.x), hn::Sub(a.y, b.y), hn::Sub(a.z, b.z)};
}
/// Computes the places of the four points of the parcels of one vector of lanes of a batch: centre + first, + second, - second,
/// - first.
HWY_INLINE void compute_points(const Batch& batch, std::size_t at, Vector (&to)[4]) {
  const Vector centre = load(batch.centre, at);
  const Vector first = load(batch.first, at);
  const Vector second = load(batch.second, at);
  to[0] = plus(centre, first);
  to[1] = plus(centre, second);
  to[2] = minus(centre, second);
  to[3] = minus(centre, first);
}

/// Converts the distances between lines of nodes to doubles.
HWY_INLINE Steps to_steps(const Lines& lines) { return {static_cast<double>(lines.x), static_cast<double>(lines.y)}; }
/// Returns the index that the first node of a rank's node fields, one below those of its first cell, has by node_index().
HWY_INLINE V layout_origin(const Cells& cells, const Steps& steps) {
  return node_index(set(cells.first[0] - 1), set(cells.first[1] - 1), set(-1), steps);
}

/// Records a parcel that may have left the rank's block: always writes its index, counts it only then, to avoid a branch.
HWY_INLINE void record_leaver(const Site& site, std::uint32_t index, Leavers& leavers) {
  const int x = static_cast<int>(site.x >= leavers.low[0]) & static_cast<int>(site.x < leavers.high[0]);
  const int y = static_cast<int>(site.y >= leavers.low[1]) & static_cast<int>(site.y < leavers.high[1]);
  leavers.index[leavers.count] = index;
  leavers.count += static_cast<std::size_t>((x & y) ^ 1);
}

constexpr std::size_t kAhead = 24;  // parcels ahead of the current one whose memory is prefetched

/// Prefetches the site, and `bytes` of the row, of a parcel kAhead positions later.
HWY_INLINE void prefetch(const Site* sites, const double* rows, const ParcelRange& run, std::size_t place,
                         std::size_t bytes) {
  const std::uint32_t index = run.order[std::min(place + kAhead, run.placed - 1)];
  __builtin_prefetch(sites + index);
  const char* const row = reinterpret_cast<const char*>(rows + index * Row::width);
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at);
  __builtin_prefetch(row + bytes - 1);
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
