#pragma once
/// Text taken apart: lines, words, numbers. All readers of text formats walk and parse by these.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "merganser/base/detail/real_from_chars.hpp"
#include "merganser/base/language.hpp"

namespace merganser {

/// The lines of a text one by one, without their ends ("\n" or "\r\n").
class LineWalk {
 public:
  /// @param offset  of the text in its file
  explicit LineWalk(std::string_view text, std::uint64_t offset = 0) : text_(text), offset_(offset) {}
  /// Goes to the next line. @return false at the end; line() and at() are then those of the last line
  bool next() {
    if (next_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', next_), text_.size());
    line_ = text_.substr(next_, end - next_);
    at_ = offset_ + next_;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    next_ = end + 1;
    return true;
  }
  /// The line, without its end.
  [[nodiscard]] std::string_view line() const { return line_; }
  /// Offset of the line.
  [[nodiscard]] std::uint64_t at() const { return at_; }
  /// Offset of the next line.
  [[nodiscard]] std::uint64_t after() const { return offset_ + std::min(next_, text_.size()); }

 private:
  std::string_view text_;
  std::string_view line_;
  std::uint64_t offset_;
  std::uint64_t at_ = 0;
  std::size_t next_ = 0;
};

/// Number of lines that end in a text. The line at offset `at` of a text has the number 1 + lines_in(text up to it).
[[nodiscard]] inline std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Words of a line between separators, of which any number may stand together.
template <char... kSeparators>
class WordsBetween {
 public:
  explicit WordsBetween(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}
  /// The next word; an empty text at the end.
  std::string_view next() {
    skip();
    const char* const begin = at_;
    while (at_ != end_ && !separates(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  /// What is left of the line, from its next word on.
  std::string_view rest() {
    skip();
    return {at_, static_cast<std::size_t>(end_ - at_)};
  }
  /// Whether a character stands between words.
  static constexpr bool separates(char c) { return ((c == kSeparators) || ...); }

 private:
  void skip() {
    while (at_ != end_ && separates(*at_)) ++at_;
  }
  const char* at_;
  const char* end_;
};
/// Words between blanks and tabs.
using BlankWords = WordsBetween<' ', '\t'>;

/// A whole word as a number below 2^63, of digits alone. @return false if it is none; `value` is then anything
inline bool parse_id(std::string_view word, std::uint64_t& value) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end && value < (std::uint64_t{1} << 63);
}
/// A whole word as an integer of 64 bits, perhaps with a minus.
inline bool parse_integer(std::string_view word, std::int64_t& value) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end;
}
/// A whole word as a number: digits, point, exponent, a sign, or "inf". NaN and what a double cannot hold are none.
inline bool parse_real(std::string_view word, double& value) {
  if (word.starts_with('+')) word.remove_prefix(1);
  const char* const end = word.data() + word.size();
  const auto [stop, error] = detail::real_from_chars(word.data(), end, value);
  return error == std::errc() && stop == end && !std::isnan(value);
}

}  // namespace merganser
