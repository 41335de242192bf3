#pragma once
/// Partition of a file's parcels into consecutive runs, one per rank, and the chunk lengths and size of the file. All
/// counts are 64-bit.
#include <cstdint>
#include <span>
#include <vector>

namespace merganser::io {

/// Consecutive runs of parcels in a file, one per rank.
struct Layout {
  std::vector<std::int64_t> first;  ///< first parcel of each rank, from 0, and the total at the end

  /// Returns the number of parcels of all ranks.
  [[nodiscard]] std::int64_t total() const { return first.back(); }
  /// Returns the number of parcels of one rank.
  [[nodiscard]] std::int64_t count(int rank) const {
    return first[static_cast<std::size_t>(rank) + 1] - first[static_cast<std::size_t>(rank)];
  }
  /// Returns the number of parcels of the rank that has most.
  [[nodiscard]] std::int64_t largest() const;
  /// Returns true if 1-based positions fit EPIC's 32-bit start_index; else the file holds 64-bit ones.
  [[nodiscard]] bool fits_int() const { return total() < 0x7fffffff; }
};

/// Divides `total` parcels into runs whose lengths differ by at most one, longer ones first.
[[nodiscard]] Layout equal_slices(std::int64_t total, int ranks);
/// Returns the layout in which rank r holds counts[r] parcels: the exclusive prefix sum of the counts.
/// @throws InputError if a count is negative or the sum does not fit into 63 bits
[[nodiscard]] Layout layout_from_counts(std::span<const std::int64_t> counts);

/// Returns the number of parcels of a NetCDF chunk, at most `total` and at least 1.
/// @param wanted  that of the file which this one is made from, clamped to 2^10 .. 2^20; 0 (unknown): 2^18, which is 2 MiB
///                per variable
[[nodiscard]] std::int64_t chunk_length(std::int64_t total, std::int64_t wanted = 0);

/// Estimates the size of a file in bytes, from above, for values of up to 8 bytes: whole chunks, their index, the header.
/// @param chunks  chunk length of each variable, in parcels
/// @param header  bytes of everything that is not chunked
[[nodiscard]] std::int64_t file_bytes(const Layout& layout, std::span<const std::int64_t> chunks, std::int64_t header);

}  // namespace merganser::io
