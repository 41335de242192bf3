#include "tests/fuzz/support/files.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "merganser/base/private_folder.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

PrivateFolder& folder() {
  const bool in_memory = std::getenv("TMPDIR") == nullptr && ::access("/dev/shm", W_OK) == 0;
  static PrivateFolder one(in_memory ? "/dev/shm" : temporary_folder());
  return one;
}

}  // namespace

std::string path_of(const std::string& name) { return folder().file(name); }

std::string file_of(const std::string& name, std::string_view bytes) {
  static std::map<std::string, int> open;  // in memory
  auto at = open.find(name);
  if (at == open.end()) {
    const int file = ::memfd_create(name.c_str(), 0);
    require(file >= 0, "no file in memory");
    at = open.emplace(name, file).first;
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file), path_of(name));
  }
  require(::ftruncate(at->second, 0) == 0, "a file in memory is not emptied");
  const auto written = ::pwrite(at->second, bytes.data(), bytes.size(), 0);
  require(written == static_cast<ssize_t>(bytes.size()), "a file in memory is not filled");
  return folder().path() + '/' + name;
}

}  // namespace merganser::fuzz
