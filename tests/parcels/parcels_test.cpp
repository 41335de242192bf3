#include "merganser/parcels/parcels.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

#include "merganser/base/error.hpp"

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

}  // namespace
