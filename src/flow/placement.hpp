#pragma once
/// Where the parcels of a rank are: in which cell, in which order, and where their points lie.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/flow/nodes.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/flow/kernels.hpp"

namespace merganser::flow {

/// Order of the parcels by cell, and by id within one, with the four points of each.
class Placement {
 public:
  explicit Placement(const NodeLayout& layout);
  /// @throws InputError for a parcel that is not in the block, or whose points are not near enough, naming its id
  void place(const Parcels& parcels);
  /// The order alone, without points. @throws InputError for a parcel that is not in the block
  void sort(const Parcels& parcels);

  [[nodiscard]] const Cells& cells() const noexcept { return cells_; }
  /// Parcels placed.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Index of a parcel by its place.
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
  void sort_by_cell(const Parcels& parcels);
  void sort_ids(const Parcels& parcels, std::size_t& cell, std::size_t end);
  void find_all_points(const Parcels& parcels);
  [[noreturn]] void refuse_position(const Parcels& parcels) const;
  [[noreturn]] void refuse_points(const Parcels& parcels, std::size_t place) const;

  NodeLayout layout_;
  Cells cells_;
  std::size_t size_ = 0;
  std::vector<std::int32_t> cell_;  // of a parcel by index
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> order_;  // filled up to a whole batch
  std::vector<Batch, CacheLines<Batch>> batches_;
};

}  // namespace merganser::flow
