/// Available memory and threads from given files of /proc and /sys: nested control groups, limits of shell and kernel.
#include "merganser/base/resources.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "tests/base/system.hpp"

namespace {

using namespace merganser;
using merganser::test::System;
constexpr std::int64_t kMiB = 1 << 20;

TEST(Resources, this_system_tells_them) {
  EXPECT_GT(available_bytes(), 0);
  EXPECT_GT(thread_headroom().more, 0);
  EXPECT_FALSE(thread_headroom().limit.empty());
  EXPECT_GT(free_disk_bytes("/tmp/a file that is not there"), 0);
  EXPECT_EQ(free_disk_bytes("/nowhere/at/all"), 0);
}

TEST(Resources, memory_is_what_the_smallest_of_the_nested_containers_leaves) {
  const System system;
  EXPECT_EQ(available_bytes(), 0) << "a system that does not tell";
  system.memory(1000);
  EXPECT_EQ(available_bytes(), 1000 * kMiB);
  system.write("/proc/self/cgroup", "0::/a/b\n");
  system.write("/sys/fs/cgroup/a/memory.max", std::to_string(500 * kMiB));
  system.write("/sys/fs/cgroup/a/memory.current", std::to_string(300 * kMiB));
  system.write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  system.write("/sys/fs/cgroup/a/b/memory.current", std::to_string(300 * kMiB));
  EXPECT_EQ(available_bytes(), 200 * kMiB);
  system.write("/sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file " + std::to_string(50 * kMiB) + "\n");
  EXPECT_EQ(available_bytes(), 250 * kMiB) << "files in memory can be dropped";
}

TEST(Resources, a_limit_of_the_shell_counts) {
  struct rlimit usual {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &usual), 0);
  struct rlimit tight = usual;
  tight.rlim_cur = std::min<rlim_t>(usual.rlim_max, rlim_t{1} << 48);
  const System system;
  system.memory(std::int64_t{1} << 30);
  system.write("/proc/self/status", "VmSize: 1048576 kB\n");
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  const std::int64_t there = available_bytes();
  ::setrlimit(RLIMIT_AS, &usual);
  EXPECT_EQ(there, static_cast<std::int64_t>(tight.rlim_cur) - 1024 * kMiB);
}

TEST(Resources, a_container_that_sees_the_path_of_its_host_counts_too) {
  const System system;
  system.memory(1000);
  system.write("/proc/self/cgroup", "0::/host/pod/7\n");
  system.write("/sys/fs/cgroup/memory.max", std::to_string(64 * kMiB));
  system.write("/sys/fs/cgroup/memory.current", "0");
  EXPECT_EQ(available_bytes(), 64 * kMiB);
}

TEST(Resources, the_older_containers_count_too) {
  const System system;
  system.memory(1000);
  system.write("/proc/self/cgroup", "8:pids:/x\n4:cpu,memory:/x/y\n0::/\n");
  system.write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", std::to_string(300 * kMiB));
  system.write("/sys/fs/cgroup/memory/x/memory.usage_in_bytes", std::to_string(100 * kMiB));
  EXPECT_EQ(available_bytes(), 200 * kMiB);
  system.write("/sys/fs/cgroup/pids/x/pids.max", "50");
  system.write("/sys/fs/cgroup/pids/x/pids.current", "20");
  EXPECT_EQ(thread_headroom().more, 30);
}

TEST(Resources, threads_are_what_the_least_limit_leaves_and_it_is_named) {
  const System system;
  system.write("/proc/loadavg", "0.1 0.2 0.3 2/400 777\n");
  system.write("/proc/sys/kernel/threads-max", "5400");
  EXPECT_EQ(thread_headroom().more, 5000);
  EXPECT_EQ(thread_headroom().limit, "kernel.threads-max");
  system.write("/proc/sys/vm/max_map_count", "3027");
  system.write("/proc/self/maps", "a\nb\nc\n");
  EXPECT_EQ(thread_headroom().more, 1000);
  EXPECT_EQ(thread_headroom().limit, "vm.max_map_count");
  system.write("/proc/self/cgroup", "0::/job\n");
  system.write("/sys/fs/cgroup/job/pids.max", "10");
  system.write("/sys/fs/cgroup/job/pids.current", "12");
  EXPECT_EQ(thread_headroom().more, 0) << "more than allowed are there already";
  EXPECT_EQ(thread_headroom().limit, "pids.max of /sys/fs/cgroup/job");
}

TEST(Text, sizes_beyond_all_units_stay_readable) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(0x1p50), "1.00 PiB");
  EXPECT_EQ(bytes_text(1e300), "over a million EiB");
}

}  // namespace
