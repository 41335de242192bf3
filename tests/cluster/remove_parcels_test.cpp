/// Removal of parcels from a container and of units from those of a step, few and many of them.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "src/cluster/policy_units.hpp"
#include "src/cluster/remove_parcels.hpp"

namespace {

using namespace merganser;

TEST(RemoveParcels, those_left_are_as_before_and_in_order_however_many_go) {
  std::mt19937 random(3);
  for (const int components : {1, 2, 9})
    for (const std::size_t n : {0U, 1U, 2U, 9U, 1000U})
      for (const unsigned share : {0U, 1U, 12U, 50U, 95U, 100U}) {  // percent that go
        Parcels parcels(Schema({{"a", components, Rule::sum, {}, ""}}));
        std::vector<std::uint8_t> gone;
        std::vector<std::size_t> want;
        const auto value = [](std::size_t i, std::size_t k) { return static_cast<double>(100 * i + k); };
        for (std::size_t i = 0; i < n; ++i) {
          std::vector<double> row{std::bit_cast<double>(static_cast<std::int64_t>(i))};
          for (std::size_t k = 1; k < parcels.schema().width(); ++k) row.push_back(value(i, k));
          parcels.append({value(i, 50), value(i, 51), value(i, 52), value(i, 53)}, row.data());
          gone.push_back(random() % 100 < share ? 1 : 0);
          if (gone[i] == 0) want.push_back(i);
        }
        cluster::remove_parcels(parcels, gone);
        ASSERT_EQ(parcels.size(), want.size());
        for (std::size_t k = 0; k < want.size(); ++k) {
          const Site& s = parcels.site(k);
          EXPECT_EQ(parcels.id(k), static_cast<std::int64_t>(want[k]));
          EXPECT_EQ(s.x, value(want[k], 50));
          EXPECT_EQ(s.volume, value(want[k], 53));
          for (std::size_t c = 1; c < parcels.schema().width(); ++c) EXPECT_EQ(parcels.row(k)[c], value(want[k], c));
        }
      }
}

// What is left of changed units refers to the same ids.
TEST(Units, those_left_keep_their_state_and_changed_ones_their_numbers) {
  std::mt19937 random(4);
  for (const unsigned share : {0U, 5U, 50U, 100U}) {  // percent that go
    Parcels parcels(Schema({{"a", 1, Rule::sum, {}, ""}}));
    for (std::int64_t i = 0; i < 500; ++i) {
      const double row[] = {std::bit_cast<double>(i), 0};
      parcels.append({0, 0, 0, 1}, row);
    }
    cluster::Units units(parcels.schema(), false);
    units.assign(parcels, MergePolicy(), cluster::PolicyColumns(MergePolicy(), units.parcels.schema()));
    std::vector<std::int64_t> left;
    std::vector<std::int64_t> changed;
    for (std::uint32_t i = 0; i < units.size(); ++i) {
      units.members[i] = 1000 + i;
      units.flags[i] = static_cast<std::uint8_t>(i % 8);
      const bool goes = random() % 100 < share;
      if (goes) {
        units.set_gone(i);
        continue;
      }
      left.push_back(i);
      if (random() % 2 == 0) continue;
      units.changed.push_back(i);
      changed.push_back(i);
    }
    units.compact();
    ASSERT_EQ(units.size(), left.size());
    for (std::size_t k = 0; k < left.size(); ++k) {
      EXPECT_EQ(units.parcels.id(k), left[k]);
      EXPECT_EQ(units.members[k], 1000 + left[k]);
      EXPECT_EQ(units.flags[k], left[k] % 8);
      EXPECT_EQ(units.gone[k], 0);
    }
    ASSERT_EQ(units.changed.size(), changed.size());
    for (std::size_t k = 0; k < changed.size(); ++k) EXPECT_EQ(units.parcels.id(units.changed[k]), changed[k]);
  }
}

}  // namespace
