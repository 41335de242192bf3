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
#include "src/flow/groups.hpp"
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

/// Scale of weights that are not scaled.
struct Unscaled {
  HWY_INLINE V operator()(V weight) const { return weight; }
};
/// Scale of weights to shares of volume: a quarter of the volume of each parcel.
struct Quarters {
  V quarter;
  HWY_INLINE V operator()(V weight) const { return hn::Mul(quarter, weight); }
};

/// Stores scaled weights of one point of the parcels of one vector of lanes, so that those of four nodes of a parcel are adjacent.
template <class Scale>
struct StoreInWindow {
  WindowWeights& to;
  std::size_t point;
  std::size_t at;  // first lane
  const Scale& scale;
  HWY_INLINE void operator()(const V (&weight)[8], hn::Vec<I> node) const {
    for (std::size_t half = 0; half < 2; ++half)
      hn::StoreInterleaved4(scale(weight[4 * half]), scale(weight[4 * half + 1]), scale(weight[4 * half + 2]),
                            scale(weight[4 * half + 3]), D(), to.weight[point][half][at]);
    hn::Store(node, I(), to.node[point] + at);
  }
};

/// Computes the trilinear weights of a batch of parcels relative to their columns' windows, unless they are there from the last
/// call; scale(k) returns the scale of the weights of the lanes from k on.
HWY_INLINE void weigh_in_window(const ParcelRange& run, std::size_t batch, const Cells& cells, const Lines& lines,
                                const auto& scale, WindowWeights& weighed) {
  if (weighed.batch == batch) return;
  weighed.batch = batch;
  const Batch& of_batch = run.batch_of(batch * kBatch);
  const Steps steps = to_steps(lines);
  for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D())) {
    const Vector centre = load(of_batch.centre, k);
    const V origin = node_index(window_origin(centre.x, cells, 0), window_origin(centre.y, cells, 1), set(-1), steps);
    Vector points[4];
    compute_points(of_batch, k, points);
    const auto by = scale(k);
    for (std::size_t point = 0; point < 4; ++point)
      weigh(points[point], origin, steps, StoreInWindow<decltype(by)>{weighed, point, k, by});
    const auto node = [&](std::size_t point) HWY_ATTR { return hn::Load(I(), weighed.node[point] + k); };
    const auto same = hn::And(hn::And(hn::Eq(node(0), node(1)), hn::Eq(node(0), node(2))), hn::Eq(node(0), node(3)));
    hn::Store(hn::IfThenElse(same, node(0), hn::Set(I(), -1)), I(), weighed.same_node + k);
  }
}

/// Finds the parcels from `lane` on that have all their points in the cell of that parcel. @return the lane behind the last of them,
/// at most `end`; `lane` itself if its points are in several cells
HWY_INLINE std::size_t end_of_cell(const WindowWeights& weighed, std::size_t lane, std::size_t end) {
  const std::int32_t node = weighed.same_node[lane];
  if (node < 0) return lane;
  do ++lane;
  while (lane < end && weighed.same_node[lane] == node);
  return lane;
}

/// Calls one(place, lane) for each parcel of a range whose points are in several cells, and together(place, lane, end) for parcels
/// lane .. end - 1 of a batch that have all points in one cell, in the order of the range, with their weights in `weighed`.
HWY_INLINE void for_cells(const ParcelRange& run, const auto& weigh_batch, const WindowWeights& weighed,
                          const auto& one, const auto& together) {
  for (std::size_t place = run.begin; place < run.end;) {
    weigh_batch(place / kBatch);
    const std::size_t first = place / kBatch * kBatch;
    const std::size_t end = std::min(kBatch, run.end - first);
    while (place < first + end) {
      const std::size_t lane = place - first;
      const std::size_t stop = end_of_cell(weighed, lane, end);
      if (stop == lane) {
        one(place, lane);
        ++place;
      } else {
        together(place, lane, stop);
        place = first + stop;
      }
    }
  }
}

/// Summand of a parcel's point at each node of its cell, before it is multiplied by the node's weight: a quarter of the volume and
/// of volume times vorticity in `four`, of volume times buoyancy in `fifth`.
struct Carried {
  W four[kPerFour];
  W fifth;
};

/// Masks that turn the beginning of a row (id, vorticity) into 1, vorticity.
alignas(32) constexpr std::uint64_t kKeep[4] = {0, ~0ULL, ~0ULL, ~0ULL};
alignas(32) constexpr double kOne[4] = {1, 0, 0, 0};

/// Reads what a parcel carries.
HWY_INLINE void read_carried(const Site& site, const double* row, Carried& to) {
  const G d;
  const hn::RebindToUnsigned<G> u;
  static_assert(Row::vorticity == 1 && Row::buoyancy == 4);
  const W quarter = hn::Set(d, 0.25 * site.volume);
  for (std::size_t p = 0; p < kPerFour; ++p) {
    const W kept = hn::And(hn::LoadU(d, row + p * kGroup), hn::BitCast(d, hn::Load(u, kKeep + p * kGroup)));
    to.four[p] = hn::Mul(hn::Or(kept, hn::Load(d, kOne + p * kGroup)), quarter);
  }
  to.fifth = hn::Mul(hn::Set(d, row[Row::buoyancy]), quarter);
}

/// Adds the first four numbers that a parcel carries, times a weight, to a node of a window.
HWY_INLINE void add_to_node(const Carried& carried, double weight, double* node) {
  const G d;
  const W w = hn::Set(d, weight);
  for (std::size_t p = 0; p < kPerFour; ++p)
    hn::Store(fused_add(carried.four[p], w, hn::Load(d, node + p * kGroup)), d, node + p * kGroup);
}

/// Sums at the eight nodes of a cell of a window, in registers.
struct CellSums {
  W four[8][kPerFour];
  W fifth[2][kPerFour];  // of four nodes each
};

using Pair = hn::CappedTag<double, 2>;
constexpr std::size_t kPerPair = 2 / hn::MaxLanes(Pair());

/// Distances from the lowest line of a cell of a window to its other lines, in bytes for one number per node, so that the processor
/// multiplies them by the numbers per node as it adds them.
struct LineSteps {
  std::size_t at[4];
  HWY_INLINE explicit LineSteps(const Lines& lines)
      : at{0, sizeof(double) * lines.y, sizeof(double) * lines.x, sizeof(double) * (lines.x + lines.y)} {}
};
/// Nodes of the four lines of a cell of a window, whose two nodes each are adjacent, x slowest: kWidth numbers per node.
template <std::size_t kWidth>
struct CellLines {
  double* line[4];
  HWY_INLINE CellLines(double* window, std::int32_t node, const LineSteps& steps) {
    char* const lowest = reinterpret_cast<char*>(hide(window + static_cast<std::size_t>(node) * kWidth));
    for (std::size_t n = 0; n < 4; ++n) line[n] = hide(reinterpret_cast<double*>(lowest + steps.at[n] * kWidth));
  }
  HWY_INLINE double* node(std::size_t n) const { return line[n / 2] + n % 2 * kWidth; }
};

/// Replaces one number at each node of a cell by plus(weight of one of a parcel's points there, number).
HWY_INLINE void add_pairs(const CellLines<1>& to, const double (&weight)[2][kBatch][4], std::size_t lane,
                          const auto& plus) {
  const Pair d;
  for (std::size_t n = 0; n < 4; ++n)
    for (std::size_t p = 0; p < kPerPair; ++p) {
      double* const node = to.line[n] + p;
      hn::StoreU(plus(hn::LoadU(d, weight[n / 2][lane] + n % 2 * 2 + p), hn::LoadU(d, node)), d, node);
    }
}

#if HWY_TARGET == HWY_SCALAR
/// Loads one number of four nodes of a cell, those of lines `first` and first + 1.
template <class Cell>
HWY_INLINE void load_nodes(const Cell& cell, std::size_t first, W (&to)[kPerFour]) {
  for (std::size_t n = 0; n < 4; ++n) to[n] = hn::LoadU(G(), cell.line[first + n / 2] + n % 2);
}
/// Stores one number of four nodes of a cell, those of lines `first` and first + 1.
HWY_INLINE void store_nodes(const W (&from)[kPerFour], const CellLines<1>& cell, std::size_t first) {
  for (std::size_t n = 0; n < 4; ++n) hn::StoreU(from[n], G(), cell.line[first + n / 2] + n % 2);
}
#else
/// Loads one number of four nodes of a cell, those of lines `first` and first + 1.
template <class Cell>
HWY_INLINE void load_nodes(const Cell& cell, std::size_t first, W (&to)[kPerFour]) {
  if constexpr (kGroup == 4) {
    to[0] = hn::Combine(G(), hn::LoadU(Pair(), cell.line[first + 1]), hn::LoadU(Pair(), cell.line[first]));
  } else {
    for (std::size_t p = 0; p < kPerFour; ++p) to[p] = hn::LoadU(G(), cell.line[first + p]);
  }
}
/// Stores one number of four nodes of a cell, those of lines `first` and first + 1.
HWY_INLINE void store_nodes(const W (&from)[kPerFour], const CellLines<1>& cell, std::size_t first) {
  if constexpr (kGroup == 4) {
    const hn::Half<G> half;
    hn::StoreU(hn::LowerHalf(half, from[0]), half, cell.line[first]);
    hn::StoreU(hn::UpperHalf(half, from[0]), half, cell.line[first + 1]);
  } else {
    for (std::size_t p = 0; p < kPerFour; ++p) hn::StoreU(from[p], G(), cell.line[first + p]);
  }
}
#endif

/// Adds what a parcel carries, times the weights of one of its points, to the sums at the nodes of a cell.
HWY_INLINE void add_to_cell(const Carried& carried, const double (&weight)[2][kBatch][4], std::size_t lane,
                            CellSums& sums) {
  const G d;
  for (std::size_t n = 0; n < 8; ++n) {
    const W w = hn::Set(d, weight[n / 4][lane][n % 4]);
    for (std::size_t p = 0; p < kPerFour; ++p) sums.four[n][p] = fused_add(carried.four[p], w, sums.four[n][p]);
  }
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t p = 0; p < kPerFour; ++p)
      sums.fifth[half][p] = fused_add(carried.fifth, hn::Load(d, weight[half][lane] + p * kGroup), sums.fifth[half][p]);
}

// Points are added one after the other, never in parallel: the order of additions at a node decides its bits. While all points of
// parcels that follow one another are in the same cell, the sums at its nodes stay in registers.
/// Body of scatter_carried(): adds volume, and volume times vorticity and buoyancy, of parcels to the nodes of a column's window.
void ScatterCarried(const Site* sites, const double* rows, const ParcelRange& run, const Cells& cells,
                    const Lines& lines, WindowWeights& weighed, double* window) {
  const G d;
  double* const fifths = window + 16 * lines.x;  // behind four numbers of the nodes of 16 lines
  const LineSteps steps(lines);
  const auto read = [&](std::size_t place, Carried& to) HWY_ATTR {
    prefetch(sites, rows, run, place, 64);
    const std::uint32_t index = run.order[place];
    read_carried(sites[index], rows + index * Row::width, to);
  };
  for_cells(
      run,
      [&](std::size_t batch) HWY_ATTR {
        weigh_in_window(
            run, batch, cells, lines, [](std::size_t) { return Unscaled(); }, weighed);
      },
      weighed,
      [&](std::size_t place, std::size_t lane) HWY_ATTR {
        Carried carried;
        read(place, carried);
        const auto fifth = hn::Set(Pair(), hn::GetLane(carried.fifth));
        for (std::size_t point = 0; point < 4; ++point) {
          const CellLines<4> at(window, weighed.node[point][lane], steps);
          for (std::size_t n = 0; n < 8; ++n)
            add_to_node(carried, weighed.weight[point][n / 4][lane][n % 4], at.node(n));
          add_pairs(CellLines<1>(fifths, weighed.node[point][lane], steps), weighed.weight[point], lane,
                    [&](auto weight, auto sum) HWY_ATTR { return fused_add(fifth, weight, sum); });
        }
      },
      [&](std::size_t place, std::size_t lane, std::size_t end) HWY_ATTR {
        const CellLines<4> at(window, weighed.same_node[lane], steps);
        const CellLines<1> fifth(fifths, weighed.same_node[lane], steps);
        CellSums sums;
        for (std::size_t n = 0; n < 8; ++n)
          for (std::size_t p = 0; p < kPerFour; ++p) sums.four[n][p] = hn::Load(d, at.node(n) + p * kGroup);
        load_nodes(fifth, 0, sums.fifth[0]);
        load_nodes(fifth, 2, sums.fifth[1]);
        for (; lane < end; ++lane, ++place) {
          Carried carried;
          read(place, carried);
          for (std::size_t point = 0; point < 4; ++point) add_to_cell(carried, weighed.weight[point], lane, sums);
        }
        for (std::size_t n = 0; n < 8; ++n)
          for (std::size_t p = 0; p < kPerFour; ++p) hn::Store(sums.four[n][p], d, at.node(n) + p * kGroup);
        store_nodes(sums.fifth[0], fifth, 0);
        store_nodes(sums.fifth[1], fifth, 2);
      });
}

/// Body of scatter_volume(): adds the volume of parcels to the nodes of a column's window.
void ScatterVolume(const Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                   WindowWeights& weighed, double* window) {
  const G d;
  const LineSteps steps(lines);
  const auto quarters = [&](std::size_t at) HWY_ATTR {
    alignas(64) double volume[hn::MaxLanes(D())];
    for (std::size_t lane = 0; lane < hn::Lanes(D()); ++lane) volume[lane] = sites[run.order[at + lane]].volume;
    return Quarters{hn::Mul(set(0.25), hn::Load(D(), volume))};
  };
  for_cells(
      run,
      [&](std::size_t batch) HWY_ATTR {
        weigh_in_window(
            run, batch, cells, lines, [&](std::size_t k) HWY_ATTR { return quarters(batch * kBatch + k); }, weighed);
      },
      weighed,
      [&](std::size_t, std::size_t lane) HWY_ATTR {
        for (std::size_t point = 0; point < 4; ++point)
          add_pairs(CellLines<1>(window, weighed.node[point][lane], steps), weighed.weight[point], lane,
                    [](auto weight, auto sum) HWY_ATTR { return hn::Add(sum, weight); });
      },
      [&](std::size_t, std::size_t lane, std::size_t end) HWY_ATTR {
        const CellLines<1> at(window, weighed.same_node[lane], steps);
        W sums[2][kPerFour];  // of four nodes each
        for (std::size_t half = 0; half < 2; ++half) load_nodes(at, 2 * half, sums[half]);
        for (; lane < end; ++lane)
          for (std::size_t point = 0; point < 4; ++point)
            for (std::size_t half = 0; half < 2; ++half)
              for (std::size_t p = 0; p < kPerFour; ++p)
                sums[half][p] = hn::Add(sums[half][p], hn::Load(d, weighed.weight[point][half][lane] + p * kGroup));
        for (std::size_t half = 0; half < 2; ++half) store_nodes(sums[half], at, 2 * half);
      });
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
