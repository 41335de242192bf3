#pragma once
/// Reader for lines of words and numbers, shared by the parsers of trace and monitoring files; errors name file and line.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"

namespace merganser::topology {

/// Reader that splits the text of a trace or monitoring file into lines and these into words.
class WordReader {
 public:
  /// Starts before the first line. @param text  contents of the file, which must outlive the reader @param name  file in errors
  WordReader(std::string_view text, std::string name) : walk_(text), words_(""), name_(std::move(name)) {}

  /// Advances to the next line of the trace or monitoring file that is not empty. @return false at the end of the file
  bool next_line() {
    while (walk_.next()) {
      ++number_;
      words_ = BlankWords(walk_.line());
      if (!is_at_end()) return true;
    }
    return false;
  }
  /// Returns the next word of the line; empty at its end.
  std::string_view next_word() { return words_.next(); }
  /// Returns true if the current line has no further word.
  [[nodiscard]] bool is_at_end() const { return rest_of_line().empty(); }
  /// Returns the rest of the current line, without advancing.
  [[nodiscard]] std::string_view rest_of_line() const { return BlankWords(words_).rest(); }
  /// Reads the next word of the line. @throws InputError unless it is `wanted`
  void expect(std::string_view wanted) {
    const auto got = next_word();
    if (got != wanted) fail("\"" + std::string(got) + "\" where \"" + std::string(wanted) + "\" is expected");
  }
  /// Reads the next word of the line as a whole number from lowest to highest. @throws InputError naming `what`
  std::int64_t read_number(const char* what, std::int64_t lowest = 0, std::int64_t highest = INT64_MAX) {
    return parse_number(next_word(), what, lowest, highest);
  }
  /// Parses a text as a whole number from lowest to highest. @throws InputError naming `what`
  std::int64_t parse_number(std::string_view text, const char* what, std::int64_t lowest, std::int64_t highest) const {
    std::int64_t value = 0;
    if (!parse_integer(text, value) || value < lowest || value > highest) {
      fail(std::string(what) + " is \"" + std::string(text) + "\"; allowed: whole numbers " + std::to_string(lowest) +
           " to " + std::to_string(highest));
    }
    return value;
  }
  /// Throws InputError with the name of the trace or monitoring file and the number of the current line.
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(name_ + ", line " + std::to_string(number_) + ": " + why);
  }

 private:
  LineWalk walk_;
  BlankWords words_;
  std::string name_;
  std::size_t number_ = 0;
};

/// Describes what is wrong with a list that should hold each rank from 0 to ranks - 1 once, as "rank 3 is missing" or
/// "rank 3 is there twice"; empty if the list is right.
std::string describe_wrong_rank(const std::vector<int>& listed, int ranks);

}  // namespace merganser::topology
