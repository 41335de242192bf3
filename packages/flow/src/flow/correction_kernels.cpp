// Corrections of the positions of parcels from node fields, for the transfer of the flow model. Compiled once per vector target by
// Highway; see the end of the file for the dispatch. The bits do not depend on the target: fused operations are fused on all
// (fused.hpp), and sums are taken in the same order whatever the number of lanes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/correction_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "merganser/base/detail/highway.hpp"
#include "src/flow/fused.hpp"
#include "src/flow/groups.hpp"
#include "src/flow/kernels.hpp"
#include "src/flow/weights.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Positions of the parcels of a batch, in units of cells, by axis.
struct alignas(64) Centres {
  double at[3][kBatch];
};

constexpr std::size_t kGroups = hn::MaxLanes(D()) / kGroup;  // of a vector

/// Returns number `a` of the parcels of one or two groups as one vector.
template <class To>
HWY_INLINE To join(const Four (&groups)[kGroups], std::size_t a) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kGroups == 2) return hn::Combine(hn::DFromV<To>(), groups[kGroups - 1].v[a], groups[0].v[a]);
#endif
  if constexpr (kGroups == 1) return groups[0].v[a];
}

/// Computes the positions of the parcels of a vector of lanes, in units of cells.
HWY_INLINE Vector read_centres(const Site* sites, const std::uint32_t* index, const Cells& cells) {
  Four groups[kGroups];
  for (std::size_t g = 0; g < kGroups; ++g) {
    const double* of_parcel[kGroup];
    for (std::size_t i = 0; i < kGroup; ++i) of_parcel[i] = &sites[index[g * kGroup + i]].x;
    load_four(of_parcel, 0, groups[g]);
  }
  return {to_cell_units(join<V>(groups, 0), cells, 0), to_cell_units(join<V>(groups, 1), cells, 1),
          to_cell_units(join<V>(groups, 2), cells, 2)};
}

/// Calls visit(indices, positions, trilinear weights of the positions, number of parcels) for every batch of a range of parcels.
HWY_INLINE void for_centres(const Site* sites, const ParcelRange& run, const Cells& of_rank, const Lines& lines,
                            const auto& visit) {
  const Cells cells = of_rank;  // a copy, which stores cannot change
  const Steps steps = to_steps(lines);
  Weights weights;
  Centres centres;
  for (std::size_t place = run.begin; place < run.end; place += kBatch) {
    for (std::size_t lane = 0; lane < kBatch; ++lane)
      __builtin_prefetch(sites + run.order[std::min(place + lane + kAhead, run.placed - 1)], 1);
    // The last batch is filled up with the last parcel.
    const std::size_t count = std::min(kBatch, run.end - place);
    std::uint32_t last[kBatch];
    const std::uint32_t* index = run.order + place;
    if (count < kBatch) {
      for (std::size_t lane = 0; lane < kBatch; ++lane) last[lane] = index[std::min(lane, count - 1)];
      index = last;
    }
    for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D())) {
      const Vector centre = read_centres(sites, index + k, cells);
      hn::Store(centre.x, D(), centres.at[0] + k);
      hn::Store(centre.y, D(), centres.at[1] + k);
      hn::Store(centre.z, D(), centres.at[2] + k);
      weigh(centre, layout_origin(cells, steps), steps, StoreWeights{weights, 0, k});
    }
    visit(index, centres, weights, count);
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
              [&](const std::uint32_t* index, const Centres&, const Weights& weights, std::size_t count) {
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
              [&](const std::uint32_t* index, const Centres& centres, const Weights& weights, std::size_t count) {
                alignas(64) double move[3][kBatch];
                for (std::size_t k = 0; k < kBatch; k += hn::Lanes(d)) {
                  const auto node = hn::PromoteTo(wide, hn::Load(I(), weights.node[0] + k));
                  V v[8];
                  for (std::size_t n = 0; n < 8; ++n) v[n] = hn::GatherIndex(d, excess + corners.at[n], node);
                  const Vector centre = load(centres.at, k);
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

HWY_EXPORT(DisplaceRun);
HWY_EXPORT(EvenOutRun);

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
