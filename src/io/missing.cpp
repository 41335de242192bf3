// Classification of a NetCDF variable's values as present or missing, by fill values and valid ranges.
#include "src/io/missing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include "merganser/base/text.hpp"
#include "merganser/io/data_file.hpp"

namespace merganser::io {
namespace {

/// Returns NetCDF's default fill value of a type, which values that were never written to a file have. Types of one byte have
/// none, since each of their values may be a datum.
std::optional<long double> default_fill(FileType type) {
  switch (type) {
    case FileType::i16:
      return -32767;
    case FileType::u16:
      return 65535;
    case FileType::i32:
      return -2147483647;
    case FileType::u32:
      return 4294967295U;
    case FileType::i64:
      return -9223372036854775806LL;
    case FileType::u64:
      return 18446744073709551614ULL;
    case FileType::f32:
    case FileType::f64:
      return 0x1.ep+122;  // 9.969209968386869e36, of both types
    default:
      return std::nullopt;
  }
}

/// Converts the values of a NetCDF attribute, as `_FillValue`, to long double, which is exact for every numeric type; an
/// empty vector if they are no numbers.
std::vector<long double> exact_numbers(const FileValues& values) {
  std::vector<long double> out;
  if (static_cast<FileType>(values.type) == FileType::u64) {
    for (const std::int64_t x : to_integers(values)) out.push_back(static_cast<std::uint64_t>(x));
  } else if (is_integer(static_cast<FileType>(values.type))) {
    for (const std::int64_t x : to_integers(values)) out.push_back(static_cast<long double>(x));
  } else {
    for (const double x : to_doubles(values)) out.push_back(x);
  }
  return out;
}

/// Formats a fill value or bound of a NetCDF variable with all digits of a 64-bit integer, which number_text() would round.
std::string exact_text(long double value) {
  const auto rounded = static_cast<double>(value);
  if (std::fabs(rounded) < 0x1p53 || rounded != std::floor(rounded) || std::fabs(rounded) > 0x1p64)
    return number_text(rounded);
  return value < 0 ? std::to_string(static_cast<std::int64_t>(value))
                   : std::to_string(static_cast<std::uint64_t>(value));
}

/// Returns the NetCDF attribute of this name among those of a variable; null if there is none.
const FileAttribute* find_by_name(std::span<const FileAttribute> attributes, std::string_view name) {
  for (const FileAttribute& a : attributes)
    if (a.name == name) return &a;
  return nullptr;
}

}  // namespace

// Classifier of a NetCDF variable's missing values by its attributes, after the conventions of CF and NetCDF.
MissingValues::MissingValues(FileType type, std::span<const FileAttribute> attributes,
                             std::span<const FileAttribute> unwritten, bool has_fill)
    : type_(type) {
  // Missing are NaN, the _FillValue, each missing_value, NetCDF's default fill value, and values out of range. For integers
  // _FillValue replaces the default one, which could be a datum then; for floats the default one stays missing.
  if (has_fill) default_fill_ = default_fill(type);
  for (const FileAttribute& a : attributes) {
    if (a.name == "_FillValue" || a.name == "missing_value") add_fill(a);
    if (a.name == "valid_range" || a.name == "valid_min" || a.name == "valid_max") add_range(a);
  }
  const bool floating = type == FileType::f32 || type == FileType::f64;
  if (fill_ && !floating) default_fill_.reset();  // the library then fills with the attribute's value
  const FileAttribute* const packed = find_by_name(attributes, "scale_factor");
  for (const char* name : {"valid_range", "valid_min", "valid_max"}) {
    const FileAttribute* const range = find_by_name(attributes, name);
    if (range == nullptr) continue;
    if (const FileAttribute* const sign = find_by_name(attributes, "_Unsigned");
        sign != nullptr && io::to_text(sign->values) == "true")
      problem_ = std::string("the attributes ") + name + " and _Unsigned do not go together; allowed: an unsigned type";
    if ((packed != nullptr || find_by_name(attributes, "add_offset") != nullptr) &&
        range->values.type != static_cast<int>(type))
      problem_ = std::string("the attribute ") + name +
                 " may be meant for packed or for unpacked values; allowed: the type of the variable, for packed ones";
  }
  std::optional<Number> best = fill_;
  if (!best && !missing_.empty()) best = missing_.front();
  if (!best) best = default_fill_;
  to_write_ = best;
  for (const FileAttribute& a : unwritten) {
    const std::vector<Number> values = checked_numbers(a, 0);
    missing_.insert(missing_.end(), values.begin(), values.end());
  }
  first_ = to_write_ ? static_cast<double>(*to_write_) : std::numeric_limits<double>::quiet_NaN();
  const int others = static_cast<int>(!unwritten.empty()) + (fill_ ? 1 : 0) + (default_fill_ ? 1 : 0) +
                     static_cast<int>(missing_.size());
  listed_ = others > 1 || low_ || high_;
}

// Numbers of an attribute that defines missing values, in the precision of the variable; an attribute without them is a problem.
std::vector<MissingValues::Number> MissingValues::checked_numbers(const FileAttribute& a, std::size_t count) {
  std::vector<Number> out = exact_numbers(a.values);
  if (out.empty() || (count > 0 && out.size() != count)) {
    problem_ = "the attribute " + a.name + " has " + std::to_string(a.values.count) + " values of type " +
               type_name(static_cast<FileType>(a.values.type)) + "; allowed: " +
               (count == 0 ? std::string("numbers") : std::to_string(count) + (count == 1 ? " number" : " numbers"));
    out.clear();
  }
  if (type_ == FileType::f32)  // -999.9 as a double differs from the float stored, so both are compared as floats
    for (Number& x : out) x = static_cast<float>(x);
  return out;
}

void MissingValues::add_fill(const FileAttribute& a) {
  const std::vector<Number> values = checked_numbers(a, 0);
  if (a.name == "_FillValue" && values.size() == 1 && !fill_) {
    fill_ = values[0];
  } else {
    missing_.insert(missing_.end(), values.begin(), values.end());
  }
}

void MissingValues::add_range(const FileAttribute& a) {
  const std::vector<Number> values = checked_numbers(a, a.name == "valid_range" ? 2 : 1);
  if (values.empty()) return;
  if (a.name != "valid_max") low_ = low_ ? std::max(*low_, values[0]) : values[0];
  if (a.name != "valid_min") high_ = high_ ? std::min(*high_, values.back()) : values.back();
}

/// Classifies a value of a NetCDF variable as present or missing by comparison with all fill values and the valid range.
/// @tparam T  double or long double. 64-bit integers that were rounded to double must be compared with numbers rounded
///            alike, hence the casts
template <class T>
MissingValues::Kind MissingValues::match(T value) const noexcept {
  const auto is = [&](Number x) { return value == static_cast<T>(x); };
  if (std::isnan(value)) return Kind::nan;
  if (fill_ && is(*fill_)) return Kind::fill;
  if (std::any_of(missing_.begin(), missing_.end(), is)) return Kind::missing_value;
  if (default_fill_ && is(*default_fill_)) return Kind::default_fill;
  if ((low_ && value < static_cast<T>(*low_)) || (high_ && value > static_cast<T>(*high_))) return Kind::out_of_range;
  return Kind::present;
}
template MissingValues::Kind MissingValues::match(double) const noexcept;

MissingValues::Kind MissingValues::classify_bits(double bits) const noexcept {
  const auto word = std::bit_cast<std::uint64_t>(bits);
  return match(type_ == FileType::u64 ? static_cast<Number>(word)
                                      : static_cast<Number>(static_cast<std::int64_t>(word)));
}

// Words of an error for the reason why a value of a NetCDF variable counts as missing.
std::string MissingValues::reason(Kind kind) const {
  switch (kind) {
    case Kind::nan:
      return "NaN";
    case Kind::fill:
      return "_FillValue " + exact_text(*fill_);
    case Kind::default_fill:
      return "never written: NetCDF's fill value " + exact_text(*default_fill_);
    case Kind::missing_value: {
      std::string list;
      for (std::size_t i = 0; i < missing_.size() && i < 8; ++i) list += ' ' + exact_text(missing_[i]);
      return "missing_value" + list;
    }
    case Kind::out_of_range:
      if (!low_) return "above valid_max " + exact_text(*high_);
      if (!high_) return "below valid_min " + exact_text(*low_);
      return "outside valid_range " + exact_text(*low_) + " to " + exact_text(*high_);
    default:
      return "a value";
  }
}

MissingValues missing_values(const Column& column) {
  if (column.in_file == nullptr) return {column.type, {}, {}, column.has_fill};
  return {column.type, column.in_file->attributes, column.in_file->unwritten, column.has_fill};
}

// Count of the missing values in this rank's slice of a parcel file's variable.
void count_missing(const Column& column, const MissingValues& missing, std::int64_t place, std::span<double> values,
                   MissingCount& to) {
  if (const std::optional<double> only = missing.only_missing(); only && !column.bits()) {
    int some = 0;  // no branch in the loop: vectors do it
    for (const double value : values) some |= static_cast<int>(std::isnan(value)) | static_cast<int>(value == *only);
    if (some == 0) return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MissingValues::Kind kind = missing.classify(column, values[i]);
    if (kind == MissingValues::Kind::present) continue;
    if (to.count++ == 0) {
      to.first = place + static_cast<std::int64_t>(i);
      to.kind = kind;
    }
    if (column.computed) values[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

std::string format_missing(const MissingCount& count, std::int64_t parcels, const MissingValues& missing) {
  return "variable \"" + count.name + "\": " + std::to_string(count.count) + " of " + std::to_string(parcels) +
         (count.count == 1 ? " values is missing, of parcel " : " values are missing, the first of parcel ") +
         std::to_string(count.first) + " (" + missing.reason(count.kind) + ")";
}

}  // namespace merganser::io
