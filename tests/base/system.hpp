#pragma once
/// Fake /proc and /sys for tests of available memory and threads.
#include <filesystem>
#include <fstream>
#include <string>

#include "src/base/system_root.hpp"
#include "tests/io/folder.hpp"

namespace merganser::test {

/// Scope in which the library reads /proc and /sys from a temporary folder, where only files that the test writes exist.
class System {
 public:
  System() { detail::system_root = folder_.path().string(); }
  ~System() { detail::system_root.clear(); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  /// Writes a file of the fake system.
  /// @param path  absolute path that the library reads, such as "/proc/meminfo"
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_.path().string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// Sets the available memory in MiB.
  void memory(std::int64_t mib) const {
    write("/proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable: " + std::to_string(mib * 1024) + " kB\n");
  }

 private:
  Folder folder_;
};

}  // namespace merganser::test
