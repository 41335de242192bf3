#pragma once
/// Parcels as columns of the caller's: a structure of arrays.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// A column of numbers: entry i is data[i * stride]. Which entries there are is known to who has made it.
template <class T>
struct ColumnOf {
  T* data = nullptr;
  std::size_t stride = 1;
  [[nodiscard]] T& operator[](std::size_t i) const { return data[i * stride]; }
};
/// Numbers that may be changed.
using Column = ColumnOf<double>;
/// Numbers that may be read.
using ConstColumn = ColumnOf<const double>;

/// Ids that are kept as the bits of doubles, one in each row.
class IdColumn {
 public:
  explicit IdColumn(ConstColumn bits) : bits_(bits) {}
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return std::bit_cast<std::int64_t>(bits_[i]); }

 private:
  ConstColumn bits_;
};

/// All that a parcel has, in arrays of the caller's, each with an entry per parcel. A schema (parcels.hpp) says how the
/// attributes merge.
struct Columns {
  Column x;
  Column y;
  Column z;                        ///< null data in two dimensions
  Column volume;                   ///< > 0
  std::vector<Column> attributes;  ///< one per component, in the order of the schema's attributes and their components
  std::span<std::int64_t> ids;     ///< as given to find(); empty: none
  std::size_t size = 0;            ///< parcels
};

}  // namespace merganser
