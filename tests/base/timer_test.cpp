/// Monotonic clock, and accumulated times of stages.
#include "merganser/base/timer.hpp"

#include <gtest/gtest.h>

namespace {

using namespace merganser;

TEST(Timer, the_clock_never_goes_back) {
  double last = now();
  for (int i = 0; i < 10000; ++i) {
    const double t = now();
    ASSERT_GE(t, last);
    last = t;
  }
}

TEST(Profile, adds_up_by_name_in_the_order_of_first_use) {
  Profile p;
  p.add("merge", 2);
  p.add("search", 1);
  p.add("merge", 0.5);
  ASSERT_EQ(p.stages().size(), 2U);
  EXPECT_EQ(p.stages()[0].name, "merge");
  EXPECT_EQ(p.stages()[0].calls, 2);
  EXPECT_EQ(p.stages()[1].name, "search");
  EXPECT_EQ(p.seconds("merge"), 2.5);
  EXPECT_EQ(p.seconds("never"), 0);
}

TEST(Scope, counts_its_block_even_if_that_throws) {
  Profile p;
  try {
    const Scope s(p, "fails");
    throw 1;
  } catch (int) {
  }
  ASSERT_EQ(p.stages().size(), 1U);
  EXPECT_EQ(p.stages()[0].calls, 1);
  EXPECT_GE(p.seconds("fails"), 0);
}

}  // namespace
