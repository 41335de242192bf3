#pragma once
/// Lines of words and numbers, with errors that name the place.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"

namespace merganser::topology {

class WordReader {
 public:
  WordReader(std::string_view text, std::string name) : walk_(text), words_(""), name_(std::move(name)) {}

  /// Goes to the next line that is not empty; false at the end.
  bool next_line() {
    while (walk_.next()) {
      ++number_;
      words_ = BlankWords(walk_.line());
      if (!at_end()) return true;
    }
    return false;
  }
  /// The next word of the line; empty at its end.
  std::string_view word() { return words_.next(); }
  [[nodiscard]] bool at_end() const { return rest_of_line().empty(); }
  /// What is left of the line.
  [[nodiscard]] std::string_view rest_of_line() const { return BlankWords(words_).rest(); }
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
    if (!parse_integer(text, value) || value < lowest || value > highest) {
      refuse(std::string(what) + " is \"" + std::string(text) + "\"; allowed: whole numbers " + std::to_string(lowest) +
             " to " + std::to_string(highest));
    }
    return value;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(name_ + ", line " + std::to_string(number_) + ": " + why);
  }

 private:
  LineWalk walk_;
  BlankWords words_;
  std::string name_;
  std::size_t number_ = 0;
};

/// "rank 3 is missing" or "rank 3 is there twice" for a list that should hold 0 .. ranks - 1 once; empty if it does.
std::string wrong_rank(const std::vector<int>& listed, int ranks);

}  // namespace merganser::topology
