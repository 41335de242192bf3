/// IdTable, by hashing and by pages, compared with the hash map of the standard library.
#include "merganser/base/id_table.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <unordered_map>
#include <vector>

#include "merganser/base/random.hpp"

namespace {

using namespace merganser;

/// Inserts `count` random keys below `universe`, some of them twice, into a table and into a map of the standard library, and
/// compares.
void compare(IdTable table, std::uint64_t universe, std::size_t count) {
  std::unordered_map<std::uint64_t, std::uint32_t> expected;
  std::vector<std::uint64_t> keys;
  Random random(7, universe, count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t key = random.below(universe);
    EXPECT_EQ(table.find(key), expected.contains(key) ? expected[key] : IdTable::kNone);
    const auto [at, is_new] = expected.try_emplace(key, static_cast<std::uint32_t>(keys.size()));
    if (is_new) keys.push_back(key);
    ASSERT_EQ(table.insert(key), at->second);
    ASSERT_EQ(table.find(key), at->second);
  }
  EXPECT_EQ(table.keys(), keys);
  EXPECT_LT(keys.size(), count) << "no key came twice";
}

TEST(IdTable, numbers_follow_first_sight) {
  compare(IdTable(), 5000, 10000);
  compare(IdTable(10), 5000, 10000);  // more than expected
  compare(IdTable(5000), 5000, 10000);
  compare(IdTable(0, 100), 100, 1000);        // by hashing: few are expected
  compare(IdTable(5000, 5000), 5000, 10000);  // by pages
  compare(IdTable(1000, 8000), 8000, 10000);
}

TEST(IdTable, keys_may_be_any_number) {
  IdTable table;
  EXPECT_EQ(table.find(0), IdTable::kNone);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(table.insert(~std::uint64_t{0} << i), i);
  EXPECT_EQ(table.insert(0), 64U);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(table.find(~std::uint64_t{0} << i), i);
  EXPECT_EQ(table.find(1), IdTable::kNone);
}

TEST(IdTable, a_dense_table_knows_nothing_beyond_its_universe) {
  IdTable table(100, 100);
  EXPECT_EQ(table.insert(99), 0U);
  EXPECT_EQ(table.find(98), IdTable::kNone);
  EXPECT_EQ(table.find(std::uint64_t{1} << 40), IdTable::kNone);
}

/// Of 2^14 keys in twice as many slots, random ones would have 79 % different first slots. Keys are pairs of numbers, as those of parallel
/// edges: both halves vary, one does, or their exclusive or is constant.
TEST(IdTable, keys_of_a_pattern_begin_at_different_slots) {
  constexpr unsigned kBits = 14;
  const std::vector<std::function<std::uint64_t(std::uint64_t)>> patterns = {
      [](std::uint64_t i) { return i; },
      [](std::uint64_t i) { return i << 32; },
      [](std::uint64_t i) { return i << 20; },
      [](std::uint64_t i) { return i << 50; },
      [](std::uint64_t i) { return i << 32 | (i ^ 5); },
      [](std::uint64_t i) { return i << 32 | i; },
      [](std::uint64_t i) { return (i >> 7) << 32 | (i & 127); },
      [](std::uint64_t i) { return (i >> 7) << 32 | (i & 127) << 9; },
  };
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    std::vector<bool> used(std::size_t{2} << kBits);
    std::size_t different = 0;
    for (std::uint64_t i = 0; i < std::uint64_t{1} << kBits; ++i) {
      const std::size_t slot = IdTable::first_slot(patterns[p](i), kBits + 1);
      ASSERT_LT(slot, used.size());
      different += used[slot] ? 0 : 1;
      used[slot] = true;
    }
    EXPECT_GT(different, std::size_t{1} << (kBits - 1)) << "pattern " << p;
  }
}

}  // namespace
