// Partition of a parcel file into one run of parcels per rank; lengths of its chunks, and an upper bound of its size.
#include "src/io/layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::io {

std::int64_t Layout::largest() const {
  std::int64_t most = 0;
  for (std::size_t r = 0; r + 1 < first.size(); ++r) most = std::max(most, first[r + 1] - first[r]);
  return most;
}

Layout equal_slices(std::int64_t total, int ranks) {
  Layout layout{{0}};
  for (int r = 0; r < ranks; ++r)
    layout.first.push_back(layout.first.back() + total / ranks + (r < total % ranks ? 1 : 0));
  return layout;
}

// Runs of a parcel file that is written: prefix sums of the ranks' numbers of parcels, checked for overflow.
Layout layout_from_counts(std::span<const std::int64_t> counts) {
  Layout layout{{0}};
  for (const std::int64_t count : counts) {
    if (count < 0 || count > std::numeric_limits<std::int64_t>::max() - layout.total())
      throw InputError("the number of parcels, " + std::to_string(layout.total()) + " and " + std::to_string(count) +
                       " more, does not fit into 63 bits");
    layout.first.push_back(layout.total() + count);
  }
  return layout;
}

// Chunk length, in parcels, of the variables of a parcel file that is written.
std::int64_t chunk_length(std::int64_t total, std::int64_t wanted) {
  constexpr std::int64_t kMin = 1024;                   // shorter ones cost more than they hold
  constexpr std::int64_t kMax = std::int64_t{1} << 20;  // longer ones do not fit into the cache of the library
  const std::int64_t length = wanted > 0 ? std::clamp(wanted, kMin, kMax) : std::int64_t{1} << 18;
  return std::clamp<std::int64_t>(total, 1, length);
}

// Upper bound of a parcel file's size in bytes, for the check of disk space.
std::int64_t file_bytes(const Layout& layout, std::span<const std::int64_t> chunks, std::int64_t header) {
  // In doubles, whose sums cannot overflow: the result saturates at 2^62. 128 bytes are for a chunk's entry in the index of
  // HDF5, 40 for a rank's in the variables of boxes, 2^18 for the structures of HDF5 itself.
  double bytes = static_cast<double>(header) + 40 * static_cast<double>(layout.first.size()) + 0x1p18;
  for (const std::int64_t chunk : chunks) {
    const double count = std::ceil(static_cast<double>(layout.total()) / static_cast<double>(chunk));
    bytes += count * (static_cast<double>(8 * chunk) + 128);
  }
  return static_cast<std::int64_t>(std::min(bytes, 0x1p62));
}

}  // namespace merganser::io
