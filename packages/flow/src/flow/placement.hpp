#pragma once
/// Where the parcels of a rank are: in which cell, in which order, and where their points lie.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/flow/nodes.hpp"
#include "merganser/flow/transfer.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/flow/kernels.hpp"

namespace merganser::flow {

/// Order of the parcels by cell, and by id within one, with the four points of each.
class Placement {
 public:
  explicit Placement(const NodeLayout& layout);
  /// Finds the cells. @throws InputError for a parcel that is not in the block, naming its id
  void place(const Parcels& parcels, Shapes shapes = Shapes::changed);
  /// Transfer::arrange(), of parcels that are placed.
  void arrange(Parcels& parcels);
  /// flow::renumber(), of parcels that are placed.
  void number(Parcels& parcels);
  /// Makes order and points ready for the places before `end`, where they are not: those who go through the parcels for the
  /// first time call it again and again, so that a parcel is read from memory once.
  /// @throws InputError for a parcel whose points are not near enough, naming its id
  void need(const Parcels& parcels, std::size_t end);
  /// Makes the order ready, without points.
  void need_order(const Parcels& parcels);

  [[nodiscard]] const Cells& cells() const noexcept { return cells_; }
  /// Parcels placed.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Index of a parcel by its place; by cell from place() on, by id within a cell when it was needed.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const noexcept { return order_; }
  /// First place of every cell of the rank, z fastest, and size() behind the last.
  [[nodiscard]] const std::vector<std::uint32_t>& first() const noexcept { return first_; }
  /// All parcels.
  [[nodiscard]] Run all() const noexcept { return {order_.data(), batches_.data(), 0, size_, size_}; }
  /// Those of cells begin .. end - 1.
  [[nodiscard]] Run in_cells(std::size_t begin, std::size_t end) const noexcept {
    return {order_.data(), batches_.data(), first_[begin], first_[end], size_};
  }

 private:
  void sort_ids(const Parcels& parcels, std::size_t end);
  [[nodiscard]] std::int64_t first_id(std::size_t cell) const;
  void find_offsets(std::size_t begin, std::size_t end);
  void copy_chunk(const Parcels& parcels, std::size_t begin, std::size_t end);
  [[noreturn]] void refuse_position(const Parcels& parcels) const;
  [[noreturn]] void refuse_points(const Parcels& parcels, std::size_t place) const;

  NodeLayout layout_;
  Cells cells_;
  std::size_t size_ = 0;
  std::size_t ready_ = 0;           // places with points, whole chunks or all
  std::size_t sorted_cells_ = 0;    // cells in the order of ids
  std::vector<std::int32_t> cell_;  // of a parcel by index
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> order_;  // filled up to a whole batch
  std::vector<Batch, CacheLines<Batch>> batches_;
  Shapes shapes_ = Shapes::changed;
  Parcels arranged_;  // room for arrange()
};

/// Transfer::vorticity_sums(), of parcels in the order that is ready.
VorticitySums vorticity_sums(const Parcels& parcels, const Placement& placement);

}  // namespace merganser::flow
