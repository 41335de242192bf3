#pragma once
/// Which values of a variable mean that there is none. The one rule for all readers and writers: docs/parcel-files.md.
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/columns.hpp"

namespace merganser::io {

/// Decides by the type and the attributes of a variable, as they stand in a file: by the values stored, not unpacked ones.
class MissingValues {
 public:
  enum class Kind : int { present, nan, fill, default_fill, missing_value, out_of_range };

  /// A variable without attributes: NaN, and NetCDF's fill value of its type where that has more than one byte.
  explicit MissingValues(FileType type) : MissingValues(type, {}, {}) {}
  /// @param unwritten  further ones, which no file that is written will have
  MissingValues(FileType type, std::span<const FileAttribute> attributes, std::span<const FileAttribute> unwritten);

  /// The error text if the attributes do not define missing values: "the attribute missing_value is text; allowed: numbers".
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  /// Of a value of the variable's type as a double; 64-bit integers whose bits are kept: of_bits().
  [[nodiscard]] Kind of(double value) const noexcept {
    if (value == value && value != first_ && !listed_) return Kind::present;
    return look(value);
  }
  [[nodiscard]] Kind of_bits(double bits) const noexcept;
  [[nodiscard]] Kind of(const Column& column, double value) const noexcept {
    return column.bits() ? of_bits(value) : of(value);
  }

  /// A value that means missing, to write for one: `_FillValue`, else the first `missing_value`, else NetCDF's fill value;
  /// none for one byte without either.
  [[nodiscard]] std::optional<long double> value() const noexcept { return to_write_; }

  /// The reason in words: "NaN", "_FillValue -999", "outside valid_range 0 to 1".
  [[nodiscard]] std::string reason(Kind kind) const;

 private:
  using Number = long double;  // holds every value of every type
  template <class T>
  [[nodiscard]] Kind look(T value) const noexcept;
  void take_fill(const FileAttribute& a);
  void take_range(const FileAttribute& a);
  [[nodiscard]] std::vector<Number> numbers_in(const FileAttribute& a, std::size_t count);

  FileType type_;
  std::optional<Number> fill_;
  std::optional<Number> default_fill_;
  std::vector<Number> missing_;
  std::optional<Number> low_;
  std::optional<Number> high_;
  double first_ = 0;     // a value that is missing
  bool listed_ = false;  // there are others than it
  std::optional<Number> to_write_;
  std::string problem_;
};

/// Of a column as the file says it, or of one that no file has.
[[nodiscard]] MissingValues missing_values(const Column& column);

/// How many values of a column are missing, of all ranks or of one.
struct MissingCount {
  std::string name;
  std::int64_t count = 0;
  std::int64_t first = -1;  ///< place in the file of the first
  MissingValues::Kind kind = MissingValues::Kind::present;
};

/// Adds `values`, whose first stands at `place`, and turns missing ones that merging computes with into NaN.
void count_missing(const Column& column, const MissingValues& missing, std::int64_t place, std::span<double> values,
                   MissingCount& to);

/// "variable "humidity": 395 of 3072 values are missing, the first of parcel 5 (_FillValue -999)"
[[nodiscard]] std::string missing_text(const MissingCount& count, std::int64_t parcels, const MissingValues& missing);

}  // namespace merganser::io
