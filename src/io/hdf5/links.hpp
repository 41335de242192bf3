#pragma once
/// The links of a group of an HDF5 file that keeps them in a fractal heap, as groups of more than a few links do.
#include <cstdint>
#include <functional>
#include <vector>

#include "src/io/hdf5/bytes.hpp"

namespace merganser::io::hdf5 {

/// Bytes of addresses and of lengths in a file.
struct Widths {
  std::size_t address = 8;
  std::size_t length = 8;
};

/// Where the objects of a heap lie.
class FractalHeap {
 public:
  /// @param header  its address
  FractalHeap(Bytes& file, Widths widths, std::uint64_t header);
  /// Reads the object of an id. @throws InputError for one that a link does not have
  [[nodiscard]] Cursor object(Cursor id);

 private:
  [[nodiscard]] std::uint64_t row_offset(std::uint64_t row) const;
  [[nodiscard]] std::uint64_t row_block(std::uint64_t row) const;
  /// Address of what stands at an offset of an indirect block.
  [[nodiscard]] std::uint64_t find(std::uint64_t block, std::uint64_t rows, std::uint64_t offset);

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

/// Calls `use` with the heap's id in every record of a B-tree, version 2, of links by name or by order of creation.
void each_record(Bytes& file, Widths widths, std::uint64_t header, const std::function<void(Cursor)>& use);

}  // namespace merganser::io::hdf5
