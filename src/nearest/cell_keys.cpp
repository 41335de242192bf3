// Vectorised sweeps over all parcels for the cell list. Compiled once per vector target by Highway; the end of the file
// has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/cell_keys.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "merganser/base/detail/highway.hpp"
#include "merganser/parcels/limits.hpp"
#include "src/nearest/cell_keys.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using VD = hn::Vec<D>;
using I = hn::Rebind<std::int32_t, D>;
using Bits = hn::RebindToUnsigned<D>;
using Words = hn::Rebind<std::uint16_t, D>;

/// Map from positions to cells of the search grid, for a vector of points at a time.
struct CellMap {
  const CellArithmetic& c;  // constants of the map

  /// Returns the indices of the search cells of coordinates on one axis.
  HWY_INLINE hn::Vec<I> cell_on_axis(int axis, VD x) const {
    const D d;
    const VD g = hn::Mul(hn::Sub(x, hn::Set(d, c.lower[axis])), hn::Set(d, c.inverse_width[axis]));
    const VD top = hn::Set(d, static_cast<double>(c.cells[axis] - 1));
    // Cut to the cells that there are: positions may lie outside by rounding.
    return hn::DemoteTo(I(), hn::Min(hn::Max(g, hn::Zero(d)), top));
  }
  /// Returns which coordinates of points are within the allowed range of one axis.
  HWY_INLINE hn::Mask<D> is_inside(int axis, VD x) const {
    const D d;
    return hn::And(hn::Ge(x, hn::Set(d, c.least[axis])), hn::Le(x, hn::Set(d, c.most[axis])));
  }
};

/// Loader of the sites of parcels for the keys of the cell list: position, kind (0: small, 1: not) and whether the volume is
/// is_volume().
struct ParcelLoader {
  const Site* sites;    // sites of the parcels, from the first one on
  double small_volume;  // volume below which a parcel is small

  /// Loads a vector of parcels from index `at` on, and clears `fit` for volumes out of range.
  HWY_INLINE void load(std::size_t at, VD& x, VD& y, VD& z, hn::Vec<I>& kind, hn::Mask<D>& fit) const {
    const D d;
    VD volume;
    hn::LoadInterleaved4(d, &sites[at].x, x, y, z, volume);
    fit = hn::And(fit, hn::And(hn::Ge(volume, hn::Set(d, kMinVolume)), hn::Le(volume, hn::Set(d, kMaxVolume))));
    kind = hn::DemoteTo(I(), hn::IfThenZeroElse(hn::Lt(volume, hn::Set(d, small_volume)), hn::Set(d, 1.0)));
  }
};

/// Loader of the points of a caller's arrays for the keys of the cell list, in rows of three or four numbers, of which the last does not
/// count, or in columns: position, and kind by the mask.
template <int kRow>
struct PointLoader {
  const double* x0;
  const double* y0;
  const double* z0;
  const std::uint8_t* small;  // mask of small points

  /// Loads a vector of points from index `at` on, and their kinds.
  HWY_INLINE void load(std::size_t at, VD& x, VD& y, VD& z, hn::Vec<I>& kind, hn::Mask<D>&) const {
    const D d;
    if constexpr (kRow == 3) {
      hn::LoadInterleaved3(d, x0 + 3 * at, x, y, z);
    } else if constexpr (kRow == 4) {
      VD last;
      hn::LoadInterleaved4(d, x0 + 4 * at, x, y, z, last);
    } else {
      x = hn::LoadU(d, x0 + at);
      y = hn::LoadU(d, y0 + at);
      z = hn::LoadU(d, z0 + at);
    }
    const hn::Rebind<std::uint8_t, D> bytes;
    const auto mask = hn::PromoteTo(I(), hn::LoadU(bytes, small + at));
    kind = hn::IfThenElseZero(hn::Eq(mask, hn::Zero(I())), hn::Set(I(), 1));
  }
};

/// Vectorised part of cell_keys(): computes the half-cells of as many points as fill whole vectors, and whether all positions are
/// allowed. @return number of points done
template <class Loader>
HWY_INLINE std::size_t WholeVectors(const CellArithmetic& c, const Loader& from, std::size_t count,
                                    std::uint32_t* HWY_RESTRICT key, bool* fit) {
  const D d;
  const I i;
  const std::size_t lanes = hn::Lanes(d);
  const CellMap keys{c};
  auto all_fit = hn::FirstN(d, lanes);
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    VD x;
    VD y;
    VD z;
    hn::Vec<I> kind;
    from.load(at, x, y, z, kind, all_fit);
    all_fit = hn::And(all_fit, hn::And(keys.is_inside(0, x), hn::And(keys.is_inside(1, y), keys.is_inside(2, z))));
    const auto row = hn::Add(hn::Mul(keys.cell_on_axis(2, z), hn::Set(i, c.cells[1])), keys.cell_on_axis(1, y));
    const auto cell = hn::Add(hn::Mul(row, hn::Set(i, c.cells[0])), keys.cell_on_axis(0, x));
    hn::StoreU(hn::Add(hn::Add(cell, cell), kind), i, reinterpret_cast<std::int32_t*>(key + at));
  }
  *fit = hn::AllTrue(d, all_fit);
  return at;
}

/// Body of cell_keys(), the first sweep of binning: chooses the loader by the layout of the points.
bool CellKeys(const CellArithmetic& c, const PointSet& points, std::size_t first, std::size_t count,
              std::uint32_t* HWY_RESTRICT key) {
  bool fit = true;
  std::size_t done = 0;
  const PointView& p = points.points();
  if (points.sites() != nullptr) {
    done = WholeVectors(c, ParcelLoader{points.sites() + first, points.small_volume()}, count, key, &fit);
  } else if (p.z != nullptr && p.stride == 3 && p.y == p.x + 1 && p.z == p.x + 2) {
    const PointLoader<3> rows{p.x + 3 * first, nullptr, nullptr, points.small() + first};
    done = WholeVectors(c, rows, count, key, &fit);
  } else if (p.z != nullptr && p.stride == 4 && p.y == p.x + 1 && p.z == p.x + 2) {
    // Nothing may be behind the z of the last point: it is left to the table.
    const std::size_t last = count > 0 && first + count == points.size() ? 1 : 0;
    const PointLoader<4> rows{p.x + 4 * first, nullptr, nullptr, points.small() + first};
    done = WholeVectors(c, rows, count - last, key, &fit);
  } else if (p.z != nullptr && p.stride == 1) {
    const PointLoader<1> columns{p.x + first, p.y + first, p.z + first, points.small() + first};
    done = WholeVectors(c, columns, count, key, &fit);
  }
  if (!fit) return false;
  // The rest, and points of any other layout, are copied to a table of sites whose volumes stand for the mask.
  const std::size_t lanes = hn::Lanes(D());
  for (; done < count; done += lanes) {
    Site few[8];
    std::uint32_t few_keys[8];
    for (std::size_t k = 0; k < lanes; ++k) {
      const std::size_t i = first + (done + k < count ? done + k : done);
      few[k] = points.site(i);
      if (points.sites() == nullptr) few[k].volume = points.is_small(i) ? 0.25 : 1;
    }
    const double limit = points.sites() != nullptr ? points.small_volume() : 0.5;
    WholeVectors(c, ParcelLoader{few, limit}, lanes, few_keys, &fit);
    if (!fit) return false;
    for (std::size_t k = 0; k < lanes && done + k < count; ++k) key[done + k] = few_keys[k];
  }
  return true;
}

/// Returns the coordinates of the filter on one axis of positions relative to the lower corner of the cells, as the low 16 bits of each
/// lane: in a number between 2^52 and 2^53 the unit has the last bit.
HWY_INLINE hn::Vec<Bits> fixed_point(VD x, double scale) {
  const D d;
  return hn::BitCast(Bits(), hn::MulAdd(x, hn::Set(d, scale), hn::Set(d, 0x1.8p52)));
}
/// Returns the indices of the nodes on one axis nearest to positions relative to the lower corner of the cells.
HWY_INLINE hn::Vec<I> node_on_axis(const FilterMap& map, int axis, VD x) {
  const D d;
  const VD g = hn::MulAdd(x, hn::Set(d, map.inverse_width[axis]), hn::Set(d, 0.5));
  return hn::DemoteTo(I(), hn::Min(hn::Max(g, hn::Zero(d)), hn::Set(d, static_cast<double>(map.cells[axis]))));
}

/// Vectorised part of filter_coordinates(), for one vector of sites.
HWY_INLINE void filter_vector(const FilterMap& map, const Site* sites, std::size_t at, const FilterArrays& to) {
  const D d;
  const I i;
  const Words w;
  VD x;
  VD y;
  VD z;
  VD volume;
  hn::LoadInterleaved4(d, &sites[at].x, x, y, z, volume);
  x = hn::Sub(x, hn::Set(d, map.lower[0]));
  y = hn::Sub(y, hn::Set(d, map.lower[1]));
  z = hn::Sub(z, hn::Set(d, map.lower[2]));
  hn::StoreU(hn::TruncateTo(w, fixed_point(x, map.scale)), w, to.at[0] + at);
  hn::StoreU(hn::TruncateTo(w, fixed_point(y, map.scale)), w, to.at[1] + at);
  hn::StoreU(hn::TruncateTo(w, fixed_point(z, map.scale)), w, to.at[2] + at);
  const auto row = hn::Add(hn::Mul(node_on_axis(map, 2, z), hn::Set(i, map.cells[1] + 1)), node_on_axis(map, 1, y));
  const auto node = hn::Add(hn::Mul(row, hn::Set(i, map.cells[0] + 1)), node_on_axis(map, 0, x));
  hn::StoreU(node, i, reinterpret_cast<std::int32_t*>(to.node + at));
}

/// Computes filter coordinates and nearest nodes of `count` sites into `to`, a vector of sites at a time (filter_coordinates()).
void FilterCoordinates(const FilterMap& map, const Site* HWY_RESTRICT sites, std::size_t count,
                       const FilterArrays& to) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) filter_vector(map, sites, at, to);
  if (at == count) return;
  Site few[8];
  std::uint16_t coordinates[3][8];
  std::uint32_t nodes[8];
  std::copy(sites + at, sites + count, few);
  filter_vector(map, few, 0, {{coordinates[0], coordinates[1], coordinates[2]}, nodes});
  for (std::size_t k = 0; at + k < count; ++k) {
    for (std::size_t a = 0; a < 3; ++a) to.at[a][at + k] = coordinates[a][k];
    to.node[at + k] = nodes[k];
  }
}

/// Returns one bit per site of a vector: 1 if it is near the place.
HWY_INLINE unsigned near_mask(const NearPlace& place, const Site* sites) {
  const D d;
  VD x;
  VD y;
  VD z;
  VD volume;
  hn::LoadInterleaved4(d, &sites->x, x, y, z, volume);
  x = hn::Sub(x, hn::Set(d, place.at[0]));
  y = hn::Sub(y, hn::Set(d, place.at[1]));
  z = hn::Sub(z, hn::Set(d, place.at[2]));
  const VD d2 = hn::MulAdd(z, z, hn::MulAdd(y, y, hn::Mul(x, x)));
  std::uint8_t bits[8] = {0};
  hn::StoreMaskBits(d, hn::Le(d2, hn::Set(d, place.limit)), bits);
  return bits[0];
}

/// Lists in `to` the sites begin .. end - 1 that are within the limit of a position, and returns their number (near_in_run()).
std::uint32_t NearInRun(const Site* sites, std::size_t count, const NearPlace& place, std::uint32_t begin,
                        std::uint32_t end, std::uint32_t* to) {
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(D()));
  const std::uint32_t* const first = to;
  for (std::uint32_t v = begin; v < end; v += lanes) {
    unsigned bits = 0;
    if (v + lanes <= count) {
      bits = near_mask(place, sites + v);
    } else {
      Site few[8] = {};
      std::copy(sites + v, sites + count, few);
      bits = near_mask(place, few);
    }
    if (end - v < lanes) bits &= (1U << (end - v)) - 1;
    for (; bits != 0; bits &= bits - 1) *to++ = v + static_cast<std::uint32_t>(__builtin_ctz(bits));
  }
  return static_cast<std::uint32_t>(to - first);
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(CellKeys);
HWY_EXPORT(FilterCoordinates);
HWY_EXPORT(NearInRun);

bool cell_keys(const CellArithmetic& cells, const PointSet& points, std::size_t first, std::size_t count,
               std::uint32_t* key) {
  return MERGANSER_DISPATCH(CellKeys)(cells, points, first, count, key);
}

void filter_coordinates(const FilterMap& map, const Site* sites, std::size_t count, const FilterArrays& to) {
  MERGANSER_DISPATCH(FilterCoordinates)(map, sites, count, to);
}

std::uint32_t near_in_run(const Site* sites, std::size_t count, const NearPlace& place, std::uint32_t begin,
                          std::uint32_t end, std::uint32_t* to) {
  return MERGANSER_DISPATCH(NearInRun)(sites, count, place, begin, end, to);
}

}  // namespace merganser::nearest
#endif
