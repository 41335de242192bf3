// Removal of the processes and the shared memory that a killed launcher leaves on this host.
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
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "merganser/base/timer.hpp"

namespace merganser::app {
namespace {

constexpr double kSecondsToEnd = 2;

/// Returns the numbers of all processes of this host, from /proc, among which leftovers of a job are sought.
std::vector<pid_t> list_processes() {
  std::vector<pid_t> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr)
    if (const pid_t pid = std::atoi(entry->d_name); pid > 0) all.push_back(pid);
  return all;
}

/// Returns the number of the parent of a process, from /proc; 0 if the process has ended.
pid_t parent_process(pid_t pid) {
  const std::string stat = read_process_status(pid);
  const auto name_end = stat.rfind(')');  // a name may have spaces and brackets
  return name_end == std::string::npos || stat.size() < name_end + 5 ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

/// Returns the numbers of all descendants of this process: the processes that a job may have left.
std::vector<pid_t> list_descendants() {
  std::map<pid_t, pid_t> parents;
  for (const pid_t pid : list_processes()) parents[pid] = parent_process(pid);
  std::vector<pid_t> found;
  for (const auto& [pid, parent] : parents) {
    bool below = false;
    std::size_t steps = 0;  // a bound: processes start and end while /proc is read, so the parents need not form a tree
    for (auto at = parents.find(pid); at != parents.end() && !below && ++steps < parents.size();
         at = parents.find(at->second))
      below = at->second == ::getpid();
    if (below) found.push_back(pid);
  }
  return found;
}

/// Returns true if a path is a regular file of this user, itself and not by a link: others may plant links under /dev/shm.
bool is_own_file(const std::string& path) {
  struct stat s {};
  return ::lstat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == ::geteuid();
}

/// Returns the files under /dev/shm that Open MPI names after one of its jobs. Needed beside the maps of processes, since ranks may
/// have ended before their maps could be read.
std::set<std::string> shared_memory_named_after(const std::set<unsigned>& jobs) {
  std::set<std::string> files;
  // Open MPI's OMPIO holds this semaphore while ranks write a file together, and leaves it if a rank is killed in between. It is
  // named after that file, which OutputFile always calls "data".
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

/// Returns the files of this user under /dev/shm that a process has mapped.
std::set<std::string> mapped_shared_memory(pid_t pid) {
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

/// Reaps all children of this process that have ended, without waiting.
void reap_children() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

}  // namespace

// Text of a process's file of /proc. Its read fails if the process ends after it was opened, which stream iterators would throw.
std::string read_process_status(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(in, text, '\0');
  return text;
}

// Removal of what a killed launcher leaves: descendants are ended first, then shared memory that nobody has mapped.
void end_leftovers(const std::set<unsigned>& jobs) {
  std::set<std::string> files;
  int signal = SIGTERM;
  for (const double start = now();; ::usleep(20000)) {
    reap_children();
    const auto left = list_descendants();
    if (left.empty()) break;
    // First pass: SIGTERM, on which ranks remove their temporary files; from 2 s on SIGKILL.
    for (const pid_t pid : left) {
      files.merge(mapped_shared_memory(pid));
      if (signal != 0) ::kill(pid, signal);
    }
    const double waited = now() - start;
    signal = waited > kSecondsToEnd ? SIGKILL : 0;
    if (waited > 2 * kSecondsToEnd)
      break;  // a process that is blocked in the kernel by a disk ends later, or not at all
  }
  files.merge(shared_memory_named_after(jobs));
  if (files.empty()) return;
  // Files that another process has mapped belong to a job that runs, perhaps one with the same number.
  for (const pid_t pid : list_processes())
    for (const auto& used : mapped_shared_memory(pid)) files.erase(used);
  for (const auto& path : files) ::unlink(path.c_str());
}

}  // namespace merganser::app
