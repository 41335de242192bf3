// The hash table of handles of the tracing library, which threads read while others store.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "src/trace/handle_table.cpp"  // the tracing library exports none of it

namespace {

using merganser::trace::HandleTable;

/// Returns a value as the table owns them.
int* make_value(int x) {
  auto* value = static_cast<int*>(std::malloc(sizeof(int)));
  *value = x;
  return value;
}

int value_at(const HandleTable& table, std::uintptr_t handle) {
  const auto* value = static_cast<const int*>(table.find(handle));
  return value != nullptr ? *value : -1;
}

TEST(HandleTable, holds_what_a_map_holds_after_random_calls) {
  HandleTable table;
  std::map<std::uintptr_t, int> expected;
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    const std::uintptr_t handle = 0x1000 + 16 * (random() % 300);
    switch (random() % 3) {
      case 0:
        ASSERT_TRUE(table.replace(handle, make_value(i)));
        expected[handle] = i;
        break;
      case 1: {
        const auto* kept = static_cast<const int*>(table.insert(handle, make_value(i)));
        ASSERT_EQ(*kept, expected.emplace(handle, i).first->second);
        break;
      }
      default:
        table.erase(handle);
        expected.erase(handle);
    }
  }
  for (std::uintptr_t handle = 0x1000; handle < 0x1000 + 16 * 300; handle += 16) {
    const auto at = expected.find(handle);
    EXPECT_EQ(value_at(table, handle), at != expected.end() ? at->second : -1) << handle;
  }
}

TEST(TraceLock, admits_one_thread_at_a_time) {
  int word = 0;
  std::atomic<int> inside{0}, together{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const merganser::trace::Lock lock(word);
        if (++inside != 1) ++together;
        std::this_thread::yield();
        --inside;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(together, 0);
  EXPECT_EQ(word, 0);
}

TEST(HandleTable, gives_all_threads_that_insert_a_handle_one_value) {
  constexpr int kThreads = 4, kHandles = 2000;
  HandleTable table;
  std::vector<std::vector<const void*>> found(kThreads);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      for (int h = 1; h <= kHandles; ++h)
        found[static_cast<std::size_t>(t)].push_back(table.insert(static_cast<std::uintptr_t>(h) * 64, make_value(t)));
    });
  for (auto& thread : threads) thread.join();
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(found[0], found[static_cast<std::size_t>(t)]);
  for (std::size_t h = 0; h < kHandles; ++h) EXPECT_EQ(table.find((h + 1) * 64), found[0][h]);
}

}  // namespace
