// Splitting of long or large parcels: principal axes by Jacobi rotations, children along the longest axis, walls that reflect.
#include "merganser/parcels/split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"

namespace merganser {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kAhead = 24;  // parcels ahead of the current one whose shapes are prefetched

/// Applies one Jacobi rotation to a symmetric 3x3 matrix that makes m[p][q] vanish; the rows of v follow. The relative threshold
/// keeps small eigenvalues of a positive definite matrix as accurate as large ones. @return whether an element had to be rotated
bool jacobi_rotate(double (&m)[3][3], double (&v)[3][3], int p, int q) {
  const double off = m[p][q];
  if (off * off <= 0.0625 * kEpsilon * kEpsilon * std::fabs(m[p][p] * m[q][q])) return false;
  // t is the tangent of the smaller of the two rotation angles that make the element vanish.
  const double theta = (m[q][q] - m[p][p]) / (2 * off);
  const double t = (theta < 0 ? -1.0 : 1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1);
  const double s = t * c;
  const int r = 3 - p - q;
  const double rp = m[r][p];
  const double rq = m[r][q];
  m[p][p] -= t * off;
  m[q][q] += t * off;
  m[p][q] = m[q][p] = 0;
  m[r][p] = m[p][r] = c * rp - s * rq;
  m[r][q] = m[q][r] = s * rp + c * rq;
  for (int i = 0; i < 3; ++i) {
    const double vp = v[p][i];
    const double vq = v[q][i];
    v[p][i] = c * vp - s * vq;
    v[q][i] = s * vp + c * vq;
  }
  return true;
}

/// Returns whether the ellipsoid of a parcel is certainly too round and too small to be split, without computing its axes. Let T =
/// a^2 + b^2 + c^2 and D = (abc)^2. For p = (a/c)^2 and any b, T^3 / D >= 27/4 (p + 1)^2 / p (equal where b^2 is the
/// mean of the others'), which grows with p: a T^3 / D below that of the limit has a/c below it. And a^2 <= T / 3 + 2
/// sqrt(J / 3), where 2 J is the sum of the squares of the elements of B - T / 3.
bool is_certainly_short(const double* b5, double volume, double aspect, double longest) {
  constexpr double kMargin = 1 - 1e-9;
  const double last = b33(b5, volume);
  const double trace = b5[0] + b5[3] + last;
  const double abc = detail::semi_axes_product(volume);
  const double p = aspect * aspect;
  if (!(trace * trace * trace * p < kMargin * 6.75 * (p + 1) * (p + 1) * (abc * abc))) return false;
  const double most = kMargin * longest * longest;
  if (trace < most) return true;
  const double mean = trace / 3;
  const double x = b5[0] - mean, y = b5[3] - mean, z = last - mean;
  const double j = 0.5 * (x * x + y * y + z * z) + (b5[1] * b5[1] + b5[2] * b5[2] + b5[4] * b5[4]);
  return mean + 2 * std::sqrt(j / 3) < most;
}

/// Offsets in a payload row of the attributes of a parcel that split() changes.
struct SplitOffsets {
  std::size_t shape = 0;                                  ///< offset of B11
  std::vector<std::pair<std::size_t, std::size_t>> sums;  ///< offset and components of attributes that are halved
};

/// Returns the offsets in a payload row of the attributes that split() changes, for a schema. @throws UsageError without an
/// attribute of rule ellipsoid
SplitOffsets find_split_offsets(const Schema& schema) {
  SplitOffsets layout;
  std::size_t offset = 1;
  for (const Attribute& a : schema.attributes()) {
    if (a.rule == Rule::ellipsoid && layout.shape == 0) layout.shape = offset;
    if (is_conserved(a.rule) && a.rule != Rule::mean)
      layout.sums.emplace_back(offset, static_cast<std::size_t>(a.components));
    offset += static_cast<std::size_t>(a.components);
  }
  if (layout.shape == 0)
    throw UsageError("split of parcels without an attribute of rule ellipsoid; allowed: schemas that have one");
  return layout;
}

/// Moves a child of a split parcel into the box: periodic axes wrap, walls reflect the centre and the ellipsoid with it.
void move_into_box(const Box& box, Site& site, double* b5) {
  static constexpr std::array<std::array<int, 2>, 3> odd{{{1, 2}, {1, 4}, {2, 4}}};  // entries odd in x, y, z
  double* position[3] = {&site.x, &site.y, &site.z};
  for (int a = 0; a < 3; ++a) {
    double& x = *position[a];
    const double top = box.lower[a] + box.extent[a];
    if (!box.periodic[a] && (x < box.lower[a] || x > top)) {
      x = x < box.lower[a] ? 2 * box.lower[a] - x : 2 * top - x;
      for (const int entry : odd[a]) b5[entry] = -b5[entry];
    }
    x = detail::wrap_or_clamp(box, a, x);
  }
}

/// Splits parcel i along its longest axis: replaces it by one child of half its volume and appends the other.
void split_one(Parcels& parcels, std::size_t i, const Axes& axes, const SplitOffsets& layout, const Box& box,
               std::int64_t new_id) {
  double* row = parcels.row(i);
  const double* v = axes.vector[0];
  const double cut = 0.75 * axes.square[0];
  double* b5 = row + layout.shape;
  b5[0] -= cut * v[0] * v[0];
  b5[1] -= cut * v[0] * v[1];
  b5[2] -= cut * v[0] * v[2];
  b5[3] -= cut * v[1] * v[1];
  b5[4] -= cut * v[1] * v[2];
  for (const auto& [offset, components] : layout.sums)
    for (std::size_t c = 0; c < components; ++c) row[offset + c] *= 0.5;

  const double reach = 0.5 * std::sqrt(0.6) * std::sqrt(axes.square[0]);
  const Site parent = parcels.site(i);
  const Site plus{parent.x + reach * v[0], parent.y + reach * v[1], parent.z + reach * v[2], 0.5 * parent.volume};
  const Site minus{parent.x - reach * v[0], parent.y - reach * v[1], parent.z - reach * v[2], 0.5 * parent.volume};
  const std::size_t j = parcels.size();
  parcels.resize(j + 1);
  std::copy_n(parcels.row(i), parcels.schema().width(), parcels.row(j));
  parcels.set_id(j, new_id);
  parcels.site(i) = plus;
  parcels.site(j) = minus;
  move_into_box(box, parcels.site(i), parcels.row(i) + layout.shape);
  move_into_box(box, parcels.site(j), parcels.row(j) + layout.shape);
}

}  // namespace

// Computes the principal axes of a parcel's ellipsoid by cyclic Jacobi rotations, longest axis first.
Axes principal_axes(const double* b5, double volume) {
  double m[3][3] = {{b5[0], b5[1], b5[2]}, {b5[1], b5[3], b5[4]}, {b5[2], b5[4], b33(b5, volume)}};
  double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  // Cyclic Jacobi converges quadratically, so 30 sweeps are never reached; the limit ends the loop on NaN.
  for (int sweep = 0; sweep < 30; ++sweep) {
    bool turned = jacobi_rotate(m, v, 0, 1);
    turned = jacobi_rotate(m, v, 0, 2) || turned;
    turned = jacobi_rotate(m, v, 1, 2) || turned;
    if (!turned) break;
  }
  std::array<int, 3> order{0, 1, 2};
  std::sort(order.begin(), order.end(), [&](int i, int j) { return m[i][i] != m[j][j] ? m[i][i] > m[j][j] : i < j; });
  Axes result;
  for (int k = 0; k < 3; ++k) {
    result.square[k] = m[order[k]][order[k]];
    for (int i = 0; i < 3; ++i) result.vector[k][i] = v[order[k]][i];
  }
  return result;
}

// Splits one parcel along its longest axis.
void split_parcel(Parcels& parcels, std::size_t i, const Box& box, std::int64_t new_id) {
  const SplitOffsets layout = find_split_offsets(parcels.schema());
  split_one(parcels, i, principal_axes(parcels.row(i) + layout.shape, parcels.site(i).volume), layout, box, new_id);
}

// Splits the parcels of this rank whose longest axis or aspect ratio exceeds its limit; a cheap bound spares most their axes.
std::int64_t split(Parcels& parcels, const Grid& grid, const SplitOptions& options) {
  if (!(options.max_aspect_ratio > 1))
    throw UsageError("max_aspect_ratio is " + std::to_string(options.max_aspect_ratio) + "; allowed: above 1");
  const SplitOffsets layout = find_split_offsets(parcels.schema());
  const double longest =
      options.max_semi_axis > 0 ? options.max_semi_axis : cube_root(detail::semi_axes_product(grid.cell_volume()));
  const std::size_t before = parcels.size();
  std::int64_t next = options.next_id;
  if (next == 0 && !options.consecutive_ids) {
    for (std::size_t i = 0; i < before; ++i) next = std::max(next, parcels.id(i) + 1);
  }
  std::int64_t splits = 0;
  for (std::size_t i = 0; i < before; ++i) {
    // Children appended during the loop lie beyond `before`: none is split again.
    const double* b5 = parcels.row(i) + layout.shape;
    const double volume = parcels.site(i).volume;
    __builtin_prefetch(parcels.row(std::min(i + kAhead, before - 1)) + layout.shape);
    if (is_certainly_short(b5, volume, options.max_aspect_ratio, longest)) continue;
    const Axes shape = principal_axes(b5, volume);
    const double a = std::sqrt(shape.square[0]);
    const double c = std::sqrt(std::max(shape.square[2], 0.0));
    if (a < longest && a < options.max_aspect_ratio * c) continue;
    split_one(parcels, i, shape, layout, grid.box, options.consecutive_ids ? parcels.id(i) + 1 : next);
    next += options.id_step;
    ++splits;
  }
  return splits;
}

}  // namespace merganser
