// Serialization of parcels to messages and back.
#include "merganser/parcels/packed.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;

Parcels two_parcels() {
  Parcels parcels;
  const std::size_t width = parcels.schema().width();
  for (int i = 0; i < 2; ++i) {
    std::vector<double> row(width);
    for (std::size_t c = 0; c < width; ++c) row[c] = 10.0 * i + static_cast<double>(c);
    parcels.append({1.0 + i, 2.0 + i, 3.0 + i, 4.0 + i}, row.data());
  }
  return parcels;
}

TEST(Packed, parcels_come_out_as_they_went_in_behind_what_is_there) {
  const Parcels sent = two_parcels();
  std::vector<std::byte> message;
  for (std::size_t i = 0; i < sent.size(); ++i) append_parcel(message, sent, i);
  EXPECT_EQ(message.size(), 2 * sent.parcel_bytes());
  Parcels got = two_parcels();
  append_parcels(message, got);
  ASSERT_EQ(got.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(got.site(i).x, sent.site(i % 2).x);
    EXPECT_EQ(got.site(i).volume, sent.site(i % 2).volume);
    for (std::size_t c = 0; c < sent.schema().width(); ++c) EXPECT_EQ(got.row(i)[c], sent.row(i % 2)[c]);
  }
  append_parcels({}, got);
  EXPECT_EQ(got.size(), 4U);
}

TEST(Packed, a_message_that_ends_within_a_parcel_is_refused) {
  const Parcels sent = two_parcels();
  std::vector<std::byte> message;
  append_parcel(message, sent, 0);
  message.pop_back();
  Parcels got;
  EXPECT_THROW(append_parcels(message, got), CommError);
  EXPECT_EQ(got.size(), 0U);
}

}  // namespace
