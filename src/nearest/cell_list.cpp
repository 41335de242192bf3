#include "merganser/nearest/cell_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "merganser/base/error.hpp"
#include "nearest/block_search.hpp"

namespace merganser::nearest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kAhead = 24;  // prefetch distance, in parcels
constexpr std::size_t kLot = 64;    // parcels

std::string point_text(const Site& s) {
  char text[128];
  std::snprintf(text, sizeof text, "(%.17g, %.17g, %.17g)", s.x, s.y, s.z);
  return text;
}

}  // namespace

CellList::CellList(const Box& box, const Region& region) : box_(box), region_(region) {
  // Blocks follow from cell numbers, positions from arithmetic: they agree up to rounding.
  for (int a = 0; a < 3; ++a) slack_ = std::max(slack_, 1e-12 * (box.extent[a] + std::fabs(box.lower[a])));
}

std::int64_t CellList::cell_on_axis(int axis, double x) const {
  if (canonical_) {
    const std::int64_t c = grid_.cell(axis, x) - first_[axis];
    return std::clamp<std::int64_t>(c, 0, cells_[axis] - 1);
  }
  const double g = (x - region_.lower[axis]) * inverse_width_[axis];
  const auto top = static_cast<double>(cells_[axis] - 1);
  return static_cast<std::int64_t>(g <= 0 ? 0.0 : (g >= top ? top : g));
}

std::int64_t CellList::bin(const Parcels& parcels, double small_volume, const Cut& cut) {
  n_ = parcels.size();
  if (n_ >= links::kAway)
    throw InputError(std::to_string(n_) + " parcels on one rank; at most " + std::to_string(links::kAway - 1) +
                     ": use more ranks");
  canonical_ = cut.cells[0] != 0;
  if (canonical_) {
    cells_ = cut.cells;
    grid_ = *cut.grid;
    first_ = cut.first;
  } else {
    double volume = 1;
    for (int a = 0; a < 3; ++a) volume *= region_.upper[a] - region_.lower[a];
    const double wanted = std::max(1.0, static_cast<double>(n_) / cut.parcels_per_cell);
    double edge = std::cbrt(volume / wanted);
    // A flat region has one layer of cells there; its cells are then squares, or segments.
    std::array<bool, 3> thin{};
    for (int pass = 0; pass < 2; ++pass) {
      double rest = 1;
      int axes = 0;
      for (int a = 0; a < 3; ++a) {
        const double e = region_.upper[a] - region_.lower[a];
        thin[a] = thin[a] || e < edge;
        if (!thin[a]) rest *= e, ++axes;
      }
      if (axes == 0) break;
      edge = std::pow(rest / wanted, 1.0 / axes);
    }
    for (int a = 0; a < 3; ++a) {
      const double count = std::round((region_.upper[a] - region_.lower[a]) / edge);
      cells_[a] = thin[a] ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(count, wanted)));
    }
  }
  for (int a = 0; a < 3; ++a) {
    width_[a] = (region_.upper[a] - region_.lower[a]) / static_cast<double>(cells_[a]);
    inverse_width_[a] = 1.0 / width_[a];
  }
  scale_ = 1.0 / std::max({width_[0], width_[1], width_[2]});

  const std::size_t half_cells = 2 * static_cast<std::size_t>(cell_count());
  start_.assign(half_cells + 2, 0);
  if (key_.size() < n_) key_ = std::vector<std::uint32_t>(n_);
  const Site* const sites = parcels.sites();
  const Vec3 low{region_.lower[0] - slack_, region_.lower[1] - slack_, region_.lower[2] - slack_};
  const Vec3 high{region_.upper[0] + slack_, region_.upper[1] + slack_, region_.upper[2] + slack_};
  std::uint32_t* const count = start_.data() + 2;  // shifted by two: the scatter leaves starts in place
  // In lots: the counters of shuffled parcels are far apart, and are under way while keys are computed.
  for (std::size_t begin = 0; begin < n_; begin += kLot) {
    const std::size_t end = std::min(begin + kLot, n_);
    for (std::size_t i = begin; i < end; ++i) {
      const Site& s = sites[i];
      const bool inside = ((s.x >= low[0]) & (s.x <= high[0]) & (s.y >= low[1]) & (s.y <= high[1]) & (s.z >= low[2]) &
                           (s.z <= high[2])) != 0;
      if (!inside) [[unlikely]]
        throw InputError("parcel id " + std::to_string(parcels.id(i)) + " at " + point_text(s) +
                         " is not inside its rank's block; bring parcels home (rehome, distribute) before a step");
      const auto cell = (cell_on_axis(2, s.z) * cells_[1] + cell_on_axis(1, s.y)) * cells_[0] + cell_on_axis(0, s.x);
      const auto key = static_cast<std::uint32_t>(2 * cell + (s.volume < small_volume ? 0 : 1));
      key_[i] = key;
      __builtin_prefetch(&count[key], 1);
    }
    for (std::size_t i = begin; i < end; ++i) ++count[key_[i]];
  }
  std::int64_t small = 0;
  for (std::size_t h = 0; h < half_cells; h += 2) small += count[h];
  return small;
}

void CellList::sort(const Parcels& parcels, Site* sorted, std::byte* scratch) {
  sorted_ = sorted;
  filter_ = reinterpret_cast<float*>(scratch);
  by_node_ = reinterpret_cast<std::uint32_t*>(filter_ + 3 * (n_ + kPadding));
  if (order_.size() < n_) order_ = std::vector<std::uint32_t>(n_);
  // start_[k + 2] holds the count of half-cell k. With its first position in start_[k + 1], the scatter leaves the
  // first position of k + 1 there.
  const std::size_t half_cells = 2 * static_cast<std::size_t>(cell_count());
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < half_cells; ++k) {
    const std::uint32_t c = start_[k + 2];
    start_[k + 1] = sum;
    sum += c;
  }
  for (std::size_t i = 0; i < n_; ++i) {
    __builtin_prefetch(&start_[key_[std::min(i + 2 * kAhead, n_ - 1)] + 1], 1);
    __builtin_prefetch(&order_[start_[key_[std::min(i + kAhead, n_ - 1)] + 1]], 1);
    order_[start_[key_[i] + 1]++] = static_cast<std::uint32_t>(i);
  }

  const std::size_t stride = n_ + kPadding;
  float* const fx = filter_;
  float* const fy = filter_ + stride;
  float* const fz = filter_ + 2 * stride;
  const Site* const sites = parcels.sites();
  for (std::size_t k = 0; k < n_; ++k) {
    __builtin_prefetch(&sites[order_[std::min(k + kAhead, n_ - 1)]]);
    const Site s = sites[order_[k]];
    sorted_[k] = s;
    fx[k] = static_cast<float>((s.x - region_.lower[0]) * scale_);
    fy[k] = static_cast<float>((s.y - region_.lower[1]) * scale_);
    fz[k] = static_cast<float>((s.z - region_.lower[2]) * scale_);
  }
  for (std::size_t k = n_; k < stride; ++k) fx[k] = fy[k] = fz[k] = 1e30F;
}

void CellList::list_by_node() {
  // A counting sort of the small parcels, which come in the order of cells: its accesses are nearly sequential.
  const std::size_t stride = n_ + kPadding;
  const std::array<std::int64_t, 3> nodes{cells_[0] + 1, cells_[1] + 1, cells_[2] + 1};
  const auto node_count = static_cast<std::size_t>(nodes[0] * nodes[1] * nodes[2]);
  node_start_.assign(node_count + 2, 0);
  float inverse[3];
  for (int a = 0; a < 3; ++a) inverse[a] = static_cast<float>(1.0 / (width_[a] * scale_));
  std::uint32_t* const node_of = by_node_ + n_;
  std::size_t m = 0;
  const auto cells = static_cast<std::size_t>(cell_count());
  const auto node_on_axis = [&](int a, float f) {
    const auto j = static_cast<std::int64_t>(f * inverse[a] + 0.5F);
    return std::min(j, cells_[a]);
  };
  for (std::size_t c = 0; c < cells; ++c)
    for (std::uint32_t v = start_[2 * c]; v < start_[2 * c + 1]; ++v) {
      const auto jx = node_on_axis(0, filter_[v]);
      const auto jy = node_on_axis(1, filter_[stride + v]);
      const auto jz = node_on_axis(2, filter_[2 * stride + v]);
      const auto node = static_cast<std::uint32_t>((jz * nodes[1] + jy) * nodes[0] + jx);
      node_of[m++] = node;
      ++node_start_[node + 2];
    }
  for (std::size_t j = 2; j < node_count + 2; ++j) node_start_[j] += node_start_[j - 1];
  m = 0;
  for (std::size_t c = 0; c < cells; ++c)
    for (std::uint32_t v = start_[2 * c]; v < start_[2 * c + 1]; ++v) by_node_[node_start_[node_of[m++] + 1]++] = v;
}

std::vector<CellList::Open> CellList::search_exact(std::vector<std::uint32_t>& target, const links::Ids& ids) {
  std::vector<BlockSearch::Open> unsettled;
  const std::size_t stride = n_ + kPadding;
  BlockSearch block{};
  double reach = 0;
  // Inside a block of two cells the plain difference is the canonical one only if it is at most half a period.
  bool plain = true;
  for (int a = 0; a < 3; ++a) {
    block.cells[a] = static_cast<int>(cells_[a]);
    block.width[a] = static_cast<float>(width_[a] * scale_);
    const double extent = (region_.upper[a] - region_.lower[a]) * scale_;
    block.far[a][0] = region_.wall_lower[a] ? -std::numeric_limits<float>::infinity() : 0.0F;
    block.far[a][1] = region_.wall_upper[a] ? std::numeric_limits<float>::infinity() : static_cast<float>(extent);
    reach = std::max(reach, extent);
    plain = plain && (!box_.periodic[a] || 2.01 * width_[a] <= 0.5 * box_.extent[a]);
  }
  std::fill_n(target.begin(), n_, links::kNone);
  if (plain) {
    list_by_node();
    block.x = filter_;
    block.y = filter_ + stride;
    block.z = filter_ + 2 * stride;
    block.cell_start = start_.data();
    block.node_start = node_start_.data();
    block.by_node = by_node_;
    block.coordinate_error = static_cast<float>((reach + 2) * 0x1p-23);
    block.target = target.data();
    block.open = &unsettled;
    block_search(block);
  } else {
    for (std::size_t c = 0; c < static_cast<std::size_t>(cell_count()); ++c)
      for (std::uint32_t v = start_[2 * c]; v < start_[2 * c + 1]; ++v) unsettled.push_back({v, links::kNone});
  }
  std::vector<Open> open;
  open.reserve(unsettled.size());
  for (const auto [v, candidate] : unsettled) {
    const Site& s = sorted_[v];
    const Query query{{s.x, s.y, s.z}, v};
    Best best;
    if (candidate != links::kNone) {
      const Site& c = sorted_[candidate];
      best = {box_.distance2(query.point, {c.x, c.y, c.z}), ids[candidate], candidate};
    }
    nearest(query, ids, best);
    target[v] = best.vertex;
    open.push_back({v, best});
  }
  return open;
}

double CellList::distance2_to_region(const Vec3& q) const {
  double d2 = 0;
  for (int a = 0; a < 3; ++a) {
    const double d = std::max({region_.lower[a] - q[a], q[a] - region_.upper[a], 0.0}) - slack_;
    if (d > 0) d2 += d * d;
  }
  return d2 * (1 - 1e-14);
}

void CellList::nearest(const Query& query, const links::Ids& ids, Best& best) const {
  if (n_ == 0) return;
  // The region and its periodic images: the canonical separation is that to the nearest image.
  std::array<std::array<double, 3>, 3> shift{};
  std::array<int, 3> images{1, 1, 1};
  for (int a = 0; a < 3; ++a)
    if (box_.periodic[a]) {
      shift[a] = {0.0, box_.extent[a], -box_.extent[a]};
      images[a] = 3;
    }
  for (int i = 0; i < images[0]; ++i)
    for (int j = 0; j < images[1]; ++j)
      for (int k = 0; k < images[2]; ++k) {
        const Vec3 image{query.point[0] + shift[0][i], query.point[1] + shift[1][j], query.point[2] + shift[2][k]};
        if (distance2_to_region(image) > best.distance2) continue;
        if (best.distance2 < kInfinity) {
          scan_ball(image, query, ids, best);
        } else {
          scan_shells(image, query, ids, best);
        }
      }
}

void CellList::scan(std::int64_t row, std::int64_t first, std::int64_t last, const Query& query, const links::Ids& ids,
                    Best& best) const {
  const std::uint32_t b = start_[2 * static_cast<std::size_t>(row * cells_[0] + first)];
  const std::uint32_t e = start_[2 * static_cast<std::size_t>(row * cells_[0] + last) + 2];
  // Ids lie in rows that the search does not touch otherwise: they are read for the winner and for ties only.
  bool stale = false;
  for (std::uint32_t v = b; v < e; ++v) {
    const Site& s = sorted_[v];
    const double d2 = box_.distance2(query.point, {s.x, s.y, s.z});
    if (d2 > best.distance2 || v == query.self || v == best.vertex) continue;
    if (d2 == best.distance2) {
      if (stale) best.id = ids[best.vertex];
      stale = false;
      if (ids[v] > best.id) continue;
    }
    best.distance2 = d2;
    best.vertex = v;
    stale = true;
  }
  if (stale) best.id = ids[best.vertex];
}

void CellList::scan_ball(const Vec3& image, const Query& query, const links::Ids& ids, Best& best) const {
  const double r = std::sqrt(best.distance2) * (1 + 1e-14) + slack_;
  std::array<std::int64_t, 3> lo;
  std::array<std::int64_t, 3> hi;
  for (int a = 0; a < 3; ++a) {
    lo[a] = cell_on_axis(a, image[a] - r);
    hi[a] = cell_on_axis(a, image[a] + r);
  }
  // A ball much larger than cells shrinks as shells find nearer parcels.
  if ((hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1) * (hi[2] - lo[2] + 1) > 100)
    return scan_shells(image, query, ids, best);
  for (std::int64_t z = lo[2]; z <= hi[2]; ++z)
    for (std::int64_t y = lo[1]; y <= hi[1]; ++y) scan(z * cells_[1] + y, lo[0], hi[0], query, ids, best);
}

void CellList::scan_shells(const Vec3& image, const Query& query, const links::Ids& ids, Best& best) const {
  std::array<std::int64_t, 3> c;
  for (int a = 0; a < 3; ++a) c[a] = cell_on_axis(a, image[a]);
  for (std::int64_t k = 0;; ++k) {
    std::array<std::int64_t, 3> lo;
    std::array<std::int64_t, 3> hi;
    double bound = kInfinity;  // nothing beyond this shell is nearer
    for (int a = 0; a < 3; ++a) {
      lo[a] = std::max<std::int64_t>(c[a] - k, 0);
      hi[a] = std::min<std::int64_t>(c[a] + k, cells_[a] - 1);
      if (c[a] - k > 0) bound = std::min(bound, image[a] - (region_.lower[a] + static_cast<double>(lo[a]) * width_[a]));
      if (c[a] + k < cells_[a] - 1)
        bound = std::min(bound, region_.lower[a] + static_cast<double>(hi[a] + 1) * width_[a] - image[a]);
    }
    for (std::int64_t z = lo[2]; z <= hi[2]; ++z)
      for (std::int64_t y = lo[1]; y <= hi[1]; ++y) {
        const std::int64_t row = z * cells_[1] + y;
        const bool shell_row = z == c[2] - k || z == c[2] + k || y == c[1] - k || y == c[1] + k;
        if (shell_row) {
          scan(row, lo[0], hi[0], query, ids, best);
          continue;
        }
        if (c[0] - k >= 0) scan(row, c[0] - k, c[0] - k, query, ids, best);
        if (k > 0 && c[0] + k < cells_[0]) scan(row, c[0] + k, c[0] + k, query, ids, best);
      }
    bound -= slack_;
    if (bound == kInfinity || (bound > 0 && bound * bound * (1 - 1e-14) > best.distance2)) return;
  }
}

void CellList::nearest_cells8(const Query& query, const links::Ids& ids, Best& best) const {
  // The two cells per axis around the nearest node, as cells of this rank; a cell met twice by wrapping counts once.
  std::array<std::array<std::int64_t, 2>, 3> cell;
  std::array<int, 3> count{0, 0, 0};
  for (int a = 0; a < 3; ++a) {
    const std::int64_t node = grid_.node(a, query.point[a]);
    for (std::int64_t c = node - 1; c <= node; ++c) {
      std::int64_t g = c;
      if (box_.periodic[a]) g = (c + grid_.cells[a]) % grid_.cells[a];
      const std::int64_t here = g - first_[a];
      if (g < 0 || g >= grid_.cells[a] || here < 0 || here >= cells_[a]) continue;
      if (count[a] == 1 && cell[a][0] == here) continue;
      cell[a][static_cast<std::size_t>(count[a]++)] = here;
    }
  }
  for (int k = 0; k < count[2]; ++k)
    for (int j = 0; j < count[1]; ++j)
      for (int i = 0; i < count[0]; ++i)
        scan(cell[2][static_cast<std::size_t>(k)] * cells_[1] + cell[1][static_cast<std::size_t>(j)],
             cell[0][static_cast<std::size_t>(i)], cell[0][static_cast<std::size_t>(i)], query, ids, best);
}

const char* CellList::vector_target() { return block_search_target(); }

}  // namespace merganser::nearest
