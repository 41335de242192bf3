/// Tests of the labels of axes in pictures.
#include "apps/frame/svg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace {

namespace svg = merganser::app::svg;

/// Returns the labels of an axis.
std::vector<std::string> labels_of(double low, double high) {
  std::vector<std::string> out;
  for (const double level : svg::round_levels(low, high)) out.push_back(svg::level_text(level, low, high));
  return out;
}

TEST(Axes, have_round_labels_and_no_negative_zero) {
  EXPECT_EQ(labels_of(-5, 95), (std::vector<std::string>{"0", "20", "40", "60", "80"}));
  EXPECT_EQ(labels_of(-1, 1), (std::vector<std::string>{"-1", "-0.5", "0", "0.5", "1"}));
  for (const double level : svg::round_levels(-5, 95)) EXPECT_FALSE(std::signbit(level));
}

TEST(Axes, far_from_zero_have_labels_that_differ) {
  EXPECT_EQ(labels_of(100'000, 100'010),
            (std::vector<std::string>{"100000", "100002", "100004", "100006", "100008", "100010"}));
  for (const double low : {1e5, -1e5, 123456.0, 1e9, -3e-7})
    for (const double length : {1e-1, 1.0, 37.0, 1e4}) {
      const std::vector<std::string> labels = labels_of(low, low + length);
      EXPECT_GE(labels.size(), 3U) << low << ' ' << length;
      EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size()) << low << ' ' << length;
    }
  EXPECT_EQ(labels_of(3, 3), std::vector<std::string>{"3"});
}

}  // namespace
