// Links of HDF5 groups in dense storage: fractal heap and version 2 B-tree, read without the HDF5 library.
#include "src/io/hdf5/links.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace merganser::io::hdf5 {

// Header of the HDF5 fractal heap that stores the links of a group: dimensions of its doubling table, address of its root.
FractalHeap::FractalHeap(Bytes& file, Widths widths, std::uint64_t header) : file_(file), widths_(widths) {
  const auto [address, length] = widths;
  Cursor c = file.at(header, 26 + 3 * address + 12 * length, "FRHP");
  c.skip(3);  // version, length of ids
  const std::uint64_t filters = c.number(2);
  c.skip(1);  // flags
  const std::uint64_t largest_managed = c.number(4);
  c.skip(length + address + length + address + 8 * length);  // huge objects, free space, counts
  table_width_ = c.number(2);
  first_block_ = c.number(length);
  largest_direct_ = c.number(length);
  const std::uint64_t bits = c.number(2);
  c.skip(2);  // rows at first
  root_ = c.address(address);
  root_rows_ = c.number(2);
  const bool sane = std::has_single_bit(table_width_) && std::has_single_bit(first_block_) &&
                    std::has_single_bit(largest_direct_) && first_block_ <= largest_direct_ &&
                    largest_direct_ <= 0x1p32 && bits <= 64 &&
                    std::bit_width(table_width_) + std::bit_width(first_block_) + root_rows_ < 62;  // offsets fit
  if (filters != 0 || !sane) throw_damaged(file.path(), "a heap of links of a kind that NetCDF does not write");
  offset_bytes_ = (bits + 7) / 8;
  length_bytes_ = std::min<std::size_t>((static_cast<std::size_t>(std::bit_width(largest_direct_)) + 6) / 8,
                                        encoded_width(largest_managed));
}

std::uint64_t FractalHeap::row_block(std::uint64_t row) const { return first_block_ << (row == 0 ? 0 : row - 1); }

std::uint64_t FractalHeap::row_offset(std::uint64_t row) const {
  return row == 0 ? 0 : table_width_ * first_block_ << (row - 1);
}

// Descent of an HDF5 fractal heap's doubling table to the direct block that holds an offset of the heap.
std::uint64_t FractalHeap::find_address(std::uint64_t block, std::uint64_t rows, std::uint64_t offset) {
  // An indirect block is a table of children: rows of table_width_ equal blocks. Children up to largest_direct_ hold data,
  // greater ones are indirect blocks again. The limit of depth ends the descent in a damaged file that refers to itself.
  for (int depth = 0; depth < 64; ++depth) {
    std::uint64_t row = 0;
    while (row + 1 < rows && row_offset(row + 1) <= offset) ++row;
    const std::uint64_t size = row_block(row);
    const std::uint64_t column = (offset - row_offset(row)) / size;
    if (rows == 0 || column >= table_width_) break;
    const std::uint64_t entry = 5 + widths_.address + offset_bytes_ + (row * table_width_ + column) * widths_.address;
    static_cast<void>(file_.at(block, 4, "FHIB"));
    const std::uint64_t child = file_.at(block + entry, widths_.address).address(widths_.address);
    offset -= row_offset(row) + column * size;
    if (size <= largest_direct_) return child == kNowhere ? child : child + offset;
    block = child;
    rows = static_cast<std::uint64_t>(std::bit_width(size / (table_width_ * first_block_)));
  }
  throw_damaged(file_.path(), "a link outside of its heap");
}

// Link message of an HDF5 group, read from the fractal heap by its heap id (kind, offset, length).
Cursor FractalHeap::read_object(Cursor id) {
  const std::uint8_t kind = id.byte();
  if ((kind & 0x30U) != 0) throw_damaged(file_.path(), "a link that is too long");
  const std::uint64_t offset = id.number(offset_bytes_);
  const std::uint64_t length = id.number(length_bytes_);
  const std::uint64_t at =
      root_rows_ == 0 && root_ != kNowhere ? root_ + offset : find_address(root_, root_rows_, offset);
  return file_.at(at, length);
}

namespace {

constexpr std::size_t kNodeExtra = 10;  // signature, version, type, checksum

/// Traversal of the version 2 B-tree that indexes the links of an HDF5 group by name (type 5) or order of creation (type 6).
class LinkIndex {
 public:
  /// Reads the header of the B-tree ("BTHD") and derives the widths of the counters in its nodes. @throws InputError for a tree
  /// of another kind
  LinkIndex(Bytes& file, Widths widths, std::uint64_t header) : file_(file), widths_(widths) {
    Cursor c = file.at(header, 22 + widths.address + widths.length, "BTHD");
    c.skip(1);
    type_ = c.byte();
    node_ = c.number(4);
    record_ = c.number(2);
    depth_ = c.number(2);
    c.skip(2);
    root_ = c.address(widths.address);
    records_ = c.number(2);
    key_ = type_ == 5 ? 4 : 8;
    if ((type_ != 5 && type_ != 6) || record_ <= key_ || record_ > 64 || node_ <= kNodeExtra + record_ || depth_ > 8)
      throw_damaged(file.path(), "an index of links of a kind that NetCDF does not write");
    // The width of the counters in a node follows from the greatest number of records that a child, or the tree below it,
    // can hold. The format does not store it.
    std::uint64_t most = (node_ - kNodeExtra) / record_;
    count_bytes_ = encoded_width(most);
    for (std::uint64_t level = 1, all = most; level <= depth_; ++level) {
      const std::size_t pointer = pointer_bytes(level);
      if (node_ <= kNodeExtra + pointer) throw_damaged(file.path(), "an index of links of a wrong size");
      most = (node_ - kNodeExtra - pointer) / (record_ + pointer);
      all = (most + 1) * all + most;
      total_bytes_[level] = encoded_width(all);
    }
  }

  /// Calls `use` with the heap id of every record of the HDF5 link index, one record per link.
  void visit_all(const std::function<void(Cursor)>& use) {
    if (root_ != kNowhere) visit_node(root_, records_, depth_, use);
  }

 private:
  /// Child of an inner node of the HDF5 link index (B-tree): its address in the file and its number of records.
  struct Child {
    std::uint64_t at;
    std::uint64_t records;
  };
  /// Returns the bytes of a pointer to a child in a B-tree node of this level: address, number of records and, above level 1,
  /// number of records below the child.
  [[nodiscard]] std::size_t pointer_bytes(std::uint64_t level) const {
    return widths_.address + count_bytes_ + (level > 1 ? total_bytes_[level - 1] : 0);
  }

  /// Calls `use` with the heap ids of a node of the HDF5 link index (level 0: a leaf) and of all nodes below it.
  void visit_node(std::uint64_t at, std::uint64_t records, std::uint64_t level,
                  const std::function<void(Cursor)>& use) {
    // A damaged file may contain a cycle. depth_ bounds the recursion, this bound the work.
    if (++nodes_ > (1U << 20)) throw_damaged(file_.path(), "an index of links without end");
    std::vector<std::byte> ids;  // copies: `use` may read the file, which overwrites the block
    std::vector<Child> children;
    {
      Cursor c = file_.at(at, node_, level == 0 ? "BTLF" : "BTIN");
      c.skip(2);
      for (std::uint64_t i = 0; i < records; ++i) {
        c.skip(key_);
        const std::string_view id = c.text(record_ - key_);
        const auto* const from = reinterpret_cast<const std::byte*>(id.data());
        ids.insert(ids.end(), from, from + id.size());
      }
      for (std::uint64_t i = 0; level > 0 && i <= records; ++i) {
        children.push_back({c.address(widths_.address), c.number(count_bytes_)});
        if (level > 1) c.skip(total_bytes_[level - 1]);
      }
    }
    Cursor all(file_.path(), ids);
    for (std::uint64_t i = 0; i < records; ++i) use(all.part(record_ - key_));
    for (const Child& child : children) visit_node(child.at, child.records, level - 1, use);
  }

  Bytes& file_;
  Widths widths_;
  std::uint8_t type_ = 0;
  std::uint64_t node_ = 0, record_ = 0, depth_ = 0, root_ = kNowhere, records_ = 0, key_ = 0;
  std::size_t count_bytes_ = 0;
  std::array<std::size_t, 10> total_bytes_{};
  unsigned nodes_ = 0;
};

}  // namespace

void for_each_record(Bytes& file, Widths widths, std::uint64_t header, const std::function<void(Cursor)>& use) {
  LinkIndex(file, widths, header).visit_all(use);
}

}  // namespace merganser::io::hdf5
