/// Published degrees and diameters of announcement networks against searches.
#include "merganser/studies/announce_published.hpp"

#include <gtest/gtest.h>

namespace {

using namespace merganser::studies;
using merganser::announce::ManhattanStreetNetwork;

TEST(AnnouncePublished, the_rule_gives_61_of_the_63_published_diameters) {
  int same = 0;
  for (const auto& machine : published_machines()) {
    for (std::size_t i = 0; i < machine.diameters.size(); ++i) {
      const int n = kFirstDegree + static_cast<int>(i);
      const int rule = ManhattanStreetNetwork(machine.processes, n).published_diameter();
      same += rule == machine.diameters[i] ? 1 : 0;
      EXPECT_EQ(rule != machine.diameters[i], is_unexplained_cell(machine.processes, n)) << machine.name << " " << n;
      EXPECT_LE(machine.exact[i], rule + 1);
    }
  }
  EXPECT_EQ(same, 61);
}

TEST(AnnouncePublished, regular_networks_that_must_be_as_published_are) {
  int same = 0, noted = 0;
  for (const RegularNetwork& row : regular_networks()) {
    EXPECT_TRUE(!row.must || row.as_published()) << row.network << ": " << row.degree << ", " << row.diameter;
    EXPECT_EQ(row.must, row.note.empty()) << row.network;
    same += row.as_published() ? 1 : 0;
    noted += row.note.empty() ? 0 : 1;
  }
  EXPECT_EQ(noted, 6);
  EXPECT_GE(same, 10);
}

TEST(AnnouncePublished, the_least_degree_within_a_budget_is_that_of_table_3) {
  const PublishedMachine& machine = published_machines()[0];  // 102, 33, 21, 16, 15, 14, 13, 13, 13
  EXPECT_EQ(machine.degree_within(102), 2);
  EXPECT_EQ(machine.degree_within(101), 3);
  EXPECT_EQ(machine.degree_within(20), 5);
  EXPECT_EQ(machine.degree_within(13), 8);
  EXPECT_EQ(machine.degree_within(1), 10);
}

TEST(AnnouncePublished, text_tells_a_bound_from_the_diameter) {
  const KnownDiameter bound{.found = {.value = 45, .exact = false, .sources = 1, .how = ""}, .recorded = {}};
  EXPECT_EQ(bound.to_string(), ">=45");
  KnownDiameter known = bound;
  known.recorded = 47;
  EXPECT_TRUE(known.consistent());
  EXPECT_EQ(known.to_string(), "47");
}

TEST(AnnouncePublished, a_search_is_compared_with_the_record) {
  const auto known = known_diameter(ManhattanStreetNetwork(10240, 9), false);
  EXPECT_TRUE(known.found.exact);
  EXPECT_TRUE(known.consistent());
  EXPECT_EQ(known.recorded, 13);
  KnownDiameter wrong = known;
  wrong.recorded = 12;
  EXPECT_FALSE(wrong.consistent());
  const auto own = known_diameter(ManhattanStreetNetwork(10240, {10, 1024}), false);
  EXPECT_FALSE(own.recorded.has_value());
}

}  // namespace
