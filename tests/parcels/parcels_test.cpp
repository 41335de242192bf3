// Container of parcels: sizes, and columns by name.
#include "merganser/parcels/parcels.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

#include "merganser/base/error.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;

TEST(ParcelsTest, sizes_that_cannot_be_are_refused_and_change_nothing) {
  Parcels p;
  p.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    p.site(i) = {1, 2, 3, static_cast<double>(i)};
    p.set_id(i, static_cast<std::int64_t>(10 + i));
  }
  const std::size_t capacity = p.capacity();
  for (const std::size_t n :
       {p.max_size() + 1, std::size_t{1} << 59, std::size_t{1} << 60, std::size_t{1} << 63, SIZE_MAX / 32, SIZE_MAX}) {
    EXPECT_THROW(p.resize(n), UsageError) << n;
    EXPECT_THROW(p.reserve(n), UsageError) << n;
  }
  EXPECT_THROW(p.resize(p.max_size()), std::bad_alloc);
  EXPECT_THROW(RawBuffer(SIZE_MAX), std::bad_alloc);
  ASSERT_EQ(p.size(), 3U);
  EXPECT_EQ(p.capacity(), capacity);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(p.id(i), static_cast<std::int64_t>(10 + i));
  p.resize(100);
  EXPECT_EQ(p.id(2), 12);
}

TEST(ParcelsTest, columns_are_numbers_by_name) {
  Parcels p(Schema({{"velocity", 3, Rule::mean, {"u", "v", "w"}, ""}, {"salt", 1, Rule::sum, {"salt"}, ""}}));
  p.resize(5);
  for (std::size_t i = 0; i < 5; ++i) {
    p.site(i) = {1, 2, 3, static_cast<double>(i)};
    p.set_id(i, -7 + static_cast<std::int64_t>(i));
    p.column("velocity", 2)[i] = 0.5 + static_cast<double>(i);
    p.column("salt")[i] = 35;
  }
  p.column("y")[3] = 20;
  const Parcels& read = p;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(p.row(i)[p.schema().offset("velocity") + 2], 0.5 + static_cast<double>(i));
    EXPECT_EQ(read.column("w")[i], 0.5 + static_cast<double>(i));
    EXPECT_EQ(read.column("volume")[i], static_cast<double>(i));
    EXPECT_EQ(read.ids()[i], -7 + static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(p.site(3).y, 20);
  EXPECT_NE(test::refusal<UsageError>([&] { (void)p.column("velocity", 3); }).find("allowed: 0 to 2"),
            std::string::npos);
  EXPECT_NE(
      test::refusal<UsageError>([&] { (void)p.column("sugar"); }).find("unknown attribute sugar; known: velocity"),
      std::string::npos);
}

}  // namespace
