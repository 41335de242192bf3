#pragma once
/// Magnitudes that merging accepts, far beyond any fluid's: within them products, squares, third powers, reciprocals and
/// sums over 2^62 parcels stay finite, in merging as in reports. Readers of files and every interface that
/// takes arrays apply these limits.
#include <string>

#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser {

inline constexpr double kMinVolume = 1e-120;
inline constexpr double kMaxVolume = 1e120;
inline constexpr double kMinShape = 1e-200;     ///< B11, B22, B33
inline constexpr double kMaxShape = 1e80;       ///< every entry of B
inline constexpr double kMaxAttribute = 1e100;  ///< vorticity, buoyancy and what else is averaged or summed

/// Whether a parcel may have this volume. False for NaN.
[[nodiscard]] constexpr bool is_volume(double volume) { return volume >= kMinVolume && volume <= kMaxVolume; }

/// What is wrong with a volume: "volume is 1e-310; allowed: 1e-120 to 1e+120". Empty: nothing.
[[nodiscard]] std::string volume_error(double volume);

/// What is wrong with an ellipsoid: the five entries, or B33, which follows from them and the volume. Empty: nothing.
/// @param volume  one that is_volume()
[[nodiscard]] std::string shape_error(const double* b5, double volume);

/// What is wrong with what a payload row has to merge: attributes of rule mean, sum and ellipsoid (five zeros: no shape is
/// given). Empty: nothing.
/// @param volume  one that is_volume()
[[nodiscard]] std::string row_error(const Schema& schema, const double* row, double volume);

}  // namespace merganser
