#pragma once
/// std::from_chars for doubles, with a replacement for standard libraries that have it for integers alone (libc++ before 20).
#include <charconv>
#include <version>

#include "merganser/base/language.hpp"

namespace merganser::detail {

/// Parses the longest decimal number at the beginning of [first, last), in the C locale whatever the locale of the program, without
/// blanks or a plus sign before it. Returns the end of the number and the error code of std::from_chars; `value` is set only if
/// there is no error.
#ifdef __cpp_lib_to_chars
inline std::from_chars_result real_from_chars(const char* first, const char* last, double& value) {
  return std::from_chars(first, last, value);
}
#else
std::from_chars_result real_from_chars(const char* first, const char* last, double& value);
#endif

}  // namespace merganser::detail
