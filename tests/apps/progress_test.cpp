/// The line that tells how far long work is.
#include "apps/frame/progress.hpp"

#include <gtest/gtest.h>

namespace {

using merganser::app::ProgressLine;

TEST(Progress, is_one_line_that_goes_away_in_the_end) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line = ProgressLine::forced(true);
    EXPECT_TRUE(line.due());
    line.count("cycle", 3, 2147483647);
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
  captured.count("step", 1, 2);
  ProgressLine unwanted = ProgressLine::forced(false);
  unwanted.show("x");
  EXPECT_FALSE(unwanted.due());
  merganser::app::share_progress(true)("rounds", 0.5);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
