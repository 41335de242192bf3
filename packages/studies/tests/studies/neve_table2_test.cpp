/// The published table of process graphs, reproduced for few ranks.
#include "merganser/studies/neve_table2.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace merganser::studies;

TEST(Table2, entries_up_to_128_ranks_agree) {
  const auto rows = check_table2(42, 128);
  ASSERT_EQ(rows.size(), 4U);
  for (const auto& row : rows) {
    EXPECT_TRUE(row.ok()) << row.ranks;
    EXPECT_EQ(row.edges, row.known_edges);
    ASSERT_EQ(row.cells.size(), 3U);
    EXPECT_EQ(row.cells[0].ours, 2 * (row.ranks - 1));
    EXPECT_EQ(row.cells[0].correct, 2 * (row.ranks - 1));
    EXPECT_EQ(row.cells[2].ours, row.ranks * (row.ranks - 1));
    EXPECT_EQ(row.cells[2].published, row.ranks * (row.ranks - 1));
  }
  EXPECT_EQ(rows[3].edges, 2500524);
  EXPECT_EQ(rows[3].cells[1].published, 16224);
  EXPECT_NEAR(rows[3].cells[1].expected.mean, 16220.3, 0.05);
  EXPECT_TRUE(rows[3].cells[1].random);
  EXPECT_FALSE(rows[0].cells[1].random);
}

TEST(Table2, a_wrong_entry_is_seen) {
  Table2Row row;
  row.edges = row.known_edges = 7;
  row.cells.resize(3);
  for (auto& cell : row.cells) cell.ok = true;
  EXPECT_TRUE(row.ok());
  row.cells[1].ok = false;
  EXPECT_FALSE(row.ok());
  row.cells[1].ok = true;
  row.edges = 8;
  EXPECT_FALSE(row.ok());
}

}  // namespace
