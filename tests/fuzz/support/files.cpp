#include "tests/fuzz/support/files.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
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

/// Creates a file of this name in the folder. If the folder is on a disk, the name becomes a link to a file in memory, which takes
/// longer to open. @return its descriptor
int open_in_memory(const std::string& name) {
  const std::string path = make_path(name);
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  struct statfs s {};
  require(file >= 0 && ::fstatfs(file, &s) == 0, "no file can be made");
  if (s.f_type == TMPFS_MAGIC) return file;
  ::close(file);
  file = ::memfd_create(name.c_str(), 0);
  require(file >= 0, "no file in memory");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file), path);
  return file;
}

}  // namespace

std::string make_path(const std::string& name) { return folder().file(name); }

std::string make_file(const std::string& name, std::string_view bytes) {
  static std::map<std::string, int> open;
  auto at = open.find(name);
  if (at == open.end()) at = open.emplace(name, open_in_memory(name)).first;
  // The file is not truncated first, which would free its pages and allocate them again.
  const auto written = ::pwrite(at->second, bytes.data(), bytes.size(), 0);
  require(written == static_cast<ssize_t>(bytes.size()), "a file in memory is not filled");
  require(::ftruncate(at->second, static_cast<off_t>(bytes.size())) == 0, "a file in memory is not cut");
  return folder().path() + '/' + name;
}

}  // namespace merganser::fuzz
