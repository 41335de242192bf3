#pragma once
/// Views of a caller's parcels as a structure of arrays: one strided column per number. Nothing is copied or owned.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Strided view of one number of each parcel, in an array of the caller: entry i is data[i * stride]. Its length is not stored; it
/// is that of the arrays it was made from.
template <class T>
struct ColumnOf {
  T* data = nullptr;       ///< first entry; null: there is no such column
  std::size_t stride = 1;  ///< numbers from one entry to the next, >= 1
  /// Returns the entry of parcel i in this column; i is not checked.
  [[nodiscard]] T& operator[](std::size_t i) const { return data[i * stride]; }
};
/// Column of parcel data that may be changed.
using Column = ColumnOf<double>;
/// Column of parcel data that may be read only.
using ConstColumn = ColumnOf<const double>;

/// Read-only view of the global ids of parcels, which are stored as the bits of doubles, one in each row.
class IdColumn {
 public:
  /// Makes the view of a column whose doubles hold the bits of ids.
  explicit IdColumn(ConstColumn bits) : bits_(bits) {}
  /// Returns the global id of parcel i; i is not checked.
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return std::bit_cast<std::int64_t>(bits_[i]); }

 private:
  ConstColumn bits_;  // column of doubles with the bits of the ids
};

/// Parcels in arrays of the caller's (structure of arrays), each with an entry per parcel. The rules by which attributes merge are
/// those of a schema (parcels.hpp).
struct Columns {
  Column x;                        ///< x coordinates, in units of the box
  Column y;                        ///< y coordinates, in units of the box
  Column z;                        ///< z coordinates; null data in two dimensions
  Column volume;                   ///< volumes, > 0, within the bounds of limits.hpp
  std::vector<Column> attributes;  ///< one per component, in the order of the schema's attributes and their components
  std::span<std::int64_t> ids;     ///< ids, as given to find(); empty: none
  std::size_t size = 0;            ///< number of parcels
};

}  // namespace merganser
