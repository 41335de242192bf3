// Tests of fork-join regions and loops shared by threads.
#include "merganser/base/parallel.hpp"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

using namespace merganser;

TEST(ParallelTest, every_thread_runs_once_and_the_first_is_the_calling_one) {
  for (const int threads : {0, 1, 2, 5}) {
    std::mutex lock;
    std::map<int, std::thread::id> who;
    in_parallel(threads, [&](int t) {
      const std::lock_guard guard(lock);
      EXPECT_TRUE(who.emplace(t, std::this_thread::get_id()).second);
    });
    EXPECT_EQ(who.size(), static_cast<std::size_t>(std::max(1, threads)));
    for (const auto& [t, id] : who) EXPECT_EQ(id == std::this_thread::get_id(), t == 0) << t;
  }
}

TEST(ParallelTest, the_error_of_the_lowest_thread_is_thrown_after_all_have_ended) {
  for (const int lowest : {0, 1, 3}) {
    std::atomic<int> ended = 0;
    try {
      in_parallel(4, [&](int t) {
        ++ended;
        if (t >= lowest) throw std::runtime_error("thread " + std::to_string(t));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "thread " + std::to_string(lowest));
    }
    EXPECT_EQ(ended, 4);
  }
}

TEST(ParallelTest, a_shared_loop_runs_every_item_once) {
  for (const std::size_t count : {0, 1, 2, 255, 256, 257, 1000, 5003}) {
    for (const int threads : {1, 2, 3, 7}) {
      std::mutex lock;
      std::map<std::size_t, std::size_t> pieces;
      share_loop(threads, count, [&](std::size_t begin, std::size_t end) {
        const std::lock_guard guard(lock);
        EXPECT_LT(begin, end);
        EXPECT_TRUE(pieces.emplace(begin, end).second);
      });
      std::size_t at = 0;
      for (const auto& [begin, end] : pieces) {
        ASSERT_EQ(begin, at) << count << " items, " << threads << " threads";
        at = end;
      }
      ASSERT_EQ(at, count);
      if (count > 0 && (threads == 1 || count < 256)) {
        EXPECT_EQ(pieces.size(), 1U) << count << " items, " << threads << " threads";
      } else if (count > 0) {  // so many that a thread that is late costs little
        EXPECT_GE(pieces.size(), 8U * static_cast<unsigned>(threads)) << count << " items";
        EXPECT_LE(pieces.size(), 16U * static_cast<unsigned>(threads)) << count << " items";
      }
    }
  }
}

TEST(ParallelTest, shares_of_threads_are_consecutive_and_differ_by_one_at_most) {
  for (const std::size_t size : {0, 1, 6, 7, 8, 100}) {
    std::vector<int> all(size);
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> joined;
    for (int t = 0; t < 7; ++t) {
      const auto share = thread_share(std::span<const int>(all), t, 7);
      EXPECT_GE(share.size(), size / 7);
      EXPECT_LE(share.size(), (size + 6) / 7);
      joined.insert(joined.end(), share.begin(), share.end());
    }
    EXPECT_EQ(joined, all);
  }
}

}  // namespace
