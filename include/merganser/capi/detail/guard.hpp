#pragma once
/// Boundary between the C interface and C++: exceptions become statuses, and pointers, ranges and versioned records of the
/// caller are validated before use.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/capi/library.h"

namespace merganser::capi {

/// Records the exception being handled, and its text, as the last failure of a C function in this thread, for mg_error() and
/// rethrow_recorded(). Call within a catch clause. @return its status, an mg_status
int record_error() noexcept;
/// Returns the text of this thread's last failed call, with positions in arrays counted from `first`, 0 or 1. Valid until the
/// next failure or call of this function in this thread.
const char* error_from(int first) noexcept;
/// Rethrows the exception of this thread's last failed call if its status was `status`; else throws an Error that names the
/// status.
[[noreturn]] void rethrow_recorded(int status);

/// Runs the body of a function of the C interface. @return MG_OK, or the status of the exception that it throws
template <class Body>
int guard(const Body& body) noexcept {
  try {
    body();
    return MG_OK;
  } catch (...) {
    return record_error();
  }
}

/// Checks that a pointer which a C caller passed is not null. @throws UsageError naming the argument
inline void check_not_null(const void* pointer, const char* name) {
  if (pointer == nullptr) throw UsageError(std::string(name) + ": a null pointer; allowed: the address of one");
}
/// Checks that an array which a C caller passed is not null, unless it has no entries. @throws UsageError naming the argument
inline void check_not_null(const void* pointer, std::size_t entries, const char* name) {
  if (entries > 0) check_not_null(pointer, name);
}
/// Throws UsageError "NAME: VALUE; allowed: ALLOWED" for an argument of a C function that is out of range.
[[noreturn]] void throw_range(const char* name, const std::string& value, const std::string& allowed);
/// Checks that a number which a C caller passed is in least .. most. @throws UsageError naming the argument
template <class Number>
void check_range(Number value, Number least, Number most, const char* name) {
  if (value < least || value > most)
    throw_range(name, std::to_string(value), std::to_string(least) + " to " + std::to_string(most));
}
/// Returns a view of an array that a C caller passed. @throws UsageError if it is null but has entries, or is longer than memory
template <class T>
std::span<T> checked_array(T* data, std::size_t count, const char* name) {
  check_not_null(data, count, name);
  check_range<std::size_t>(count, 0, PTRDIFF_MAX / sizeof(T), name);
  return {data, count};
}
/// Returns an array of the library to the caller by address and length; it stays owned by the library.
/// @throws UsageError if either pointer is null
template <class T, class Range>
void return_array(const Range& range, const T** data, std::size_t* count) {
  check_not_null(data, "the pointer for the list");
  check_not_null(count, "the pointer for its length");
  *data = std::data(range);
  *count = std::size(range);
}
/// Returns an array of the library to the caller as records of the C type T, whose layout must equal that of the entries.
/// @throws UsageError if either pointer is null
template <class T, class Range>
void return_array_as(const Range& range, const T** data, std::size_t* count) {
  return_array(std::span(reinterpret_cast<const T*>(std::data(range)), std::size(range)), data, count);
}
/// Writes a value to an optional output argument of a C function: nothing if the address is null.
template <class T>
void store_optional(T* where, T value) {
  if (where != nullptr) *where = value;
}
/// Checks that an output array which a C caller passed is long enough. @throws UsageError naming the argument
inline void check_capacity(std::size_t capacity, std::size_t needed, const char* name) {
  if (capacity < needed) throw_range(name, std::to_string(capacity), "at least " + std::to_string(needed));
}
/// Returns a string that a C caller passed, or the default if it is null.
inline std::string string_or(const char* text, const char* otherwise) { return text != nullptr ? text : otherwise; }

/// Validates the size (struct_size) that a C caller states for a record. A size beyond `now` is that of a caller compiled with a
/// later version, whose further fields must be zero.
/// @param first  size of the record in its first version
/// @param now    size of the record in this version
/// @throws UsageError naming the argument
void check_size(std::size_t size, std::size_t first, std::size_t now, const void* record, const char* name);

/// Copies a record (struct) of a C caller compiled with any version to one of this version: fields that an older caller lacks
/// are zero.
/// @param first  size of the record in its first version
/// @throws UsageError for null, a size below the first version's, or fields of a later version that are not zero
template <class Record>
Record read_record(const Record* record, const char* name, std::size_t first = sizeof(Record)) {
  check_not_null(record, name);
  check_size(record->struct_size, first, sizeof(Record), record, name);
  Record copy{};
  std::memcpy(static_cast<void*>(&copy), record, std::min(record->struct_size, sizeof(Record)));
  return copy;
}
/// Copies the record of options of a C caller compiled with any version; null stands for a record with all fields zero.
/// @param first  size of the record in its first version
/// @throws UsageError for a size below the first version's, or fields of a later version that are not zero
template <class Record>
Record read_options(const Record* record, const char* name, std::size_t first = sizeof(Record)) {
  return record != nullptr ? read_record(record, name, first) : Record{};
}
/// Checks that write_record() can fill a C caller's record. @throws UsageError for null, or a size below the first version's
template <class Record>
void check_record(const Record* record, const char* name, std::size_t first = sizeof(Record)) {
  check_not_null(record, name);
  if (record->struct_size < first)
    throw_range(name, "struct_size " + std::to_string(record->struct_size),
                "sizeof of the record, " + std::to_string(sizeof(Record)));
}
/// Fills a C caller's record of results, up to the size that it states: an older caller gets the fields of its version.
/// @throws UsageError for null, or a size below the first version's
template <class Record>
void write_record(const Record& value, Record* record, const char* name, std::size_t first = sizeof(Record)) {
  check_record(record, name, first);
  const std::size_t size = record->struct_size;
  std::memcpy(reinterpret_cast<std::byte*>(record) + sizeof(size),
              reinterpret_cast<const std::byte*>(&value) + sizeof(size), std::min(size, sizeof(Record)) - sizeof(size));
}

}  // namespace merganser::capi
