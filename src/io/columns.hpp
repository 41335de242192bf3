#pragma once
/// The variables of a parcel file and where their values stand in the container.
#include <cstddef>
#include <string>
#include <vector>

#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

struct Column {
  std::string name;
  std::string unit;
  std::string long_name;
  bool in_site;        ///< of Site, else of the payload row
  std::size_t offset;  ///< in doubles
  bool required;       ///< vorticity and buoyancy may be missing
};

/// Position, volume, then every component of the schema.
[[nodiscard]] std::vector<Column> columns(const Schema& schema);

/// Copies `values` into a column of parcels first .. first + count - 1, or out of it.
void scatter(Parcels& parcels, const Column& column, std::size_t first, const double* values, std::size_t count);
void gather(const Parcels& parcels, const Column& column, std::size_t first, double* values, std::size_t count);

}  // namespace merganser::io
