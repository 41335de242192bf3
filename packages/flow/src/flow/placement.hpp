#pragma once
/// Placement of a rank's parcels in its cells: order by cell and id, and the four points of each; the cell list of the flow.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/flow/nodes.hpp"
#include "merganser/flow/transfer.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/flow/kernels.hpp"

namespace merganser::flow {

/// Cell list of a rank's flow parcels: their order by cell, and by id within one, with the four points of each. Order and points
/// are computed on demand.
class Placement {
 public:
  /// Creates the cell list of a rank's block, without parcels.
  explicit Placement(const NodeLayout& layout);
  /// Finds the grid cell of every parcel, and sorts them by cell. @throws InputError for a parcel that is not in the block,
  /// naming its id
  void locate(const Parcels& parcels, Shapes shapes = Shapes::changed, IdOrder ids = IdOrder::any);
  /// Sorts the parcels in memory by cell and id, renumbers them and stores the offsets of their points in their rows; after
  /// locate().
  void arrange(Parcels& parcels);
  /// Assigns the parcels the ids of flow::renumber(), by cell and position in the cell; after locate().
  void renumber(Parcels& parcels);
  /// Computes order and points of the parcels at the positions before `end` that do not have them yet.
  /// @throws InputError for a parcel whose points are not near enough, naming its id
  void prepare(const Parcels& parcels, std::size_t end);
  /// Computes order and points of a few parcels from position `begin` on, as prepare(), if they do not have them yet. Loops that
  /// visit the parcels for the first time use them piece by piece, so that a parcel is read from memory once.
  /// @param keep  false: points that were not there need not be stored for other loops, which saves writing them to memory
  /// @return range from `begin` on, up to `end` or less; its points are there until the next call
  /// @throws InputError for a parcel whose points are not near enough, naming its id
  [[nodiscard]] ParcelRange piece(const Parcels& parcels, std::size_t begin, std::size_t end, bool keep);
  /// Computes the order of all parcels by cell and id, without points.
  void prepare_order(const Parcels& parcels);

  /// Returns the place of the rank's block of cells in the grid, as doubles for the vectorised loops.
  [[nodiscard]] const Cells& cells() const noexcept { return cells_; }
  /// Returns the number of parcels located.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the index of a parcel by its position: by cell from locate() on, by id within a cell once that was computed.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const noexcept { return order_; }
  /// Returns the position, in the order of cells, of the first parcel of every cell of the rank, z fastest, and size() behind the
  /// last.
  [[nodiscard]] const std::vector<std::uint32_t>& first() const noexcept { return first_; }
  /// Returns the range of all located parcels, in the order of cells, with their points if prepare() computed them.
  [[nodiscard]] ParcelRange all() const noexcept { return {order_.data(), batches_.data(), 0, 0, size_, size_}; }

 private:
  void sort_ids(const Parcels& parcels, std::size_t end);
  [[nodiscard]] std::int64_t first_id(std::size_t cell) const;
  void find_offsets(std::size_t begin, std::size_t end);
  void find_chunk(const Parcels& parcels, std::size_t begin, Batch* to);
  void copy_chunk(const Parcels& parcels, std::size_t begin, std::size_t end);
  [[noreturn]] void throw_bad_position(const Parcels& parcels) const;
  [[noreturn]] void throw_bad_points(const Parcels& parcels, std::size_t place) const;

  NodeLayout layout_;
  Cells cells_;
  std::size_t size_ = 0;
  std::size_t ready_ = 0;           // places with points, whole chunks or all
  std::size_t piece_ = 0;           // position of the chunk whose points are in passing_; size_: none
  std::size_t sorted_cells_ = 0;    // cells in the order of ids
  std::vector<std::int32_t> cell_;  // of a parcel by index
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> order_;  // filled up to a whole batch
  std::vector<Batch, AlignedAllocator<Batch>> batches_;
  std::vector<Batch, AlignedAllocator<Batch>> passing_;  // points of one chunk that are not kept
  Shapes shapes_ = Shapes::changed;
  Parcels arranged_;  // room for arrange()
};

/// Returns the sums of volume, and of volume times vorticity, over this rank's parcels: in doubles within a cell, exact over cells,
/// so the same bits for any number of ranks. Requires the order by prepare_order().
VorticitySums vorticity_sums(const Parcels& parcels, const Placement& placement);

}  // namespace merganser::flow
