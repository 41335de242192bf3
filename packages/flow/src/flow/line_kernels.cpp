// Sums and means along lines of nodes, for the transfer from parcels. Compiled once per vector target by Highway; see the end
// of the file for the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/line_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merganser/base/detail/highway.hpp"
#include "src/flow/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

// Lines are whole cache lines long, and those that are written are aligned to one.

/// Body of sum_four(): the sum of the windows of four columns of cells at a line of nodes.
void SumFour(const double* const (&from)[4], std::size_t n, double* to, bool add) {
  const D d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V low = hn::Add(hn::LoadU(d, from[0] + i), hn::LoadU(d, from[1] + i));
    const V sum = hn::Add(low, hn::Add(hn::LoadU(d, from[2] + i), hn::LoadU(d, from[3] + i)));
    hn::Store(add ? hn::Add(hn::Load(d, to + i), sum) : sum, d, to + i);
  }
}

/// Body of sum_two(): the sum of one bracket, windows of two columns of cells, at a line of nodes.
void SumTwo(const double* a, const double* b, std::size_t n, double* to, bool add) {
  const D d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V sum = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::Store(add ? hn::Add(hn::Load(d, to + i), sum) : sum, d, to + i);
  }
}

/// Body of add_line(): adds the partial sums of a neighbour at a line of nodes.
void AddLine(const double* from, std::size_t n, double* to) {
  const D d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d))
    hn::Store(hn::Add(hn::Load(d, to + i), hn::LoadU(d, from + i)), d, to + i);
}

/// Extrapolates all carried fields to the node beyond a wall, by the line through the two nodes next to the wall.
HWY_INLINE void extrapolate(const double* inside, const double* wall, double* beyond) {
  for (std::size_t c = 0; c < CarriedFields::width; ++c) beyond[c] = 2 * wall[c] - inside[c];
}

/// Folds the sums of `width` numbers per node at the nodes -1 .. cells + 1 of a line at the walls.
HWY_INLINE void fold_at_walls(std::size_t cells, std::size_t width, double* sums) {
  // The sum at a wall lacks the mirrored half of its parcels, so it is doubled; before the folding, because with one cell
  // the neighbour that receives the fold is the other wall.
  for (std::size_t c = 0; c < width; ++c) {
    sums[width + c] *= 2;
    sums[(cells + 1) * width + c] *= 2;
  }
  for (std::size_t c = 0; c < width; ++c) {
    sums[2 * width + c] += sums[c];
    sums[cells * width + c] += sums[(cells + 2) * width + c];
  }
}

/// Body of finish_line(): turns the sums over parcels at a line of nodes into volume-weighted means.
bool FinishLine(std::size_t cells, const CarriedLine& sums, double* to) {
  const hn::CappedTag<double, 4> d;
  static_assert(CarriedFields::volume == 0 && CarriedFields::buoyancy == 4);
  fold_at_walls(cells, 4, sums.four);
  fold_at_walls(cells, 1, sums.fifth);
  auto check = hn::Zero(d);
  double check_fifth = 0;
  for (std::size_t k = 1; k <= cells + 1; ++k) {
    double* const at = to + k * CarriedFields::width;
    const double volume = sums.four[4 * k];
    const double divisor = volume > 0 ? volume : 1;  // without volume all sums are 0
    for (std::size_t part = 0; part < 4; part += hn::Lanes(d)) {
      const auto mean = hn::Div(hn::Load(d, sums.four + 4 * k + part), hn::Set(d, divisor));
      // x * 0 is 0 for finite x and not a number else, fused or not: one comparison at the end checks the whole line.
      check = hn::MulAdd(mean, hn::Zero(d), check);
      hn::Store(mean, d, at + part);
      hn::Store(hn::Zero(d), d, at + 4 + part);
    }
    at[CarriedFields::volume] = volume;
    at[CarriedFields::buoyancy] = sums.fifth[k] / divisor;
    check_fifth += 0 * at[CarriedFields::buoyancy];
  }
  const auto node = [to](std::size_t above) { return to + above * CarriedFields::width; };
  extrapolate(node(2), node(1), node(0));
  extrapolate(node(cells), node(cells + 1), node(cells + 2));
  return hn::AllTrue(d, hn::Eq(check, hn::Zero(d))) && check_fifth == 0;
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow {

HWY_EXPORT(SumFour);
HWY_EXPORT(SumTwo);
HWY_EXPORT(AddLine);
HWY_EXPORT(FinishLine);

void sum_four(const double* const (&from)[4], std::size_t n, double* to, bool add) {
  MERGANSER_DISPATCH(SumFour)(from, n, to, add);
}
void sum_two(const double* a, const double* b, std::size_t n, double* to, bool add) {
  MERGANSER_DISPATCH(SumTwo)(a, b, n, to, add);
}
void add_line(const double* from, std::size_t n, double* to) { MERGANSER_DISPATCH(AddLine)(from, n, to); }
bool finish_line(std::size_t cells, const CarriedLine& sums, double* to) {
  return MERGANSER_DISPATCH(FinishLine)(cells, sums, to);
}

}  // namespace merganser::flow
#endif
