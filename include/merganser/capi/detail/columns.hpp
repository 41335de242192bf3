#pragma once
/// The caller's columns, checked, and copied into and out of a container.
#include "merganser/capi/clusterer.h"
#include "merganser/parcels/parcels.hpp"

namespace merganser::capi {

/// The record with its defaults filled in. @throws UsageError for null pointers, strides of 0, another number of columns
/// than the schema has
/// @param ids  whether there must be some
[[nodiscard]] mg_columns checked_columns(const mg_columns* columns, const Schema& schema, bool ids = true);
/// Distance between entries of attribute column c.
[[nodiscard]] inline std::size_t stride_of(const mg_columns& columns, std::size_t c) {
  return columns.strides != nullptr ? columns.strides[c] : 1;
}

/// Makes `parcels` a copy. @param z  of all parcels where there is no such column
/// @throws InputError naming the first parcel with a number that is not finite, a volume that is not positive, or an id
/// that another one has
void copy_in(const mg_columns& columns, double z, Parcels& parcels);
/// Copies the parcels to where the columns point. They must have room.
void copy_out(const Parcels& parcels, const mg_columns& columns);

}  // namespace merganser::capi
