// Scatter from parcels to nodes and interpolation back, for the transfer of the flow model. Compiled once per vector target by
// Highway; see the end of the file for the dispatch. The bits do not depend on the target: fused operations are fused on all
// (fused.hpp), and sums are taken in the same order whatever the number of lanes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/transfer_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "merganser/base/detail/highway.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "src/flow/fused.hpp"
#include "src/flow/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using I = hn::Rebind<std::int32_t, D>;

HWY_INLINE V set(double x) { return hn::Set(D(), x); }

// ---- weights ----

/// Positions in units of cells, one per lane.
struct Vector {
  V x, y, z;
};
/// Distances, in nodes, from a grid node to the next in x and y, as doubles; in z it is 1.
struct Steps {
  double x, y;
};

/// Stores trilinear weights of a lower and an upper node: xy z0 and xy z1.
HWY_INLINE void store_pair(V xy, V z0, V z1, double (*to)[kBatch], std::size_t at) {
  hn::Store(hn::Mul(xy, z0), D(), to[0] + at);
  hn::Store(hn::Mul(xy, z1), D(), to[1] + at);
}

/// Computes the trilinear weights of one parcel point per lane, and the index of its cell's lowest node, counted from `origin`.
HWY_INLINE void weigh(const Vector& point, const Vector& origin, const Steps& steps, std::size_t which, std::size_t at,
                      Weights& weights) {
  const Vector cell{hn::Floor(point.x), hn::Floor(point.y), hn::Floor(point.z)};
  const V x = hn::Sub(point.x, cell.x);
  const V y = hn::Sub(point.y, cell.y);
  const V z = hn::Sub(point.z, cell.z);
  const V one = set(1);
  const V rest_x = hn::Sub(one, x);
  const V rest_y = hn::Sub(one, y);
  const V rest_z = hn::Sub(one, z);
  store_pair(hn::Mul(rest_x, rest_y), rest_z, z, weights.weight[which], at);
  store_pair(hn::Mul(rest_x, y), rest_z, z, weights.weight[which] + 2, at);
  store_pair(hn::Mul(x, rest_y), rest_z, z, weights.weight[which] + 4, at);
  store_pair(hn::Mul(x, y), rest_z, z, weights.weight[which] + 6, at);
  // Exact, fused or not: whole numbers below 2^31.
  V node = hn::MulAdd(hn::Sub(cell.x, origin.x), set(steps.x), hn::Sub(cell.z, origin.z));
  node = hn::MulAdd(hn::Sub(cell.y, origin.y), set(steps.y), node);
  hn::Store(hn::DemoteTo(I(), node), I(), weights.node[which] + at);
}

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
/// Computes the trilinear weights of the four points of the parcels of one vector of lanes of a batch: centre + first, + second,
/// - second, - first.
HWY_INLINE void weigh_points(const Batch& batch, const Vector& origin, const Steps& steps, std::size_t at,
                             Weights& weights) {
  const Vector centre = load(batch.centre, at);
  const Vector first = load(batch.first, at);
  const Vector second = load(batch.second, at);
  weigh(plus(centre, first), origin, steps, 0, at, weights);
  weigh(plus(centre, second), origin, steps, 1, at, weights);
  weigh(minus(centre, second), origin, steps, 2, at, weights);
  weigh(minus(centre, first), origin, steps, 3, at, weights);
}

/// Converts the distances between lines of nodes to doubles.
HWY_INLINE Steps to_steps(const Lines& lines) { return {static_cast<double>(lines.x), static_cast<double>(lines.y)}; }
/// Returns the origin of node indices in a rank's node fields, in units of cells: one node below the rank's first.
HWY_INLINE Vector layout_origin(const Cells& cells) {
  return {set(cells.first[0] - 1), set(cells.first[1] - 1), set(-1)};
}
/// Returns the origin along an axis of the window that a parcel is scattered to, one node below its column of cells.
HWY_INLINE V window_origin(V centre, const Cells& cells, int axis) {
  const V cell = hn::Min(hn::Max(hn::Floor(centre), hn::Zero(D())), set(cells.all[axis] - 1));
  return hn::Sub(cell, set(1));
}

/// Computes the trilinear weights of a batch of parcels relative to their columns' windows, unless those of the last call.
HWY_INLINE void weigh_in_window(const ParcelRange& run, std::size_t batch, const Cells& cells, const Lines& lines,
                                WindowWeights& weighed) {
  if (weighed.batch == batch) return;
  weighed.batch = batch;
  const Batch& points = run.batches[batch];
  for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D())) {
    const Vector centre = load(points.centre, k);
    const Vector origin{window_origin(centre.x, cells, 0), window_origin(centre.y, cells, 1), set(-1)};
    weigh_points(points, origin, to_steps(lines), k, weighed.weights);
  }
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

/// Distances of the eight nodes of a cell from the lowest, in doubles of a node field, x slowest.
struct CornerOffsets {
  std::size_t at[8];
  HWY_INLINE explicit CornerOffsets(const Lines& lines, std::size_t width) {
    for (std::size_t n = 0; n < 8; ++n) at[n] = ((n >> 2) * lines.x + ((n >> 1) & 1) * lines.y + (n & 1)) * width;
  }
};

// ---- to the nodes ----

/// Masks that turn the beginning of a row (id, vorticity, buoyancy) into 1, vorticity, buoyancy.
alignas(64) constexpr std::uint64_t kKeep[8] = {0, ~0ULL, ~0ULL, ~0ULL, ~0ULL, 0, 0, 0};
alignas(64) constexpr double kOne[8] = {1, 0, 0, 0, 0, 0, 0, 0};

/// Body of scatter_carried(): adds volume, and volume times vorticity and buoyancy, of parcels to the nodes of a column's window.
void ScatterCarried(const Site* sites, const double* rows, const ParcelRange& run, const Cells& cells,
                    const Lines& lines, WindowWeights& weighed, double* window) {
  const D d;
  const hn::RebindToUnsigned<D> u;
  const CornerOffsets corners(lines, CarriedFields::width);
  for (std::size_t place = run.begin; place < run.end; ++place) {
    weigh_in_window(run, place / kBatch, cells, lines, weighed);
    prefetch(sites, rows, run, place, 64);
    const std::size_t lane = place % kBatch;
    const std::uint32_t index = run.order[place];
    const double* const row = rows + index * Row::width;
    const V quarter = set(0.25 * sites[index].volume);
    for (std::size_t part = 0; part < 5; part += hn::Lanes(d)) {
      const V kept = hn::And(hn::LoadU(d, row + part), hn::BitCast(d, hn::Load(u, kKeep + part)));
      const V value = hn::Mul(hn::Or(kept, hn::Load(d, kOne + part)), quarter);
      // Points are added one after the other, never in parallel: the order of additions at a node decides its bits.
      for (std::size_t point = 0; point < 4; ++point) {
        double* const lowest =
            window + static_cast<std::size_t>(weighed.weights.node[point][lane]) * CarriedFields::width + part;
        for (std::size_t n = 0; n < 8; n += 2) {
          double* const to = lowest + corners.at[n];
          double* const above = to + CarriedFields::width;
          hn::Store(fused_add(value, set(weighed.weights.weight[point][n][lane]), hn::Load(d, to)), d, to);
          hn::Store(fused_add(value, set(weighed.weights.weight[point][n + 1][lane]), hn::Load(d, above)), d, above);
        }
      }
    }
  }
}

/// Body of scatter_volume(): adds the volume of parcels to the nodes of a column's window.
void ScatterVolume(const Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                   WindowWeights& weighed, double* window) {
  const CornerOffsets corners(lines, 1);
  for (std::size_t place = run.begin; place < run.end; ++place) {
    weigh_in_window(run, place / kBatch, cells, lines, weighed);
    __builtin_prefetch(sites + run.order[std::min(place + kAhead, run.placed - 1)]);
    const std::size_t lane = place % kBatch;
    const double quarter = 0.25 * sites[run.order[place]].volume;
    for (std::size_t point = 0; point < 4; ++point) {
      double* const lowest = window + weighed.weights.node[point][lane];
      for (std::size_t n = 0; n < 8; ++n) lowest[corners.at[n]] += quarter * weighed.weights.weight[point][n][lane];
    }
  }
}

// ---- to the parcels ----

/// Weighted sums over nodes of two adjacent vectors of flow fields, interpolated at a parcel's points.
struct Pair {
  V a, b;
};
/// Adds flow values of two nodes, one above the other, with the trilinear weights weight[0 .. 1][lane].
HWY_INLINE void add_nodes(const double* node, const double (*weight)[kBatch], std::size_t lane, Pair& sum) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V low = set(weight[0][lane]);
  sum.a = fused_add(low, hn::Load(d, node), sum.a);
  sum.b = fused_add(low, hn::Load(d, node + lanes), sum.b);
  const V high = set(weight[1][lane]);
  sum.a = fused_add(high, hn::Load(d, node + FlowFields::width), sum.a);
  sum.b = fused_add(high, hn::Load(d, node + FlowFields::width + lanes), sum.b);
}

/// Interpolates the flow at parcel `lane` of a batch: the mean of velocity, gradient and tendency over its four points.
HWY_INLINE void read_flow(const double* flow, const Weights& weights, std::size_t lane, const CornerOffsets& corners,
                          double* mean) {
  const D d;
  const double* const point[4] = {flow + static_cast<std::size_t>(weights.node[0][lane]) * FlowFields::width,
                                  flow + static_cast<std::size_t>(weights.node[1][lane]) * FlowFields::width,
                                  flow + static_cast<std::size_t>(weights.node[2][lane]) * FlowFields::width,
                                  flow + static_cast<std::size_t>(weights.node[3][lane]) * FlowFields::width};
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t part = 0; part < FlowFields::width; part += 2 * lanes) {
    const V zero = hn::Zero(d);
    Pair p0{zero, zero};
    Pair p1{zero, zero};
    Pair p2{zero, zero};
    Pair p3{zero, zero};
    for (std::size_t n = 0; n < 8; n += 2) {
      const std::size_t at = corners.at[n] + part;
      add_nodes(point[0] + at, weights.weight[0] + n, lane, p0);
      add_nodes(point[1] + at, weights.weight[1] + n, lane, p1);
      add_nodes(point[2] + at, weights.weight[2] + n, lane, p2);
      add_nodes(point[3] + at, weights.weight[3] + n, lane, p3);
    }
    const V quarter = set(0.25);
    hn::Store(hn::Mul(quarter, hn::Add(hn::Add(p0.a, p1.a), hn::Add(p2.a, p3.a))), d, mean + part);
    hn::Store(hn::Mul(quarter, hn::Add(hn::Add(p0.b, p1.b), hn::Add(p2.b, p3.b))), d, mean + part + lanes);
  }
}

/// Updates one variable y of a parcel in a Runge-Kutta stage: r <- a r + rate, y <- y + b_dt r. In the first stage r is not read:
/// it may hold anything, even not a number.
template <bool kFirst>
HWY_INLINE void push(double& y, double& r, double rate, const RungeKuttaUpdate& stage) {
  const double now = kFirst ? rate : fused_add(stage.a, r, rate);
  r = now;
  y = fused_add(stage.b_dt, now, y);
}

/// Advances one parcel by a Runge-Kutta stage: moves it, adds to its vorticity, and deforms it by dB/dt = S B + B S^T, S the
/// velocity gradient.
template <bool kFirst>
HWY_INLINE void advance_one(Site& site, double* row, const double* f, const RungeKuttaUpdate& stage) {
  const double u_x = f[FlowFields::u_x];
  const double u_y = f[FlowFields::u_y];
  const double u_z = f[FlowFields::u_z];
  const double v_x = f[FlowFields::v_x];
  const double v_y = f[FlowFields::v_y];
  const double v_z = f[FlowFields::v_z];
  const double w_x = f[FlowFields::w_x];
  const double w_y = f[FlowFields::w_y];
  const double w_z = -(u_x + v_y);
  double* const b = row + Row::shape;
  const double b11 = b[0];
  const double b12 = b[1];
  const double b13 = b[2];
  const double b22 = b[3];
  const double b23 = b[4];
  const double b33 = merganser::b33(b, site.volume);
  double* const r = row + Row::registers;
  double* const vorticity = row + Row::vorticity;
  push<kFirst>(site.x, r[0], f[FlowFields::u], stage);
  push<kFirst>(site.y, r[1], f[FlowFields::v], stage);
  push<kFirst>(site.z, r[2], f[FlowFields::w], stage);
  push<kFirst>(vorticity[0], r[3], f[FlowFields::xi_t], stage);
  push<kFirst>(vorticity[1], r[4], f[FlowFields::eta_t], stage);
  push<kFirst>(vorticity[2], r[5], f[FlowFields::zeta_t], stage);
  const double b11_rate = 2 * fused_add(u_x, b11, fused_add(u_y, b12, u_z * b13));
  const double b12_rate =
      fused_add(v_x, b11, fused_add(-w_z, b12, fused_add(v_z, b13, fused_add(u_y, b22, u_z * b23))));
  const double b13_rate =
      fused_add(w_x, b11, fused_add(w_y, b12, fused_add(-v_y, b13, fused_add(u_y, b23, u_z * b33))));
  const double b22_rate = 2 * fused_add(v_x, b12, fused_add(v_y, b22, v_z * b23));
  const double b23_rate =
      fused_add(w_x, b12, fused_add(v_x, b13, fused_add(w_y, b22, fused_add(-u_x, b23, v_z * b33))));
  push<kFirst>(b[0], r[6], b11_rate, stage);
  push<kFirst>(b[1], r[7], b12_rate, stage);
  push<kFirst>(b[2], r[8], b13_rate, stage);
  push<kFirst>(b[3], r[9], b22_rate, stage);
  push<kFirst>(b[4], r[10], b23_rate, stage);
}

/// Records a parcel that may have left the rank's block: always writes its index, counts it only then, to avoid a branch.
HWY_INLINE void record_leaver(const Site& site, std::uint32_t index, Leavers& leavers) {
  const int x = static_cast<int>(site.x >= leavers.low[0]) & static_cast<int>(site.x < leavers.high[0]);
  const int y = static_cast<int>(site.y >= leavers.low[1]) & static_cast<int>(site.y < leavers.high[1]);
  leavers.index[leavers.count] = index;
  leavers.count += static_cast<std::size_t>((x & y) ^ 1);
}

/// Advances a range of parcels by one Runge-Kutta stage with the flow interpolated at their points; kFirst: registers are not read.
template <bool kFirst>
HWY_INLINE void advance_all(Site* sites, double* rows, const ParcelRange& run, const Cells& cells, const Lines& lines,
                            const double* flow, const RungeKuttaUpdate& stage, Leavers& leavers) {
  const CornerOffsets corners(lines, FlowFields::width);
  Weights weights;
  alignas(64) double mean[FlowFields::width];
  for (std::size_t place = run.begin; place < run.end; place += kBatch) {
    const Batch& batch = run.batches[place / kBatch];
    for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D()))
      weigh_points(batch, layout_origin(cells), to_steps(lines), k, weights);
    const std::size_t count = std::min(kBatch, run.end - place);
    for (std::size_t lane = 0; lane < count; ++lane) {
      prefetch(sites, rows, run, place + lane, Row::width * sizeof(double));
      const std::uint32_t index = run.order[place + lane];
      read_flow(flow, weights, lane, corners, mean);
      advance_one<kFirst>(sites[index], rows + index * Row::width, mean, stage);
      record_leaver(sites[index], index, leavers);
    }
  }
}

/// Body of advance_run(): one Runge-Kutta stage of each parcel of a range.
void AdvanceRun(Site* sites, double* rows, const ParcelRange& run, const Cells& cells, const Lines& lines,
                const double* flow, const RungeKuttaUpdate& stage, Leavers& leavers) {
  if (stage.a == 0) return advance_all<true>(sites, rows, run, cells, lines, flow, stage, leavers);
  advance_all<false>(sites, rows, run, cells, lines, flow, stage, leavers);
}

/// Calls visit(indices, batch, trilinear weights of the centres, number of parcels) for every batch of a range of parcels.
HWY_INLINE void for_centres(const Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                            const auto& visit) {
  Weights weights;
  for (std::size_t place = run.begin; place < run.end; place += kBatch) {
    const Batch& batch = run.batches[place / kBatch];
    for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D()))
      weigh(load(batch.centre, k), layout_origin(cells), to_steps(lines), 0, k, weights);
    const std::size_t count = std::min(kBatch, run.end - place);
    for (std::size_t lane = 0; lane < count; ++lane)
      __builtin_prefetch(sites + run.order[std::min(place + lane + kAhead, run.placed - 1)], 1);
    visit(run.order + place, batch, weights, count);
  }
}

/// Adds a displacement, m, to the position of a parcel.
HWY_INLINE void move_site(Site& site, double x, double y, double z) {
  site.x += x;
  site.y += y;
  site.z += z;
}

/// Body of displace_run(): adds a node field of displacements, interpolated at the centres, to the positions of parcels.
void DisplaceRun(Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                 const double* displacement, Leavers& leavers) {
  const hn::CappedTag<double, 4> d;
  const CornerOffsets corners(lines, 4);
  for_centres(sites, run, cells, lines,
              [&](const std::uint32_t* index, const Batch&, const Weights& weights, std::size_t count) {
                for (std::size_t lane = 0; lane < count; ++lane) {
                  const double* const node = displacement + static_cast<std::size_t>(weights.node[0][lane]) * 4;
                  alignas(64) double sum[4];
                  for (std::size_t part = 0; part < 4; part += hn::Lanes(d)) {
                    auto of_part = hn::Zero(d);
                    for (std::size_t n = 0; n < 8; ++n)
                      of_part = fused_add(hn::Set(d, weights.weight[0][n][lane]),
                                          hn::Load(d, node + corners.at[n] + part), of_part);
                    hn::Store(of_part, d, sum + part);
                  }
                  move_site(sites[index[lane]], sum[0], sum[1], sum[2]);
                  record_leaver(sites[index[lane]], index[lane], leavers);
                }
              });
}

/// Returns the displacement of parcels along one axis by the gradient correction: `across` is the difference of the excess of
/// volume from face to face of the cell.
HWY_INLINE V axis_displacement(V fraction, double spacing, V across, const GradientCorrection& pull) {
  const V limit = hn::Mul(hn::Mul(set(spacing), fraction), hn::Sub(set(1), fraction));
  const V bound = hn::Max(hn::Mul(set(pull.most), limit), hn::Zero(D()));
  return hn::Min(hn::Max(hn::Mul(hn::Mul(set(-pull.pull), limit), across), hn::Neg(bound)), bound);
}
/// Interpolates linearly between a (at 0) and b (at 1), lane by lane.
HWY_INLINE V lerp(V a, V b, V at) { return fused_add(at, hn::Sub(b, a), a); }
/// Returns the mean, weighted with p and q, of the differences of the excess of volume v along the four parallel edges of a cell.
HWY_INLINE V mean_difference(const V* v, const std::array<int, 8>& ends, V p, V q) {
  const auto edge = [&](std::size_t e) { return hn::Sub(v[ends[2 * e]], v[ends[2 * e + 1]]); };
  return lerp(lerp(edge(0), edge(1), p), lerp(edge(2), edge(3), p), q);
}

/// Body of even_out_run(): moves parcels down the gradient of the excess of volume within their cells.
void EvenOutRun(Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines, const double* excess,
                const GradientCorrection& pull, Leavers& leavers) {
  const D d;
  const hn::RebindToSigned<D> wide;
  const CornerOffsets corners(lines, 1);
  for_centres(sites, run, cells, lines,
              [&](const std::uint32_t* index, const Batch& batch, const Weights& weights, std::size_t count) {
                alignas(64) double move[3][kBatch];
                for (std::size_t k = 0; k < kBatch; k += hn::Lanes(d)) {
                  const auto node = hn::PromoteTo(wide, hn::Load(I(), weights.node[0] + k));
                  V v[8];
                  for (std::size_t n = 0; n < 8; ++n) v[n] = hn::GatherIndex(d, excess + corners.at[n], node);
                  const Vector centre = load(batch.centre, k);
                  const Vector f = minus(centre, {hn::Floor(centre.x), hn::Floor(centre.y), hn::Floor(centre.z)});
                  const V x = mean_difference(v, {4, 0, 5, 1, 6, 2, 7, 3}, f.z, f.y);
                  const V y = mean_difference(v, {2, 0, 3, 1, 6, 4, 7, 5}, f.z, f.x);
                  const V z = mean_difference(v, {1, 0, 3, 2, 5, 4, 7, 6}, f.y, f.x);
                  hn::Store(axis_displacement(f.x, cells.spacing[0], x, pull), d, move[0] + k);
                  hn::Store(axis_displacement(f.y, cells.spacing[1], y, pull), d, move[1] + k);
                  hn::Store(axis_displacement(f.z, cells.spacing[2], z, pull), d, move[2] + k);
                }
                for (std::size_t lane = 0; lane < count; ++lane) {
                  move_site(sites[index[lane]], move[0][lane], move[1][lane], move[2][lane]);
                  record_leaver(sites[index[lane]], index[lane], leavers);
                }
              });
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow {

HWY_EXPORT(ScatterCarried);
HWY_EXPORT(ScatterVolume);
HWY_EXPORT(AdvanceRun);
HWY_EXPORT(DisplaceRun);
HWY_EXPORT(EvenOutRun);

void scatter_carried(const Site* sites, const double* rows, const ParcelRange& run, const Cells& cells,
                     const Lines& lines, WindowWeights& weighed, double* window) {
  MERGANSER_DISPATCH(ScatterCarried)(sites, rows, run, cells, lines, weighed, window);
}
void scatter_volume(const Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                    WindowWeights& weighed, double* window) {
  MERGANSER_DISPATCH(ScatterVolume)(sites, run, cells, lines, weighed, window);
}
void advance_run(Site* sites, double* rows, const ParcelRange& run, const Cells& cells, const Lines& lines,
                 const double* flow, const RungeKuttaUpdate& stage, Leavers& leavers) {
  MERGANSER_DISPATCH(AdvanceRun)(sites, rows, run, cells, lines, flow, stage, leavers);
}
void displace_run(Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                  const double* displacement, Leavers& leavers) {
  MERGANSER_DISPATCH(DisplaceRun)(sites, run, cells, lines, displacement, leavers);
}
void even_out_run(Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines, const double* excess,
                  const GradientCorrection& pull, Leavers& leavers) {
  MERGANSER_DISPATCH(EvenOutRun)(sites, run, cells, lines, excess, pull, leavers);
}

}  // namespace merganser::flow
#endif
