/// Halo exchange of fields at nodes: every node has its owner's values, over all shapes of ranks.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/flow/nodes.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;

Grid grid_of(std::int64_t x, std::int64_t y, std::int64_t z) {
  return {{{0, 0, 0}, {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}, {true, true, false}},
          {x, y, z}};
}

/// Returns a value that is distinct for every node and component.
double value_of(const NodeLayout& layout, std::int64_t i, std::int64_t j, std::int64_t k, std::size_t component) {
  const auto& cells = layout.grid().cells;
  const std::int64_t x = (layout.first(0) + i + cells[0]) % cells[0];
  const std::int64_t y = (layout.first(1) + j + cells[1]) % cells[1];
  return static_cast<double>(((x * 1000 + y) * 1000 + k + 1) * 100 + static_cast<std::int64_t>(component));
}

template <std::size_t kWidth>
void expect_filled(HaloFill& halo, const NodeLayout& layout) {
  Nodes<kWidth> nodes(layout);
  const std::int64_t levels = layout.cells(2) + 1;
  const auto each = [&](std::int64_t halo_width, auto&& use) {
    for (std::int64_t i = -halo_width; i < layout.cells(0) + 2 * halo_width; ++i)
      for (std::int64_t j = -halo_width; j < layout.cells(1) + 2 * halo_width; ++j)
        for (std::int64_t k = -1; k <= levels; ++k)
          for (std::size_t c = 0; c < kWidth; ++c) use(i, j, k, c);
  };
  each(0, [&](auto i, auto j, auto k, auto c) { nodes.at(i, j, k)[c] = value_of(layout, i, j, k, c); });
  halo.fill(nodes);
  std::int64_t wrong = 0;
  each(1, [&](auto i, auto j, auto k, auto c) { wrong += nodes.at(i, j, k)[c] != value_of(layout, i, j, k, c); });
  EXPECT_EQ(wrong, 0) << "of width " << kWidth;
}

class HaloFillTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, HaloFillTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(HaloFillTest, every_node_of_the_halo_has_the_value_of_its_owner) {
  for (const Grid& grid : {grid_of(14, 16, 3), grid_of(17, 15, 1)})
    on_ranks(GetParam(), [&](comm::Transport& t) {
      for (const char* shape : {"2d", "1d"}) {
        const Decomposition d(grid, t.size(), shape);
        SCOPED_TRACE(d.describe());
        const NodeLayout layout(d, t.rank());
        HaloFill halo(t, d);
        expect_filled<1>(halo, layout);
        expect_filled<8>(halo, layout);
        expect_filled<16>(halo, layout);
        expect_filled<1>(halo, layout);
      }
    });
}

TEST_P(HaloFillTest, blocks_of_two_cells_give_both_to_the_rank_below) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const std::int64_t ranks = t.size();
    for (const bool along_x : {true, false}) {
      const Grid grid = along_x ? grid_of(std::max<std::int64_t>(2 * ranks, 3), 3, 2)
                                : grid_of(3, std::max<std::int64_t>(2 * ranks, 3), 2);
      const std::string parts = std::to_string(ranks);
      const Decomposition d(grid, t.size(), along_x ? parts + "x1x1" : "1x" + parts + "x1");
      HaloFill halo(t, d);
      expect_filled<3>(halo, NodeLayout(d, t.rank()));
    }
  });
}

TEST_P(HaloFillTest, costs_one_wave_and_no_collective) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid_of(14, 14, 3), t.size(), "2d");
    HaloFill halo(t, d);
    Nodes<4> nodes(NodeLayout(d, t.rank()));
    const comm::Counters before = t.counters();
    halo.fill(nodes);
    const comm::Counters cost = t.counters() - before;
    EXPECT_EQ(cost.waves, t.size() > 1 ? 1 : 0);
    EXPECT_EQ(cost.collectives, 0);
  });
}

TEST(NodeLayout, refuses_what_has_no_nodes_of_a_flow) {
  Grid grid = grid_of(8, 8, 4);
  EXPECT_NE(refusal<InputError>([&] { NodeLayout(Decomposition(grid, 2, "1x1x2"), 0); }).find("z whole"),
            std::string::npos);
  EXPECT_NE(refusal<InputError>([&] { NodeLayout(Decomposition(grid, 8, "8x1x1"), 0); }).find("at least 2"),
            std::string::npos);
  EXPECT_NE(refusal<InputError>([&] { NodeLayout(Decomposition(grid_of(2, 8, 4), 1), 0); }).find("at least 3"),
            std::string::npos);
  grid.box.periodic = {true, true, true};
  EXPECT_NE(refusal<InputError>([&] { NodeLayout(Decomposition(grid, 1), 0); }).find("z with walls"),
            std::string::npos);
}

}  // namespace
