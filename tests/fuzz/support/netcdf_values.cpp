// requires: NetCDF
#include "tests/fuzz/support/netcdf_values.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

namespace merganser::fuzz {
namespace {

/// Calls f with a value of a NetCDF type. @return false for types other than numbers and characters
template <class F>
bool with_type(nc_type type, F&& f) {
  switch (type) {
    case NC_BYTE:
      return f(static_cast<signed char>(0)), true;
    case NC_CHAR:
      return f('\0'), true;
    case NC_SHORT:
      return f(static_cast<short>(0)), true;
    case NC_INT:
      return f(0), true;
    case NC_FLOAT:
      return f(0.0F), true;
    case NC_DOUBLE:
      return f(0.0), true;
    case NC_UBYTE:
      return f(static_cast<unsigned char>(0)), true;
    case NC_USHORT:
      return f(static_cast<unsigned short>(0)), true;
    case NC_UINT:
      return f(0U), true;
    case NC_INT64:
      return f(0LL), true;
    case NC_UINT64:
      return f(0ULL), true;
    default:
      return false;
  }
}

}  // namespace

RawValue from_double(nc_type type, double x) {
  RawValue out{};
  with_type(type, [&](auto zero) { out = raw_value(static_cast<decltype(zero)>(x)); });
  return out;
}

double to_double(nc_type type, const RawValue& value) {
  double out = 0;
  with_type(type, [&](auto x) {
    std::memcpy(&x, value.data(), sizeof x);
    out = static_cast<double>(x);
  });
  return out;
}

std::size_t type_size(nc_type type) {
  std::size_t size = sizeof(char*);
  with_type(type, [&](auto x) { size = sizeof x; });
  return size;
}

RawValue default_fill(nc_type type) {
  switch (type) {
    case NC_BYTE:
      return raw_value(NC_FILL_BYTE);
    case NC_SHORT:
      return raw_value(NC_FILL_SHORT);
    case NC_INT:
      return raw_value(NC_FILL_INT);
    case NC_FLOAT:
      return raw_value(NC_FILL_FLOAT);
    case NC_DOUBLE:
      return raw_value(NC_FILL_DOUBLE);
    case NC_UBYTE:
      return raw_value(NC_FILL_UBYTE);
    case NC_USHORT:
      return raw_value(NC_FILL_USHORT);
    case NC_UINT:
      return raw_value(NC_FILL_UINT);
    case NC_INT64:
      return raw_value(NC_FILL_INT64);
    case NC_UINT64:
      return raw_value(NC_FILL_UINT64);
    default:
      return {};
  }
}

double within_type(nc_type type, double value) {
  if (type == NC_FLOAT) return std::isnan(value) ? value : std::clamp<double>(value, -FLT_MAX, FLT_MAX);
  if (type == NC_DOUBLE) return value;
  double out = value;
  with_type(type, [&](auto x) {
    using Limits = std::numeric_limits<decltype(x)>;
    // The largest integer of 64 bits is no double: it rounds up, out of range.
    const double most = sizeof x < 8 ? static_cast<double>(Limits::max()) : 0x1p62;
    out = std::isnan(value) ? 0 : std::clamp(value, std::max(static_cast<double>(Limits::lowest()), -0x1p62), most);
  });
  return out;
}

}  // namespace merganser::fuzz
