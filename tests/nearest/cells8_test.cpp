/// Published search rule cells8: candidates in the 2x2x2 cells around the nearest grid node, none beyond.
#include <gtest/gtest.h>

#include "merganser/geometry/decomposition.hpp"
#include "tests/geometry/boxes.hpp"
#include "tests/nearest/clouds.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Returns the cut of a rank's region: its cells of the grid.
nearest::CellList::Cut block_cut(const Decomposition& d, int rank) {
  nearest::CellList::Cut cut;
  const auto c = d.coordinates(rank);
  cut.grid = &d.grid();
  for (int a = 0; a < 3; ++a) {
    cut.first[a] = d.cut(a, c[a]);
    cut.cells[a] = d.cut(a, c[a] + 1) - cut.first[a];
  }
  return cut;
}

nearest::Region block_region(const Decomposition& d, int rank) {
  const auto block = d.block(rank);
  nearest::Region r{block.lower, block.upper};
  const auto c = d.coordinates(rank);
  for (int a = 0; a < 3; ++a) {
    r.wall_lower[a] = !d.grid().box.periodic[a] && c[a] == 0;
    r.wall_upper[a] = !d.grid().box.periodic[a] && c[a] + 1 == d.shape()[a];
  }
  return r;
}

/// Returns whether point q lies in one of the two cells per axis beside the node nearest to p.
bool is_in_block(const Grid& grid, const Vec3& p, const Vec3& q) {
  for (int a = 0; a < 3; ++a) {
    const std::int64_t node = grid.node(a, p[a]);
    const std::int64_t cell = grid.cell(a, q[a]);
    const std::int64_t n = grid.cells[a];
    const bool plain = cell == node - 1 || cell == node;
    const bool wrapped = grid.box.periodic[a] && (cell == (node - 1 + n) % n || cell == node % n);
    if (!plain && !wrapped) return false;
  }
  return true;
}

TEST(Cells8, finds_the_partner_of_the_quadratic_search_among_the_eight_cells_on_each_rank) {
  EXPECT_TRUE(rc::check("cells8", [] {
    const Grid grid = any_grid(6);
    const auto part = [&](int a) {
      return *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(grid.cells[a], 3) + 1);
    };
    const std::array<std::int64_t, 3> s{part(0), part(1), part(2)};
    const Decomposition d(grid, static_cast<int>(s[0] * s[1] * s[2]),
                          std::to_string(s[0]) + "x" + std::to_string(s[1]) + "x" + std::to_string(s[2]));
    const Cloud cloud = *rc::gen::arbitrary<bool>() ? any_cloud(grid.box, 150) : any_crowd(grid.box, 400);
    const Parcels& all = cloud.parcels;
    for (int rank = 0; rank < d.ranks(); ++rank) {
      Parcels mine;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (d.owner(position(all, i)) == rank) mine.append(all.site(i), all.row(i));
      const Sorted sorted(grid.box, block_region(d, rank), mine, block_cut(d, rank));
      std::vector<std::uint32_t> vertex_of(mine.size());
      for (std::uint32_t v = 0; v < mine.size(); ++v) vertex_of[sorted.cells().order()[v]] = v;
      std::size_t next = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Vec3 p = position(all, i);
        nearest::CellList::Query query{p};
        if (next < mine.size() && mine.id(next) == all.id(i)) query.self = vertex_of[next++];
        nearest::Best best;
        sorted.cells().nearest_cells8(query, sorted.ids(), best);
        const Nearest expected = oracle(grid.box, all, i, [&](std::size_t j) {
          return d.owner(position(all, j)) == rank && is_in_block(grid, p, position(all, j));
        });
        RC_ASSERT((best.vertex == links::kNone) == (expected.index < 0));
        if (expected.index < 0) continue;
        RC_ASSERT(best.id == all.id(static_cast<std::size_t>(expected.index)));
        RC_ASSERT(bits(best.distance2) == bits(expected.key.distance2));
      }
      RC_ASSERT(next == mine.size());
    }
  }));
}

TEST(Cells8, does_not_see_a_nearer_parcel_beyond_the_eight_cells) {
  const Grid grid{{{0, 0, 0}, {4, 4, 4}, {false, false, false}}, {4, 4, 4}};
  const Decomposition d(grid, 1);
  Parcels parcels;
  add_point(parcels, 0, {1.45, 1.4, 1.4}, true);   // nearest node (1, 1, 1): cells 0 and 1
  add_point(parcels, 1, {2.01, 1.4, 1.4}, false);  // 0.56 away, in cell 2
  add_point(parcels, 2, {0.5, 1.4, 1.4}, false);   // 0.95 away, in cell 0
  const Sorted sorted(grid.box, whole(grid.box), parcels, block_cut(d, 0));
  std::uint32_t self = 0;
  while (sorted.cells().order()[self] != 0) ++self;
  const nearest::CellList::Query query{{1.45, 1.4, 1.4}, self};
  nearest::Best published;
  sorted.cells().nearest_cells8(query, sorted.ids(), published);
  EXPECT_EQ(published.id, 2);
  nearest::Best exact;
  sorted.cells().nearest(query, sorted.ids(), exact);
  EXPECT_EQ(exact.id, 1);
}

TEST(Cells8, counts_a_cell_once_that_it_meets_twice_around_the_box) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {1, 1, 2}};
  const Decomposition d(grid, 1);
  Parcels parcels;
  add_point(parcels, 7, {0.1, 0.1, 0.1}, true);
  add_point(parcels, 8, {0.9, 0.9, 0.9}, true);
  const Sorted sorted(grid.box, whole(grid.box), parcels, block_cut(d, 0));
  for (std::uint32_t v = 0; v < 2; ++v) {
    const Site& s = sorted.cells().sites()[v];
    nearest::Best best;
    sorted.cells().nearest_cells8({{s.x, s.y, s.z}, v}, sorted.ids(), best);
    EXPECT_EQ(best.vertex, 1 - v);
  }
}

}  // namespace
