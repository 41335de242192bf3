/// Errors, versions and records of the C interface: the last failure of each thread, and the checks behind guard.hpp.
#include <array>
#include <exception>
#include <new>

#include "merganser/base/indexed_text.hpp"
#include "merganser/capi/detail/guard.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::capi {
namespace {

/// Last failure of a C function in this thread, for mg_error(); record_failure() fills it. The text has storage of fixed size,
/// since the failure may be a lack of memory.
struct LastFailure {
  std::array<char, 4096> text{};
  int status = MG_OK;
  std::exception_ptr error;
};
thread_local LastFailure failure;

/// Copies the text of an error to a buffer with a zero at its end, cut to the size of the buffer.
void copy_truncated(std::string_view text, std::array<char, 4096>& room) noexcept {
  const std::size_t length = std::min(text.size(), room.size() - 1);
  std::copy_n(text.data(), length, room.data());
  room[length] = '\0';
}

/// Records status, text and the exception being handled as the last failure of this thread. @return the status
int record_failure(int status, std::string_view text) noexcept {
  copy_truncated(text, failure.text);
  failure.status = status;
  failure.error = std::current_exception();
  return status;
}

}  // namespace

// Status of the C interface for each type of exception; the exit codes of Error are those of enum mg_status.
int record_error() noexcept {
  try {
    throw;
  } catch (const Error& e) {
    return record_failure(e.exit_code(), e.what());
  } catch (const std::bad_alloc&) {
    return record_failure(MG_MEMORY, "there is no memory");
  } catch (const std::length_error&) {
    return record_failure(MG_MEMORY, "there is no memory for an array of this length");
  } catch (const std::exception& e) {
    return record_failure(MG_INTERNAL, e.what());
  } catch (...) {
    return record_failure(MG_INTERNAL, "an exception without a text");
  }
}

// Text of the last failure in this thread, with positions counted from 0, or formatted again from 1 for Fortran.
const char* error_from(int first) noexcept {
  // Texts are stored with positions counted from 0, together with the exception, which can format them from 1.
  if (first != 1 || !failure.error) return failure.text.data();
  thread_local std::array<char, 4096> text;
  try {
    std::rethrow_exception(failure.error);
  } catch (const HasIndices& e) {
    try {
      copy_truncated(e.indexed_text().to_string(1), text);
      return text.data();
    } catch (...) {  // no memory for the other text
    }
  } catch (...) {
  }
  return failure.text.data();
}

void rethrow_recorded(int status) {
  if (failure.status == status && failure.error) std::rethrow_exception(failure.error);
  throw Error("the function that was run returned status " + std::to_string(status), status);
}

void throw_range(const char* name, const std::string& value, const std::string& allowed) {
  throw UsageError(std::string(name) + ": " + value + "; allowed: " + allowed);
}

// Version check of a C caller's record by its struct_size: fields beyond those that this version has must be zero bytes.
void check_size(std::size_t size, std::size_t first, std::size_t now, const void* record, const char* name) {
  constexpr std::size_t kMax = 65536;  // a greater size is an uninitialised field
  if (size < first || size > kMax)
    throw_range(name, "struct_size " + std::to_string(size), "sizeof of the record, " + std::to_string(now));
  const auto* const bytes = static_cast<const std::byte*>(record);
  for (std::size_t i = now; i < size; ++i)
    if (bytes[i] != std::byte{0})
      throw UsageError(std::string(name) + ": a field is set that this version of the library does not know");
}

}  // namespace merganser::capi

extern "C" {

int mg_abi(void) { return MG_ABI; }
const char* mg_version(void) { return MERGANSER_VERSION; }
const char* mg_error(void) { return merganser::capi::failure.text.data(); }
const char* mg_error_from(int first) { return merganser::capi::error_from(first); }
void mg_end_job(int exit_code) { merganser::comm::abort(exit_code); }

}  // extern "C"
