#pragma once
/// Scanners for text formats: lines of a buffer, words of a line, numbers. All readers of text files use them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "merganser/base/detail/real_from_chars.hpp"
#include "merganser/base/language.hpp"

namespace merganser {

/// Forward iteration over the lines of a text, without their ends ("\n" or "\r\n"). Refers to the text, which must outlive it.
class LineWalk {
 public:
  /// Starts before the first line of a text.
  /// @param offset  position of the text in its file, in bytes: at() and after() return positions in the file
  explicit LineWalk(std::string_view text, std::uint64_t offset = 0) : text_(text), offset_(offset) {}
  /// Advances to the next line of the text. @return false at the end of the text; line() and at() then still describe the last line
  bool next() {
    if (next_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', next_), text_.size());
    line_ = text_.substr(next_, end - next_);
    at_ = offset_ + next_;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    next_ = end + 1;
    return true;
  }
  /// Returns the current line of the text, without its end ("\n" or "\r\n").
  [[nodiscard]] std::string_view line() const { return line_; }
  /// Returns the offset in its file, in bytes, of the first byte of the current line of a text.
  [[nodiscard]] std::uint64_t at() const { return at_; }
  /// Returns the offset in its file, in bytes, of the first byte after the current line of a text and its end.
  [[nodiscard]] std::uint64_t after() const { return offset_ + std::min(next_, text_.size()); }

 private:
  std::string_view text_;  // lines that are walked
  std::string_view line_;  // current line, without its end
  std::uint64_t offset_;   // of text_ in its file, in bytes
  std::uint64_t at_ = 0;   // offset of the current line in the file
  std::size_t next_ = 0;   // offset of the next line in text_
};

/// Returns the number of line feeds in a text. A line that begins at an offset has the number, from 1, of 1 + count_lines(text
/// before that offset).
[[nodiscard]] inline std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Forward iteration over the words of a line, which one or more of the separators kSeparators divide. Refers to the line.
template <char... kSeparators>
class WordsBetween {
 public:
  /// Starts before the first word of a line of a text file.
  explicit WordsBetween(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}
  /// Returns the next word of the line of a text file; an empty string at the end of the line.
  std::string_view next() {
    skip();
    const char* const begin = at_;
    while (at_ != end_ && !is_separator(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  /// Returns the part of the line from the next word on, with all separators in it.
  std::string_view rest() {
    skip();
    return {at_, static_cast<std::size_t>(end_ - at_)};
  }
  /// Returns true if a character separates words of a line.
  static constexpr bool is_separator(char c) { return ((c == kSeparators) || ...); }

 private:
  /// Skips separators before the next word of the line.
  void skip() {
    while (at_ != end_ && is_separator(*at_)) ++at_;
  }
  const char* at_;   // first character that is not read yet
  const char* end_;  // end of the line of text
};
/// Forward iteration over the words of a line that blanks and tabs separate.
using BlankWords = WordsBetween<' ', '\t'>;

/// Parses a whole word as an id: digits alone, below 2^63. @return false if it is not one; `value` is then undefined
inline bool parse_id(std::string_view word, std::uint64_t& value) {
  constexpr std::size_t kSurelyFits = 18;  // digits of which any number is below 2^63
  if (word.size() <= kSurelyFits) {        // as nearly all are; several times as fast as from_chars()
    std::uint64_t number = 0;
    for (const char c : word) {
      const auto digit = static_cast<unsigned>(c - '0');
      if (digit > 9) return false;
      number = 10 * number + digit;
    }
    value = number;
    return !word.empty();
  }
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end && value < (std::uint64_t{1} << 63);
}
/// Parses a whole word as a signed integer of 64 bits, without a plus sign. @return false if it is not one; `value` is then
/// undefined
inline bool parse_integer(std::string_view word, std::int64_t& value) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end;
}
/// Parses a whole word as a decimal number, with a sign, a point and an exponent if there are any, or as "inf".
/// @return false for other words, NaN, and numbers outside the range of double; `value` is then undefined
inline bool parse_real(std::string_view word, double& value) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);  // one sign, not two
  const char* const end = word.data() + word.size();
  const auto [stop, error] = detail::real_from_chars(word.data(), end, value);
  return error == std::errc() && stop == end && !std::isnan(value);
}

}  // namespace merganser
