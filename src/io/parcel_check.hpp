#pragma once
/// Validation of parcels that were read from a file or are about to be written to one: positions, volumes, shapes,
/// attributes and the types of their columns.
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/limits.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/io/columns.hpp"

namespace merganser::io {

// Bounds of volumes, shapes and attributes: parcels/limits.hpp.
inline constexpr double kMinLength = 1e-40;  ///< least extent of the box along an axis
inline constexpr double kMaxLength = 1e40;   ///< greatest extent of the box along an axis, and of its origin

/// Wraps the positions of this rank's parcels of a file into the box on periodic axes. Coordinates that are not finite stay,
/// for check_parcels() to refuse. Local.
void wrap_parcels(Parcels& parcels, const Box& box);
/// Wraps the positions of parcels begin .. end - 1, as wrap_parcels() those of all. Local.
void wrap_parcels(Parcels& parcels, const Box& box, std::size_t begin, std::size_t end);

/// Check of parcels by the bounds, columns and missing values of one file, as check_parcels() makes it of all parcels.
class ParcelCheck {
 public:
  /// Prepares the check. Local. @param columns  of the file, less ids; must outlive this
  ParcelCheck(const Schema& schema, const Box& box, std::span<const Column> columns);
  ~ParcelCheck();
  ParcelCheck(const ParcelCheck&) = delete;
  ParcelCheck& operator=(const ParcelCheck&) = delete;

  /// Returns the first of parcels begin .. end - 1 that is refused, `end` if there is none. Local.
  [[nodiscard]] std::size_t find_refused(const Parcels& parcels, std::size_t begin, std::size_t end) const;
  /// Returns what is wrong with parcel i of the container, with the value and what is allowed; empty if nothing is. Local.
  [[nodiscard]] std::string describe(const Parcels& parcels, std::size_t i) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

/// Checks every parcel of this rank that was read from a file or is to be written to one: finite position inside the walls;
/// volume, shape and attributes within the bounds; B33 that can be recovered; values that fit the types of their columns and
/// would not be read as missing. Local.
/// @param name  returns the words by which an error names parcel i, as "in.nc: parcel 3"
/// @throws InputError naming the first bad parcel, what is wrong, the value and what is allowed
void check_parcels(const Parcels& parcels, const Box& box, std::span<const Column> columns,
                   const std::function<std::string(std::size_t)>& name);

/// Rounds the attributes of this rank's parcels whose file column is of type float to the values that the file will hold. Those
/// that do not fit stay, for check_parcels() to refuse. Local.
void round_to_types(Parcels& parcels, std::span<const Column> columns);

}  // namespace merganser::io
