#pragma once
/// What parcels must satisfy before the library works with them, and before they are written.
#include <functional>
#include <span>
#include <string>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/limits.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/io/columns.hpp"

namespace merganser::io {

// Bounds of volumes, shapes and attributes: parcels/limits.hpp.
inline constexpr double kMinLength = 1e-40;  ///< of the box along an axis
inline constexpr double kMaxLength = 1e40;

/// Brings positions on periodic axes into the box. What is not finite stays.
void wrap_parcels(Parcels& parcels, const Box& box);

/// Checks every parcel: finite position inside the walls; volume, shape and attributes within the bounds; B33 that can
/// be recovered; values that fit the types of their columns.
/// @param name  what to call parcel i in an error: "in.nc: parcel 3"
/// @throws InputError naming the first bad parcel, what is wrong, the value and what is allowed
void check_parcels(const Parcels& parcels, const Box& box, std::span<const Column> columns,
                   const std::function<std::string(std::size_t)>& name);

/// Attributes of type float become what the file will hold.
void round_to_types(Parcels& parcels, std::span<const Column> columns);

}  // namespace merganser::io
