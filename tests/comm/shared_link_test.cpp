// Tests of a link of the simulated network, with bandwidth shared by weight, against values computed by hand.
#include <gtest/gtest.h>

#include <vector>

#include "src/comm/simulated/shared_link.hpp"

namespace merganser::comm::detail {
namespace {

constexpr double kBytesPerSecond = 100;

struct Through {
  char flow;
  double at;
};

/// Lets all flows end, and says when.
std::vector<Through> ends(SharedLink<char>& link) {
  std::vector<Through> all;
  while (link.next_end() < SharedLink<char>::kNever) {
    const double at = link.next_end();
    all.push_back({link.leave(), at});
  }
  return all;
}

void expect_ends(SharedLink<char>& link, const std::vector<Through>& expected) {
  const auto found = ends(link);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].flow, expected[i].flow) << "flow " << i;
    EXPECT_NEAR(found[i].at, expected[i].at, 1e-12) << "flow " << i;
  }
}

TEST(SharedLink, nothing_under_way_never_ends) {
  const SharedLink<char> link(kBytesPerSecond);
  EXPECT_EQ(link.next_end(), SharedLink<char>::kNever);
}

TEST(SharedLink, a_flow_alone_has_all_of_it) {
  SharedLink<char> link(kBytesPerSecond);
  link.enter(3, 50, 7, 'a');
  expect_ends(link, {{'a', 3.5}});
}

TEST(SharedLink, flows_of_one_weight_have_equal_shares_and_leave_in_the_order_in_which_they_came) {
  SharedLink<char> link(kBytesPerSecond);
  link.enter(0, 50, 2, 'a');
  link.enter(0, 50, 2, 'b');
  expect_ends(link, {{'a', 1}, {'b', 1}});
}

TEST(SharedLink, shares_go_with_weights_and_what_is_left_alone_is_faster) {
  SharedLink<char> link(kBytesPerSecond);
  link.enter(0, 75, 1, 'a');  // 25 bytes/s until 1 s, then 100
  link.enter(0, 75, 3, 'b');  // 75 bytes/s
  expect_ends(link, {{'b', 1}, {'a', 1.5}});
}

TEST(SharedLink, who_comes_later_slows_who_is_there) {
  SharedLink<char> link(kBytesPerSecond);
  link.enter(0, 100, 1, 'a');  // 50 bytes by 0.5 s, 25 more by 1 s, when b is through
  link.enter(0.5, 25, 1, 'b');
  expect_ends(link, {{'b', 1}, {'a', 1.25}});
}

TEST(SharedLink, a_pause_between_flows_changes_nothing) {
  SharedLink<char> link(kBytesPerSecond);
  link.enter(0, 10, 1, 'a');
  expect_ends(link, {{'a', 0.1}});
  link.enter(5, 10, 2, 'b');
  expect_ends(link, {{'b', 5.1}});
}

}  // namespace
}  // namespace merganser::comm::detail
