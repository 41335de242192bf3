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

namespace merganser {
namespace {

/// The number that a file begins with; none if there is no such file or it says "max".
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream in(path);
  std::int64_t value = 0;
  if (!(in >> value)) return std::nullopt;
  return value;
}

/// The number behind a key in a file of lines "key number".
std::optional<std::int64_t> number_in(const std::string& path, std::string_view key) {
  std::ifstream in(path);
  std::int64_t value = 0;
  for (std::string word; in >> word;)
    if (word == key && in >> value) return value;
  return std::nullopt;
}

/// Folders of the groups that limit this process, from its own up to the top, for one controller.
struct Groups {
  bool unified = true;  ///< cgroup v2
  std::vector<std::string> folders;
};

/// Where the files of a controller lie: in /sys/fs/cgroup (v2) or a folder of its own below (v1). In a container
/// the path that /proc tells may be that of the host; the top of what is mounted is the container's then.
Groups groups_of(const std::string& root, const std::string& controller) {
  const std::string mounted = root + "/sys/fs/cgroup";
  Groups groups;
  std::ifstream in(root + "/proc/self/cgroup");
  std::string top = mounted;
  std::string path = "/";
  for (std::string line; std::getline(in, line);) {
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

/// Keeps the smaller of two limits.
void lower(ThreadRoom& room, std::int64_t more, const std::string& limit) {
  if (more < room.more) room = {std::max<std::int64_t>(more, 0), limit};
}

/// Tasks of the whole system: the second number of "3/245" in /proc/loadavg.
std::int64_t tasks_now(const std::string& root) {
  std::ifstream in(root + "/proc/loadavg");
  std::string word;
  for (int i = 0; i < 4; ++i) in >> word;
  const auto slash = word.find('/');
  return slash == std::string::npos ? 0 : std::atoll(word.c_str() + slash + 1);
}

/// Tasks of this user.
std::int64_t tasks_of_user(const std::string& root) {
  std::int64_t tasks = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/proc", ignored)) {
    struct stat s {};
    const std::string path = entry.path().string();
    if (path.find_last_not_of("0123456789") != path.rfind('/')) continue;
    if (::stat(path.c_str(), &s) != 0 || s.st_uid != ::getuid()) continue;
    tasks += number_in(path + "/status", "Threads:").value_or(0);
  }
  return tasks;
}

std::int64_t lines_in(const std::string& path) {
  std::ifstream in(path);
  return std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n');
}

/// What RLIMIT_NPROC and RLIMIT_AS leave. The first does not bind root.
void lower_by_limits(ThreadRoom& room, const std::string& root) {
  struct rlimit limit {};
  if (::geteuid() != 0 && ::getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    lower(room, static_cast<std::int64_t>(limit.rlim_cur) - tasks_of_user(root), "the user's limit (ulimit -u)");
  struct rlimit stack {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  constexpr std::int64_t kUsualStack = std::int64_t{8} << 20;
  const bool known = ::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  const std::int64_t each = known ? static_cast<std::int64_t>(stack.rlim_cur) : kUsualStack;
  const std::int64_t used = number_in(root + "/proc/self/status", "VmSize:").value_or(0) * 1024;
  lower(room, (static_cast<std::int64_t>(limit.rlim_cur) - used) / std::max<std::int64_t>(each, 1),
        "address space for stacks (ulimit -v)");
}

}  // namespace

std::int64_t available_bytes() {
  const std::string& root = detail::system_root;
  std::int64_t there = number_in(root + "/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  const Groups groups = groups_of(root, "memory");
  for (const auto& folder : groups.folders) {
    const auto limit = number_in(folder + (groups.unified ? "/memory.max" : "/memory.limit_in_bytes"));
    auto used = number_in(folder + (groups.unified ? "/memory.current" : "/memory.usage_in_bytes"));
    if (!limit || !used) continue;
    // What a container holds of files counts as used but can be dropped.
    const std::string more = folder + "/memory.stat", prefix = groups.unified ? "" : "total_";
    const std::int64_t files =
        number_in(more, prefix + "inactive_file").value_or(0) + number_in(more, prefix + "active_file").value_or(0);
    *used -= std::min(*used, files);
    const std::int64_t left = *limit - std::min(*limit, *used);
    there = there == 0 ? left : std::min(there, left);
  }
  // A shell's limit counts address space, of which this process has taken some.
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const std::int64_t used = number_in(root + "/proc/self/status", "VmSize:").value_or(0) * 1024;
    const std::int64_t left = std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - used);
    there = there == 0 ? left : std::min(there, left);
  }
  return there;
}

ThreadRoom thread_room() {
  const std::string& root = detail::system_root;
  ThreadRoom room{std::numeric_limits<std::int32_t>::max(), "no limit is known"};
  for (const auto& folder : groups_of(root, "pids").folders) {
    const auto most = number_in(folder + "/pids.max");
    const auto now = number_in(folder + "/pids.current");
    if (most && now) lower(room, *most - *now, "pids.max of " + folder.substr(root.size()));
  }
  const std::int64_t tasks = tasks_now(root);
  for (const char* name : {"threads-max", "pid_max"})
    if (const auto most = number_in(root + "/proc/sys/kernel/" + name))
      lower(room, *most - tasks, std::string("kernel.") + name);
  // A stack and its guard page are two mappings; some are left for the heap.
  constexpr std::int64_t kForHeap = 1024;
  if (const auto most = number_in(root + "/proc/sys/vm/max_map_count"))
    lower(room, (*most - lines_in(root + "/proc/self/maps") - kForHeap) / 2, "vm.max_map_count");
  lower_by_limits(room, root);
  return room;
}

std::int64_t free_disk_bytes(const std::string& path) {
  struct statvfs s {};
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (::statvfs(path.c_str(), &s) != 0 && ::statvfs(folder.empty() ? "." : folder.c_str(), &s) != 0) return 0;
  return static_cast<std::int64_t>(s.f_bavail) * static_cast<std::int64_t>(s.f_frsize);
}

}  // namespace merganser
