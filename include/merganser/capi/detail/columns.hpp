#pragma once
/// Validation of the points and parcel columns of a C caller, and copies between them and a container of parcels. Local.
#include "merganser/capi/clusterer.h"
#include "merganser/capi/finder.h"
#include "merganser/geometry/point_view.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::capi {

/// Returns a view of the coordinates in a C caller's arrays. @throws UsageError for a count or stride out of range
[[nodiscard]] PointView to_point_view(const mg_points* given);

/// Validates the pointers, strides and number of columns in which a C caller holds parcels and returns the record with its
/// defaults filled in. The values are not read.
/// @param ids  ids are required
/// @throws UsageError for null pointers, strides out of range, or another number of columns than the schema has
[[nodiscard]] mg_columns checked_columns(const mg_columns* columns, const Schema& schema, bool ids = true);
/// Returns the stride, in doubles, between consecutive parcels in attribute column c of a C caller.
[[nodiscard]] inline std::size_t column_stride(const mg_columns& columns, std::size_t c) {
  return columns.strides != nullptr ? columns.strides[c] : 1;
}

/// Replaces this rank's `parcels` by a copy of the C caller's columns, validating every value.
/// @param z  coordinate of all parcels if there is no column z
/// @throws InputError naming the first parcel with a number that is not finite, a volume that is not positive, or an id
/// that another one has
void copy_in(const mg_columns& columns, double z, Parcels& parcels);
/// Copies this rank's parcels to the C caller's columns. @pre the columns have at least as many entries as there are parcels
void copy_out(const Parcels& parcels, const mg_columns& columns);

}  // namespace merganser::capi
