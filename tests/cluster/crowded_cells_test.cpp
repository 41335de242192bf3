// Cells in which policies count parcels: their numbers, and the lookers of crowded ones over all ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "merganser/comm/open.hpp"
#include "src/cluster/crowded_cells.hpp"
#include "tests/cluster/block_kinds.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::cluster;
using namespace merganser::test;

/// Returns the number of the cell of a place, by Grid::cell() of each axis.
std::int64_t cell_by_grid(const Grid& grid, const Site& s) {
  return (grid.cell(0, s.x) * grid.cells[1] + grid.cell(1, s.y)) * grid.cells[2] + grid.cell(2, s.z);
}

/// Returns a coordinate of a box: uniform, or on a face of one of `cells` cells, or beside it.
double draw_coordinate(std::mt19937_64& random, const Box& box, std::size_t axis, std::int64_t cells) {
  const double upper = box.lower[axis] + box.extent[axis];
  double x = box.lower[axis] + std::uniform_real_distribution<double>(0, 1)(random) * box.extent[axis];
  if (random() % 2 == 0) {
    const auto face = static_cast<double>(random() % static_cast<std::uint64_t>(cells));
    x = box.lower[axis] + face * (box.extent[axis] / static_cast<double>(cells));
    if (random() % 3 == 0) x = std::nextafter(x, random() % 2 == 0 ? box.lower[axis] : upper);
  }
  return std::clamp(x, box.lower[axis], std::nextafter(upper, box.lower[axis]));
}

TEST(CrowdedCells, numbers_of_cells_are_those_of_the_grid) {
  const auto transport = comm::open_alone();
  const auto mailbox = transport->mailbox(comm::Graph{});
  std::mt19937_64 random(5);
  for (const std::int64_t cells : {1, 3, 7, 10, 49, 1000}) {
    const Grid grid{{{-0.3, 0.1, 1e6}, {0.9, 1e-3, 0.7}, {true, false, true}}, {cells, cells + 2, cells}};
    const Decomposition decomposition(grid, 1);
    const CrowdedCells counted(*mailbox, decomposition, 0, grid);
    for (int i = 0; i < 20000; ++i) {
      Vec3 p;
      for (std::size_t a = 0; a < 3; ++a) {
        p[a] = draw_coordinate(random, grid.box, a, grid.cells[a]);
        if (random() % 50 == 0) p[a] += (random() % 2 == 0 ? 2 : -2) * grid.box.extent[a];  // outside
      }
      const Site s{p[0], p[1], p[2], 1};
      ASSERT_EQ(counted.cell_of(s), cell_by_grid(grid, s)) << cells << " cells, " << p[0] << " " << p[1] << " " << p[2];
    }
  }
}

/// Units of all ranks, as every rank makes them; with flags and numbers of members that differ.
struct AllUnits {
  AllUnits(std::uint64_t seed, std::size_t n, const Grid& grid, bool two) : units(Schema(), two), random(seed) {
    Parcels parcels{Schema()};
    std::vector<std::int64_t> ids(n);
    std::iota(ids.begin(), ids.end(), -static_cast<std::int64_t>(n / 2));
    std::shuffle(ids.begin(), ids.end(), random);
    ids[0] = std::numeric_limits<std::int64_t>::min();
    ids[1] = std::numeric_limits<std::int64_t>::max();
    std::vector<double> row(parcels.schema().width(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      Vec3 p;
      for (std::size_t a = 0; a < 3; ++a)
        p[a] = i % 4 == 3 ? grid.box.lower[a] : draw_coordinate(random, grid.box, a, 14);  // many in one cell
      row[0] = std::bit_cast<double>(ids[i]);
      parcels.append({p[0], p[1], p[2], random() % 3 == 0 ? 2.0 : static_cast<double>(1 + random() % 4)}, row.data());
    }
    units.parcels = parcels;
    units.members.assign(n, 1);
    units.flags.assign(n, 0);
    units.gone.assign(n, 0);
    if (two) {
      units.energy.assign(n, 0);
      units.low.assign(n, {});
      for (std::int64_t& m : units.members) m = 1 + static_cast<std::int64_t>(random() % 2);
    }
  }
  /// Changes some units as a round does: half of them or, if few, a sixteenth. @param states  whether some get other flags and numbers
  /// of members @param moves  whether they get other places
  void change(bool states, bool few, const Grid* moves) {
    for (std::size_t i = 0; i < units.size(); ++i) {
      const std::uint64_t what = random() % (few ? 64 : 8);
      if (units.gone[i] != 0 || what > 3) continue;
      if (moves != nullptr) {
        Site& s = units.parcels.site(i);
        s.x = draw_coordinate(random, moves->box, 0, 14);
        s.z = draw_coordinate(random, moves->box, 2, 14);
      }
      if (what == 0)
        units.gone[i] = 1;
      else if (states && what == 1)
        units.flags[i] ^= Units::kPassedOver;
      else if (states && what == 2)
        units.members[i] = 3 - units.members[i];
      else
        units.parcels.site(i).volume = 3;
      units.changed.push_back(static_cast<std::uint32_t>(i));
    }
  }
  Units units;
  std::mt19937_64 random;
};

/// Returns which units look: those of each crowded cell by ascending (volume, id) while they fit, as merge_policy.hpp tells.
std::vector<std::uint8_t> lookers_by_hand(const Units& units, const Grid& cells, std::int64_t above,
                                          std::int64_t target) {
  std::map<std::int64_t, std::vector<std::tuple<double, std::int64_t, std::size_t>>> by_cell;
  for (std::size_t i = 0; i < units.size(); ++i)
    if (units.gone[i] == 0)
      by_cell[cell_by_grid(cells, units.parcels.site(i))].emplace_back(units.parcels.site(i).volume,
                                                                       units.parcels.id(i), i);
  std::vector<std::uint8_t> looks(units.size(), 0);
  for (auto& [cell, members] : by_cell) {
    std::int64_t count = 0;
    for (const auto& m : members) count += units.count_of(std::get<2>(m));
    if (count <= above) continue;
    std::sort(members.begin(), members.end());
    std::int64_t left = count - target;
    for (const auto& m : members) {
      const std::size_t i = std::get<2>(m);
      if ((units.flags[i] & Units::kPassedOver) != 0 || units.count_of(i) > left) continue;
      left -= units.count_of(i);
      looks[i] = 1;
    }
  }
  return looks;
}

class CrowdedCellsTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, CrowdedCellsTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

// Faces of cells are faces of blocks too, and many units lie on them; the rank of a cell's lower corner counts it.
TEST_P(CrowdedCellsTest, lookers_are_those_of_a_serial_count_whatever_ranks_share_a_cell) {
  const Grid grid{{{-1, 0, 0.5}, {3, 1, 2}, {true, false, true}}, {7, 7, 7}};
  on_ranks(GetParam(), [&](comm::Transport& t) {
    std::vector<int> others;
    for (int r = 0; r < t.size(); ++r)
      if (r != t.rank()) others.push_back(r);
    for (const Decomposition& d : decompositions(grid, t.size()))
      // Cells of each axis, and units: as many in one cell as are ranked by comparing all pairs, one more, and many.
      for (const auto& [n, number] : std::vector<std::pair<std::int64_t, std::size_t>>{
               {1, 48}, {1, 49}, {1, 600}, {2, 600}, {3, 600}, {5, 600}, {7, 600}, {14, 600}})
        for (const bool two : {false, true}) {
          const Grid cells{grid.box, {n, n, n}};
          const auto mailbox = t.mailbox(comm::Graph::symmetric(others));
          CrowdedCells counted(*mailbox, d, t.rank(), cells);
          AllUnits all(static_cast<std::uint64_t>(n), number, grid, two);
          std::vector<std::size_t> mine;
          for (std::size_t i = 0; i < all.units.size(); ++i) {
            const Site& s = all.units.parcels.site(i);
            if (d.owner({s.x, s.y, s.z}) == t.rank()) mine.push_back(i);
          }
          Units units(Schema(), two);
          std::vector<std::byte> message;
          for (const std::size_t i : mine) all.units.append_to(message, i);
          units.append_from(message);
          counted.begin();
          for (int round = 0; round < 5; ++round) {
            std::vector<std::uint8_t> looks(units.size(), 0);
            counted.choose(units, 5, 2, looks);
            const std::vector<std::uint8_t> want = lookers_by_hand(all.units, cells, 5, 2);
            for (std::size_t k = 0; k < mine.size(); ++k)
              ASSERT_EQ(looks[k], want[mine[k]]) << d.describe() << ", " << n << " cells, round " << round << ", unit "
                                                 << mine[k] << ", id " << units.parcels.id(k);
            units.changed.clear();
            all.units.changed.clear();
            all.change(two, round > 1, t.size() == 1 ? &grid : nullptr);
            if (t.size() == 1 && round > 2) {  // as units of other ranks come
              for (const std::size_t i : {0, 7, 11}) {
                message.clear();
                all.units.append_to(message, i);
                all.units.append_from(message);
                const std::size_t last = all.units.size() - 1;
                all.units.parcels.row(last)[0] = std::bit_cast<double>(static_cast<std::int64_t>(1000000 + last));
                message.clear();
                all.units.append_to(message, last);
                units.append_from(message);
                mine.push_back(last);
              }
            }
            for (std::size_t k = 0; k < mine.size(); ++k) {
              const std::size_t i = mine[k];
              units.gone[k] = all.units.gone[i];
              units.flags[k] = all.units.flags[i];
              units.members[k] = all.units.members[i];
              units.parcels.site(k) = all.units.parcels.site(i);
              if (std::ranges::binary_search(all.units.changed, static_cast<std::uint32_t>(i)))
                units.changed.push_back(static_cast<std::uint32_t>(k));
            }
          }
        }
  });
}

}  // namespace
