#pragma once
/// Lines of words and numbers, with errors that name the place.
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "merganser/base/error.hpp"

namespace merganser::topology {

class WordReader {
 public:
  WordReader(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

  /// Goes to the next line that is not empty; false at the end.
  bool next_line() {
    while (!rest_.empty()) {
      ++number_;
      const auto end = rest_.find('\n');
      line_ = rest_.substr(0, end);
      rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
      if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
      if (line_.find_first_not_of(kBlank) != std::string_view::npos) return true;
    }
    return false;
  }
  /// The next word of the line; empty at its end.
  std::string_view word() {
    const auto begin = line_.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return line_ = {};
    line_.remove_prefix(begin);
    const auto end = std::min(line_.find_first_of(kBlank), line_.size());
    const std::string_view word = line_.substr(0, end);
    line_.remove_prefix(end);
    return word;
  }
  [[nodiscard]] bool at_end() const { return line_.find_first_not_of(kBlank) == std::string_view::npos; }
  /// What is left of the line.
  std::string_view rest_of_line() {
    const auto begin = std::min(line_.find_first_not_of(kBlank), line_.size());
    return line_.substr(begin);
  }
  void expect(std::string_view wanted) {
    const auto got = word();
    if (got != wanted) refuse("\"" + std::string(got) + "\" where \"" + std::string(wanted) + "\" is expected");
  }
  /// A whole number lowest .. highest.
  std::int64_t number(const char* what, std::int64_t lowest = 0, std::int64_t highest = INT64_MAX) {
    return to_number(word(), what, lowest, highest);
  }
  std::int64_t to_number(std::string_view text, const char* what, std::int64_t lowest, std::int64_t highest) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty() || value < lowest || value > highest) {
      refuse(std::string(what) + " is \"" + std::string(text) + "\"; allowed: whole numbers " + std::to_string(lowest) +
             " to " + std::to_string(highest));
    }
    return value;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(name_ + ", line " + std::to_string(number_) + ": " + why);
  }

 private:
  static constexpr std::string_view kBlank = " \t";
  std::string_view rest_;
  std::string_view line_;
  std::string name_;
  std::size_t number_ = 0;
};

/// "rank 3 is missing" or "rank 3 is there twice" for a list that should hold 0 .. ranks - 1 once; empty if it does.
std::string wrong_rank(const std::vector<int>& listed, int ranks);

}  // namespace merganser::topology
