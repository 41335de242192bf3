#pragma once
/// Merging stars in columns of a caller's.
#include <cstddef>
#include <cstdint>
#include <span>

#include "merganser/cluster/star_finder.hpp"

namespace merganser::cluster {

/// The columns of one rank and the rules that they merge by. Rows of a payload are a Site and a payload row of the schema
/// each, as in Parcels.
class ColumnMerge {
 public:
  /// What is left of the merge in this rank's memory.
  struct Ids {
    bool given;          ///< to find()
    std::int64_t first;  ///< of the first point, where they are not given
  };
  /// @throws UsageError where the columns are not those of the schema, or not for `points` points; InputError for a
  /// volume or attributes outside the bounds of parcels/limits.hpp
  ColumnMerge(const MergeRules& rules, const Columns& columns, std::size_t points, const Ids& ids);

  [[nodiscard]] std::size_t row_bytes() const { return sizeof(Site) + width_ * sizeof(double); }
  /// Writes the row of a point.
  void pack(std::uint32_t position, std::byte* row) const;
  /// Merges every star whose centre is on this rank. `received` holds a row for each of `receives`.
  void run(std::span<const StarLink> links, int rank, std::span<const StarReceive> receives,
           std::span<const std::byte> received) const;
  /// Takes the sources out of all columns. @return points left
  [[nodiscard]] std::size_t take_out(std::span<const StarLink> links) const;

 private:
  void check(std::size_t points) const;
  void read(std::uint32_t position, Site& site, double* row) const;
  void write(std::uint32_t position, const Site& site, const double* row) const;
  [[nodiscard]] std::int64_t id(std::uint32_t position) const {
    return columns_.ids.empty() ? ids_.first + position : columns_.ids[position];
  }

  const MergeRules& rules_;
  const Columns& columns_;
  Ids ids_;
  std::size_t width_;
};

}  // namespace merganser::cluster
