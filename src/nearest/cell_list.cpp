// Cell list of one rank: choice of the search grid, counting sort by half-cells, and the exact search of all small parcels.
#include "merganser/nearest/cell_list.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/huge_pages.hpp"
#include "merganser/base/numbers.hpp"
#include "merganser/base/text.hpp"
#include "merganser/parcels/limits.hpp"
#include "src/nearest/block_search.hpp"
#include "src/nearest/cell_keys.hpp"
#include "src/nearest/crowded_trees.hpp"

namespace merganser::nearest {
namespace {

constexpr std::size_t kAhead = 24;      // prefetch distance, in parcels
constexpr std::size_t kSiteAhead = 64;  // the same, of sites
constexpr std::size_t kLot = 128;       // parcels processed at a time

/// Makes a vector of `count` zeros in place of one that is shorter, whose memory is freed first.
void grow(std::vector<std::uint32_t>& numbers, std::size_t count) {
  numbers = std::vector<std::uint32_t>();
  reserve_on_huge_pages(numbers, count);
  numbers.resize(count);
}

}  // namespace

// Makes the cell list of one rank's region; empty until bin() and sort().
CellList::CellList(const Box& box, const Region& region)
    : box_(box), region_(region), lower_(region.lower), upper_(region.upper) {
  // Blocks follow from cell numbers, positions from arithmetic: they agree up to rounding, which slack_ bounds.
  for (int a = 0; a < 3; ++a) slack_ = std::max(slack_, 1e-12 * (box.extent[a] + std::fabs(box.lower[a])));
}

CellList::CellList(CellList&&) noexcept = default;
CellList& CellList::operator=(CellList&&) noexcept = default;
CellList::~CellList() = default;

/// Returns the index of the search cell of a coordinate on one axis, cut to the cells that there are.
std::int64_t CellList::cell_on_axis(int axis, double x) const {
  if (canonical_) {
    const std::int64_t c = grid_.cell(axis, x) - first_[axis];
    return std::clamp<std::int64_t>(c, 0, cells_[axis] - 1);
  }
  const double g = (x - lower_[axis]) * inverse_width_[axis];
  const auto top = static_cast<double>(cells_[axis] - 1);
  return static_cast<std::int64_t>(g <= 0 ? 0.0 : (g >= top ? top : g));
}

// Chooses the search grid and counts the points of each half-cell (small, other), the first half of building the cell list. Where
// points crowd in a part of the region, the cells are confined to that part.
std::int64_t CellList::bin(const PointSet& points, const Cut& cut) {
  n_ = points.size();
  if (n_ >= links::kAway)
    throw InputError(std::to_string(n_) + " parcels on one rank; allowed: at most " + std::to_string(links::kAway - 1) +
                     ", use more ranks");
  lower_ = region_.lower;
  upper_ = region_.upper;
  canonical_ = cut.cells[0] != 0;
  if (canonical_) {
    cells_ = cut.cells;
    grid_ = *cut.grid;
    first_ = cut.first;
  } else {
    choose_cells(cut.parcels_per_cell);
  }
  measure_cells();
  // Cells with three times the mean hardly occur by chance (Poisson): such cells mean that parcels crowd.
  const auto crowd = static_cast<std::uint32_t>(3 * std::clamp(cut.parcels_per_cell, kParcelsPerCell, 1e9));
  Census census = count(points, crowd);
  if (!canonical_ && census.crowded > n_ / 4 && narrow_to_points(points)) {
    choose_cells(cut.parcels_per_cell);
    measure_cells();
    census = count(points, crowd);
  }
  most_ = census.most;
  return census.small;
}

/// Chooses the number of search cells on each axis for a mean number of parcels per cell, with cells as near to cubes as the
/// region permits.
void CellList::choose_cells(double parcels_per_cell) {
  Vec3 extent{upper_[0] - lower_[0], upper_[1] - lower_[1], upper_[2] - lower_[2]};
  const double longest = std::max({extent[0], extent[1], extent[2]});
  for (double& e : extent) e /= longest;
  const double volume = extent[0] * extent[1] * extent[2];
  const double wanted = std::max(1.0, static_cast<double>(n_) / parcels_per_cell);
  double edge = std::cbrt(volume / wanted);
  // A flat region has one layer of cells there; its cells are then squares, or segments.
  std::array<bool, 3> thin{};
  for (int pass = 0; pass < 2; ++pass) {
    double rest = 1;
    int axes = 0;
    for (int a = 0; a < 3; ++a) {
      thin[a] = thin[a] || extent[a] < edge;
      if (!thin[a]) rest *= extent[a], ++axes;
    }
    if (axes == 0) break;
    edge = std::pow(rest / wanted, 1.0 / axes);
  }
  for (int a = 0; a < 3; ++a) {
    const double count = std::round(extent[a] / edge);
    cells_[a] = thin[a] ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(count, wanted)));
  }
}

/// Computes edges of the search cells and the scale of filter coordinates from the number of cells.
void CellList::measure_cells() {
  for (int a = 0; a < 3; ++a) {
    width_[a] = (upper_[a] - lower_[a]) / static_cast<double>(cells_[a]);
    inverse_width_[a] = 1.0 / width_[a];
  }
  scale_ = 1.0 / std::max({width_[0], width_[1], width_[2]});
}

/// Computes the half-cell of every point and counts the points of each. @throws InputError for a point outside the region or a
/// volume out of range, Unwrapped for points that are wrapped on demand and are not in the box
CellList::Census CellList::count(const PointSet& points, std::uint32_t crowd) {
  const std::size_t half_cells = 2 * static_cast<std::size_t>(cell_count());
  start_.assign(half_cells + 2, 0);
  if (key_.size() < n_) grow(key_, n_);
  Vec3 low;
  Vec3 high;
  for (int a = 0; a < 3; ++a) {
    low[a] = region_.lower[a] - slack_;
    high[a] = region_.upper[a] + slack_;
    if (!points.wraps_on_demand() || !box_.periodic[a]) continue;
    low[a] = std::max(low[a], box_.lower[a]);
    high[a] = std::min(high[a], std::nextafter(box_.lower[a] + box_.extent[a], -kInfinity));
  }
  std::uint32_t* const count = start_.data() + 2;  // shifted by two: the scatter leaves starts in place
  CellArithmetic arithmetic{lower_, inverse_width_, {}, low, high};
  for (int a = 0; a < 3; ++a) arithmetic.cells[a] = static_cast<std::int32_t>(cells_[a]);
  const bool vectors = !canonical_ && half_cells < (std::size_t{1} << 31);
  // In lots: the counters of shuffled parcels are far apart; they are prefetched for a whole lot before they are
  // counted.
  for (std::size_t begin = 0; begin < n_; begin += kLot) {
    const std::size_t end = std::min(begin + kLot, n_);
    std::uint32_t* const key = key_.data();
    // The vector code only detects an invalid point; the scalar code then finds which and throws.
    if (!vectors || !cell_keys(arithmetic, points, begin, end - begin, key + begin)) {
      for (std::size_t i = begin; i < end; ++i) {
        const Site s = points.site(i);
        const bool inside = ((s.x >= low[0]) & (s.x <= high[0]) & (s.y >= low[1]) & (s.y <= high[1]) & (s.z >= low[2]) &
                             (s.z <= high[2])) != 0;
        if (!inside && points.wraps_on_demand()) [[unlikely]]
          throw Unwrapped{};
        if (!inside) [[unlikely]]
          throw Indexed<InputError>(points.describe_outside(i, region_.lower, region_.upper, box_));
        if (!is_volume(s.volume)) [[unlikely]]
          throw Indexed<InputError>(points.describe(i) + ": " + volume_error(s.volume));
        const auto cell = (cell_on_axis(2, s.z) * cells_[1] + cell_on_axis(1, s.y)) * cells_[0] + cell_on_axis(0, s.x);
        key[i] = static_cast<std::uint32_t>(2 * cell + (points.is_small(i) ? 0 : 1));
      }
    }
    for (std::size_t i = begin; i < end; ++i) __builtin_prefetch(&count[key[i]], 1);
    for (std::size_t i = begin; i < end; ++i) ++count[key[i]];
  }
  Census census;
  for (std::size_t h = 0; h < half_cells; h += 2) {
    const std::uint32_t both = count[h] + count[h + 1];
    census.small += count[h];
    census.crowded += both > crowd ? both : 0;
    census.most = std::max(census.most, std::max(count[h], count[h + 1]));
  }
  return census;
}

/// Narrows the region that is cut into search cells to the bounding box of the points, if that has at most half of the volume.
/// @return whether it was narrowed
bool CellList::narrow_to_points(const PointSet& points) {
  Vec3 lower = region_.upper;
  Vec3 upper = region_.lower;
  for (std::size_t i = 0; i < n_; ++i) {
    const Site s = points.site(i);
    const Vec3 p{s.x, s.y, s.z};
    for (int a = 0; a < 3; ++a) {
      lower[a] = std::min(lower[a], p[a]);
      upper[a] = std::max(upper[a], p[a]);
    }
  }
  double part = 1;  // of the region
  for (int a = 0; a < 3; ++a) {
    const double whole = region_.upper[a] - region_.lower[a];
    // Keeps cells much wider than the rounding of coordinates, also where all points coincide on an axis.
    const double least = std::max(1e-6 * whole, 1e5 * slack_);
    const double missing = std::max(least - (upper[a] - lower[a]), 0.0);
    lower[a] = std::max(lower[a] - 0.5 * missing, region_.lower[a]);
    upper[a] = std::min(upper[a] + 0.5 * missing, region_.upper[a]);
    part *= (upper[a] - lower[a]) / whole;
  }
  if (part > 0.5) return false;
  lower_ = lower;
  upper_ = upper;
  return true;
}

// Sorts the points by half-cell (counting sort), computes filter coordinates, and builds k-d trees of crowded half-cells: the
// second half of building the cell list.
void CellList::sort(const PointSet& points, Site* sorted, std::byte* scratch) {
  sorted_ = sorted;
  by_node_ = reinterpret_cast<std::uint32_t*>(scratch);
  node_of_ = by_node_ + n_;
  filter_ = reinterpret_cast<std::uint16_t*>(node_of_ + n_);
  if (order_.size() < n_) grow(order_, n_);
  // start_[k + 2] holds the count of half-cell k. With its first position in start_[k + 1], the scatter, which advances
  // it, leaves the first position of k + 1 there.
  const std::size_t half_cells = 2 * static_cast<std::size_t>(cell_count());
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < half_cells; ++k) {
    const std::uint32_t c = start_[k + 2];
    start_[k + 1] = sum;
    sum += c;
  }
  const std::uint32_t* const key = key_.data();
  std::uint32_t* const next = start_.data() + 1;  // by half-cell: where its next parcel goes
  std::uint32_t* const order = order_.data();
  std::size_t i = 0;
  for (; i + 2 * kAhead < n_; ++i) {
    __builtin_prefetch(&next[key[i + 2 * kAhead]], 1);
    __builtin_prefetch(&order[next[key[i + kAhead]]], 1);
    order[next[key[i]]++] = static_cast<std::uint32_t>(i);
  }
  for (; i < n_; ++i) order[next[key[i]]++] = static_cast<std::uint32_t>(i);

  points.visit([&](const auto& site_of) {
    for (std::size_t begin = 0; begin < n_; begin += kLot) {
      const std::size_t end = std::min(begin + kLot, n_);
      for (std::size_t k = begin; k < end; ++k) {
        points.prefetch(order_[std::min(k + kSiteAhead, n_ - 1)]);
        sorted_[k] = site_of(order_[k]);
      }
      write_filter(begin, end);
    }
  });
  const std::size_t stride = n_ + kPadding;
  for (int a = 0; a < 3; ++a) std::fill_n(filter_ + static_cast<std::size_t>(a) * stride + n_, kPadding, 0);
  trees_.reset();
  if (is_crowded()) build_trees(points);
}

/// Writes the filter coordinates of the vertices begin .. end - 1, and their nodes.
void CellList::write_filter(std::size_t begin, std::size_t end) {
  FilterMap map{lower_, scale_ * kFilterUnits, inverse_width_, {}};
  for (int a = 0; a < 3; ++a) map.cells[a] = static_cast<std::int32_t>(cells_[a]);
  std::uint16_t* const at = filter_ + begin;
  const std::size_t stride = n_ + kPadding;
  filter_coordinates(map, sorted_ + begin, end - begin, {{at, at + stride, at + 2 * stride}, node_of_ + begin});
}

/// Builds k-d trees of the crowded half-cells and rewrites the filter coordinates of their vertices, which it permutes.
void CellList::build_trees(const PointSet& points) {
  std::vector<CrowdedTrees::Run> runs;
  for (std::size_t h = 0; h < 2 * static_cast<std::size_t>(cell_count()); ++h)
    if (start_[h + 1] - start_[h] > CrowdedTrees::kCrowded) runs.push_back({start_[h], start_[h + 1]});
  trees_ = std::make_unique<CrowdedTrees>(n_, runs);
  for (const CrowdedTrees::Run& run : runs) {
    trees_->build(run, sorted_, order_.data(), points);
    write_filter(run.begin, run.end);
  }
}

/// Lists the small parcels under their nearest node of the search grid, the order in which block_search() takes them. @param node_start
/// receives the first entry of each node
void CellList::list_by_node(std::vector<std::uint32_t>& node_start) const {
  const auto cells = static_cast<std::size_t>(cell_count());
  sort_by_node(node_start, [&](const auto& visit) {
    for (std::size_t c = 0; c < cells; ++c)
      for (std::uint32_t v = start_[2 * c]; v < start_[2 * c + 1]; ++v) visit(v);
  });
}

/// Lists some small parcels, as list_by_node() lists all.
void CellList::list_by_node(std::vector<std::uint32_t>& node_start, std::span<const std::uint32_t> vertices) const {
  sort_by_node(node_start, [&](const auto& visit) {
    for (const std::uint32_t v : vertices) visit(v);
  });
}

/// Lists parcels under their nearest node by a counting sort: they come in the order of cells, so its accesses are nearly sequential.
/// @param for_each  calls a function with each of them
void CellList::sort_by_node(std::vector<std::uint32_t>& node_start, const auto& for_each) const {
  const auto node_count = static_cast<std::size_t>((cells_[0] + 1) * (cells_[1] + 1) * (cells_[2] + 1));
  node_start.assign(node_count + 2, 0);
  std::uint32_t* const start = node_start.data();
  const std::uint32_t* const node_of = node_of_;
  for_each([&](std::uint32_t v) { ++start[node_of[v] + 2]; });
  for (std::size_t j = 2; j < node_count + 2; ++j) start[j] += start[j - 1];
  std::uint32_t* const listed = by_node_;
  for_each([&](std::uint32_t v) { listed[start[node_of[v] + 1]++] = v; });
}

/// Fills the arguments of block_search() from the cell list. @return false if plain differences in a block may not be the canonical
/// ones (a period is too short)
bool CellList::fill_block_search(BlockSearch& block) const {
  // Inside a block of two cells the plain difference is the canonical one only if it is at most half a period; 2.01
  // covers rounding.
  bool plain = true;
  const double scale = scale_ * kFilterUnits;
  for (int a = 0; a < 3; ++a) {
    block.cells[a] = static_cast<int>(cells_[a]);
    block.width[a] = std::min(width_[a] * scale, kFilterUnits);
    block.far[a][0] = region_.wall_lower[a] ? -kInfinity : (region_.lower[a] - lower_[a]) * scale;
    block.far[a][1] = region_.wall_upper[a] ? kInfinity : (region_.upper[a] - lower_[a]) * scale;
    plain = plain && (!box_.periodic[a] || 2.01 * width_[a] <= 0.5 * box_.extent[a]);
    const bool round = box_.periodic[a] && std::fabs(lower_[a] - box_.lower[a]) <= slack_ &&
                       std::fabs(upper_[a] - (box_.lower[a] + box_.extent[a])) <= slack_;
    block.period[a] = round ? box_.extent[a] * scale : 0;
  }
  const std::size_t stride = n_ + kPadding;
  block.x = filter_;
  block.y = filter_ + stride;
  block.z = filter_ + 2 * stride;
  block.cell_start = start_.data();
  block.by_node = by_node_;
  return plain;
}

// Searches the nearest local neighbour of every small parcel, in a merge step: a vectorised filter in fixed point decides most;
// the others are searched in double precision.
std::vector<CellList::Open> CellList::search_exact(std::vector<std::uint32_t>& target, const links::Ids& ids) {
  std::fill_n(target.begin(), n_, links::kNone);
  // What the filter cannot decide is searched in double precision below.
  std::vector<BlockSearch::Open> undecided;
  std::vector<BlockSearch::Open> contenders;
  BlockSearch block{};
  if (fill_block_search(block)) {
    list_by_node(node_start_);
    block.node_start = node_start_.data();
    block.target = target.data();
    block.open = &undecided;
    block.contenders = &contenders;
    block_search(block);
  } else {
    for (std::size_t c = 0; c < static_cast<std::size_t>(cell_count()); ++c)
      for (std::uint32_t v = start_[2 * c]; v < start_[2 * c + 1]; ++v) undecided.push_back({v, links::kNone});
  }
  std::vector<Open> open;
  const SearchContext context{box_, slack_, sorted_, ids};
  for (std::size_t i = 0; i < contenders.size();) {
    const std::uint32_t v = contenders[i].vertex;
    const Site& s = sorted_[v];
    BestSoFar best(context, {{s.x, s.y, s.z}, v}, {});
    for (; i < contenders.size() && contenders[i].vertex == v; ++i) {
      __builtin_prefetch(&sorted_[contenders[std::min(i + kAhead, contenders.size() - 1)].candidate]);
      best.consider(contenders[i].candidate);
    }
    target[v] = best.vertex();
  }
  for (const auto [v, candidate] : undecided) {
    const Site& s = sorted_[v];
    const Vec3 p{s.x, s.y, s.z};
    Best best;
    if (candidate != links::kNone) {
      const Site& c = sorted_[candidate];
      best = {box_.distance2(p, {c.x, c.y, c.z}), 0, candidate};
    }
    BestSoFar best_so_far(context, {p, v}, best);
    search_images(best_so_far);
    target[v] = best_so_far.vertex();
    // A nearer parcel may lie beyond a face of the region: another rank must be queried.
    if (!is_final(p, best_so_far.distance2())) open.push_back({v, best_so_far.result()});
  }
  return open;
}

/// Returns whether no point outside the region can be as near to p as `distance2`: the squared distance from p to the
/// nearest face that is no wall is larger, with a margin for rounding. Then no other rank needs a query.
bool CellList::is_final(const Vec3& p, double distance2) const {
  double reach = kInfinity;
  for (int a = 0; a < 3; ++a) {
    if (!region_.wall_lower[a]) reach = std::min(reach, p[a] - region_.lower[a]);
    if (!region_.wall_upper[a]) reach = std::min(reach, region_.upper[a] - p[a]);
  }
  reach -= 2 * slack_;
  return distance2 < kInfinity && reach > 0 && reach * reach * (1 - 1e-12) > distance2;
}

bool CellList::is_crowded() const noexcept { return most_ > CrowdedTrees::kCrowded; }

const char* CellList::vector_target() { return block_search_target(); }

}  // namespace merganser::nearest
