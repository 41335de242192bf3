#include "support/memory.hpp"

#include <malloc.h>

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

}  // namespace

std::int64_t resident_bytes() { return status_bytes("VmRSS:"); }

void trim_memory() { ::malloc_trim(0); }

PeakWatch::PeakWatch() {
  trim_memory();
  std::ofstream out("/proc/self/clear_refs");
  out << "5" << std::flush;
  reset_ = out.good();
}

std::int64_t PeakWatch::peak_bytes() const { return reset_ ? status_bytes("VmHWM:") : resident_bytes(); }
std::string PeakWatch::method() const { return reset_ ? "VmHWM" : "resident after"; }

}  // namespace merganser::app
