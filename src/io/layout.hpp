#pragma once
/// Partition of a file's parcels into consecutive runs, one per rank, and the chunk lengths and size of the file. All
/// counts are 64-bit.
#include <cstdint>
#include <span>
#include <vector>

namespace merganser::io {

/// Partition of the parcels of a file into consecutive runs, one per rank: rank r reads or writes parcels first[r] to
/// first[r + 1] - 1.
struct Layout {
  std::vector<std::int64_t> first;  ///< first parcel of each rank, from 0, and the total at the end

  /// Returns the number of parcels in the file, those of all ranks.
  [[nodiscard]] std::int64_t total() const { return first.back(); }
  /// Returns the number of parcels that one rank reads from the file or writes to it.
  [[nodiscard]] std::int64_t count(int rank) const {
    return first[static_cast<std::size_t>(rank) + 1] - first[static_cast<std::size_t>(rank)];
  }
  /// Returns the greatest number of parcels that any rank reads from the file or writes to it.
  [[nodiscard]] std::int64_t largest() const;
  /// Returns true if 1-based positions of parcels fit EPIC's 32-bit variable start_index; else the file holds 64-bit ones.
  [[nodiscard]] bool fits_int() const { return total() < 0x7fffffff; }
};

/// Divides the `total` parcels of a file into runs, one per rank, whose lengths differ by at most one, longer ones first.
[[nodiscard]] Layout equal_slices(std::int64_t total, int ranks);
/// Returns the layout of a parcel file in which rank r holds counts[r] parcels: the exclusive prefix sum of the counts.
/// @throws InputError if a count is negative or the sum does not fit into 63 bits
[[nodiscard]] Layout layout_from_counts(std::span<const std::int64_t> counts);

/// Returns the length, in parcels, of the NetCDF chunks of a parcel file's variable, at most `total` and at least 1.
/// @param wanted  that of the file which this one is made from, clamped to 2^10 .. 2^20; 0 (unknown): 2^18, which is 2 MiB
///                per variable
[[nodiscard]] std::int64_t chunk_length(std::int64_t total, std::int64_t wanted = 0);

/// Estimates the size of a parcel file in bytes, from above, for values of up to 8 bytes: whole chunks, their index, header.
/// @param chunks  chunk length of each variable, in parcels
/// @param header  bytes of everything that is not chunked
[[nodiscard]] std::int64_t file_bytes(const Layout& layout, std::span<const std::int64_t> chunks, std::int64_t header);

}  // namespace merganser::io
