#pragma once
/// Classification of a variable's values as present or missing, by the CF and NetCDF conventions for fill values and valid
/// ranges. Readers and writers share this one rule: docs/parcel-files.md.
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/columns.hpp"

namespace merganser::io {

/// Classifier of a NetCDF variable's values as present or missing, by its type and attributes (_FillValue, missing_value,
/// valid_range): of values as stored, before any unpacking.
class MissingValues {
 public:
  /// Result for one value: present, or the reason for which it counts as missing.
  enum class Kind : int { present, nan, fill, default_fill, missing_value, out_of_range };

  /// Makes the classifier of missing values for a NetCDF variable without attributes: missing are NaN, and NetCDF's fill value
  /// of its type where that has more than one byte.
  explicit MissingValues(FileType type) : MissingValues(type, {}, {}) {}
  /// Makes the classifier of missing values for a NetCDF variable with attributes. Errors in attributes do not throw:
  /// problem() returns them.
  /// @param unwritten  further attributes with missing values, which are not carried into files that are written
  /// @param has_fill   false: NetCDF's fill value of the type is a number as others, as in files that are not NetCDF's
  MissingValues(FileType type, std::span<const FileAttribute> attributes, std::span<const FileAttribute> unwritten,
                bool has_fill = true);

  /// Returns the error text if the variable's attributes do not define missing values, as "the attribute missing_value is
  /// text; allowed: numbers"; empty if they do.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  /// Classifies a value of the NetCDF variable that was converted to double, as present or missing; 64-bit integers whose bits
  /// are kept: classify_bits(). The first test is the fast path of the usual case, in which one value alone means missing.
  [[nodiscard]] Kind classify(double value) const noexcept {
    if (value == value && value != first_ && !listed_) return Kind::present;
    return match(value);
  }
  /// Returns the only number beside NaN that means missing in the NetCDF variable, NaN if there is none; nothing if several do, or
  /// a valid range is given.
  [[nodiscard]] std::optional<double> only_missing() const noexcept {
    return listed_ ? std::nullopt : std::optional(first_);
  }
  /// Classifies a 64-bit integer of the NetCDF variable, whose bits stand in a double, as present or missing.
  [[nodiscard]] Kind classify_bits(double bits) const noexcept;
  /// Classifies a parcel's value of a file column, be it a double or the bits of a 64-bit integer, as present or missing.
  [[nodiscard]] Kind classify(const Column& column, double value) const noexcept {
    return column.bits() ? classify_bits(value) : classify(value);
  }

  /// Returns the value to be written to the NetCDF variable for a missing one: `_FillValue`, else the first `missing_value`,
  /// else NetCDF's fill value; none for types of one byte without either.
  [[nodiscard]] std::optional<long double> fill_value() const noexcept { return to_write_; }

  /// Returns in words why a value counts as missing: "NaN", "_FillValue -999", "outside valid_range 0 to 1".
  [[nodiscard]] std::string reason(Kind kind) const;

 private:
  using Number = long double;  // holds every value of every type
  template <class T>
  [[nodiscard]] Kind match(T value) const noexcept;
  /// Adds the values of the attribute `_FillValue` or `missing_value` to those that mean missing.
  void add_fill(const FileAttribute& a);
  /// Narrows the valid range of the variable by the attribute `valid_range`, `valid_min` or `valid_max`.
  void add_range(const FileAttribute& a);
  /// Returns the numbers of a NetCDF attribute that defines missing values; sets problem_ unless there are `count` (0: any
  /// number above 0).
  [[nodiscard]] std::vector<Number> checked_numbers(const FileAttribute& a, std::size_t count);

  FileType type_;
  std::optional<Number> fill_;
  std::optional<Number> default_fill_;
  std::vector<Number> missing_;
  std::optional<Number> low_;
  std::optional<Number> high_;
  double first_ = 0;     // one value that means missing, for the fast path of classify()
  bool listed_ = false;  // further values mean missing, or a valid range is given
  std::optional<Number> to_write_;
  std::string problem_;
};

/// Returns the classifier of missing values for a column of a parcel file: by the attributes of its variable in the file it
/// comes from, or by its type for a new one.
[[nodiscard]] MissingValues missing_values(const Column& column);

/// Number of parcels without a value in a column of a parcel file, on one rank (count_missing()) or over all ranks.
struct MissingCount {
  std::string name;         ///< name of the column
  std::int64_t count = 0;   ///< number of parcels without a value
  std::int64_t first = -1;  ///< place in the file of the first missing one, from 0; -1: none
  MissingValues::Kind kind = MissingValues::Kind::present;  ///< reason for which the first is missing
};

/// Adds the missing values of this rank's slice of a parcel file's column to a count, and replaces those that merging computes
/// with by NaN. Local. @param place  position in the file of the parcel of values[0], from 0
void count_missing(const Column& column, const MissingValues& missing, std::int64_t place, std::span<double> values,
                   MissingCount& to);

/// Formats the number of a column's missing values for an error, as "variable "humidity": 395 of 3072 values are missing, the
/// first of parcel 5 (_FillValue -999)".
/// @param parcels  number of parcels in the file
[[nodiscard]] std::string format_missing(const MissingCount& count, std::int64_t parcels, const MissingValues& missing);

}  // namespace merganser::io
