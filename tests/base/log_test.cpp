/// Log messages: sink, levels, and the escaping of text to one line that is safe to print.
#include "merganser/base/log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using namespace merganser;

/// Restores the initial state, without a sink, after each test.
class Log : public testing::Test {
 protected:
  void TearDown() override { set_log_sink({}); }
};

TEST_F(Log, says_nothing_until_a_sink_is_set) {
  testing::internal::CaptureStderr();
  log(Level::error, 0, "unheard");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Log, hands_every_line_to_the_sink_one_at_a_time) {
  std::vector<std::string> lines;  // no lock of our own: the promise under test
  set_log_sink([&](Level level, int rank, std::string_view text) {
    lines.push_back(std::string(level_name(level)) + ' ' + std::to_string(rank) + ' ' + std::string(text));
  });
  std::vector<std::thread> threads;
  for (int r = 0; r < 4; ++r)
    threads.emplace_back([r] {
      for (int i = 0; i < 100; ++i) log(Level::info, r, "x");
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(lines.size(), 400U);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "info 2 x"), 100);
}

TEST_F(Log, levels_and_their_names_belong_together) {
  for (const Level l : {Level::error, Level::warning, Level::info, Level::debug})
    EXPECT_EQ(parse_level(level_name(l)), l);
  EXPECT_EQ(parse_level("loud"), std::nullopt);
}

TEST_F(Log, standard_error_gets_important_lines_of_rank_0) {
  const auto written = [](Level most, bool every_rank) {
    testing::internal::CaptureStderr();
    set_log_sink(stderr_sink(most, every_rank));
    log(Level::warning, 0, "first");
    log(Level::debug, 0, "second");
    log(Level::warning, 3, "third");
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(written(Level::warning, false), "merganser: warning: first\n");
  EXPECT_EQ(written(Level::error, false), "");
  const std::string all = written(Level::debug, true);
  EXPECT_NE(all.find("second"), std::string::npos) << all;
  EXPECT_NE(all.find("[rank 3]"), std::string::npos) << all;
}

TEST(OneLine, keeps_what_can_be_printed) {
  for (const char* text : {"", "plain, with \\ and 'quotes'", "gr\u00fc\u00dfe \u4f60\u597d \U0001f986"})
    EXPECT_EQ(one_line(text), text);
}

TEST(OneLine, escapes_what_would_leave_the_line_or_move_the_cursor) {
  EXPECT_EQ(one_line("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(one_line("\x1b[2J\x7f\b"), "\\x1b[2J\\x7f\\x08");
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(one_line("\u0085\u009b31m\u202egnp.exe\u2028"), "\\u0085\\u009b31m\\u202egnp.exe\\u2028");
}

TEST(OneLine, escapes_bytes_that_are_no_utf8) {
  EXPECT_EQ(one_line("caf\xe9.nc"), "caf\\xe9.nc");
  EXPECT_EQ(one_line("\xc3"), "\\xc3");
  EXPECT_EQ(one_line("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(one_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last character
}

TEST(OneLine, leaves_the_middle_of_a_long_text_out_and_says_how_much) {
  const std::string line = one_line("begin" + std::string(1000000, 'x') + "end");
  EXPECT_TRUE(line.starts_with("beginx"));
  EXPECT_TRUE(line.ends_with("xend"));
  EXPECT_NE(line.find(" [... 998008 of 1000008 bytes left out ...] "), std::string::npos) << line;
  EXPECT_LT(line.size(), 2100U);
  EXPECT_EQ(one_line(std::string(2000, 'x')), std::string(2000, 'x'));
}

TEST(OneLine, cuts_between_characters) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\u4f60";
  for (std::size_t most = 20; most < 26; ++most) EXPECT_EQ(one_line(text, most).find('\\'), std::string::npos) << most;
}

TEST_F(Log, a_line_on_standard_error_stays_one_line) {
  testing::internal::CaptureStderr();
  set_log_sink(stderr_sink(Level::info, false));
  log(Level::info, 0, "two\nlines");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "merganser: info: two\\nlines\n");
}

}  // namespace
