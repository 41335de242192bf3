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

/// Returns the carried values of the node `above` levels up a line of nodes in z, whose first node is one level beyond the lower
/// wall.
HWY_INLINE double* node(double* line, std::size_t above) { return line + above * CarriedFields::width; }

/// Extrapolates all carried fields to the node beyond a wall, by the line through the two nodes next to the wall.
HWY_INLINE void extrapolate(const double* inside, const double* wall, double* beyond) {
  for (std::size_t c = 0; c < CarriedFields::width; ++c) beyond[c] = 2 * wall[c] - inside[c];
}

/// Body of finish_line(): turns the sums over parcels at a line of nodes into volume-weighted means.
bool FinishLine(std::size_t cells, double* line) {
  const D d;
  // The sum at a wall lacks the mirrored half of its parcels, so it is doubled; before the folding, because with one cell
  // the neighbour that receives the fold is the other wall.
  for (std::size_t c = 0; c < CarriedFields::width; ++c) {
    node(line, 1)[c] *= 2;
    node(line, cells + 1)[c] *= 2;
  }
  for (std::size_t c = 0; c < CarriedFields::width; ++c) {
    node(line, 2)[c] += node(line, 0)[c];
    node(line, cells)[c] += node(line, cells + 2)[c];
  }
  V check = hn::Zero(d);
  for (std::size_t k = 1; k <= cells + 1; ++k) {
    double* const at = node(line, k);
    const double volume = at[CarriedFields::volume];
    const double divisor = volume > 0 ? volume : 1;  // without volume all sums are 0
    for (std::size_t part = 0; part < CarriedFields::width; part += hn::Lanes(d)) {
      const V mean = hn::Div(hn::Load(d, at + part), hn::Set(d, divisor));
      // x * 0 is 0 for finite x and not a number else, fused or not: one comparison at the end checks the whole line.
      check = hn::MulAdd(mean, hn::Zero(d), check);
      hn::Store(mean, d, at + part);
    }
    at[CarriedFields::volume] = volume;
  }
  extrapolate(node(line, 2), node(line, 1), node(line, 0));
  extrapolate(node(line, cells), node(line, cells + 1), node(line, cells + 2));
  return hn::AllTrue(d, hn::Eq(check, hn::Zero(d)));
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
bool finish_line(std::size_t cells, double* line) { return MERGANSER_DISPATCH(FinishLine)(cells, line); }

}  // namespace merganser::flow
#endif
