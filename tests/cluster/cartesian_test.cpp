// Decompositions that follow a Cartesian communicator.
#include "merganser/cluster/cartesian.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

const Grid kGrid{{{0, 0, 0}, {6, 4, 1}, {true, true, false}}, {12, 8, 4}};

TEST(Cartesian, numbers_ranks_as_a_decomposition_does) {
  const Decomposition d = cartesian_decomposition(kGrid, {{3, 2}, {true, true}});
  EXPECT_TRUE(d.is_by_cells());
  EXPECT_EQ(d.identity(), Decomposition(kGrid, 6, "3x2x1").identity());
  EXPECT_EQ(cartesian_decomposition(kGrid, {{2, 2, 2}, {true, true, false}}).describe(), "2x2x2");
  EXPECT_EQ(cartesian_decomposition(kGrid, {{4}, {false}}, {2, 0, 1}).describe(), "1x1x4");
}

TEST(Cartesian, with_other_axes_keeps_its_own_numbers) {
  // Rank = y * 3 + x.
  const Decomposition d = cartesian_decomposition(kGrid, {{2, 3}, {true, true}}, {1, 0, 2});
  EXPECT_EQ(d.ranks(), 6);
  EXPECT_EQ(d.owner({0.5, 0.5, 0.5}), 0);
  EXPECT_EQ(d.owner({2.5, 0.5, 0.5}), 1);
  EXPECT_EQ(d.owner({0.5, 2.5, 0.5}), 3);
  EXPECT_EQ(d.owner({5.5, 3.5, 0.5}), 5);
}

TEST(Cartesian, refuses_axes_that_are_not_there) {
  EXPECT_NE(refusal<UsageError>([] {
              (void)cartesian_decomposition(kGrid, {{}, {}});
            }).find("0 axes; allowed: 1 to 3"),
            std::string::npos);
  EXPECT_NE(refusal<UsageError>([] {
              (void)cartesian_decomposition(kGrid, {{2, 2}, {}}, {1, 1, 0});
            }).find("axis 1 of the grid"),
            std::string::npos);
  EXPECT_NE(refusal<UsageError>([] {
              (void)cartesian_decomposition(kGrid, {{2}, {}}, {-1, 1, 0});
            }).find("axis -1"),
            std::string::npos);
  EXPECT_NE(refusal<InputError>([] {
              (void)cartesian_decomposition(kGrid, {{1, 1, 5}, {}});
            }).find("axis z has 4 cells only"),
            std::string::npos);
}

}  // namespace
