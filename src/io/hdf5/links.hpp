#pragma once
/// Reads the links of an HDF5 group in dense storage: a fractal heap that holds the link messages, indexed by version 2
/// B-trees. HDF5 stores groups of more than a few links so.
#include <cstdint>
#include <functional>
#include <vector>

#include "src/io/hdf5/bytes.hpp"

namespace merganser::io::hdf5 {

/// Widths of the address and length fields of an HDF5 file, in bytes, as its superblock states them.
struct Widths {
  std::size_t address = 8;
  std::size_t length = 8;
};

/// Fractal heap of HDF5, which stores the link messages of a group: translates heap ids to addresses in the file through its
/// doubling table.
class FractalHeap {
 public:
  /// Reads the header of an HDF5 fractal heap. @param header  its address in the file
  /// @throws InputError for a damaged heap, or one with filters
  FractalHeap(Bytes& file, Widths widths, std::uint64_t header);
  /// Reads the link message that an HDF5 heap id refers to. The result is valid until the next read of the file.
  /// @throws InputError unless it is a managed object, as those of links are
  [[nodiscard]] Cursor read_object(Cursor id);

 private:
  /// Returns the offset in the HDF5 fractal heap at which a row of its doubling table begins.
  [[nodiscard]] std::uint64_t row_offset(std::uint64_t row) const;
  /// Returns the bytes of each block in a row of the HDF5 heap's doubling table: rows 0 and 1 have the first size, each further
  /// row twice that of the one before.
  [[nodiscard]] std::uint64_t row_block(std::uint64_t row) const;
  /// Returns the address in the file of the byte at offset `offset` of an HDF5 heap's indirect block with `rows` rows.
  [[nodiscard]] std::uint64_t find_address(std::uint64_t block, std::uint64_t rows, std::uint64_t offset);

  Bytes& file_;
  Widths widths_;
  std::size_t offset_bytes_ = 0;
  std::size_t length_bytes_ = 0;
  std::uint64_t table_width_ = 0;
  std::uint64_t first_block_ = 0;
  std::uint64_t largest_direct_ = 0;
  std::uint64_t root_ = kNowhere;
  std::uint64_t root_rows_ = 0;
};

/// Calls `use` with the heap id of every record of a version 2 B-tree that indexes links by name or by order of creation.
/// @param header  address of the tree
/// @throws InputError for a damaged tree, or one of another kind
void for_each_record(Bytes& file, Widths widths, std::uint64_t header, const std::function<void(Cursor)>& use);

}  // namespace merganser::io::hdf5
