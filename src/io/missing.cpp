#include "src/io/missing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include "merganser/base/text.hpp"
#include "merganser/io/data_file.hpp"

namespace merganser::io {
namespace {

/// NetCDF's fill values, which unwritten data have. Any byte may be meant, so those have none.
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

/// The values as the widest numbers, exact; none if they are no numbers.
std::vector<long double> exact_numbers(const FileValues& values) {
  std::vector<long double> out;
  if (static_cast<FileType>(values.type) == FileType::u64) {
    for (const std::int64_t x : integers_of(values)) out.push_back(static_cast<std::uint64_t>(x));
  } else if (is_integer(static_cast<FileType>(values.type))) {
    for (const std::int64_t x : integers_of(values)) out.push_back(static_cast<long double>(x));
  } else {
    for (const double x : numbers_of(values)) out.push_back(x);
  }
  return out;
}

std::string text(long double value) {
  const auto rounded = static_cast<double>(value);
  if (std::fabs(rounded) < 0x1p53 || rounded != std::floor(rounded) || std::fabs(rounded) > 0x1p64)
    return number_text(rounded);
  return value < 0 ? std::to_string(static_cast<std::int64_t>(value))
                   : std::to_string(static_cast<std::uint64_t>(value));
}

const FileAttribute* find(std::span<const FileAttribute> attributes, std::string_view name) {
  for (const FileAttribute& a : attributes)
    if (a.name == name) return &a;
  return nullptr;
}

}  // namespace

MissingValues::MissingValues(FileType type, std::span<const FileAttribute> attributes,
                             std::span<const FileAttribute> unwritten)
    : type_(type) {
  default_fill_ = default_fill(type);
  for (const FileAttribute& a : attributes) {
    if (a.name == "_FillValue" || a.name == "missing_value") take_fill(a);
    if (a.name == "valid_range" || a.name == "valid_min" || a.name == "valid_max") take_range(a);
  }
  const bool floating = type == FileType::f32 || type == FileType::f64;
  if (fill_ && !floating) default_fill_.reset();  // unwritten values are then those of the attribute
  const FileAttribute* const packed = find(attributes, "scale_factor");
  for (const char* name : {"valid_range", "valid_min", "valid_max"}) {
    const FileAttribute* const range = find(attributes, name);
    if (range == nullptr) continue;
    if (const FileAttribute* const sign = find(attributes, "_Unsigned");
        sign != nullptr && io::text_of(sign->values) == "true")
      problem_ = std::string("the attributes ") + name + " and _Unsigned do not go together; allowed: an unsigned type";
    if ((packed != nullptr || find(attributes, "add_offset") != nullptr) &&
        range->values.type != static_cast<int>(type))
      problem_ = std::string("the attribute ") + name +
                 " may be meant for packed or for unpacked values; allowed: the type of the variable, for packed ones";
  }
  std::optional<Number> best = fill_;
  if (!best && !missing_.empty()) best = missing_.front();
  if (!best) best = default_fill_;
  to_write_ = best;
  for (const FileAttribute& a : unwritten) {
    const std::vector<Number> values = numbers_in(a, 0);
    missing_.insert(missing_.end(), values.begin(), values.end());
  }
  first_ = to_write_ ? static_cast<double>(*to_write_) : std::numeric_limits<double>::quiet_NaN();
  const int others = static_cast<int>(!unwritten.empty()) + (fill_ ? 1 : 0) + (default_fill_ ? 1 : 0) +
                     static_cast<int>(missing_.size());
  listed_ = others > 1 || low_ || high_;
}

std::vector<MissingValues::Number> MissingValues::numbers_in(const FileAttribute& a, std::size_t count) {
  std::vector<Number> out = exact_numbers(a.values);
  if (out.empty() || (count > 0 && out.size() != count)) {
    problem_ = "the attribute " + a.name + " has " + std::to_string(a.values.count) + " values of type " +
               type_name(static_cast<FileType>(a.values.type)) + "; allowed: " +
               (count == 0 ? std::string("numbers") : std::to_string(count) + (count == 1 ? " number" : " numbers"));
    out.clear();
  }
  if (type_ == FileType::f32)  // compared with numbers of that type, as other readers do
    for (Number& x : out) x = static_cast<float>(x);
  return out;
}

void MissingValues::take_fill(const FileAttribute& a) {
  const std::vector<Number> values = numbers_in(a, 0);
  if (a.name == "_FillValue" && values.size() == 1 && !fill_) {
    fill_ = values[0];
  } else {
    missing_.insert(missing_.end(), values.begin(), values.end());
  }
}

void MissingValues::take_range(const FileAttribute& a) {
  const std::vector<Number> values = numbers_in(a, a.name == "valid_range" ? 2 : 1);
  if (values.empty()) return;
  if (a.name != "valid_max") low_ = low_ ? std::max(*low_, values[0]) : values[0];
  if (a.name != "valid_min") high_ = high_ ? std::min(*high_, values.back()) : values.back();
}

/// @tparam T  double: 64-bit integers have been rounded to it, so what they are compared with is too
template <class T>
MissingValues::Kind MissingValues::look(T value) const noexcept {
  const auto is = [&](Number x) { return value == static_cast<T>(x); };
  if (std::isnan(value)) return Kind::nan;
  if (fill_ && is(*fill_)) return Kind::fill;
  if (std::any_of(missing_.begin(), missing_.end(), is)) return Kind::missing_value;
  if (default_fill_ && is(*default_fill_)) return Kind::default_fill;
  if ((low_ && value < static_cast<T>(*low_)) || (high_ && value > static_cast<T>(*high_))) return Kind::out_of_range;
  return Kind::present;
}
template MissingValues::Kind MissingValues::look(double) const noexcept;

MissingValues::Kind MissingValues::of_bits(double bits) const noexcept {
  const auto word = std::bit_cast<std::uint64_t>(bits);
  return look(type_ == FileType::u64 ? static_cast<Number>(word)
                                     : static_cast<Number>(static_cast<std::int64_t>(word)));
}

std::string MissingValues::reason(Kind kind) const {
  switch (kind) {
    case Kind::nan:
      return "NaN";
    case Kind::fill:
      return "_FillValue " + text(*fill_);
    case Kind::default_fill:
      return "never written: NetCDF's fill value " + text(*default_fill_);
    case Kind::missing_value: {
      std::string list;
      for (std::size_t i = 0; i < missing_.size() && i < 8; ++i) list += ' ' + text(missing_[i]);
      return "missing_value" + list;
    }
    case Kind::out_of_range:
      if (!low_) return "above valid_max " + text(*high_);
      if (!high_) return "below valid_min " + text(*low_);
      return "outside valid_range " + text(*low_) + " to " + text(*high_);
    default:
      return "a value";
  }
}

MissingValues missing_values(const Column& column) {
  if (column.in_file == nullptr) return MissingValues(column.type);
  return {column.type, column.in_file->attributes, column.in_file->unwritten};
}

void count_missing(const Column& column, const MissingValues& missing, std::int64_t place, std::span<double> values,
                   MissingCount& to) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MissingValues::Kind kind = missing.of(column, values[i]);
    if (kind == MissingValues::Kind::present) continue;
    if (to.count++ == 0) {
      to.first = place + static_cast<std::int64_t>(i);
      to.kind = kind;
    }
    if (column.computed) values[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

std::string missing_text(const MissingCount& count, std::int64_t parcels, const MissingValues& missing) {
  return "variable \"" + count.name + "\": " + std::to_string(count.count) + " of " + std::to_string(parcels) +
         (count.count == 1 ? " values is missing, of parcel " : " values are missing, the first of parcel ") +
         std::to_string(count.first) + " (" + missing.reason(count.kind) + ")";
}

}  // namespace merganser::io
