/// Registry of temporary files: removal on a signal, threads that create files meanwhile, moves, forks, capacity.
#include "merganser/base/cleanup.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace merganser;
namespace fs = std::filesystem;

/// Temporary folder for one test. Removal ends the use of the registry in a process, so each test calls it in a child process.
class Cleanup : public testing::Test {
 protected:
  Cleanup() {
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("cannot make " + folder_);
  }
  ~Cleanup() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ofstream(folder_ + '/' + name) << name;
    return folder_ + '/' + name;
  }
  template <class F>
  static void in_child(F&& f) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      f();
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::string folder_ = (fs::temp_directory_path() / "merganser-test-XXXXXX").string();
};

TEST_F(Cleanup, removes_what_is_kept_and_nothing_else) {
  const std::string kept = file("kept"), released = file("released"), died = file("died"), other = file("other");
  in_child([&] {
    const CleanupName one(kept, false);
    CleanupName two(released, false);
    two.release();
    { const CleanupName three(died, false); }
    remove_cleanup_names();
  });
  EXPECT_FALSE(fs::exists(kept));
  for (const auto& path : {released, died, other}) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(Cleanup, removes_a_folder_after_what_is_in_it_and_keeps_one_that_is_not_empty) {
  const std::string outer = folder_ + "/outer", full = folder_ + "/full";
  fs::create_directories(outer + "/inner");
  fs::create_directory(full);
  std::ofstream(outer + "/inner/part") << 1;
  std::ofstream(full + "/of someone else") << 1;
  in_child([&] {
    const CleanupName names[] = {{outer, true}, {full, true}, {outer + "/inner", true}, {outer + "/inner/part", false}};
    remove_cleanup_names();
  });
  EXPECT_FALSE(fs::exists(outer));
  EXPECT_TRUE(fs::exists(full + "/of someone else"));
}

TEST_F(Cleanup, waits_for_what_another_thread_is_making_and_lets_no_more_be_made) {
  const std::string late = folder_ + "/late", later = folder_ + "/later";
  in_child([&] {
    std::promise<void> named;
    std::thread maker([&] {
      CleanupName name;
      {
        const MakingFiles making;
        const MakingFiles again;  // scopes may be nested
        name = CleanupName(late, true);
        named.set_value();
        ::usleep(20'000);  // descheduled between the name and the folder
        fs::create_directory(late);
      }
      const MakingFiles making;  // does not return
      std::ofstream(later) << 1;
    });
    maker.detach();
    named.get_future().wait();
    remove_cleanup_names();
    ::usleep(100'000);
  });
  EXPECT_FALSE(fs::exists(late));
  EXPECT_FALSE(fs::exists(later));
}

TEST_F(Cleanup, a_thread_that_gives_up_making_is_not_waited_for) {
  bool at_once = false;  // removal waits 300 ms, however long a busy machine takes: one try that is shorter shows it
  for (int tries = 0; tries < 50 && !at_once; ++tries) {
    const std::string mark = folder_ + "/at once";
    in_child([&] {
      std::promise<void> given_up;
      std::thread maker([&] {
        const MakingFiles making;
        const MakingFiles again;
        close_making_files();
        close_making_files();
        given_up.set_value();
        while (true) ::pause();
      });
      maker.detach();
      given_up.get_future().wait();
      const auto start = std::chrono::steady_clock::now();
      remove_cleanup_names();
      if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(250)) std::ofstream(mark) << 1;
    });
    at_once = fs::exists(mark);
  }
  EXPECT_TRUE(at_once);
}

TEST_F(Cleanup, giving_up_nothing_leaves_the_making_of_another_thread_waited_for) {
  const std::string late = folder_ + "/late";
  in_child([&] {
    std::promise<void> named;
    std::thread maker([&] {
      const MakingFiles making;
      const CleanupName name(late, true);
      named.set_value();
      ::usleep(20'000);
      fs::create_directory(late);
      while (true) ::pause();
    });
    maker.detach();
    named.get_future().wait();
    close_making_files();
    remove_cleanup_names();
    ::usleep(100'000);  // a folder that is created too late is seen after this time
  });
  EXPECT_FALSE(fs::exists(late));
}

TEST_F(Cleanup, a_moved_name_has_one_owner) {
  const std::string path = file("moved");
  in_child([&] {
    CleanupName first(path, false);
    CleanupName second(std::move(first));
    CleanupName third;
    third = std::move(second);
    // NOLINTNEXTLINE(bugprone-use-after-move)
    if (first.is_registered() || second.is_registered() || !third.is_registered()) ::_exit(1);
    first.release();
    remove_cleanup_names();
  });
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Cleanup, a_forked_child_leaves_the_names_of_its_parent) {
  const std::string path = file("of the parent");
  const CleanupName name(path, false);
  in_child([] { remove_cleanup_names(); });
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(Cleanup, keeps_as_many_names_as_promised_and_frees_their_places) {
  for (int round = 0; round < 2; ++round) {
    std::vector<CleanupName> names;
    for (int i = 0; i < kCleanupNames; ++i)
      EXPECT_TRUE(names.emplace_back("x" + std::to_string(i), false).is_registered());
    EXPECT_FALSE(CleanupName("one too many", false).is_registered());
  }
  EXPECT_FALSE(CleanupName("", false).is_registered());
  EXPECT_FALSE(CleanupName(std::string(kCleanupLength, 'x'), false).is_registered());
  EXPECT_TRUE(CleanupName(std::string(kCleanupLength - 1, 'x'), false).is_registered());
}

TEST_F(Cleanup, threads_take_and_free_places_at_the_same_time) {
  in_child([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 1000; ++i) {
          const std::string path = folder_ + '/' + std::to_string(t);
          const CleanupName name(path, false);
          if (!name.is_registered()) ::_exit(1);
          std::ofstream{path} << i;
          if (i < 999) ::unlink(path.c_str());
        }
      });
    for (auto& t : threads) t.join();
  });
  for (int t = 0; t < 4; ++t) EXPECT_TRUE(fs::exists(folder_ + '/' + std::to_string(t)));
}

TEST_F(Cleanup, no_name_comes_back_to_its_owner_once_removal_has_begun) {
  const std::string path = folder_ + "/late";
  in_child([&] {
    remove_cleanup_names();
    std::thread late([&] {
      const CleanupName name(path, false);
      std::ofstream{path} << 1;
    });
    late.detach();
    ::usleep(100000);
  });
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
