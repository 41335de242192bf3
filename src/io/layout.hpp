#pragma once
/// Where the parcels of each rank stand in a file. All counts are 64-bit.
#include <cstdint>
#include <span>
#include <vector>

namespace merganser::io {

/// Consecutive runs of parcels, one per rank.
struct Layout {
  std::vector<std::int64_t> first;  ///< per rank, and the total at the end

  [[nodiscard]] std::int64_t total() const { return first.back(); }
  [[nodiscard]] std::int64_t count(int rank) const {
    return first[static_cast<std::size_t>(rank) + 1] - first[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::int64_t largest() const;
  /// True if 1-based positions fit EPIC's 32-bit start_index; else the file holds 64-bit ones.
  [[nodiscard]] bool fits_int() const { return total() < 0x7fffffff; }
};

/// Equal slices of `total` parcels: the first ranks get one more.
[[nodiscard]] Layout equal_slices(std::int64_t total, int ranks);
/// One run per rank of the given size. @throws InputError if the sum does not fit into 63 bits
[[nodiscard]] Layout stacked(std::span<const std::int64_t> counts);

/// Parcels a NetCDF chunk holds: as many as in the file that it comes from, within what makes sense, or, where that says
/// nothing (0), the whole of a small file, else 2 MiB per variable.
[[nodiscard]] std::int64_t chunk_length(std::int64_t total, std::int64_t wanted = 0);

/// Bytes of a file whose variables have chunks of these lengths, of values of up to 8 bytes: whole chunks, what keeps
/// track of them, and the header.
[[nodiscard]] std::int64_t file_bytes(const Layout& layout, std::span<const std::int64_t> chunks, std::int64_t header);

}  // namespace merganser::io
