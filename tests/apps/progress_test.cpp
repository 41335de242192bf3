/// Tests of the progress line on a terminal.
#include "apps/frame/progress.hpp"

#include <gtest/gtest.h>

namespace {

using merganser::app::ProgressLine;

TEST(Progress, is_one_line_that_goes_away_in_the_end) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line = ProgressLine::forced(true);
    EXPECT_TRUE(line.is_due());
    line.show_count("cycle", 3, 2147483647);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\033[Kcycle 3 of 2147483647\r\033[K");
}

TEST(Progress, fits_into_a_terminal) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line = ProgressLine::forced(true);
    line.show(std::string(200, 'x'));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\033[K" + std::string(78, 'x') + "\r\033[K");
}

TEST(Progress, is_silent_where_there_is_no_terminal_and_where_it_is_not_wanted) {
  testing::internal::CaptureStderr();
  ProgressLine captured(true);
  captured.show_count("step", 1, 2);
  ProgressLine unwanted = ProgressLine::forced(false);
  unwanted.show("x");
  EXPECT_FALSE(unwanted.is_due());
  merganser::app::progress_callback(true)("rounds", 0.5);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
