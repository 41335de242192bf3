/// Tests of the allocator of symmetric memory for parts of a job, against a search through all lines of the memory.
#include "src/comm/detail/common_place.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/ranks.hpp"

namespace {

using merganser::comm::Op;
using merganser::comm::Transport;
using merganser::comm::detail::find_common_capacity;
using merganser::comm::detail::find_common_offset;
using merganser::comm::detail::Highest;
using merganser::comm::detail::Ranges;
using namespace merganser::test;

constexpr std::size_t kLine = Ranges::kLine;

TEST(RangesTest, places_are_the_lowest_and_what_is_given_back_is_free_again) {
  Ranges ranges(10 * kLine + 5);
  EXPECT_EQ(ranges.bytes(), 10 * kLine);
  EXPECT_EQ(ranges.largest(), 10 * kLine);
  EXPECT_EQ(ranges.lowest(1), 0U);
  ranges.reserve(0, 1);  // a line
  EXPECT_EQ(ranges.lowest(1), kLine);
  ranges.reserve(4 * kLine, 2 * kLine);
  EXPECT_EQ(ranges.lowest(3 * kLine), kLine);
  EXPECT_EQ(ranges.lowest(3 * kLine, 1), kLine);
  EXPECT_EQ(ranges.lowest(3 * kLine, kLine + 1), 6 * kLine);
  EXPECT_EQ(ranges.lowest(3 * kLine + 1), 6 * kLine);
  EXPECT_EQ(ranges.lowest(4 * kLine), 6 * kLine);
  EXPECT_EQ(ranges.lowest(4 * kLine + 1), Ranges::kNowhere);
  EXPECT_EQ(ranges.lowest(1, 10 * kLine), Ranges::kNowhere);
  EXPECT_EQ(ranges.largest(), 4 * kLine);
  ranges.release(4 * kLine);
  EXPECT_EQ(ranges.largest(), 9 * kLine);
  EXPECT_EQ(ranges.lowest(9 * kLine), kLine);
  EXPECT_EQ(Ranges().lowest(1), Ranges::kNowhere);
  EXPECT_EQ(Ranges().largest(), 0U);
}

/// Which lines are taken, one flag each.
using Lines = std::vector<bool>;

std::uint64_t first_run(const Lines& taken, std::size_t lines) {
  for (std::size_t at = 0; at + lines <= taken.size(); ++at) {
    const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(at);
    if (std::find(begin, begin + static_cast<std::ptrdiff_t>(lines), true) ==
        begin + static_cast<std::ptrdiff_t>(lines))
      return at * kLine;
  }
  return Ranges::kNowhere;
}

std::size_t longest_run(const Lines& taken) {
  std::size_t lines = taken.size();
  while (first_run(taken, lines) == Ranges::kNowhere) --lines;
  return lines * kLine;
}

class CommonPlaceTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CommonPlaceTest, testing::Values(1, 2, 3, 4, 7));

/// Blocks of random groups of ranks come and go. Every rank plays all of it, but has ranges of its own alone.
TEST_P(CommonPlaceTest, blocks_of_overlapping_groups_lie_where_a_search_through_all_lines_puts_them) {
  struct Block {
    std::uint64_t at;
    std::size_t lines;
    std::vector<bool> members;
  };
  on_ranks({"threads", GetParam(), ""}, [](Transport& t) {
    constexpr std::size_t kLines = 40;
    const auto ranks = static_cast<std::size_t>(t.size());
    const auto here = static_cast<std::size_t>(t.rank());
    std::mt19937 numbers(17);  // the same on all
    Ranges ranges(kLines * kLine);
    std::vector<Lines> taken(ranks, Lines(kLines, false));
    std::vector<Block> blocks;
    std::size_t reductions = 0;
    const Highest highest = [&](std::span<std::uint64_t> words) {
      ++reductions;
      std::vector<std::int64_t> values(words.begin(), words.end());
      t.all_reduce(values, Op::max);
      std::copy(values.begin(), values.end(), words.begin());
    };
    const auto mark = [&](const Block& block, bool is) {
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t i = 0; block.members[r] && i < block.lines; ++i) taken[r][block.at / kLine + i] = is;
    };
    int nowhere = 0;
    for (int turn = 0; turn < 300; ++turn) {
      if (numbers() % 3 == 0 && !blocks.empty()) {
        const auto one = blocks.begin() + static_cast<std::ptrdiff_t>(numbers() % blocks.size());
        mark(*one, false);
        if (one->members[here]) ranges.release(one->at);
        blocks.erase(one);
        continue;
      }
      Block block{0, 1 + numbers() % 9, std::vector<bool>(ranks)};
      for (std::size_t r = 0; r < ranks; ++r) block.members[r] = numbers() % 2 == 0;
      block.members[numbers() % ranks] = true;
      Lines of_any(kLines, false);
      std::size_t room = kLines * kLine;
      for (std::size_t r = 0; r < ranks; ++r) {
        if (!block.members[r]) continue;
        for (std::size_t i = 0; i < kLines; ++i) of_any[i] = of_any[i] || taken[r][i];
        room = std::min(room, longest_run(taken[r]));
      }
      reductions = 0;
      const Ranges* mine = block.members[here] ? &ranges : nullptr;
      block.at = find_common_offset(mine, block.lines * kLine - numbers() % kLine, highest);
      ASSERT_EQ(block.at, first_run(of_any, block.lines)) << "turn " << turn;
      ASSERT_LE(reductions, blocks.size() + 2);
      ASSERT_EQ(find_common_capacity(mine, highest), room);
      if (block.at == Ranges::kNowhere) {
        ++nowhere;
        continue;
      }
      mark(block, true);
      if (block.members[here]) ranges.reserve(block.at, block.lines * kLine);
      blocks.push_back(std::move(block));
    }
    EXPECT_GT(nowhere, 0);  // else the memory was never full
  });
}

}  // namespace
