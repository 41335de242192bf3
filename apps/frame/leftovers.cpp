#include "apps/frame/leftovers.hpp"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "merganser/base/timer.hpp"

namespace merganser::app {
namespace {

constexpr double kSecondsToEnd = 2;

std::vector<pid_t> processes() {
  std::vector<pid_t> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr)
    if (const pid_t pid = std::atoi(entry->d_name); pid > 0) all.push_back(pid);
  return all;
}

/// 0 if it has ended.
pid_t parent_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string stat{std::istreambuf_iterator<char>(in), {}};
  const auto name_end = stat.rfind(')');  // a name may have spaces and brackets
  return name_end == std::string::npos || stat.size() < name_end + 5 ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

std::vector<pid_t> descendants() {
  std::map<pid_t, pid_t> parents;
  for (const pid_t pid : processes()) parents[pid] = parent_of(pid);
  std::vector<pid_t> found;
  for (const auto& [pid, parent] : parents) {
    bool below = false;
    std::size_t steps = 0;  // processes come and go while they are listed
    for (auto at = parents.find(pid); at != parents.end() && !below && ++steps < parents.size();
         at = parents.find(at->second))
      below = at->second == ::getpid();
    if (below) found.push_back(pid);
  }
  return found;
}

bool is_own_file(const std::string& path) {
  struct stat s {};
  return ::lstat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == ::geteuid();
}

/// Ranks may have ended before their maps could be read, but what they shared has the number of the job in its name.
std::set<std::string> shared_memory_of_jobs(const std::set<unsigned>& jobs) {
  std::set<std::string> files;
  // Of Open MPI while ranks write a file together, named like that file, which is always called "data" (OutputFile).
  if (is_own_file("/dev/shm/sem.OMPIO_data")) files.insert("/dev/shm/sem.OMPIO_data");
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/dev/shm"), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string name = entry->d_name;
    for (const unsigned job : jobs) {
      std::array<char, 16> mark{};
      std::snprintf(mark.data(), mark.size(), ".%x.", job);
      if (name.find(mark.data()) != std::string::npos && is_own_file("/dev/shm/" + name))
        files.insert("/dev/shm/" + name);
    }
  }
  return files;
}

/// Files of this user under /dev/shm that a process has mapped.
std::set<std::string> shared_memory_of(pid_t pid) {
  std::set<std::string> files;
  std::ifstream in(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(in, line);) {
    const auto at = line.find(" /dev/shm/");
    if (at == std::string::npos) continue;
    const std::string path = line.substr(at + 1);
    if (is_own_file(path)) files.insert(path);
  }
  return files;
}

void reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

}  // namespace

void end_leftovers(const std::set<unsigned>& jobs) {
  std::set<std::string> files;
  int signal = SIGTERM;
  for (const double start = now();; ::usleep(20000)) {
    reap();
    const auto left = descendants();
    if (left.empty()) break;
    for (const pid_t pid : left) {
      files.merge(shared_memory_of(pid));
      if (signal != 0) ::kill(pid, signal);
    }
    const double waited = now() - start;
    signal = waited > kSecondsToEnd ? SIGKILL : 0;
    if (waited > 2 * kSecondsToEnd) break;  // in the kernel, waiting for a disk
  }
  files.merge(shared_memory_of_jobs(jobs));
  if (files.empty()) return;
  for (const pid_t pid : processes())
    for (const auto& used : shared_memory_of(pid)) files.erase(used);
  for (const auto& path : files) ::unlink(path.c_str());
}

}  // namespace merganser::app
