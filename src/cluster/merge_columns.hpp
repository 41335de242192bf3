#pragma once
/// Merge of stars whose points are in columns, arrays of the caller's (StarFinder::merge).
#include <cstddef>
#include <cstdint>
#include <span>

#include "merganser/cluster/star_finder.hpp"

namespace merganser::cluster {

/// Merge of one rank's stars of points in columns of the caller's, by the rules of their attributes. A row of the
/// migrated payload is a Site followed by a payload row of the schema, as in Parcels.
class ColumnMerge {
 public:
  /// Ids of StarFinder's points: given in the caller's memory, or consecutive from a first one.
  struct Ids {
    bool given;          ///< true if ids were given to StarFinder::find()
    std::int64_t first;  ///< id of the first point, where they were not; ids are then consecutive
  };
  /// Validates the columns against the schema. Local.
  /// @throws UsageError where the columns are not those of the schema, or not for `points` points; InputError for a
  /// volume or attributes outside the bounds of parcels/limits.hpp
  ColumnMerge(const MergeRules& rules, const Columns& columns, std::size_t points, const Ids& ids);

  /// Returns the bytes of the row in which one point migrates to the rank of its centre: site and payload row.
  [[nodiscard]] std::size_t row_bytes() const { return sizeof(Site) + width_ * sizeof(double); }
  /// Writes the row in which the point at a position of the columns migrates, row_bytes() bytes.
  void pack(std::uint32_t position, std::byte* row) const;
  /// Merges every star whose centre is on this rank and writes the merged parcels to the columns. `received` holds one
  /// row for each entry of `receives`, the leaves from other ranks. Local.
  void run(std::span<const StarLink> links, int rank, std::span<const StarReceive> receives,
           std::span<const std::byte> received) const;
  /// Removes the sources, which have been merged, from all columns of the caller, keeping the order of the other points.
  /// @return number of points left on this rank
  [[nodiscard]] std::size_t remove_sources(std::span<const StarLink> links) const;

 private:
  /// Validates the caller's columns against schema, ids and number of points. @throws UsageError, InputError
  void check(std::size_t points) const;
  /// Reads the point at a position of the columns into a site, wrapped into the box, and a payload row.
  void read(std::uint32_t position, Site& site, double* row) const;
  /// Writes a merged parcel to a position of the caller's columns, that of its centre.
  void write(std::uint32_t position, const Site& site, const double* row) const;
  /// Returns the id of the point at a position of the caller's columns, given or consecutive.
  [[nodiscard]] std::int64_t id(std::uint32_t position) const {
    return columns_.ids.empty() ? ids_.first + position : columns_.ids[position];
  }

  const MergeRules& rules_;
  const Columns& columns_;
  Ids ids_;
  std::size_t width_;
};

}  // namespace merganser::cluster
