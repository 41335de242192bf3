#include "merganser/base/log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using namespace merganser;

/// Puts the initial state back.
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
  for (const Level l : {Level::error, Level::warning, Level::info, Level::debug}) EXPECT_EQ(level_of(level_name(l)), l);
  EXPECT_EQ(level_of("loud"), std::nullopt);
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

}  // namespace
