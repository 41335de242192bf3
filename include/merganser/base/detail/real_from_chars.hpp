#pragma once
/// std::from_chars of doubles, also for standard libraries that have it for integers alone (libc++ before 20).
#include <charconv>
#include <version>

#include "merganser/base/language.hpp"

namespace merganser::detail {

/// Reads a number as std::from_chars does: no blank and no plus before it, decimal, whatever the locale.
#ifdef __cpp_lib_to_chars
inline std::from_chars_result real_from_chars(const char* first, const char* last, double& value) {
  return std::from_chars(first, last, value);
}
#else
std::from_chars_result real_from_chars(const char* first, const char* last, double& value);
#endif

}  // namespace merganser::detail
