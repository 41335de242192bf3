// Vectorised passes of steps under a policy. Compiled once per vector target by Highway; the end of the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cluster/crowded_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "merganser/base/detail/highway.hpp"
#include "src/cluster/crowded_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::cluster::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using L = hn::RebindToSigned<D>;
using I = hn::Rebind<std::int32_t, D>;
using VD = hn::Vec<D>;

/// Returns the numbers of the cells on one axis.
HWY_INLINE hn::Vec<I> cell_on_axis(const NumberedCells& grid, std::size_t axis, VD x) {
  const D d;
  const VD g = hn::Div(hn::Sub(x, hn::Set(d, grid.lower[axis])), hn::Set(d, grid.spacing[axis]));
  const VD last = hn::Set(d, static_cast<double>(grid.cells[axis] - 1));
  return hn::DemoteTo(I(), hn::Min(hn::Max(g, hn::Zero(d)), last));
}

/// Computes the numbers of the cells of a vector of sites.
HWY_INLINE void number_vector(const NumberedCells& grid, const Site* sites, std::int32_t* cell) {
  const D d;
  const I i;
  VD x;
  VD y;
  VD z;
  VD volume;
  hn::LoadInterleaved4(d, &sites->x, x, y, z, volume);
  const auto row = hn::Add(hn::Mul(cell_on_axis(grid, 0, x), hn::Set(i, grid.cells[1])), cell_on_axis(grid, 1, y));
  hn::StoreU(hn::Add(hn::Mul(row, hn::Set(i, grid.cells[2])), cell_on_axis(grid, 2, z)), i, cell);
}

/// Computes the numbers of the cells of `count` sites (number_cells()).
void NumberCells(const NumberedCells& grid, const Site* HWY_RESTRICT sites, std::size_t count,
                 std::int32_t* HWY_RESTRICT cell) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) number_vector(grid, sites + at, cell + at);
  if (at == count) return;
  Site few[8] = {};
  std::int32_t numbers[8];
  std::copy(sites + at, sites + count, few);
  number_vector(grid, few, numbers);
  std::copy_n(numbers, count - at, cell + at);
}

/// Returns whether sites are within bounds (are_within()).
bool AreWithin(const Site* HWY_RESTRICT sites, std::size_t count, const Site& lower, const Site& upper) {
  static_assert(sizeof(Site) == 4 * sizeof(double));
  constexpr std::size_t kAtOnce = 2;  // sites; as many numbers as a vector of D has at most
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const Site bounds[2][kAtOnce] = {{lower, lower}, {upper, upper}};
  auto within = hn::Eq(hn::Zero(d), hn::Zero(d));
  const auto compare = [&](const Site* two) {
    for (std::size_t k = 0; k < 4 * kAtOnce; k += lanes) {
      const VD x = hn::LoadU(d, &two->x + k);
      within = hn::And(
          within, hn::And(hn::Ge(x, hn::LoadU(d, &bounds[0][0].x + k)), hn::Le(x, hn::LoadU(d, &bounds[1][0].x + k))));
    }
  };
  std::size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) compare(sites + i);
  if (i < count) {
    const Site last[kAtOnce] = {sites[i], sites[i]};
    compare(last);
  }
  return hn::AllTrue(d, within);
}

/// Marks the `wanted` least of `count` members (mark_least()).
void MarkLeast(RankedMembers& members, std::size_t count, std::int64_t wanted) {
  const D d;
  const L l;
  const std::size_t lanes = hn::Lanes(d);
  static_assert(kMaxRanked % 8 == 0);
  const std::size_t end = (count + lanes - 1) / lanes * lanes;
  for (std::size_t i = count; i < end; ++i) members.volume[i] = 0, members.id[i] = 0;
  for (std::size_t i = 0; i < end; i += lanes) {
    const VD volume = hn::LoadU(d, members.volume + i);
    const auto id = hn::LoadU(l, members.id + i);
    auto before = hn::Zero(l);
    for (std::size_t j = 0; j < count; ++j) {
      const VD other = hn::Set(d, members.volume[j]);
      const auto less_id = hn::RebindMask(d, hn::Lt(hn::Set(l, members.id[j]), id));
      const auto less = hn::Or(hn::Lt(other, volume), hn::And(hn::Eq(other, volume), less_id));
      before = hn::Sub(before, hn::BitCast(l, hn::VecFromMask(d, less)));
    }
    std::uint8_t bits[8] = {0};
    hn::StoreMaskBits(l, hn::Lt(before, hn::Set(l, wanted)), bits);
    for (std::size_t k = 0; k < lanes; ++k) members.least[i + k] = static_cast<std::uint8_t>((bits[0] >> k) & 1U);
  }
}

}  // namespace merganser::cluster::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::cluster {

HWY_EXPORT(NumberCells);
HWY_EXPORT(AreWithin);
HWY_EXPORT(MarkLeast);

void number_cells(const NumberedCells& grid, const Site* sites, std::size_t count, std::int32_t* cell) {
  MERGANSER_DISPATCH(NumberCells)(grid, sites, count, cell);
}

bool are_within(const Site* sites, std::size_t count, const Site& lower, const Site& upper) {
  return MERGANSER_DISPATCH(AreWithin)(sites, count, lower, upper);
}

void mark_least(RankedMembers& members, std::size_t count, std::int64_t wanted) {
  MERGANSER_DISPATCH(MarkLeast)(members, count, wanted);
}

}  // namespace merganser::cluster
#endif
