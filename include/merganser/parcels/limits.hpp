#pragma once
/// Range checks of parcels: the magnitudes that merging accepts, far beyond any fluid's. Within them products, squares,
/// third powers, reciprocals and sums over 2^62 parcels stay finite, in merging as in reports. Readers of files and
/// every interface that takes arrays apply these limits.
#include <string>

#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser {

inline constexpr double kMinVolume = 1e-120;  ///< volume of a parcel, at least
inline constexpr double kMaxVolume = 1e120;   ///< volume of a parcel, at most
inline constexpr double kMinShape = 1e-200;   ///< B11, B22 and B33 of a parcel's ellipsoid, at least
inline constexpr double kMaxShape = 1e80;     ///< magnitude of every entry of a parcel's shape matrix B, at most
/// Magnitude of a parcel's vorticity, buoyancy and every other attribute that is averaged or summed, at most
inline constexpr double kMaxAttribute = 1e100;

/// Returns whether a parcel may have this volume. False for NaN.
[[nodiscard]] constexpr bool is_volume(double volume) { return volume >= kMinVolume && volume <= kMaxVolume; }

/// Validates the volume of a parcel. Returns the error text, such as "volume is 1e-310; allowed: 1e-120 to 1e+120"; empty
/// if it is valid.
[[nodiscard]] std::string volume_error(double volume);

/// Validates the ellipsoid of a parcel: the five entries B11 B12 B13 B22 B23, and B33, which follows from them and the volume.
/// Returns the error text, empty if it is valid.
/// @param volume  one that is_volume()
[[nodiscard]] std::string shape_error(const double* b5, double volume);

/// Validates a parcel's attributes of rule mean, sum and ellipsoid in its payload row (five zeros: no shape is given). Returns the
/// error text, empty if they are valid.
/// @param volume  one that is_volume()
[[nodiscard]] std::string row_error(const Schema& schema, const double* row, double volume);

}  // namespace merganser
