/// Tests of the bound on operations in flight between processes of a host, and of the pieces that keep it.
#include "src/comm/detail/queue_part.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using merganser::comm::detail::for_each_piece;
using merganser::comm::detail::queue_elements;
using merganser::comm::detail::QueuePart;

long elements(const char* posix, const char* sysv) {
  const auto set = [](const char* name, const char* value) {
    return value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  };
  set("UCX_POSIX_FIFO_SIZE", posix);
  set("UCX_SYSV_FIFO_SIZE", sysv);
  const long found = queue_elements();
  set("UCX_POSIX_FIFO_SIZE", nullptr);
  set("UCX_SYSV_FIFO_SIZE", nullptr);
  return found;
}

TEST(QueuePartTest, the_shorter_queue_counts_and_one_that_is_not_set_is_short) {
  EXPECT_EQ(elements(nullptr, nullptr), 64);
  EXPECT_EQ(elements("8192", "1024"), 1024);
  EXPECT_EQ(elements("256", "8192"), 256);
  EXPECT_EQ(elements("8192", nullptr), 64);
  EXPECT_EQ(elements(nullptr, "32"), 32);
}

TEST(QueuePartTest, what_is_no_number_of_elements_counts_as_not_set) {
  for (const char* value : {"", "many", "-8192", "8192x", "8k", "0", "1", "1e9", "99999999999"}) {
    EXPECT_EQ(elements(value, "8192"), 64) << value;
    EXPECT_EQ(elements("8192", value), 64) << value;
  }
}

TEST(QueuePartTest, all_processes_together_have_half_a_queue_and_each_an_element) {
  EXPECT_EQ(QueuePart(8192, 4).max_elements(), 1024);
  EXPECT_EQ(QueuePart(64, 3).max_elements(), 10);
  EXPECT_EQ(QueuePart(64, 33).max_elements(), 1);
  EXPECT_EQ(QueuePart(2, 2).max_elements(), 1);
}

TEST(QueuePartTest, pieces_fit_into_the_part_and_cover_all_bytes_in_order) {
  for (long queue = 2; queue <= 64; ++queue) {
    const QueuePart part(queue, 1);
    for (const std::size_t bytes : {0UL, 1UL, 8UL, 8128UL, 8191UL, 8192UL, 65535UL, 65536UL, 65537UL, 1000003UL}) {
      std::size_t done = 0;
      for_each_piece(bytes, part.piece_bytes(), [&](std::size_t at, std::size_t piece) {
        EXPECT_EQ(at, done);
        EXPECT_GE(piece, 1U);
        EXPECT_LE(QueuePart::num_elements(piece), part.max_elements());
        done = at + piece;
      });
      EXPECT_EQ(done, bytes);
    }
  }
}

TEST(QueuePartTest, pieces_are_64_KiB_where_these_fit) {
  EXPECT_EQ(QueuePart(18, 1).piece_bytes(), 65536U);
  EXPECT_EQ(QueuePart(8192, 4).piece_bytes(), 65536U);
  EXPECT_EQ(QueuePart(16, 1).piece_bytes(), 8 * 8192U - 64);
}

}  // namespace
