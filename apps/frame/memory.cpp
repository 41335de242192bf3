// Resident memory of this process and its peak, from /proc.
#include "apps/frame/memory.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>

namespace merganser::app {
namespace {

/// Returns a memory size of this process, in bytes, from the line of /proc/self/status that begins with `key`; 0 if it is not
/// there.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return std::atoll(line.c_str() + key.size()) * 1024;
  return 0;
}

}  // namespace

std::int64_t resident_bytes() { return status_bytes("VmRSS:"); }

void trim_memory() { ::malloc_trim(0); }

// Start of a measurement of peak memory: "5" resets the peak counter of this process.
PeakWatch::PeakWatch() {
  trim_memory();
  const int counter = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  reset_ = counter >= 0 && ::write(counter, "5", 1) == 1;
  if (counter >= 0) ::close(counter);
}

std::int64_t PeakWatch::peak_bytes() const { return reset_ ? status_bytes("VmHWM:") : resident_bytes(); }
std::string PeakWatch::method() const { return reset_ ? "VmHWM" : "resident after"; }

}  // namespace merganser::app
