#pragma once
/// Conversion of values between the types of NetCDF, as the library does it.
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

/// Limits a double to the range of a type: for values out of range the library's conversion is undefined, so inputs avoid them.
[[nodiscard]] double within_type(nc_type type, double value);

}  // namespace merganser::fuzz
