// Scatter from parcels to nodes, for the transfer of the flow model. Compiled once per vector target by
// Highway; see the end of the file for the dispatch. The bits do not depend on the target: fused operations are fused on all
// (fused.hpp), and sums are taken in the same order whatever the number of lanes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/scatter_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "merganser/base/detail/highway.hpp"
#include "src/flow/fused.hpp"
#include "src/flow/kernels.hpp"
#include "src/flow/weights.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns the origin along an axis of the window that a parcel is scattered to, one node below its column of cells.
HWY_INLINE V window_origin(V centre, const Cells& cells, int axis) {
  const V cell = hn::Min(hn::Max(hn::Floor(centre), hn::Zero(D())), set(cells.all[axis] - 1));
  return hn::Sub(cell, set(1));
}

/// Computes the trilinear weights of a batch of parcels relative to their columns' windows, unless they are there from the last
/// call; scale(k) returns the scale of the weights of the lanes from k on.
HWY_INLINE void weigh_in_window(const ParcelRange& run, std::size_t batch, const Cells& cells, const Lines& lines,
                                const auto& scale, WindowWeights& weighed) {
  if (weighed.batch == batch) return;
  weighed.batch = batch;
  const Batch& points = run.batches[batch];
  const Steps steps = to_steps(lines);
  for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D())) {
    const Vector centre = load(points.centre, k);
    const V origin = node_index(window_origin(centre.x, cells, 0), window_origin(centre.y, cells, 1), set(-1), steps);
    weigh_points(points, origin, steps, k, scale(k), weighed.weights);
  }
}

/// Masks that turn the beginning of a row (id, vorticity, buoyancy) into 1, vorticity, buoyancy.
alignas(64) constexpr std::uint64_t kKeep[8] = {0, ~0ULL, ~0ULL, ~0ULL, ~0ULL, 0, 0, 0};
alignas(64) constexpr double kOne[8] = {1, 0, 0, 0, 0, 0, 0, 0};

constexpr std::size_t kLanes = hn::MaxLanes(D());
constexpr std::size_t kParts = (CarriedFields::buoyancy + kLanes) / kLanes;  // vectors of what a parcel carries

/// Adds a parcel's values times the weights weight[0 .. 1][lane] to two nodes of a window, one above the other.
HWY_INLINE void add_to_nodes(const V (&value)[kParts], const double (*weight)[kBatch], std::size_t lane, double* node) {
  const D d;
  for (std::size_t above = 0; above < 2; ++above) {
    const V w = set(weight[above][lane]);
    double* const to = node + above * CarriedFields::width;
    for (std::size_t p = 0; p < kParts; ++p)
      hn::Store(fused_add(value[p], w, hn::Load(d, to + p * kLanes)), d, to + p * kLanes);
  }
}

/// Body of scatter_carried(): adds volume, and volume times vorticity and buoyancy, of parcels to the nodes of a column's window.
void ScatterCarried(const Site* sites, const double* rows, const ParcelRange& run, const Cells& cells,
                    const Lines& lines, WindowWeights& weighed, double* window) {
  const D d;
  const hn::RebindToUnsigned<D> u;
  const std::size_t x = lines.x * CarriedFields::width;
  const std::size_t y = lines.y * CarriedFields::width;
  for (std::size_t place = run.begin; place < run.end; ++place) {
    weigh_in_window(
        run, place / kBatch, cells, lines, [](std::size_t) { return Unscaled(); }, weighed);
    prefetch(sites, rows, run, place, 64);
    const std::size_t lane = place % kBatch;
    const std::uint32_t index = run.order[place];
    const double* const row = rows + index * Row::width;
    const V quarter = set(0.25 * sites[index].volume);
    V value[kParts];
    for (std::size_t p = 0; p < kParts; ++p) {
      const V kept = hn::And(hn::LoadU(d, row + p * kLanes), hn::BitCast(d, hn::Load(u, kKeep + p * kLanes)));
      value[p] = hn::Mul(hn::Or(kept, hn::Load(d, kOne + p * kLanes)), quarter);
    }
    // Points are added one after the other, never in parallel: the order of additions at a node decides its bits.
    for (std::size_t point = 0; point < 4; ++point) {
      double* const lowest =
          window + static_cast<std::size_t>(weighed.weights.node[point][lane]) * CarriedFields::width;
      const auto& weight = weighed.weights.weight[point];
      add_to_nodes(value, weight, lane, hide(lowest));
      add_to_nodes(value, weight + 2, lane, hide(lowest + y));
      add_to_nodes(value, weight + 4, lane, hide(lowest + x));
      add_to_nodes(value, weight + 6, lane, hide(lowest + x + y));
    }
  }
}

/// Scale of weights to shares of volume: a quarter of the volume of each parcel.
struct Quarters {
  V quarter;
  HWY_INLINE V operator()(V weight) const { return hn::Mul(quarter, weight); }
};

/// Body of scatter_volume(): adds the volume of parcels to the nodes of a column's window.
void ScatterVolume(const Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                   WindowWeights& weighed, double* window) {
  const D d;
  for (std::size_t place = run.begin; place < run.end; ++place) {
    const auto quarters = [&](std::size_t k) HWY_ATTR {
      alignas(64) double volume[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        volume[lane] = sites[run.order[place / kBatch * kBatch + k + lane]].volume;
      return Quarters{hn::Mul(set(0.25), hn::Load(d, volume))};
    };
    weigh_in_window(run, place / kBatch, cells, lines, quarters, weighed);
    __builtin_prefetch(sites + run.order[std::min(place + kAhead, run.placed - 1)]);
    const std::size_t lane = place % kBatch;
    for (std::size_t point = 0; point < 4; ++point) {
      double* const lowest = window + weighed.weights.node[point][lane];
      const auto& share = weighed.weights.weight[point];
      const auto add = [&](double* to, std::size_t n) {
        to[0] += share[n][lane];
        to[1] += share[n + 1][lane];
      };
      add(hide(lowest), 0);
      add(hide(lowest + lines.y), 2);
      add(hide(lowest + lines.x), 4);
      add(hide(lowest + lines.x + lines.y), 6);
    }
  }
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow {

HWY_EXPORT(ScatterCarried);
HWY_EXPORT(ScatterVolume);

void scatter_carried(const Site* sites, const double* rows, const ParcelRange& run, const Cells& cells,
                     const Lines& lines, WindowWeights& weighed, double* window) {
  MERGANSER_DISPATCH(ScatterCarried)(sites, rows, run, cells, lines, weighed, window);
}
void scatter_volume(const Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                    WindowWeights& weighed, double* window) {
  MERGANSER_DISPATCH(ScatterVolume)(sites, run, cells, lines, weighed, window);
}

}  // namespace merganser::flow
#endif
