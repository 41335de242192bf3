/// Decompositions by cuts and by boxes, compared with the same blocks by cells.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

const Grid kGrid{{{-1, 2, 0}, {6, 3, 1}, {true, false, false}}, {12, 6, 2}};

std::vector<Decomposition::Block> all_blocks(const Decomposition& d) {
  std::vector<Decomposition::Block> blocks;
  for (int r = 0; r < d.ranks(); ++r) blocks.push_back(d.block(r));
  return blocks;
}

/// Draws a point of the domain of kGrid, often on a face of a cell.
Vec3 random_point(std::mt19937& random) {
  std::uniform_real_distribution<double> u(0, 1);
  Vec3 p;
  for (int a = 0; a < 3; ++a) {
    const double f = random() % 3 == 0 ? static_cast<double>(random() % 13) / 12 : u(random);
    p[a] = kGrid.box.wrap(a, kGrid.box.lower[a] + f * kGrid.box.extent[a]);
  }
  return p;
}

TEST(Blocks, by_cuts_at_faces_of_cells_are_those_by_cells) {
  const Decomposition cells(kGrid, 12, "3x2x2");
  const Decomposition cuts = Decomposition::from_cuts(kGrid, {{{1, 3}, {3.5}, {0.5}}});
  EXPECT_EQ(cuts.ranks(), 12);
  EXPECT_EQ(cuts.shape(), cells.shape());
  EXPECT_FALSE(cuts.is_by_cells());
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = random_point(random);
    EXPECT_EQ(cuts.owner(p), cells.owner(p));
  }
  for (int r = 0; r < 12; ++r) {
    EXPECT_EQ(cuts.neighbours(r), cells.neighbours(r));
    EXPECT_EQ(cuts.walls(r), cells.walls(r));
    for (int other = 0; other < 12; ++other) {
      EXPECT_EQ(cuts.distance2_between(r, other), cells.distance2_between(r, other));
      if (other == r) continue;
      EXPECT_EQ(cuts.next_hop(r, other), cells.next_hop(r, other));
    }
  }
}

TEST(Blocks, by_boxes_behave_as_the_same_blocks_by_cells) {
  const Decomposition cells(kGrid, 12, "3x2x2");
  const Decomposition boxes = Decomposition::from_boxes(kGrid, all_blocks(cells));
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = random_point(random);
    EXPECT_EQ(boxes.owner(p), cells.owner(p));
  }
  for (int r = 0; r < 12; ++r) {
    EXPECT_EQ(boxes.neighbours(r), cells.neighbours(r));
    EXPECT_EQ(boxes.walls(r), cells.walls(r));
    EXPECT_EQ(boxes.within(r, 1.5), cells.within(r, 1.5));
  }
}

TEST(Blocks, of_any_size_own_what_lies_in_them) {
  // Four blocks around a middle one, which no cuts through the whole box can produce.
  const Grid grid{{{0, 0, 0}, {3, 3, 1}, {false, false, false}}};
  const Decomposition d = Decomposition::from_boxes(grid, {{{0, 0, 0}, {2, 1, 1}},
                                                           {{2, 0, 0}, {3, 2, 1}},
                                                           {{1, 2, 0}, {3, 3, 1}},
                                                           {{0, 1, 0}, {1, 3, 1}},
                                                           {{1, 1, 0}, {2, 2, 1}}});
  EXPECT_EQ(d.owner({1.9, 0.5, 0.5}), 0);
  EXPECT_EQ(d.owner({2, 0.5, 0.5}), 1);  // on a face: the block above
  EXPECT_EQ(d.owner({3, 3, 1}), 2);      // the end of the box
  EXPECT_EQ(d.owner({0, 1, 0}), 3);
  EXPECT_EQ(d.owner({1, 1, 0.5}), 4);
  EXPECT_EQ(d.neighbours(4), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(d.neighbours(0), (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(d.describe(), "5 boxes");
  EXPECT_TRUE(d.walls(4) == (std::array<std::array<bool, 2>, 3>{{{false, false}, {false, false}, {true, true}}}));
}

TEST(Blocks, lead_to_every_owner_hop_by_hop) {
  const Decomposition cells({{{0, 0, 0}, {7, 5, 1}, {true, false, false}}, {7, 5, 1}}, 35, "7x5x1");
  const Decomposition boxes = Decomposition::from_boxes(cells.grid(), all_blocks(cells));
  for (const Decomposition& d : {cells, boxes})
    for (int from = 0; from < 35; ++from)
      for (int to = 0; to < 35; ++to) {
        int at = from;
        int hops = 0;
        for (; at != to && hops < 6; ++hops) at = d.next_hop(at, to);
        EXPECT_EQ(at, to);
        EXPECT_LE(hops, 4);  // the longest way: four blocks along y
      }
}

TEST(Blocks, whose_faces_differ_by_rounding_are_joined) {
  std::vector<Decomposition::Block> blocks = all_blocks(Decomposition(kGrid, 12, "3x2x2"));
  std::mt19937 random(3);
  for (auto& b : blocks)
    for (int a = 0; a < 3; ++a) {
      b.lower[a] += 1e-11 * (static_cast<double>(random() % 3) - 1);
      b.upper[a] += 1e-11 * (static_cast<double>(random() % 3) - 1);
    }
  const Decomposition d = Decomposition::from_boxes(kGrid, blocks);
  for (int r = 0; r < 12; ++r) EXPECT_EQ(d.neighbours(r), Decomposition(kGrid, 12, "3x2x2").neighbours(r));
}

TEST(Blocks, that_do_not_tile_the_box_are_refused) {
  const std::vector<Decomposition::Block> good = all_blocks(Decomposition(kGrid, 4, "4x1x1"));
  const auto refused = [&](auto&& spoil) {
    auto blocks = good;
    spoil(blocks);
    return refusal<InputError>([&] { (void)Decomposition::from_boxes(kGrid, blocks); });
  };
  EXPECT_NE(refused([](auto& b) { b[2].lower[0] -= 0.1; }).find("boxes of ranks 1 and 2"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b[2].lower[0] += 0.1; }).find("% of the domain"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b.pop_back(); }).find("75"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b[0].lower[1] -= 1; }).find("of rank 0"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b[1].upper[2] = b[1].lower[2]; }).find("of rank 1"), std::string::npos);
  EXPECT_NE(refused([](auto& b) { b[3].upper[2] = std::numeric_limits<double>::quiet_NaN(); }).find("finite"),
            std::string::npos);
  EXPECT_NE(refusal<UsageError>([&] { (void)Decomposition::from_boxes(kGrid, {}); }).find("0 boxes"),
            std::string::npos);
}

TEST(Blocks, cuts_outside_the_box_or_out_of_order_are_refused) {
  const auto refused = [](const std::vector<double>& cuts) {
    return refusal<InputError>([&] { (void)Decomposition::from_cuts(kGrid, {cuts, {}, {}}); });
  };
  EXPECT_NE(refused({5}).find("cut 5 of axis x; allowed: above -1 and below 5"), std::string::npos);
  EXPECT_NE(refused({1, 1}).find("above 1 and below 5"), std::string::npos);
  EXPECT_NE(refused({std::numeric_limits<double>::quiet_NaN()}).find("cut nan"), std::string::npos);
}

TEST(Blocks, that_are_no_runs_of_cells_are_refused_where_cells_are_asked_for) {
  const Decomposition d = Decomposition::from_cuts(kGrid, {{{1.3}, {}, {}}});
  EXPECT_NE(refusal<UsageError>([&] { (void)d.balanced({}); }).find("by cuts; allowed: one whose blocks are runs"),
            std::string::npos);
}

TEST(Blocks, that_differ_have_other_identities) {
  const Decomposition a = Decomposition::from_cuts(kGrid, {{{1.3}, {}, {}}});
  const Decomposition b = Decomposition::from_cuts(kGrid, {{{std::nextafter(1.3, 2.0)}, {}, {}}});
  EXPECT_NE(a.identity(), b.identity());
  EXPECT_EQ(a.identity(), Decomposition::from_cuts(kGrid, {{{1.3}, {}, {}}}).identity());
  EXPECT_NE(Decomposition::from_boxes(kGrid, all_blocks(a)).identity(),
            Decomposition::from_boxes(kGrid, all_blocks(b)).identity());
}

}  // namespace
