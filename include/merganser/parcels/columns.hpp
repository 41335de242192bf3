#pragma once
/// Parcels as columns of the caller's: a structure of arrays.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace merganser {

/// A column of numbers: entry i is data[i * stride].
struct Column {
  double* data = nullptr;
  std::size_t stride = 1;
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
