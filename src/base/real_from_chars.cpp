// Parser of doubles for standard libraries whose std::from_chars reads integers alone: strtod_l in the C locale.
#include "merganser/base/detail/real_from_chars.hpp"

#ifndef __cpp_lib_to_chars
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include <locale.h>

namespace merganser::detail {

// Parses a double as std::from_chars does, by strtod_l in the C locale.
std::from_chars_result real_from_chars(const char* first, const char* last, double& value) {
  // strtod_l accepts more than std::from_chars: leading blanks, a plus sign and hexadecimal numbers, which are excluded here.
  static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  std::string text(first, last);  // strtod_l needs a terminating zero
  if (const std::size_t at = text.find_first_of("xX"); at != std::string::npos) text.resize(at);  // not hexadecimal
  const bool begins = !text.empty() && text.find_first_of("+ \t\n\v\f\r") != 0;
  char* stop = nullptr;
  const double read = begins ? ::strtod_l(text.c_str(), &stop, plain) : 0;
  if (!begins || stop == text.c_str()) return {first, std::errc::invalid_argument};
  const char* const end = first + (stop - text.c_str());
  const std::string_view word(first, static_cast<std::size_t>(end - first));
  const bool named = word.find_first_of("iInN") != std::string_view::npos;
  // strtod_l returns infinity or 0 for numbers out of range, unless the text is "inf" or all its digits before the exponent are 0.
  const bool lost =
      std::isinf(read) ||
      (read == 0 && word.substr(0, word.find_first_of("eE")).find_first_of("123456789") != std::string_view::npos);
  if (!named && lost) return {end, std::errc::result_out_of_range};
  value = read;
  return {end, std::errc()};
}

}  // namespace merganser::detail
#endif
