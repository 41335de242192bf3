#pragma once
/// Parsing of the lines of graph files that hold plain numbers alone, as nearly all do, eight digits at a time. What is not plain (signs
/// of ids, comments, quotes, long numbers, other characters) is left to the general parser of the format, which decides what is allowed
/// and what an error says; the parsers here take only lines that it takes, with the same result.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>

#include "merganser/base/detail/real_from_chars.hpp"
#include "merganser/base/lines.hpp"

namespace merganser::graphs::detail {

/// Longest number that scan_number() takes, in digits: any such number is below 10^16 and 2^54.
inline constexpr std::size_t kPlainDigits = 16;
/// Bytes of text from the end of a plain line on that can be read: as many as a weight may be long, and more than scan_number() reads.
inline constexpr std::size_t kReadAhead = 64;

/// Returns 8 bytes of text as a number whose lowest byte is the first character.
inline std::uint64_t load_characters(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Returns the value of 8 characters of text, each a digit or 0 as a byte, the first in the lowest byte. Three multiplications add
/// digits to pairs, pairs to fours, and fours to the number.
inline std::uint64_t combine_digits(std::uint64_t digits) {
  digits = digits * 10 + (digits >> 8);
  constexpr std::uint64_t kPairs = 0x000000FF000000FF;
  return ((digits & kPairs) * (100 + (std::uint64_t{1000000} << 32)) +
          (digits >> 16 & kPairs) * (1 + (std::uint64_t{10000} << 32))) >>
         32;
}

/// Digits at the beginning of 8 characters of text.
struct DigitRun {
  std::uint64_t value;  ///< the number that they are
  unsigned count;       ///< how many of the characters they are, 0 to 8
};
/// Returns the digits at the beginning of 8 characters of text, whose first is in the lowest byte of `characters`.
inline DigitRun leading_digits(std::uint64_t characters) {
  constexpr std::uint64_t kZeros = 0x3030303030303030, kAbove = 0x7676767676767676, kHighest = 0x8080808080808080;
  const std::uint64_t digits = characters ^ kZeros;
  // The highest bit of the first byte that is no digit is set; those behind it may be wrong.
  const std::uint64_t others = ((digits + kAbove) | digits) & kHighest;
  if (others == 0) return {combine_digits(digits), 8};
  const auto bits = static_cast<unsigned>(std::countr_zero(others)) & ~7U;
  // Digits move to the end, behind zeros; two shifts, since there may be none, and a shift by 64 is not defined.
  return {combine_digits(digits << 1 << (63 - bits)), bits / 8};
}

/// Scans a number of 1 to kPlainDigits digits in text of which 24 bytes can be read. @return the end of its digits;
/// null if there is none, or a longer one
inline const char* scan_number(const char* at, std::uint64_t& value) {
  const DigitRun first = leading_digits(load_characters(at));
  value = first.value;
  if (first.count < 8) return first.count > 0 ? at + first.count : nullptr;
  constexpr std::uint64_t kPowers[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const DigitRun second = leading_digits(load_characters(at + 8));
  value = first.value * kPowers[second.count] + second.value;
  if (second.count == 8 && static_cast<unsigned>(at[16] - '0') <= 9) return nullptr;
  return at + 8 + second.count;
}

/// Returns the first character of text that is neither a blank nor a tab; there must be one.
inline const char* skip_blanks(const char* at) {
  while (BlankWords::is_separator(*at)) ++at;
  return at;
}
/// Returns the place behind the end of a line of text, "\n" or "\r\n", that is at `at`; null if there is none.
inline const char* skip_line_end(const char* at) {
  if (*at == '\n') return at + 1;
  return *at == '\r' && at[1] == '\n' ? at + 2 : nullptr;
}

/// Weight of an edge in a plain line of a graph file.
struct PlainWeight {
  /// Kinds of weights that scan() finds: an integer below 2^54 without a sign, a number with a point or an exponent, an integer with a minus or of more
  /// digits.
  enum class Kind : std::uint8_t { natural, real, integer };
  Kind kind = Kind::natural;
  std::uint64_t natural = 0;   ///< the weight, if it is of that kind
  double real = 0;             ///< the weight, if it is of that kind; no NaN
  std::string_view integer{};  ///< digits of the weight and its sign, if it is of that kind

  /// Scans a weight up to a character that is not part of one, in text of which kReadAhead bytes can be read. @return its end; null
  /// if there is none
  const char* scan(const char* at) {
    const char* const digits = *at == '-' ? at + 1 : at;
    const char* end = scan_number(digits, natural);
    if (end == nullptr || *end == '.' || *end == 'e' || *end == 'E') return scan_real(at);
    if (digits == at) {
      kind = Kind::natural;
      return end;
    }
    kind = Kind::integer;
    integer = {at, static_cast<std::size_t>(end - at)};
    return end;
  }

 private:
  /// Scans a weight that is no short integer, as scan().
  const char* scan_real(const char* at) {
    const char* digits = *at == '-' ? at + 1 : at;
    const auto is_digit = [](char c) { return static_cast<unsigned>(c - '0') <= 9; };
    if (!is_digit(*digits)) return nullptr;  // a point, a plus, "inf"
    const auto [end, error] = merganser::detail::real_from_chars(at, at + kReadAhead, real);
    // The general parser refuses what is out of range; what is that long may go on.
    if (error != std::errc() || end == at + kReadAhead) return nullptr;
    while (is_digit(*digits)) ++digits;
    kind = digits == end ? Kind::integer : Kind::real;
    integer = {at, static_cast<std::size_t>(end - at)};
    return end;
  }
};

/// Line of a graph file with two ids and perhaps a weight and another number, as plain numbers.
struct PlainRow {
  std::uint64_t from = 0, to = 0;
  PlainWeight weight{};
  unsigned columns = 0;  ///< numbers of the line, 2 to 4

  /// Scans a line of a graph file, from the end of which on kReadAhead bytes can be read.
  /// @param separator  of numbers: ' ' for any number of blanks and tabs, also at both ends of the line; others stand once
  /// @return the place behind the end of the line; null if it is no plain one
  const char* scan(const char* at, char separator) {
    at = separator == ' ' ? skip_blanks(at) : at;
    at = scan_number(at, from);
    if (at == nullptr || (at = skip_separator(at, separator)) == nullptr) return nullptr;
    at = scan_number(at, to);
    columns = 2;
    if (at == nullptr) return nullptr;
    if (const char* const end = skip_line_end(separator == ' ' ? skip_blanks(at) : at)) return end;
    if ((at = skip_separator(at, separator)) == nullptr || (at = weight.scan(at)) == nullptr) return nullptr;
    columns = 3;
    if (const char* const end = skip_line_end(separator == ' ' ? skip_blanks(at) : at)) return end;
    if ((at = skip_separator(at, separator)) == nullptr) return nullptr;
    PlainWeight unused;
    if ((at = unused.scan(at)) == nullptr) return nullptr;
    columns = 4;
    return skip_line_end(separator == ' ' ? skip_blanks(at) : at);
  }

 private:
  /// Skips what separates two numbers of a line. @return the place behind it; null if it is not there
  static const char* skip_separator(const char* at, char separator) {
    if (separator != ' ') return *at == separator ? at + 1 : nullptr;
    const char* const end = skip_blanks(at);
    return end == at ? nullptr : end;
  }
};

/// Parses a text of lines: calls `plain` with the beginning of each line as a pointer, and `general` with a LineWalk at the line for
/// those that `plain` leaves to it, in ascending order.
/// @param offset  of the text in its file, which LineWalk::at() adds
/// @param plain  returns the place behind the end of the line; null: not a plain line, and nothing was done
/// @param all_general  `plain` is not called
template <class Plain, class General>
void parse_lines(std::string_view text, std::uint64_t offset, bool all_general, const Plain& plain,
                 const General& general) {
  const auto general_lines = [&](std::size_t begin, bool one) {
    LineWalk walk(text.substr(begin), offset + begin);
    while (walk.next()) {
      general(walk);
      if (one) break;
    }
    return static_cast<std::size_t>(walk.after() - offset);
  };
  std::size_t plain_end = 0;  // end of the last line that may be plain
  if (std::endian::native == std::endian::little && !all_general && text.size() > kReadAhead)
    plain_end = text.substr(0, text.size() - kReadAhead).rfind('\n') + 1;
  std::size_t at = 0;
  while (at < plain_end) {
    const char* const end = plain(text.data() + at);
    at = end != nullptr ? static_cast<std::size_t>(end - text.data()) : general_lines(at, true);
  }
  general_lines(at, false);
}

}  // namespace merganser::graphs::detail
