#include "parcel_check.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "merganser/base/error.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"

namespace merganser::io {
namespace {

std::string text(double x) {
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.17g", x);
  return buffer.data();
}

constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};

/// What is wrong with a parcel's position or volume; wraps periodic coordinates. Empty: nothing.
std::string check_site(Site& site, const Box& box) {
  const std::array<double*, 3> position{&site.x, &site.y, &site.z};
  for (int a = 0; a < 3; ++a) {
    double& x = *position[a];
    const double low = box.lower[a];
    const double high = low + box.extent[a];
    const auto name = [&] { return std::string(kAxes[a]) + "_position is " + text(x); };
    if (!std::isfinite(x)) return name() + "; it must be finite";
    if (box.periodic[a]) {
      x = box.wrap(a, x);
    } else if (x < low || x > high) {
      return name() + ", outside the walls; allowed: " + text(low) + " to " + text(high);
    }
  }
  if (!(site.volume > 0) || !std::isfinite(site.volume))
    return "volume is " + text(site.volume) + "; it must be positive and finite";
  return {};
}

std::string check_attribute(const Attribute& attribute, const double* values) {
  for (int c = 0; c < attribute.components; ++c)
    if (!std::isfinite(values[c]))
      return attribute.component_names[c] + " is " + text(values[c]) + "; it must be finite";
  if (attribute.rule == Rule::ellipsoid && singular(values))
    return "the ellipsoid is singular: B11 = " + text(values[0]) + ", B12 = " + text(values[1]) +
           ", B22 = " + text(values[3]) + "; B11, B22 and B11 B22 - B12^2 must be positive";
  return {};
}

}  // namespace

void check_parcels(const std::string& file, Parcels& parcels, const Box& box) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    std::string wrong = check_site(parcels.site(i), box);
    const double* values = parcels.row(i) + 1;
    for (const Attribute& attribute : parcels.schema().attributes()) {
      if (wrong.empty()) wrong = check_attribute(attribute, values);
      values += attribute.components;
    }
    if (!wrong.empty()) throw InputError(file + ": parcel " + std::to_string(parcels.id(i)) + ": " + wrong);
  }
}

}  // namespace merganser::io
