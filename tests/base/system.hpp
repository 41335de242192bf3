#pragma once
/// A system that says what a test wants about memory and threads.
#include <filesystem>
#include <fstream>
#include <string>

#include "merganser/base/resources.hpp"
#include "tests/io/folder.hpp"

namespace merganser::test {

/// While it lives, /proc and /sys are what was written here.
class System {
 public:
  System() { detail::system_root = folder_.path().string(); }
  ~System() { detail::system_root.clear(); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  /// @param path  "/proc/meminfo"
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_.path().string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void memory(std::int64_t mib) const {
    write("/proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable: " + std::to_string(mib * 1024) + " kB\n");
  }

 private:
  Folder folder_;
};

}  // namespace merganser::test
