#pragma once
/// The border between C and C++: no exception crosses it, no record is read beyond what its maker knew, no null is used.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/capi/library.h"

namespace merganser::capi {

/// Keeps the text of the exception that is being handled for mg_error(), and the exception for whoever started this
/// thread. Returns its status.
int keep_error() noexcept;
/// Text of this thread's last failed call, with positions in arrays counted from `first`, 0 or 1.
const char* error_from(int first) noexcept;
/// Throws again what this thread's last failed call caught, if its status was `status`; else an error that tells it.
[[noreturn]] void rethrow_kept(int status);

/// Runs the body of a function of the C interface: MG_OK, or the status of what it throws.
template <class Body>
int guard(const Body& body) noexcept {
  try {
    body();
    return MG_OK;
  } catch (...) {
    return keep_error();
  }
}

/// Refuses a null pointer. @throws UsageError naming the argument
inline void need(const void* pointer, const char* name) {
  if (pointer == nullptr) throw UsageError(std::string(name) + ": a null pointer; allowed: the address of one");
}
/// The same for an array, which may be null if it has no entries.
inline void need(const void* pointer, std::size_t entries, const char* name) {
  if (entries > 0) need(pointer, name);
}
[[noreturn]] void throw_range(const char* name, const std::string& value, const std::string& allowed);
/// Refuses a number outside least .. most. @throws UsageError naming the argument
template <class Number>
void within(Number value, Number least, Number most, const char* name) {
  if (value < least || value > most)
    throw_range(name, std::to_string(value), std::to_string(least) + " to " + std::to_string(most));
}
/// An array of the caller's. @throws UsageError if it is null, or longer than memory
template <class T>
std::span<T> array(T* data, std::size_t count, const char* name) {
  need(data, count, name);
  within<std::size_t>(count, 0, PTRDIFF_MAX / sizeof(T), name);
  return {data, count};
}
/// Gives an array of ours.
template <class T, class Range>
void give(const Range& range, const T** data, std::size_t* count) {
  need(data, "the pointer for the list");
  need(count, "the pointer for its length");
  *data = std::data(range);
  *count = std::size(range);
}
/// The same as records of the caller's type, which is laid out alike.
template <class T, class Range>
void give_as(const Range& range, const T** data, std::size_t* count) {
  give(std::span(reinterpret_cast<const T*>(std::data(range)), std::size(range)), data, count);
}
/// Writes a value to the address of the caller, unless that is null.
template <class T>
void give_if(T* where, T value) {
  if (where != nullptr) *where = value;
}
/// Refuses arrays that are too short. @throws UsageError naming the argument
inline void check_capacity(std::size_t capacity, std::size_t needed, const char* name) {
  if (capacity < needed) throw_range(name, std::to_string(capacity), "at least " + std::to_string(needed));
}
/// A text of the caller's, or what null stands for.
inline std::string text_or(const char* text, const char* otherwise) { return text != nullptr ? text : otherwise; }

void check_size(std::size_t size, std::size_t first, std::size_t now, const void* record, const char* name);

/// A record of the caller's as this version knows it: fields that he does not know are zero.
/// @param first  size of the record in its first version
/// @throws UsageError for null, a size below the first version's, or fields we do not know that are not zero
template <class Record>
Record read_record(const Record* record, const char* name, std::size_t first = sizeof(Record)) {
  need(record, name);
  check_size(record->struct_size, first, sizeof(Record), record, name);
  Record copy{};
  std::memcpy(static_cast<void*>(&copy), record, std::min(record->struct_size, sizeof(Record)));
  return copy;
}
/// The same for options, which may be null: all zero.
template <class Record>
Record read_options(const Record* record, const char* name, std::size_t first = sizeof(Record)) {
  return record != nullptr ? read_record(record, name, first) : Record{};
}
/// Refuses a record that write_record() cannot fill. @throws UsageError for null, or a size below the first version's
template <class Record>
void check_record(const Record* record, const char* name, std::size_t first = sizeof(Record)) {
  need(record, name);
  if (record->struct_size < first)
    throw_range(name, "struct_size " + std::to_string(record->struct_size),
                "sizeof of the record, " + std::to_string(sizeof(Record)));
}
/// Fills a record of the caller's as far as he knows it. @throws UsageError as check_record()
template <class Record>
void write_record(const Record& value, Record* record, const char* name, std::size_t first = sizeof(Record)) {
  check_record(record, name, first);
  const std::size_t size = record->struct_size;
  std::memcpy(reinterpret_cast<std::byte*>(record) + sizeof(size),
              reinterpret_cast<const std::byte*>(&value) + sizeof(size), std::min(size, sizeof(Record)) - sizeof(size));
}

}  // namespace merganser::capi
