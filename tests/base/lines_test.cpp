/// Scanners of text: lines with offsets, words between separators, ids, integers and real numbers.
#include "merganser/base/lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace merganser;

TEST(Lines, are_walked_without_their_ends_and_know_where_they_stand) {
  std::vector<std::string> lines;
  std::vector<std::uint64_t> at;
  LineWalk walk("ab\r\n\n c\r\r\nlast", 100);
  while (walk.next()) {
    lines.emplace_back(walk.line());
    at.push_back(walk.at());
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"ab", "", " c\r", "last"}));
  EXPECT_EQ(at, (std::vector<std::uint64_t>{100, 104, 105, 110}));
  EXPECT_EQ(walk.line(), "last") << "the last line stays";
  EXPECT_EQ(walk.after(), 114U);
  EXPECT_FALSE(LineWalk("").next());
  EXPECT_EQ(count_lines("a\nb\nc"), 2U);
}

TEST(Lines, are_words_between_separators) {
  WordsBetween<' ', ','> words("  a,, b\tc ,");
  EXPECT_EQ(words.next(), "a");
  EXPECT_EQ(words.rest(), "b\tc ,");
  EXPECT_EQ(words.next(), "b\tc");
  EXPECT_EQ(words.next(), "");
  EXPECT_EQ(words.next(), "");
  EXPECT_EQ(BlankWords(" \t").rest(), "");
}

TEST(Lines, hold_numbers_that_are_whole_words) {
  std::uint64_t id = 0;
  EXPECT_TRUE(parse_id("9223372036854775807", id));
  EXPECT_EQ(id, 9223372036854775807U);
  for (const char* bad : {"", "-1", "+1", "1x", " 1", "9223372036854775808", "99999999999999999999", "1.0"})
    EXPECT_FALSE(parse_id(bad, id)) << bad;
  std::int64_t integer = 0;
  EXPECT_TRUE(parse_integer("-9223372036854775808", integer));
  EXPECT_EQ(integer, INT64_MIN);
  for (const char* bad : {"", "+1", "1.0", "9223372036854775808"}) EXPECT_FALSE(parse_integer(bad, integer)) << bad;
  double real = 0;
  const std::pair<const char*, double> good[] = {
      {"+5", 5}, {"-2.5e-1", -.25}, {"inf", INFINITY}, {"18446744073709551616", 18446744073709551616.0}};
  for (const auto& [word, value] : good) {
    EXPECT_TRUE(parse_real(word, real)) << word;
    EXPECT_EQ(real, value) << word;
  }
  for (const char* bad : {"", "+", "nan", "1e999", "1,5", "++1", "+-1", "-+1", "0x"})
    EXPECT_FALSE(parse_real(bad, real)) << bad;
}

}  // namespace
