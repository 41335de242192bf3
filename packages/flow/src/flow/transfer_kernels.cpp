// Runge-Kutta stages with the flow interpolated from nodes, for the transfer of the flow model. Compiled once per vector target by
// Highway; see the end of the file for the dispatch. The bits do not depend on the target: fused operations are fused on all
// (fused.hpp), and sums are taken in the same order whatever the number of lanes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/transfer_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <numbers>

#include "merganser/base/detail/highway.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "src/flow/fused.hpp"
#include "src/flow/groups.hpp"
#include "src/flow/kernels.hpp"
#include "src/flow/weights.hpp"

// Calls of the largest kernels are not inlined under the address sanitizer, where the compiler would need many minutes.
#undef MERGANSER_FLOW_INLINE
#ifdef __SANITIZE_ADDRESS__
#define MERGANSER_FLOW_INLINE HWY_NOINLINE
#else
#define MERGANSER_FLOW_INLINE HWY_INLINE
#endif

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLanes = hn::MaxLanes(D());
/// Vectors of flow fields that are interpolated together: all with eight and four lanes, as many as there are registers for with
/// fewer.
constexpr std::size_t kParts = std::min<std::size_t>(4, FlowFields::width / kLanes);

/// Weighted sums over nodes of adjacent vectors of flow fields, interpolated at a parcel's point.
using Sums = V[kParts];

/// Adds the flow values of a node with a trilinear weight.
HWY_INLINE void add_node(const double* node, double weight, Sums& sums) {
  const V w = set(weight);
  for (std::size_t p = 0; p < kParts; ++p) sums[p] = fused_add(w, hn::Load(D(), node + p * kLanes), sums[p]);
}

/// Flow fields of the four lines of a cell whose lowest node has index 0: of the lower of the two nodes of each, x slowest.
struct CornerLines {
  const double* at[4];
  HWY_INLINE CornerLines(const double* flow, const CornerOffsets& corners) {
    for (std::size_t n = 0; n < 4; ++n) at[n] = flow + corners.at[2 * n];
  }
};

/// Interpolates adjacent vectors of flow fields, the first of them at `part`, at points `first` and first + 1 of parcel `lane` of a
/// batch, side by side to hide the latency of the sums.
HWY_INLINE void add_points(const CornerLines& flow, std::size_t part, const Weights& weights, std::size_t first,
                           std::size_t lane, Sums& sums) {
  const std::size_t one = static_cast<std::size_t>(weights.node[first][lane]) * FlowFields::width + part;
  const std::size_t two = static_cast<std::size_t>(weights.node[first + 1][lane]) * FlowFields::width + part;
  Sums other;
  for (std::size_t p = 0; p < kParts; ++p) sums[p] = other[p] = hn::Zero(D());
  for (std::size_t n = 0; n < 8; n += 2) {
    const double* const low_one = hide(flow.at[n / 2] + one);
    const double* const low_two = hide(flow.at[n / 2] + two);
    add_node(low_one, weights.weight[first][n][lane], sums);
    add_node(low_two, weights.weight[first + 1][n][lane], other);
    add_node(low_one + FlowFields::width, weights.weight[first][n + 1][lane], sums);
    add_node(low_two + FlowFields::width, weights.weight[first + 1][n + 1][lane], other);
  }
  for (std::size_t p = 0; p < kParts; ++p) sums[p] = hn::Add(sums[p], other[p]);
}

/// Interpolates the flow at parcel `lane` of a batch: the mean of velocity, gradient and tendency over its four points.
HWY_INLINE void read_flow(const CornerLines& flow, const Weights& weights, std::size_t lane, double* mean) {
  for (std::size_t part = 0; part < FlowFields::width; part += kParts * kLanes) {
    Sums near, far;
    add_points(flow, part, weights, 0, lane, near);
    add_points(flow, part, weights, 2, lane, far);
    for (std::size_t p = 0; p < kParts; ++p)
      hn::Store(hn::Mul(set(0.25), hn::Add(near[p], far[p])), D(), mean + part + p * kLanes);
  }
}

/// Returns true if all points of the parcels of a group, those from `lane` on in a batch, are in the same cell.
HWY_INLINE bool share_cell(const Weights& weights, std::size_t lane) {
  const hn::Rebind<std::int32_t, G> d;
  const auto cell = hn::Set(d, weights.node[0][lane]);
  auto other = hn::Xor(hn::LoadU(d, weights.node[0] + lane), cell);
  for (std::size_t point = 1; point < 4; ++point)
    other = hn::Or(other, hn::Xor(hn::LoadU(d, weights.node[point] + lane), cell));
  return hn::AllTrue(d, hn::Eq(other, hn::Zero(d)));
}

/// Flow interpolated at the parcels of a group: the means of one field are a vector. Numbers of the unused fields stay 0: arithmetic on
/// what else is there, for results that are dropped, would be slow with subnormal numbers.
struct FieldMeans {
  alignas(64) double mean[FlowFields::width][kGroup] = {};
  HWY_INLINE void load(std::size_t at, Four& to) const {
    for (std::size_t i = 0; i < 4; ++i) to.v[i] = hn::Load(G(), mean[at + i]);
  }
  HWY_INLINE void load_rows(std::size_t at, FourRows& to) const {
    Four fields;
    load(at, fields);
    turn(fields, to);
  }
};
/// Flow interpolated at the parcels of a group: the means of one parcel, FlowFields::width numbers, are adjacent.
struct ParcelMeans {
  const double* of_parcel[kGroup];
  HWY_INLINE explicit ParcelMeans(const double (*mean)[FlowFields::width]) {
    for (std::size_t i = 0; i < kGroup; ++i) of_parcel[i] = mean[i];
  }
  HWY_INLINE void load(std::size_t at, Four& to) const { load_four(of_parcel, at, to); }
  HWY_INLINE void load_rows(std::size_t at, FourRows& to) const {
    for (std::size_t i = 0; i < kGroup; ++i) load_row(of_parcel[i] + at, to.of[i]);
  }
};

/// Interpolates the flow at the parcels of a group whose points are all in one cell, where every value of a node is read once for
/// four points of all parcels. The same sums in the same order as by read_flow().
MERGANSER_FLOW_INLINE void read_cell(const CornerLines& flow, const Weights& weights, std::size_t lane,
                                     FieldMeans& to) {
  const G d;
  const std::size_t lowest = static_cast<std::size_t>(weights.node[0][lane]) * FlowFields::width;
  const double* const line[4] = {hide(flow.at[0] + lowest), hide(flow.at[1] + lowest), hide(flow.at[2] + lowest),
                                 hide(flow.at[3] + lowest)};
  for (std::size_t f = 0; f <= FlowFields::zeta_t; ++f) {
    const auto* const weight = hide(&weights.weight);  // else the compiler copies the weights before the loop
    W sum[4];
    for (std::size_t point = 0; point < 4; ++point) sum[point] = hn::Zero(d);
    for (std::size_t n = 0; n < 8; ++n) {
      const W value = hn::Set(d, line[n / 2][n % 2 * FlowFields::width + f]);
      for (std::size_t point = 0; point < 4; ++point)
        sum[point] = fused_add(hn::LoadU(d, (*weight)[point][n] + lane), value, sum[point]);
    }
    hn::Store(hn::Mul(hn::Set(d, 0.25), hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]))), d, to.mean[f]);
  }
}

/// Flow values of the eight nodes of a cell in registers, with vectors of eight fields.
struct CellFlow {
  V value[8][kParts];
  HWY_INLINE CellFlow(const CornerLines& flow, std::int32_t node) {
    const std::size_t lowest = static_cast<std::size_t>(node) * FlowFields::width;
    for (std::size_t n = 0; n < 8; ++n)
      for (std::size_t p = 0; p < kParts; ++p)
        value[n][p] = hn::Load(D(), flow.at[n / 2] + lowest + n % 2 * FlowFields::width + p * kLanes);
  }
};

/// Interpolates the flow at parcel `lane` of a batch, whose points are all in one cell. The same sums in the same order as by
/// read_flow().
HWY_INLINE void read_in_cell(const CellFlow& cell, const Weights& weights, std::size_t lane, double* mean) {
  Sums sum[4];
  for (std::size_t point = 0; point < 4; ++point)
    for (std::size_t p = 0; p < kParts; ++p) sum[point][p] = hn::Zero(D());
  for (std::size_t n = 0; n < 8; ++n)
    for (std::size_t point = 0; point < 4; ++point) {
      const V w = set(weights.weight[point][n][lane]);
      for (std::size_t p = 0; p < kParts; ++p) sum[point][p] = fused_add(w, cell.value[n][p], sum[point][p]);
    }
  for (std::size_t p = 0; p < kParts; ++p)
    hn::Store(hn::Mul(set(0.25), hn::Add(hn::Add(sum[0][p], sum[1][p]), hn::Add(sum[2][p], sum[3][p]))), D(),
              mean + p * kLanes);
}

/// Prefetches a parcel that is advanced later. One at a time, between the sums at the parcels before it: the processor has few
/// places for lines on their way.
HWY_INLINE void prefetch_all(const Site* sites, const double* rows, std::uint32_t index) {
  const char* const row = reinterpret_cast<const char*>(rows + index * Row::width);
  __builtin_prefetch(sites + index);
  for (std::size_t at = 0; at < Row::width * sizeof(double); at += 64) __builtin_prefetch(row + at);
}

/// Parcels that are advanced later than those of a batch, to be prefetched.
struct Ahead {
  const Site* sites;
  const double* rows;
  const std::uint32_t* index;  // of kBatch parcels
  HWY_INLINE void prefetch(std::size_t lane) const { prefetch_all(sites, rows, index[lane]); }
};

/// Interpolates the flow at the parcels of a group, those from `lane` on in a batch. While the points of parcels that follow one
/// another are all in one cell, the values at its nodes stay in registers. For vectors of eight numbers.
HWY_INLINE void read_runs(const CornerLines& flow, const Weights& weights, std::size_t lane, const Ahead& ahead,
                          double (*mean)[FlowFields::width]) {
  const auto in_one_cell = [&](std::size_t at) HWY_ATTR {
    const std::int32_t node = weights.node[0][at];
    return ((weights.node[1][at] ^ node) | (weights.node[2][at] ^ node) | (weights.node[3][at] ^ node)) == 0;
  };
  const std::size_t end = lane + kGroup;
  for (std::size_t at = lane; at < end;) {
    if (!in_one_cell(at)) {
      ahead.prefetch(at);
      read_flow(flow, weights, at, mean[at - lane]);
      ++at;
      continue;
    }
    const std::int32_t node = weights.node[0][at];
    const CellFlow values(flow, node);
    do {
      ahead.prefetch(at);
      read_in_cell(values, weights, at, mean[at - lane]);
      ++at;
    } while (at < end && weights.node[0][at] == node && in_one_cell(at));
  }
}

/// Computes B33 of the parcels of a group from the five entries of B and the volume, as merganser::b33().
HWY_INLINE W group_b33(const W (&b)[5], W volume) {
  const G d;
  const W product = hn::Mul(b[0], b[3]);
  const W minor = hn::Sub(product, hn::Mul(b[1], b[1]));
  const W inner = hn::Sub(hn::Mul(b[0], b[4]), hn::Mul(hn::Set(d, 2), hn::Mul(b[1], b[2])));
  const W rest = hn::Add(hn::Mul(b[4], inner), hn::Mul(b[2], hn::Mul(b[2], b[3])));
  const W abc = hn::Mul(volume, hn::Set(d, 0.75 / std::numbers::pi));
  const W plain = hn::Div(hn::Add(hn::Mul(abc, abc), rest), minor);
  const auto cancels = hn::Gt(product, hn::Mul(hn::Set(d, merganser::detail::kMaxCancellation), minor));
  if (HWY_LIKELY(hn::AllFalse(d, cancels))) return plain;
  alignas(64) double entry[6][kGroup];
  for (std::size_t c = 0; c < 5; ++c) hn::Store(b[c], d, entry[c]);
  hn::Store(volume, d, entry[5]);
  for (std::size_t i = 0; i < kGroup; ++i) {
    const double b5[5] = {entry[0][i], entry[1][i], entry[2][i], entry[3][i], entry[4][i]};
    entry[0][i] = merganser::b33(b5, entry[5][i]);
  }
  return hn::Load(d, entry[0]);
}

/// Computes the rates of B11 B12 B13 B22 B23 of a group, dB/dt = S B + B S^T, S the velocity gradient: u_x .. w_y.
HWY_INLINE void shape_rates(const W (&f)[8], const W (&b)[5], W b33, W (&rate)[5]) {
  const W two = hn::Set(G(), 2);
  const W u_x = f[0], u_y = f[1], u_z = f[2];
  const W v_x = f[3], v_y = f[4], v_z = f[5];
  const W w_x = f[6], w_y = f[7];
  const W sum = hn::Add(u_x, v_y);  // -w_z
  rate[0] = hn::Mul(two, fused_add(u_x, b[0], fused_add(u_y, b[1], hn::Mul(u_z, b[2]))));
  rate[1] = fused_add(v_x, b[0], fused_add(sum, b[1], fused_add(v_z, b[2], fused_add(u_y, b[3], hn::Mul(u_z, b[4])))));
  rate[2] = fused_add(w_x, b[0],
                      fused_add(w_y, b[1], fused_subtract_from(v_y, b[2], fused_add(u_y, b[4], hn::Mul(u_z, b33)))));
  rate[3] = hn::Mul(two, fused_add(v_x, b[1], fused_add(v_y, b[3], hn::Mul(v_z, b[4]))));
  rate[4] = fused_add(w_x, b[1],
                      fused_add(v_x, b[2], fused_add(w_y, b[3], fused_subtract_from(u_x, b[4], hn::Mul(v_z, b33)))));
}

/// Parcels that are advanced together: their sites and rows.
struct Group {
  double* sites[kGroup];
  double* rows[kGroup];
};

/// Updates four adjacent registers r of a parcel in a Runge-Kutta stage: r <- a r + rate. In the first stage r is not read: it may
/// hold anything, even not a number.
template <bool kFirst>
HWY_INLINE void push(RowPart& r, const RowPart& rate, const RungeKuttaUpdate& stage) {
  for (std::size_t p = 0; p < kPerFour; ++p)
    r.v[p] = kFirst ? rate.v[p] : fused_add(hn::Set(G(), stage.a), r.v[p], rate.v[p]);
}
/// Adds b_dt r to the first three of four adjacent numbers of a parcel; the fourth stays. @param sum  gets the four
HWY_INLINE void add_three(double* y, const RowPart& r, double b_dt, RowPart& sum) {
  const G d;
  for (std::size_t p = 0; p < kPerFour; ++p) {
    const W old = hn::LoadU(d, y + p * kGroup);
    if (p * kGroup >= 3) {
      sum.v[p] = old;
      continue;
    }
    sum.v[p] = fused_add(hn::Set(d, b_dt), r.v[p], old);
    if ((p + 1) * kGroup > 3) sum.v[p] = hn::IfThenElse(hn::FirstN(d, 3 - p * kGroup), sum.v[p], old);
    hn::StoreU(sum.v[p], d, y + p * kGroup);
  }
}

/// Bounds of the sites of parcels that have surely not left the rank's block: of x and y; z and the volume have none.
struct SiteBounds {
  RowPart low, high;
  HWY_INLINE explicit SiteBounds(const Leavers& leavers) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    alignas(32) const double lows[4] = {leavers.low[0], leavers.low[1], -kAny, -kAny};
    alignas(32) const double highs[4] = {leavers.high[0], leavers.high[1], kAny, kAny};
    load_row(lows, low);
    load_row(highs, high);
  }
};

/// Advances the first `count` parcels of a group by a Runge-Kutta stage with the flow interpolated at them, ParcelMeans or
/// FieldMeans: moves them, adds to their vorticity, and deforms them. @return true if all are within the bounds afterwards
template <bool kFirst>
MERGANSER_FLOW_INLINE bool advance_group(const Group& group, std::size_t count, const auto& means,
                                         const RungeKuttaUpdate& stage, const SiteBounds& bounds) {
  static_assert(Row::vorticity == 1 && Row::shape == 5 && Row::registers == 10 && Row::width == 22);
  static_assert(sizeof(Site) == 4 * sizeof(double) && FlowFields::width == 16);
  static_assert(FlowFields::u == 0 && FlowFields::u_x == 3 && FlowFields::w_y == 10 && FlowFields::xi_t == 11);
  const G d;
  // The rates of B are computed for all parcels at once, from numbers that are transposed into vectors.
  Four f0, f4, f8, site, b0;  // fields; position and volume; B11 B12 B13 B22
  means.load(0, f0);
  means.load(4, f4);
  means.load(8, f8);
  load_four(group.sites, 0, site);
  load_four(group.rows, 5, b0);
  W last[2];  // B22 B23
  load_two(group.rows, 8, last);
  const W b[5] = {b0.v[0], b0.v[1], b0.v[2], last[0], last[1]};
  const W gradient[8] = {f0.v[3], f4.v[0], f4.v[1], f4.v[2], f4.v[3], f8.v[0], f8.v[1], f8.v[2]};
  W rate[5];
  shape_rates(gradient, b, group_b33(b, site.v[3]), rate);
  FourRows shape, velocity, tendency;
  turn({{rate[0], rate[1], rate[2], rate[3]}}, shape);
  alignas(64) double fifth[kGroup];
  hn::Store(rate[4], d, fifth);
  means.load_rows(FlowFields::u, velocity);
  means.load_rows(FlowFields::xi_t, tendency);
  // The rest is done number by number as they lie in memory. Fourth registers of the first two parts are those of the next part,
  // which is stored after them.
  auto inside = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (std::size_t i = 0; i < count; ++i) {
    double* const row = group.rows[i];
    RowPart r0, r3, r6;  // registers of position, vorticity, B
    load_row(row + 10, r0);
    load_row(row + 13, r3);
    load_row(row + 16, r6);
    push<kFirst>(r0, velocity.of[i], stage);
    push<kFirst>(r3, tendency.of[i], stage);
    push<kFirst>(r6, shape.of[i], stage);
    RowPart moved, turned;
    add_three(group.sites[i], r0, stage.b_dt, moved);
    add_three(row + 1, r3, stage.b_dt, turned);
    for (std::size_t p = 0; p * kGroup < 2; ++p)
      inside = hn::And(inside, hn::And(hn::Ge(moved.v[p], bounds.low.v[p]), hn::Lt(moved.v[p], bounds.high.v[p])));
    for (std::size_t p = 0; p < kPerFour; ++p) {
      double* const y = row + 5 + p * kGroup;
      hn::StoreU(fused_add(hn::Set(d, stage.b_dt), r6.v[p], hn::LoadU(d, y)), d, y);
    }
    store_row(r0, row + 10);
    store_row(r3, row + 13);
    store_row(r6, row + 16);
    row[20] = kFirst ? fifth[i] : fused_add(stage.a, row[20], fifth[i]);
    row[9] = fused_add(stage.b_dt, row[20], row[9]);
  }
  return hn::AllTrue(d, inside);
}

/// Advances a range of parcels by one Runge-Kutta stage with the flow interpolated at their points; kFirst: registers are not read.
template <bool kFirst>
HWY_INLINE void advance_all(Site* sites, double* rows, const ParcelRange& run, const Cells& cells, const Lines& lines,
                            const double* flow, const RungeKuttaUpdate& stage, Leavers& leavers) {
  const CornerLines corners(flow, CornerOffsets(lines, FlowFields::width));
  const Steps steps = to_steps(lines);
  const SiteBounds bounds(leavers);
  Weights weights;
  alignas(64) double mean[kGroup][FlowFields::width];
  FieldMeans in_cell;
  for (std::size_t place = run.begin; place < run.end; place += kBatch) {
    const Ahead ahead{sites, rows, run.order + std::min(place + kAhead, (run.placed - 1) / kBatch * kBatch)};
    const Batch& batch = run.batch_of(place);
    for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D())) {
      Vector points[4];
      compute_points(batch, k, points);
      for (std::size_t point = 0; point < 4; ++point)
        weigh(points[point], layout_origin(cells, steps), steps, StoreWeights{weights, point, k});
    }
    // The last batch is filled up with the last parcel.
    const std::size_t count = std::min(kBatch, run.end - place);
    for (std::size_t first = 0; first < count; first += kGroup) {
      const std::uint32_t* const index = run.order + place + first;
      Group group;
      for (std::size_t i = 0; i < kGroup; ++i) {
        group.sites[i] = reinterpret_cast<double*>(sites + index[i]);
        group.rows[i] = rows + index[i] * Row::width;
      }
      const std::size_t parcels = std::min(kGroup, count - first);
      bool inside;
      if constexpr (kLanes == 8) {
        read_runs(corners, weights, first, ahead, mean);
        inside = advance_group<kFirst>(group, parcels, ParcelMeans(mean), stage, bounds);
      } else if (share_cell(weights, first)) {
        for (std::size_t i = 0; i < kGroup; ++i) ahead.prefetch(first + i);
        read_cell(corners, weights, first, in_cell);
        inside = advance_group<kFirst>(group, parcels, in_cell, stage, bounds);
      } else {
        for (std::size_t i = 0; i < kGroup; ++i) {
          ahead.prefetch(first + i);
          read_flow(corners, weights, first + i, mean[i]);
        }
        inside = advance_group<kFirst>(group, parcels, ParcelMeans(mean), stage, bounds);
      }
      if (inside) continue;
      for (std::size_t i = 0; i < parcels; ++i) record_leaver(sites[index[i]], index[i], leavers);
    }
  }
}

/// Body of advance_run(): one Runge-Kutta stage of each parcel of a range.
void AdvanceRun(Site* sites, double* rows, const ParcelRange& run, const Cells& cells, const Lines& lines,
                const double* flow, const RungeKuttaUpdate& stage, Leavers& leavers) {
  if (stage.a == 0) return advance_all<true>(sites, rows, run, cells, lines, flow, stage, leavers);
  advance_all<false>(sites, rows, run, cells, lines, flow, stage, leavers);
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow {

HWY_EXPORT(AdvanceRun);
void advance_run(Site* sites, double* rows, const ParcelRange& run, const Cells& cells, const Lines& lines,
                 const double* flow, const RungeKuttaUpdate& stage, Leavers& leavers) {
  MERGANSER_DISPATCH(AdvanceRun)(sites, rows, run, cells, lines, flow, stage, leavers);
}
}  // namespace merganser::flow
#endif
