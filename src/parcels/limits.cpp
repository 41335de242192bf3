// Range checks of volumes, ellipsoids and attributes of parcels, with error texts.
#include "merganser/parcels/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "merganser/base/text.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"

namespace merganser {
namespace {

/// Formats the error that a value of a parcel is out of range: name, value, allowed range.
std::string format_range_error(const std::string& name, double value, double low, double high) {
  return name + " is " + number_text(value) + "; allowed: " + number_text(low) + " to " + number_text(high);
}

}  // namespace

std::string volume_error(double volume) {
  if (is_volume(volume)) return {};
  return "volume is " + number_text(volume) + "; allowed: " + number_text(kMinVolume) + " to " +
         number_text(kMaxVolume);
}

// Returns the error of a parcel's ellipsoid: entries that are not finite or too large, a singular matrix, diagonals out of range.
std::string shape_error(const double* b5, double volume) {
  constexpr std::array<const char*, 5> kNames{"B11", "B12", "B13", "B22", "B23"};
  for (std::size_t i = 0; i < 5; ++i) {
    if (!std::isfinite(b5[i])) return std::string(kNames[i]) + " is " + number_text(b5[i]) + "; it must be finite";
    if (std::fabs(b5[i]) > kMaxShape) return format_range_error(kNames[i], b5[i], -kMaxShape, kMaxShape);
  }
  if (is_singular(b5, volume))
    return "the ellipsoid is singular: B11 = " + number_text(b5[0]) + ", B12 = " + number_text(b5[1]) +
           ", B22 = " + number_text(b5[3]) +
           "; B11, B22 and B11 B22 - B12^2 must be positive, the last by more than its rounding unless the ellipsoid "
           "is a "
           "needle";
  const auto bad = [](double x) { return !(x >= kMinShape && x <= kMaxShape); };
  if (bad(b5[0])) return format_range_error("B11", b5[0], kMinShape, kMaxShape);
  if (bad(b5[3])) return format_range_error("B22", b5[3], kMinShape, kMaxShape);
  if (const double rest = b33(b5, volume); bad(rest))
    return format_range_error("B33, which follows from the volume and the other elements,", rest, kMinShape, kMaxShape);
  return {};
}

// Returns the error of the first attribute in a parcel's payload row that is out of range.
std::string row_error(const Schema& schema, const double* row, double volume) {
  // The id comes first in a payload row, then the attributes in the order of the schema.
  const double* values = row + 1;
  for (const Attribute& attribute : schema.attributes()) {
    if (attribute.rule == Rule::ellipsoid) {
      const bool given = std::any_of(values, values + 5, [](double x) { return x != 0; });
      std::string wrong = given ? shape_error(values, volume) : std::string();
      if (!wrong.empty()) return attribute.name + ": " + wrong;
    } else if (attribute.rule == Rule::mean || attribute.rule == Rule::sum) {
      for (int c = 0; c < attribute.components; ++c)
        if (!(std::fabs(values[c]) <= kMaxAttribute))
          return format_range_error(attribute.name, values[c], -kMaxAttribute, kMaxAttribute);
    }
    values += attribute.components;
  }
  return {};
}

}  // namespace merganser
