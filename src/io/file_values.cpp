/// Conversion between typed values of NetCDF files (FileValues) and C++ numbers, and the search for missing values in a
/// variable that is held whole.
#include <algorithm>
#include <cstring>

#include "merganser/base/error.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/columns.hpp"
#include "src/io/missing.hpp"

namespace merganser::io {
namespace {

/// Copies an array of `count` numbers or characters of `size` bytes each into values of a NetCDF file of this type.
FileValues copy_values(FileType type, const void* values, std::size_t count, std::size_t size) {
  FileValues out;
  out.type = static_cast<int>(type);
  out.count = static_cast<std::int64_t>(count);
  out.bytes.resize(count * size);
  if (count > 0) std::memcpy(out.bytes.data(), values, count * size);
  return out;
}

/// Calls use(value) for each value of a NetCDF variable or attribute, read as a T. Copies bytes, since they need not be
/// aligned for T.
template <class T, class Use>
void for_each_value(const FileValues& values, const Use& use) {
  for (std::size_t at = 0; at + sizeof(T) <= values.bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, values.bytes.data() + at, sizeof value);
    use(value);
  }
}

/// Calls use(value) for each value of a NetCDF variable or attribute in its own integer type; never for other types.
template <class Use>
void for_each_integer(const FileValues& values, const Use& use) {
  switch (static_cast<FileType>(values.type)) {
    case FileType::i8:
      return for_each_value<std::int8_t>(values, use);
    case FileType::i16:
      return for_each_value<std::int16_t>(values, use);
    case FileType::i32:
      return for_each_value<std::int32_t>(values, use);
    case FileType::u8:
      return for_each_value<std::uint8_t>(values, use);
    case FileType::u16:
      return for_each_value<std::uint16_t>(values, use);
    case FileType::u32:
      return for_each_value<std::uint32_t>(values, use);
    case FileType::i64:
      return for_each_value<std::int64_t>(values, use);
    case FileType::u64:
      return for_each_value<std::uint64_t>(values, use);
    default:
      return;
  }
}

/// Returns the first attribute, variable or subgroup of a NetCDF group that has this name; null if the list has none.
template <class List>
auto find_named(const List& list, std::string_view name) -> const typename List::value_type* {
  const auto at = std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.name == name; });
  return at == list.end() ? nullptr : &*at;
}

}  // namespace

FileValues file_values(std::span<const double> numbers) {
  return copy_values(FileType::f64, numbers.data(), numbers.size(), sizeof(double));
}
FileValues file_values(std::span<const std::int32_t> numbers) {
  return copy_values(FileType::i32, numbers.data(), numbers.size(), sizeof(std::int32_t));
}
FileValues file_values(std::span<const std::int64_t> numbers) {
  return copy_values(FileType::i64, numbers.data(), numbers.size(), sizeof(std::int64_t));
}
FileValues file_values(std::string_view text) { return copy_values(FileType::text, text.data(), text.size(), 1); }

// Values of a NetCDF variable or attribute of any numeric type as doubles.
std::vector<double> to_doubles(const FileValues& values) {
  std::vector<double> out;
  const auto append = [&](auto value) { out.push_back(static_cast<double>(value)); };
  if (values.type == static_cast<int>(FileType::f64)) {
    for_each_value<double>(values, append);
  } else if (values.type == static_cast<int>(FileType::f32)) {
    for_each_value<float>(values, append);
  } else {
    for_each_integer(values, append);
  }
  return out;
}

std::vector<std::int64_t> to_integers(const FileValues& values) {
  std::vector<std::int64_t> out;
  for_each_integer(values, [&](auto value) { out.push_back(static_cast<std::int64_t>(value)); });
  return out;
}

std::string to_text(const FileValues& values) {
  if (values.type == static_cast<int>(FileType::string) && !values.strings.empty()) return values.strings.front();
  if (values.type != static_cast<int>(FileType::text)) return {};
  return {reinterpret_cast<const char*>(values.bytes.data()), values.bytes.size()};
}

const FileValues* find_attribute(const FileGroup& group, std::string_view name) {
  const FileAttribute* found = find_named(group.attributes, name);
  return found == nullptr ? nullptr : &found->values;
}

const FileGroup* find_group(const FileGroup& group, std::string_view name) { return find_named(group.groups, name); }

const FileValues* find_variable(const FileGroup& group, std::string_view name) {
  const FileVariable* found = find_named(group.variables, name);
  return found == nullptr ? nullptr : &found->values;
}

// Mask of missing values of one NetCDF variable that is held whole, by the same MissingValues rule as for parcel files.
MissingMask find_missing(const FileVariable& variable) {
  const auto type = static_cast<FileType>(variable.values.type);
  const MissingValues missing(type, variable.attributes, variable.unwritten);
  if (!missing.problem().empty()) throw InputError("variable \"" + variable.name + "\": " + missing.problem());
  const Column column{.name = variable.name, .computed = false, .type = type, .storage = {}};
  std::vector<double> values = to_doubles(variable.values);
  // Two 64-bit integers may round to one double, so the bits are compared instead: MissingValues expects them in place.
  if (column.bits() && !values.empty())
    std::memcpy(values.data(), variable.values.bytes.data(), values.size() * sizeof(double));
  MissingMask mask;
  for (const double value : values) {
    const MissingValues::Kind kind = missing.classify(column, value);
    mask.missing.push_back(kind == MissingValues::Kind::present ? 0 : 1);
    if (mask.missing.back() != 0 && mask.why.empty()) mask.why = missing.reason(kind);
  }
  return mask;
}

// Check of a data file's variable in which no value may be missing: the mask of missing values must be all zero.
void require_values(const std::string& path, const FileGroup& group, std::string_view name) {
  const FileVariable* const found = find_named(group.variables, name);
  if (found == nullptr) return;
  MissingMask mask;
  try {
    mask = find_missing(*found);
  } catch (const InputError& e) {
    throw InputError(path + ": " + e.what());
  }
  const auto count = std::count(mask.missing.begin(), mask.missing.end(), 1);
  if (count == 0) return;
  const auto first = std::find(mask.missing.begin(), mask.missing.end(), 1) - mask.missing.begin();
  throw InputError(path + ": variable \"" + found->name + "\": " + std::to_string(count) + " of " +
                   std::to_string(mask.missing.size()) + " values are missing, the first at place " +
                   std::to_string(first) + " (" + mask.why + "); allowed: numbers");
}

}  // namespace merganser::io
