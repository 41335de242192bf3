#include "support/memory.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace merganser::app {
namespace {

std::int64_t status_bytes(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return std::atoll(line.c_str() + key.size()) * 1024;
  return 0;
}

/// The number behind a key in a file of lines "key number"; 0 if it is not there.
std::int64_t number_in(const char* path, const std::string& key) {
  std::ifstream in(path);
  std::int64_t value = 0;
  for (std::string word; in >> word;)
    if (word == key && in >> value) return value;
  return 0;
}

}  // namespace

std::int64_t resident_bytes() { return status_bytes("VmRSS:"); }

std::int64_t available_bytes() {
  const std::int64_t there = number_in("/proc/meminfo", "MemAvailable:") * 1024;
  std::ifstream most("/sys/fs/cgroup/memory.max"), now("/sys/fs/cgroup/memory.current");
  std::int64_t limit = 0;
  std::int64_t used = 0;
  if (!(most >> limit) || !(now >> used)) return there;
  // What a container holds of files counts as used but can be dropped.
  constexpr const char* kDetails = "/sys/fs/cgroup/memory.stat";
  used -= std::min(used, number_in(kDetails, "inactive_file") + number_in(kDetails, "active_file"));
  return std::min(there, limit - std::min(limit, used));
}

void trim_memory() { ::malloc_trim(0); }

PeakWatch::PeakWatch() {
  trim_memory();
  const int counter = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  reset_ = counter >= 0 && ::write(counter, "5", 1) == 1;
  if (counter >= 0) ::close(counter);
}

std::int64_t PeakWatch::peak_bytes() const { return reset_ ? status_bytes("VmHWM:") : resident_bytes(); }
std::string PeakWatch::method() const { return reset_ ? "VmHWM" : "resident after"; }

}  // namespace merganser::app
