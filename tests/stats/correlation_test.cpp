/// Pearson's correlation against values worked out by hand, and its invariances.
#include "merganser/stats/correlation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;
using Values = std::vector<double>;

TEST(Pearson, is_one_for_lines_and_zero_for_what_has_nothing_in_common) {
  const Values x{1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(pearson(x, Values{5, 7, 9, 11}), 1);
  EXPECT_DOUBLE_EQ(pearson(x, Values{3, 2, 1, 0}), -1);
  EXPECT_DOUBLE_EQ(pearson(x, Values{1, -1, -1, 1}), 0);
}

TEST(Pearson, is_the_quotient_worked_out_by_hand) {
  // Deviations from the means 3 and 4: -2 -1 0 1 2 and -2 -2 1 -1 4. Products: 4 + 2 + 0 - 1 + 8; squares: 10, 26.
  EXPECT_DOUBLE_EQ(pearson(Values{1, 2, 3, 4, 5}, Values{2, 2, 5, 3, 8}), 13 / std::sqrt(10.0 * 26.0));
}

TEST(Pearson, does_not_depend_on_units_nor_on_which_comes_first) {
  const Values x{1, 4, 2, 8, 5, 7};
  const Values y{3, 1, 4, 1, 5, 9};
  Values scaled = y;
  std::transform(y.begin(), y.end(), scaled.begin(), [](double v) { return 1e-3 * v + 40; });
  EXPECT_EQ(pearson(x, y), pearson(y, x));
  EXPECT_NEAR(pearson(x, scaled), pearson(x, y), 1e-12);
}

TEST(Pearson, is_zero_where_a_sample_does_not_vary) {
  EXPECT_EQ(pearson(Values{1, 2, 3, 4}, Values{2, 2, 2, 2}), 0);
  EXPECT_EQ(pearson(Values{2, 2, 2, 2}, Values{1, 2, 3, 4}), 0);
  EXPECT_EQ(pearson(Values{1}, Values{2}), 0);
  EXPECT_EQ(pearson({}, {}), 0);
}

TEST(Pearson, refuses_samples_of_two_lengths) {
  EXPECT_THROW((void)pearson(Values{1, 2, 3}, Values{1, 2}), UsageError);
  EXPECT_THROW((void)pearson({}, Values{1}), UsageError);
}

}  // namespace
