// Compiled once per vector target by Highway; see the end of the file for the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/cell_keys.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "src/nearest/cell_keys.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using VD = hn::Vec<D>;
using I = hn::Rebind<std::int32_t, D>;
using F = hn::Rebind<float, D>;

struct Keys {
  const CellArithmetic& c;

  HWY_INLINE hn::Vec<I> cell_on_axis(int axis, VD x) const {
    const D d;
    const VD g = hn::Mul(hn::Sub(x, hn::Set(d, c.lower[axis])), hn::Set(d, c.inverse_width[axis]));
    const VD top = hn::Set(d, static_cast<double>(c.cells[axis] - 1));
    return hn::DemoteTo(I(), hn::Min(hn::Max(g, hn::Zero(d)), top));
  }
  HWY_INLINE hn::Mask<D> inside(int axis, VD x) const {
    const D d;
    return hn::And(hn::Ge(x, hn::Set(d, c.least[axis])), hn::Le(x, hn::Set(d, c.most[axis])));
  }
};

bool CellKeys(const CellArithmetic& c, const Site* HWY_RESTRICT sites, std::size_t count,
              std::uint32_t* HWY_RESTRICT key) {
  const D d;
  const I i;
  const std::size_t lanes = hn::Lanes(d);
  const Keys keys{c};
  const VD small_volume = hn::Set(d, c.small_volume);
  const VD one = hn::Set(d, 1.0);
  const VD largest = hn::Set(d, std::numeric_limits<double>::max());
  auto all_fit = hn::FirstN(d, lanes);
  const auto keys_of = [&](const Site* from) HWY_ATTR {
    VD x;
    VD y;
    VD z;
    VD volume;
    hn::LoadInterleaved4(d, &from->x, x, y, z, volume);
    all_fit = hn::And(all_fit, hn::And(keys.inside(0, x), hn::And(keys.inside(1, y), keys.inside(2, z))));
    all_fit = hn::And(all_fit, hn::And(hn::Gt(volume, hn::Zero(d)), hn::Le(volume, largest)));
    const auto row = hn::Add(hn::Mul(keys.cell_on_axis(2, z), hn::Set(i, c.cells[1])), keys.cell_on_axis(1, y));
    const auto cell = hn::Add(hn::Mul(row, hn::Set(i, c.cells[0])), keys.cell_on_axis(0, x));
    const auto kind = hn::DemoteTo(i, hn::IfThenZeroElse(hn::Lt(volume, small_volume), one));
    return hn::Add(hn::Add(cell, cell), kind);
  };
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes)
    hn::StoreU(keys_of(sites + at), i, reinterpret_cast<std::int32_t*>(key + at));
  if (at < count) {
    Site last[8];
    std::int32_t last_key[8];
    for (std::size_t k = 0; k < lanes; ++k) last[k] = sites[at + k < count ? at + k : at];
    hn::StoreU(keys_of(last), i, last_key);
    for (std::size_t k = 0; at + k < count; ++k) key[at + k] = static_cast<std::uint32_t>(last_key[k]);
  }
  return hn::AllTrue(d, all_fit);
}

void FilterCoordinates(const Vec3& lower, double scale, const Site* HWY_RESTRICT sites, std::size_t count,
                       float* const (&to)[3]) {
  const D d;
  const F f;
  const std::size_t lanes = hn::Lanes(d);
  const VD s = hn::Set(d, scale);
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    VD x;
    VD y;
    VD z;
    VD volume;
    hn::LoadInterleaved4(d, &sites[at].x, x, y, z, volume);
    hn::StoreU(hn::DemoteTo(f, hn::Mul(hn::Sub(x, hn::Set(d, lower[0])), s)), f, to[0] + at);
    hn::StoreU(hn::DemoteTo(f, hn::Mul(hn::Sub(y, hn::Set(d, lower[1])), s)), f, to[1] + at);
    hn::StoreU(hn::DemoteTo(f, hn::Mul(hn::Sub(z, hn::Set(d, lower[2])), s)), f, to[2] + at);
  }
  for (; at < count; ++at) {
    to[0][at] = static_cast<float>((sites[at].x - lower[0]) * scale);
    to[1][at] = static_cast<float>((sites[at].y - lower[1]) * scale);
    to[2][at] = static_cast<float>((sites[at].z - lower[2]) * scale);
  }
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(CellKeys);
HWY_EXPORT(FilterCoordinates);

bool cell_keys(const CellArithmetic& cells, const Site* sites, std::size_t count, std::uint32_t* key) {
  return HWY_DYNAMIC_DISPATCH(CellKeys)(cells, sites, count, key);
}

void filter_coordinates(const Vec3& lower, double scale, const Site* sites, std::size_t count, float* const (&to)[3]) {
  HWY_DYNAMIC_DISPATCH(FilterCoordinates)(lower, scale, sites, count, to);
}

}  // namespace merganser::nearest
#endif
