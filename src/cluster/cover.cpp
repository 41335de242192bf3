// Coverage test of a rank's block by its parcels: a block that is not full, that may have a large hole, joins the far search.
#include "src/cluster/cover.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace merganser::cluster {
namespace {

/// Returns the offsets (x, y, z) between two sub-cells of the coverage test of which no two points are more than `reach` apart,
/// shortest offsets first. @param edge  lengths of a sub-cell @param count  sub-cells of the block along each axis
std::vector<std::array<std::int64_t, 3>> offsets_within(double reach, const Vec3& edge,
                                                        const std::array<std::int64_t, 3>& count) {
  std::array<std::int64_t, 3> most;
  for (int a = 0; a < 3; ++a) most[a] = std::min(count[a] - 1, static_cast<std::int64_t>(reach / edge[a]));
  const auto farthest2 = [&](const std::array<std::int64_t, 3>& o) {
    double d2 = 0;
    for (int a = 0; a < 3; ++a) d2 += std::pow(static_cast<double>(std::abs(o[a]) + 1) * edge[a], 2);
    return d2;
  };
  std::vector<std::array<std::int64_t, 3>> found;
  for (std::int64_t x = -most[0]; x <= most[0]; ++x)
    for (std::int64_t y = -most[1]; y <= most[1]; ++y)
      for (std::int64_t z = -most[2]; z <= most[2]; ++z)
        if (farthest2({x, y, z}) <= reach * reach) found.push_back({x, y, z});
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return farthest2(a) < farthest2(b); });
  return found;
}

}  // namespace

// Coverage test of the far search, geometry: a sub-cell's diagonal is at most the reach, a little less than half the
// cutoff.
Cover::Cover(const Decomposition& decomposition, int rank, double cutoff) : always_(std::isinf(cutoff)) {
  if (always_) return;
  const Box& box = decomposition.grid().box;
  const auto block = decomposition.block(rank);
  double slack = 0;
  for (int a = 0; a < 3; ++a) slack = std::max(slack, 1e-11 * (box.extent[a] + std::fabs(box.lower[a])));
  // Less than cutoff / 2 by more than all rounding: a block may count as not full without need, never as full wrongly.
  const double reach = cutoff / 2 * (1 - 1e-6) - slack;
  count_ = reach > 0 ? 1 : std::numeric_limits<double>::infinity();
  if (!(reach > 0)) return;
  Vec3 half_edge{};
  cells_.lower = halves_.lower = block.lower;
  for (int a = 0; a < 3; ++a) {
    const double length = block.upper[a] - block.lower[a];
    const double along = std::clamp(std::ceil(length / (reach / std::sqrt(3.0))), 1.0, 0x1p61);
    count_ *= along;
    cells_.count[a] = static_cast<std::int64_t>(along);
    cells_.inverse[a] = along / length;
    halves_.count[a] = 2 * cells_.count[a];
    halves_.inverse[a] = 2 * cells_.inverse[a];
    half_edge[a] = length / (2 * along);
  }
  around_ = offsets_within(reach, half_edge, halves_.count);
}

// Start of a coverage test: no sub-cell of the block is marked.
void Cover::Cells::clear() {
  marked.assign(static_cast<std::size_t>(count[0] * count[1] * count[2]), 0);
  unmarked = marked.size();
}

// Marks the sub-cell of the block that holds a parcel, in the coverage test.
void Cover::Cells::mark(const Site& s) {
  const double x[3] = {s.x, s.y, s.z};
  std::int64_t at = 0;
  for (int a = 0; a < 3; ++a) {
    const auto cell = static_cast<std::int64_t>((x[a] - lower[a]) * inverse[a]);
    at = at * count[a] + std::clamp<std::int64_t>(cell, 0, count[a] - 1);
  }
  auto& here = marked[static_cast<std::size_t>(at)];
  unmarked -= static_cast<std::size_t>(here == 0);
  here = 1;
}

// Coverage test of the far search: a parcel in each sub-cell, or in or around each sub-cell of half the edge. A block
// that is not full takes part in the far search.
bool Cover::is_full(const nearest::PointSet& points) {
  if (always_) return true;
  if (!(count_ <= static_cast<double>(points.size()))) return false;
  // Where more than a quarter are empty, the second test would most likely fail: it is left out, and the block counts
  // as not full, which is always safe.
  return is_filled(points) || (cells_.unmarked <= cells_.marked.size() / 4 && is_surrounded(points));
}

/// First of the two coverage tests by which the far search of a merge step counts this rank's block as full: returns true if each
/// sub-cell of the block holds one of its parcels.
bool Cover::is_filled(const nearest::PointSet& points) {
  const std::size_t n = points.size();
  cells_.clear();
  // Parcels are mostly in the order of cells: jumps by the golden section of n reach every sub-cell soon, and, the
  // stride being coprime to n, no parcel twice. A few jumps in vain cost less than reading every parcel where all
  // sub-cells are full.
  const std::size_t jumps = std::min(n, 32 * cells_.unmarked);
  std::size_t stride = static_cast<std::size_t>(0.6180339887498949 * static_cast<double>(n)) | 1U;
  while (std::gcd(stride, n) != 1) stride += 2;
  stride %= n;
  for (std::size_t k = 0, i = 0; k < jumps && cells_.unmarked > 0; ++k) {
    cells_.mark(points.site(i));
    i += stride;
    if (i >= n) i -= n;
  }
  for (std::size_t i = 0; i < n && cells_.unmarked > 0 && jumps < n; ++i) cells_.mark(points.site(i));
  return cells_.unmarked == 0;
}

/// Second coverage test of a full block: returns true if each sub-cell of half the edge has, in or around it, one of this
/// rank's parcels within the reach of all its points.
bool Cover::is_surrounded(const nearest::PointSet& points) {
  halves_.clear();
  for (std::size_t i = 0; i < points.size(); ++i) halves_.mark(points.site(i));
  const auto& count = halves_.count;
  const auto is_marked = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return x >= 0 && y >= 0 && z >= 0 && x < count[0] && y < count[1] && z < count[2] &&
           halves_.marked[static_cast<std::size_t>((x * count[1] + y) * count[2] + z)] != 0;
  };
  for (std::int64_t x = 0; x < count[0]; ++x)
    for (std::int64_t y = 0; y < count[1]; ++y)
      for (std::int64_t z = 0; z < count[2]; ++z)
        if (std::none_of(around_.begin(), around_.end(),
                         [&](const auto& o) { return is_marked(x + o[0], y + o[1], z + o[2]); }))
          return false;
  return true;
}

}  // namespace merganser::cluster
