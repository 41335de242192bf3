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

/// Bytes of a file with `columns` variables: whole chunks, what keeps track of them, and the header.
[[nodiscard]] std::int64_t file_bytes(const Layout& layout, std::size_t columns);

/// Parcels a NetCDF chunk holds: the whole of a small file, else 2 MiB per variable.
[[nodiscard]] std::int64_t chunk_length(std::int64_t total);

}  // namespace merganser::io
