// Memory, threads and disk space that are still available, by /proc, control groups and resource limits.
#include "merganser/base/resources.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "merganser/base/text.hpp"
#include "src/base/system_root.hpp"

namespace merganser {
namespace {

/// Reads the number that a file of /proc or /sys begins with; nothing if there is no such file or it contains "max" (no
/// limit).
std::optional<std::int64_t> read_number(const std::string& path) {
  std::ifstream in(path);
  std::int64_t value = 0;
  if (!(in >> value)) return std::nullopt;
  return value;
}

/// Reads the number after a key in a file of lines "key number", as memory.stat; nothing if there is none.
std::optional<std::int64_t> read_number(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  std::int64_t value = 0;
  for (std::string word; in >> word;)
    if (word == key && in >> value) return value;
  return std::nullopt;
}

/// Folders of the control groups (cgroups) that limit this process through one controller: its own group, then all
/// ancestors up to the root.
struct ControlGroups {
  bool unified = true;               ///< cgroup v2; false: v1
  std::vector<std::string> folders;  ///< paths of the groups' folders, from the own group up to the root
};

/// Returns the folders of this process's control group and of all its ancestors for one controller ("memory", "pids"),
/// by the path in /proc/self/cgroup: below /sys/fs/cgroup (v2) or in the controller's folder there (v1). Some may not
/// exist: in a container the path may be that of the host, and only the root of the mounted hierarchy, the last folder
/// returned, is there; it is the container's own group.
/// @param root  prefix of /proc and /sys, for tests
ControlGroups find_control_groups(const std::string& root, const std::string& controller) {
  const std::string mounted = root + "/sys/fs/cgroup";
  ControlGroups groups;
  std::ifstream in(root + "/proc/self/cgroup");
  std::string top = mounted;
  std::string path = "/";
  for (std::string line; std::getline(in, line);) {
    // A line is "number:controllers:path"; without controllers it is that of cgroup v2.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view list = std::string_view(line).substr(first + 1, second - first - 1);
    const auto names = split_at(list, ',');
    if (std::find(names.begin(), names.end(), controller) != names.end()) {
      groups.unified = false;
      top = mounted + '/' + controller;
      path = line.substr(second + 1);
      break;
    }
    if (list.empty()) path = line.substr(second + 1);
  }
  while (path.size() > 1) {
    groups.folders.push_back(top + path);
    path.resize(std::max<std::size_t>(path.rfind('/'), 1));
  }
  groups.folders.push_back(top);
  return groups;
}

/// Lowers the number of threads that can still be started to another limit if that is smaller. @param more  threads that this limit
/// still allows; negative counts as 0 @param limit  its name
void apply_limit(ThreadHeadroom& headroom, std::int64_t more, const std::string& limit) {
  if (more < headroom.more) headroom = {std::max<std::int64_t>(more, 0), limit};
}

/// Returns the number of tasks (threads) of the whole system: the second number of "3/245" in /proc/loadavg.
std::int64_t count_tasks(const std::string& root) {
  std::ifstream in(root + "/proc/loadavg");
  std::string word;
  for (int i = 0; i < 4; ++i) in >> word;
  const auto slash = word.find('/');
  return slash == std::string::npos ? 0 : std::atoll(word.c_str() + slash + 1);
}

/// Returns the number of threads of all processes of this user, by /proc, which RLIMIT_NPROC limits.
std::int64_t count_user_tasks(const std::string& root) {
  std::int64_t tasks = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/proc", ignored)) {
    struct stat s {};
    const std::string path = entry.path().string();
    if (path.find_last_not_of("0123456789") != path.rfind('/')) continue;
    if (::stat(path.c_str(), &s) != 0 || s.st_uid != ::getuid()) continue;
    tasks += read_number(path + "/status", "Threads:").value_or(0);
  }
  return tasks;
}

/// Returns the number of lines of a file: of /proc/self/maps, the number of memory mappings of this process.
std::int64_t count_file_lines(const std::string& path) {
  std::ifstream in(path);
  return std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n');
}

/// Lowers the number of threads that can still be started to the limits that this process inherits: RLIMIT_NPROC, which does not
/// bind root, and RLIMIT_AS, of which the stack of each thread takes a part.
void apply_process_limits(ThreadHeadroom& headroom, const std::string& root) {
  struct rlimit limit {};
  if (::geteuid() != 0 && ::getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    apply_limit(headroom, static_cast<std::int64_t>(limit.rlim_cur) - count_user_tasks(root),
                "the user's limit (ulimit -u)");
  struct rlimit stack {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  constexpr std::int64_t kUsualStack = std::int64_t{8} << 20;
  const bool known = ::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  const std::int64_t each = known ? static_cast<std::int64_t>(stack.rlim_cur) : kUsualStack;
  const std::int64_t used = read_number(root + "/proc/self/status", "VmSize:").value_or(0) * 1024;
  apply_limit(headroom, (static_cast<std::int64_t>(limit.rlim_cur) - used) / std::max<std::int64_t>(each, 1),
              "address space for stacks (ulimit -v)");
}

}  // namespace

// Returns the memory that this process can still allocate: the minimum of the system's available memory, the remainders of all
// control groups above this process, and the address space left.
std::int64_t available_bytes() {
  const std::string& root = detail::system_root;
  std::int64_t there = read_number(root + "/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  const ControlGroups groups = find_control_groups(root, "memory");
  for (const auto& folder : groups.folders) {
    const auto limit = read_number(folder + (groups.unified ? "/memory.max" : "/memory.limit_in_bytes"));
    auto used = read_number(folder + (groups.unified ? "/memory.current" : "/memory.usage_in_bytes"));
    if (!limit || !used) continue;
    // The page cache of a control group counts as used, but the kernel drops it when memory is needed.
    const std::string more = folder + "/memory.stat", prefix = groups.unified ? "" : "total_";
    const std::int64_t files =
        read_number(more, prefix + "inactive_file").value_or(0) + read_number(more, prefix + "active_file").value_or(0);
    *used -= std::min(*used, files);
    const std::int64_t left = *limit - std::min(*limit, *used);
    there = there == 0 ? left : std::min(there, left);
  }
  // RLIMIT_AS (ulimit -v) limits address space, of which this process has mapped some already.
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const std::int64_t used = read_number(root + "/proc/self/status", "VmSize:").value_or(0) * 1024;
    const std::int64_t left = std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - used);
    there = there == 0 ? left : std::min(there, left);
  }
  return there;
}

// Returns the number of threads that can still be started: the minimum of the remainders of all limits on tasks, mappings and
// stacks.
ThreadHeadroom thread_headroom() {
  const std::string& root = detail::system_root;
  ThreadHeadroom headroom{std::numeric_limits<std::int32_t>::max(), "no limit is known"};
  for (const auto& folder : find_control_groups(root, "pids").folders) {
    const auto most = read_number(folder + "/pids.max");
    const auto now = read_number(folder + "/pids.current");
    if (most && now) apply_limit(headroom, *most - *now, "pids.max of " + folder.substr(root.size()));
  }
  const std::int64_t tasks = count_tasks(root);
  for (const char* name : {"threads-max", "pid_max"})
    if (const auto most = read_number(root + "/proc/sys/kernel/" + name))
      apply_limit(headroom, *most - tasks, std::string("kernel.") + name);
  // A stack and its guard page are two mappings; some are left for the heap.
  constexpr std::int64_t kForHeap = 1024;
  if (const auto most = read_number(root + "/proc/sys/vm/max_map_count"))
    apply_limit(headroom, (*most - count_file_lines(root + "/proc/self/maps") - kForHeap) / 2, "vm.max_map_count");
  apply_process_limits(headroom, root);
  return headroom;
}

// Returns the free space for a file. One that does not exist yet would be created on the file system of its folder.
std::int64_t free_disk_bytes(const std::string& path) {
  struct statvfs s {};
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (::statvfs(path.c_str(), &s) != 0 && ::statvfs(folder.empty() ? "." : folder.c_str(), &s) != 0) return 0;
  return static_cast<std::int64_t>(s.f_bavail) * static_cast<std::int64_t>(s.f_frsize);
}

}  // namespace merganser
