/// Removal of parcels from a container, few and many of them.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

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

}  // namespace
