/// Exact search in a box that is split over ranks: links that one rank decides alone must be right for all, and its
/// replies to others exact.
#include <gtest/gtest.h>

#include "merganser/geometry/decomposition.hpp"
#include "tests/geometry/boxes.hpp"
#include "tests/nearest/clouds.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// A cloud split over the ranks of a decomposition; `mine[r]` are the parcels of rank r.
struct Split {
  Cloud cloud;
  Decomposition decomposition;
  std::vector<Parcels> mine;

  [[nodiscard]] nearest::Region region(int rank) const {
    const auto block = decomposition.block(rank);
    const auto c = decomposition.coordinates(rank);
    nearest::Region r{block.lower, block.upper};
    for (int a = 0; a < 3; ++a) {
      r.wall_lower[a] = !cloud.box.periodic[a] && c[a] == 0;
      r.wall_upper[a] = !cloud.box.periodic[a] && c[a] + 1 == decomposition.shape()[a];
    }
    return r;
  }
};

template <class AnyCloud>
Split any_split(int most, AnyCloud&& any) {
  const Grid grid = any_grid(7);
  const auto part = [&](int a) {
    return *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(grid.cells[a], 3) + 1);
  };
  const std::array<std::int64_t, 3> s{part(0), part(1), part(2)};
  Split split{any(grid.box, most),
              Decomposition(grid, static_cast<int>(s[0] * s[1] * s[2]),
                            std::to_string(s[0]) + "x" + std::to_string(s[1]) + "x" + std::to_string(s[2])),
              {}};
  split.mine.resize(static_cast<std::size_t>(split.decomposition.ranks()));
  const Parcels& all = split.cloud.parcels;
  for (std::size_t i = 0; i < all.size(); ++i)
    split.mine[static_cast<std::size_t>(split.decomposition.owner(position(all, i)))].append(all.site(i), all.row(i));
  return split;
}

std::size_t find_id(const Parcels& parcels, std::int64_t id) {
  std::size_t i = 0;
  while (parcels.id(i) != id) ++i;
  return i;
}

constexpr auto kAll = [](std::size_t) { return true; };

/// Checks the search of every rank of a split: both the decided links and the open ones are right.
void expect_exact(const Split& split) {
  const Box& box = split.cloud.box;
  const Parcels& all = split.cloud.parcels;
  for (int rank = 0; rank < split.decomposition.ranks(); ++rank) {
    const Parcels& mine = split.mine[static_cast<std::size_t>(rank)];
    Sorted sorted(box, split.region(rank), mine, any_cut());
    std::vector<std::uint8_t> is_open(mine.size(), 0);
    for (const auto& [v, best] : sorted.search()) {
      const std::size_t i = sorted.cells().order()[v];
      const Nearest expected = oracle(box, mine, i, kAll);
      is_open[i] = 1;
      RC_ASSERT(sorted.container(best.vertex) == expected.index);
      RC_ASSERT(expected.index < 0 || bits(best.distance2) == bits(expected.key.distance2));
    }
    for (std::uint32_t v = 0; v < mine.size(); ++v) {
      const std::size_t i = sorted.cells().order()[v];
      const bool small = mine.site(i).volume < kSmall;
      RC_ASSERT(small || sorted.target(v) == -1);
      if (!small || is_open[i] != 0) continue;
      const Nearest expected = oracle(box, all, find_id(all, mine.id(i)), kAll);
      RC_ASSERT(sorted.target(v) >= 0);
      RC_ASSERT(mine.id(static_cast<std::size_t>(sorted.target(v))) ==
                all.id(static_cast<std::size_t>(expected.index)));
    }
  }
}

/// Checks queries from any rank: the best known so far may be on another rank, and wins a tie if its id is lower.
void expect_exact_answers(const Split& split) {
  const Box& box = split.cloud.box;
  const Parcels& all = split.cloud.parcels;
  const int rank = *rc::gen::inRange(0, split.decomposition.ranks());
  const Parcels& mine = split.mine[static_cast<std::size_t>(rank)];
  const Sorted sorted(box, split.region(rank), mine, any_cut());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (split.decomposition.owner(position(all, i)) == rank) continue;
    const auto is_mine = [&](std::size_t j) { return split.decomposition.owner(position(all, j)) == rank; };
    const Nearest here = oracle(box, all, i, is_mine);
    const Nearest known = oracle(box, all, i, [&](std::size_t j) { return !is_mine(j) && (i + j) % 3 == 0; });
    nearest::Best best;
    if (known.index >= 0) best = {known.key.distance2, all.id(static_cast<std::size_t>(known.index)), links::kNone};
    sorted.cells().nearest({position(all, i)}, sorted.ids(), best);
    const bool improved = here.index >= 0 && (known.index < 0 || here.key < known.key);
    RC_ASSERT((best.vertex != links::kNone) == improved);
    if (!improved) continue;
    RC_ASSERT(mine.id(static_cast<std::size_t>(sorted.container(best.vertex))) ==
              all.id(static_cast<std::size_t>(here.index)));
    RC_ASSERT(best.id == all.id(static_cast<std::size_t>(here.index)));
    RC_ASSERT(bits(best.distance2) == bits(here.key.distance2));
  }
}

TEST(ABlock, settles_only_what_no_other_block_can_improve_and_completes_the_rest_among_its_own) {
  EXPECT_TRUE(rc::check("blocks", [] { expect_exact(any_split(250, any_cloud)); }));
  EXPECT_TRUE(rc::check("crowded blocks", [] { expect_exact(any_split(500, any_crowd)); }));
}

TEST(ABlock, improves_what_another_rank_knows_exactly_if_it_can) {
  EXPECT_TRUE(rc::check("questions", [] { expect_exact_answers(any_split(120, any_cloud)); }));
  EXPECT_TRUE(rc::check("questions about crowds", [] { expect_exact_answers(any_split(400, any_crowd)); }));
}

TEST(ABlock, leaves_a_tie_with_a_lower_id_elsewhere_as_it_was) {
  const Box box{{0, 0, 0}, {1, 1, 1}, {true, true, false}};
  Parcels mine;
  add_point(mine, 10, {0.75, 0.5, 0.5}, true);
  const Sorted sorted(box, whole(box), mine, {});
  nearest::Best lower{0.0625, 9, links::kNone};
  sorted.cells().nearest({{0.5, 0.5, 0.5}}, sorted.ids(), lower);
  EXPECT_EQ(lower.id, 9);
  EXPECT_EQ(lower.vertex, links::kNone);
  nearest::Best higher{0.0625, 11, links::kNone};
  sorted.cells().nearest({{0.5, 0.5, 0.5}}, sorted.ids(), higher);
  EXPECT_EQ(higher.id, 10);
  EXPECT_EQ(higher.vertex, 0U);
}

TEST(ABlock, without_parcels_improves_nothing) {
  const Box box{{0, 0, 0}, {1, 1, 1}, {true, true, true}};
  const Sorted sorted(box, whole(box), Parcels(), {});
  nearest::Best best;
  sorted.cells().nearest({{0.5, 0.5, 0.5}}, sorted.ids(), best);
  EXPECT_EQ(best.vertex, links::kNone);
  EXPECT_TRUE(std::isinf(best.distance2));
}

}  // namespace
