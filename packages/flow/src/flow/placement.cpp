// Placement of the flow's parcels in cells: counting sort by cell, order by id, points of ellipsoids chunk by chunk, and ids that
// do not depend on the number of ranks.
#include "src/flow/placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"

namespace merganser::flow {
namespace {

/// Returns corner, spacing and size of the grid, and the first cell and the number of cells of a layout's rank, as doubles.
Cells to_cells(const NodeLayout& layout) {
  Cells cells{};
  for (int a = 0; a < 3; ++a) {
    cells.lower[a] = layout.grid().box.lower[static_cast<std::size_t>(a)];
    cells.spacing[a] = layout.grid().spacing(a);
    cells.inverse[a] = 1 / cells.spacing[a];
    cells.all[a] = static_cast<double>(layout.grid().cells[static_cast<std::size_t>(a)]);
    cells.first[a] = static_cast<double>(layout.first(a));
    cells.own[a] = static_cast<double>(layout.cells(a));
  }
  return cells;
}

/// Formats the position of a parcel for errors.
std::string format_position(const Site& s) {
  return "(" + std::to_string(s.x) + ", " + std::to_string(s.y) + ", " + std::to_string(s.z) + ")";
}

constexpr std::size_t kChunk = kMaxBatches * kBatch;         // parcels that are processed together
constexpr std::int64_t kIdsPerCell = std::int64_t{1} << 20;  // ids per cell

}  // namespace

Placement::Placement(const NodeLayout& layout) : layout_(layout), cells_(to_cells(layout)), arranged_(schema()) {
  first_.resize(static_cast<std::size_t>(layout.cells(0) * layout.cells(1) * layout.cells(2)) + 1);
}

// Counting sort of the parcels by cell; ids within a cell are sorted on demand.
void Placement::locate(const Parcels& parcels, Shapes shapes, IdOrder ids) {
  shapes_ = shapes;
  size_ = parcels.size();
  ready_ = 0;
  piece_ = size_;
  // The counting sort keeps the order in the container, so cells of ascending ids need no sorting.
  sorted_cells_ = ids == IdOrder::ascending ? first_.size() - 1 : 0;
  cell_.resize(size_);
  order_.resize((size_ + kBatch - 1) / kBatch * kBatch);
  if (!find_cells(parcels.sites(), size_, cells_, cell_.data())) throw_bad_position(parcels);
  // Counting sort by cell: counts, first positions, then each parcel to the next free position of its cell.
  std::fill(first_.begin(), first_.end(), 0);
  for (std::size_t i = 0; i < size_; ++i) ++first_[static_cast<std::size_t>(cell_[i])];
  std::uint32_t sum = 0;
  for (std::uint32_t& f : first_) sum += std::exchange(f, sum);
  for (std::size_t i = 0; i < size_; ++i)
    order_[first_[static_cast<std::size_t>(cell_[i])]++] = static_cast<std::uint32_t>(i);
  // The scatter has advanced first_[c] to the beginning of cell c + 1; shift it back.
  for (std::size_t c = first_.size() - 1; c > 0; --c) first_[c] = first_[c - 1];
  first_[0] = 0;
}

/// Sorts the parcels of a cell by id, for the cells not yet sorted that begin before position `end` in the order of cells.
void Placement::sort_ids(const Parcels& parcels, std::size_t end) {
  const auto by_id = [&](std::uint32_t a, std::uint32_t b) { return parcels.id(a) < parcels.id(b); };
  for (; sorted_cells_ + 1 < first_.size() && first_[sorted_cells_] < end; ++sorted_cells_) {
    std::uint32_t* const from = order_.data() + first_[sorted_cells_];
    std::uint32_t* const to = order_.data() + first_[sorted_cells_ + 1];
    if (!std::is_sorted(from, to, by_id)) std::sort(from, to, by_id);
  }
}

// Order by id within cells for all parcels, with their rows prefetched chunk by chunk.
void Placement::prepare_order(const Parcels& parcels) {
  if (sorted_cells_ + 1 == first_.size()) return;
  for (std::size_t begin = ready_; begin < size_; begin += kChunk) {
    for (std::size_t n = begin + kChunk; n < std::min(begin + 2 * kChunk, size_); ++n)
      __builtin_prefetch(parcels.row(order_[n]), 1);
    sort_ids(parcels, begin + kChunk);
  }
}

/// Computes order and points of the parcels of the chunk that begins at position `begin`, in whole batches.
void Placement::find_chunk(const Parcels& parcels, std::size_t begin, Batch* to) {
  sort_ids(parcels, begin + kChunk);
  const std::size_t end = std::min(begin + kChunk, order_.size());
  for (std::size_t n = size_; n < end; ++n) order_[n] = order_[size_ - 1];  // the last batch is padded
  const std::size_t batches = (end - begin) / kBatch;
  const auto& points = shapes_ == Shapes::kept ? place_points : find_points;
  const std::size_t good =
      points(parcels.sites(), parcels.rows(), {order_.data() + begin, size_ - begin}, batches, cells_, to);
  if (good < batches) throw_bad_points(parcels, begin + good * kBatch);
}

// Points of parcels up to a position, just before they are first used.
void Placement::prepare(const Parcels& parcels, std::size_t end) {
  if (ready_ == 0) batches_.resize(order_.size() / kBatch);
  while (ready_ < std::min(end, size_)) {
    find_chunk(parcels, ready_, batches_.data() + ready_ / kBatch);
    ready_ = std::min(ready_ + kChunk, order_.size());
  }
}

ParcelRange Placement::piece(const Parcels& parcels, std::size_t begin, std::size_t end, bool keep) {
  const std::size_t chunk = begin / kChunk * kChunk;
  const std::size_t stop = std::min(end, chunk + kChunk);
  if (keep || begin < ready_) {
    prepare(parcels, stop);
    return {order_.data(), batches_.data(), 0, begin, stop, size_};
  }
  if (piece_ != chunk) {
    passing_.resize(kMaxBatches);
    piece_ = size_;  // the next line overwrites what is there, and may throw
    find_chunk(parcels, chunk, passing_.data());
    piece_ = chunk;
  }
  return {order_.data(), passing_.data(), chunk / kBatch, begin, stop, size_};
}

/// Returns the id that renumbering gives the first parcel of one of this rank's cells; those that follow have the even numbers
/// after it. @throws InputError if the cell holds more than 2^20 parcels
std::int64_t Placement::first_id(std::size_t cell) const {
  const auto own = static_cast<std::int64_t>(cell);
  const Grid& grid = layout_.grid();
  const std::int64_t x = layout_.first(0) + own / (layout_.cells(1) * layout_.cells(2));
  const std::int64_t y = layout_.first(1) + own / layout_.cells(2) % layout_.cells(1);
  const std::int64_t number = (x * grid.cells[1] + y) * grid.cells[2] + own % layout_.cells(2);
  const std::int64_t held = first_[cell + 1] - first_[cell];
  if (held > kIdsPerCell)
    throw InputError("cell " + std::to_string(number) + " holds " + std::to_string(held) + " parcels; allowed: up to " +
                     std::to_string(kIdsPerCell));
  return 2 * number * kIdsPerCell;
}

// Ids by cell and position in the cell, which do not depend on the number of ranks.
void Placement::renumber(Parcels& parcels) {
  prepare_order(parcels);
  for (std::size_t cell = 0; cell + 1 < first_.size(); ++cell) {
    std::int64_t id = first_id(cell);
    for (std::size_t n = first_[cell]; n < first_[cell + 1]; ++n, id += 2) parcels.set_id(order_[n], id);
  }
}

/// Copies the parcels of positions begin .. end - 1 into the arranged container, in the order of cells and ids, without registers.
void Placement::copy_chunk(const Parcels& parcels, std::size_t begin, std::size_t end) {
  for (std::size_t n = begin; n < end; ++n) {
    const std::size_t ahead = order_[std::min(n + 16, size_ - 1)];
    __builtin_prefetch(&parcels.site(ahead));
    __builtin_prefetch(parcels.row(ahead));
    __builtin_prefetch(parcels.row(ahead) + Row::registers - 1);
    arranged_.site(n) = parcels.site(order_[n]);
    std::memcpy(arranged_.row(n), parcels.row(order_[n]), Row::registers * sizeof(double));
  }
}

// Reordering of the container by cell and id, once per time step, so that later loops read memory in order.
void Placement::arrange(Parcels& parcels) {
  arranged_.clear();
  arranged_.reserve(parcels.capacity());
  arranged_.resize(size_);
  batches_.resize(order_.size() / kBatch);
  std::size_t cell = 0;
  std::int64_t id = first_id(0);
  for (std::size_t begin = 0; begin < size_; begin += kChunk) {
    const std::size_t end = std::min(begin + kChunk, size_);
    sort_ids(parcels, end);
    copy_chunk(parcels, begin, end);
    for (std::size_t n = begin; n < end; ++n, id += 2) {
      while (n == first_[cell + 1]) id = first_id(++cell);
      arranged_.set_id(n, id);
      cell_[n] = static_cast<std::int32_t>(cell);
      order_[n] = static_cast<std::uint32_t>(n);
    }
    find_offsets(begin, end);
  }
  std::swap(parcels, arranged_);
  ready_ = order_.size();
}

/// Computes the points of the arranged parcels of positions begin .. end - 1, and stores their offsets in the parcels' rows.
void Placement::find_offsets(std::size_t begin, std::size_t end) {
  const std::size_t batches = (end - begin + kBatch - 1) / kBatch;
  for (std::size_t n = end; n < begin + batches * kBatch; ++n) order_[n] = order_[end - 1];
  Batch* const to = batches_.data() + begin / kBatch;
  const std::size_t good =
      find_points(arranged_.sites(), arranged_.rows(), {order_.data() + begin, end - begin}, batches, cells_, to);
  if (good < batches) throw_bad_points(arranged_, begin + good * kBatch);
  for (std::size_t n = begin; n < end; ++n) {
    const Batch& batch = batches_[n / kBatch];
    double* const offset = arranged_.row(n) + Row::offsets;
    for (std::size_t a = 0; a < 3; ++a) {
      offset[a] = batch.first[a][n % kBatch];
      offset[3 + a] = batch.second[a][n % kBatch];
    }
  }
}

/// Finds the parcel outside this rank's cells that find_cells() reported, and throws InputError with its id; only on the way to an
/// error, so speed is no matter.
void Placement::throw_bad_position(const Parcels& parcels) const {
  const Grid& grid = layout_.grid();
  for (std::size_t i = 0; i < size_; ++i) {
    std::int32_t ignored = 0;
    if (find_cells(&parcels.site(i), 1, cells_, &ignored)) continue;
    const Site& s = parcels.site(i);
    const std::string who = "parcel " + std::to_string(parcels.id(i)) + " is at " + format_position(s);
    if (!std::isfinite(s.x) || !std::isfinite(s.y) || !std::isfinite(s.z))
      throw InputError(who + "; allowed: finite positions");
    const double beyond = (s.z - grid.box.lower[2]) / grid.spacing(2);
    if (beyond < -1 || beyond >= static_cast<double>(grid.cells[2] + 1))
      throw InputError(who + ", more than a cell beyond a wall; allowed: z from " +
                       std::to_string(grid.box.lower[2] - grid.spacing(2)) + " to " +
                       std::to_string(grid.box.lower[2] + grid.box.extent[2] + grid.spacing(2)));
    throw InputError(
        who + ", which is not in its rank's block; send parcels to their owners (Migration, redistribute) first");
  }
  throw std::logic_error("no parcel is out of place, but one was found to be");
}

/// Finds the parcel, in the batch at position `place`, that is no ellipsoid or reaches too far, which find_points() reported, and
/// throws InputError with its id.
void Placement::throw_bad_points(const Parcels& parcels, std::size_t place) const {
  for (std::size_t n = place; n < place + kBatch; ++n) {
    std::array<std::uint32_t, kBatch> index{};
    index.fill(order_[n]);
    Batch batch;
    if (find_points(parcels.sites(), parcels.rows(), {index.data(), kBatch}, 1, cells_, &batch) == 1) continue;
    const std::size_t i = order_[n];
    const double* const b = parcels.row(i) + Row::shape;
    const std::string who = "parcel " + std::to_string(parcels.id(i)) + " at " + format_position(parcels.site(i));
    double reach = 0;
    for (int a = 0; a < 3; ++a) reach = std::max({reach, std::fabs(batch.first[a][0]), std::fabs(batch.second[a][0])});
    if (is_singular(b, parcels.site(i).volume) || !(b33(b, parcels.site(i).volume) > 0) || !std::isfinite(reach)) {
      std::string shape;
      for (int c = 0; c < 5; ++c) shape += (c > 0 ? ", " : "") + std::to_string(b[c]);
      throw InputError(who + " has volume " + std::to_string(parcels.site(i).volume) + " and B = (" + shape +
                       "), which is no ellipsoid; allowed: positive definite");
    }
    throw InputError(who + " reaches " + std::to_string(reach) +
                     " cells from its centre; allowed: to the cells beside its own, and one cell beyond a wall");
  }
  throw std::logic_error("no parcel is too long, but one was found to be");
}

}  // namespace merganser::flow
