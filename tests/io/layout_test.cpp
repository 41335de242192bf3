/// Tests of src/io/layout.hpp: slices, counts beyond 32 bits, chunk lengths and file sizes.
#include "src/io/layout.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;
using namespace merganser::io;

TEST(Layout, equal_slices_differ_by_one_at_most_and_cover_all) {
  EXPECT_EQ(equal_slices(10, 4).first, (std::vector<std::int64_t>{0, 3, 6, 8, 10}));
  EXPECT_EQ(equal_slices(2, 4).first, (std::vector<std::int64_t>{0, 1, 2, 2, 2}));
  EXPECT_EQ(equal_slices(0, 3).first, (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(equal_slices(10, 4).largest(), 3);
}

TEST(Layout, counts_beyond_32_bits_stay_exact) {
  const std::array<std::int64_t, 3> counts{3'000'000'000, 0, 5'000'000'001};
  const Layout layout = layout_from_counts(counts);
  EXPECT_EQ(layout.first, (std::vector<std::int64_t>{0, 3'000'000'000, 3'000'000'000, 8'000'000'001}));
  EXPECT_EQ(layout.count(2), 5'000'000'001);
  EXPECT_EQ(layout.largest(), 5'000'000'001);
  EXPECT_FALSE(layout.fits_int());
  EXPECT_EQ(equal_slices(8'000'000'001, 2).first, (std::vector<std::int64_t>{0, 4'000'000'001, 8'000'000'001}));
}

TEST(Layout, a_file_keeps_32_bit_positions_as_long_as_they_fit) {
  const auto fits = [](std::int64_t n) { return layout_from_counts(std::span(&n, 1)).fits_int(); };
  EXPECT_TRUE(fits(0x7ffffffe));
  EXPECT_FALSE(fits(0x7fffffff));  // an empty rank after it would start at 2^31
}

TEST(Layout, a_sum_beyond_63_bits_is_refused) {
  const std::array<std::int64_t, 2> counts{std::numeric_limits<std::int64_t>::max(), 1};
  EXPECT_THROW(static_cast<void>(layout_from_counts(counts)), InputError);
}

TEST(Layout, chunks_are_small_for_large_files) {
  EXPECT_EQ(chunk_length(0), 1);
  EXPECT_EQ(chunk_length(1000), 1000);
  EXPECT_EQ(chunk_length(std::int64_t{1} << 40), 1 << 18);
}

TEST(Layout, chunks_are_those_of_the_file_before_where_the_size_allows) {
  EXPECT_EQ(chunk_length(1'000'000, 5000), 5000);
  EXPECT_EQ(chunk_length(1000, 5000), 1000);
  EXPECT_EQ(chunk_length(0, 5000), 1);
  EXPECT_EQ(chunk_length(1'000'000, 1), 1024);
  EXPECT_EQ(chunk_length(std::int64_t{1} << 40, std::int64_t{1} << 40), 1 << 20);
}

}  // namespace
