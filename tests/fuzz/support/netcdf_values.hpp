#pragma once
/// Values of the types of NetCDF, as they lie in a file.
#include <netcdf.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace merganser::fuzz {

using RawValue = std::array<std::byte, 8>;  // of any type but text

template <class T>
RawValue raw_value(T x) {
  RawValue out{};
  std::memcpy(out.data(), &x, sizeof x);
  return out;
}

[[nodiscard]] RawValue from_double(nc_type type, double x);
[[nodiscard]] double to_double(nc_type type, const RawValue& value);
[[nodiscard]] std::size_t type_size(nc_type type);
[[nodiscard]] RawValue default_fill(nc_type type);
inline bool is_number(nc_type type) { return type != NC_CHAR && type != NC_STRING; }

/// What a double must be to be stored as this type: the library stores what is out of range as whatever its compiler makes
/// of it.
[[nodiscard]] double within_type(nc_type type, double value);

}  // namespace merganser::fuzz
