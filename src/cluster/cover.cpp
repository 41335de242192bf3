#include "src/cluster/cover.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace merganser::cluster {

Cover::Cover(const Decomposition& decomposition, int rank, double sight) : always_(std::isinf(sight)) {
  if (always_) return;
  const Box& box = decomposition.grid().box;
  const auto block = decomposition.block(rank);
  lower_ = block.lower;
  double slack = 0;
  for (int a = 0; a < 3; ++a) slack = std::max(slack, 1e-11 * (box.extent[a] + std::fabs(box.lower[a])));
  const double edge = (sight / 2 * (1 - 1e-6) - slack) / std::sqrt(3.0);
  count_ = edge > 0 ? 1 : std::numeric_limits<double>::infinity();
  if (!(edge > 0)) return;
  for (int a = 0; a < 3; ++a) {
    const double along = std::ceil((block.upper[a] - block.lower[a]) / edge);
    count_ *= std::max(along, 1.0);
    cells_[a] = static_cast<std::int64_t>(std::clamp(along, 1.0, 0x1p62));
    inverse_[a] = static_cast<double>(cells_[a]) / (block.upper[a] - block.lower[a]);
  }
}

void Cover::mark(const Site& s) {
  const double x[3] = {s.x, s.y, s.z};
  std::size_t at = 0;
  for (int a = 0; a < 3; ++a) {
    const auto cell = static_cast<std::int64_t>((x[a] - lower_[a]) * inverse_[a]);
    at = at * static_cast<std::size_t>(cells_[a]) +
         static_cast<std::size_t>(std::clamp<std::int64_t>(cell, 0, cells_[a] - 1));
  }
  unmarked_ -= static_cast<std::size_t>(marked_[at] == 0);
  marked_[at] = 1;
}

bool Cover::is_full(const Site* sites, std::size_t n) {
  if (always_) return true;
  if (!(count_ <= static_cast<double>(n))) return false;
  marked_.assign(static_cast<std::size_t>(count_), 0);
  unmarked_ = marked_.size();
  // Parcels are mostly in the order of cells: far jumps come by every sub-cell soon. A few jumps that miss one cost less
  // than looking at every parcel where all are full.
  const std::size_t jumps = std::min(n, 32 * unmarked_);
  std::size_t stride = static_cast<std::size_t>(0.6180339887498949 * static_cast<double>(n)) | 1U;
  while (std::gcd(stride, n) != 1) stride += 2;
  stride %= n;
  for (std::size_t k = 0, i = 0; k < jumps && unmarked_ > 0; ++k) {
    mark(sites[i]);
    i += stride;
    if (i >= n) i -= n;
  }
  for (std::size_t i = 0; i < n && unmarked_ > 0 && jumps < n; ++i) mark(sites[i]);
  return unmarked_ == 0;
}

}  // namespace merganser::cluster
