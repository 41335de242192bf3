#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "merganser/base/error.hpp"

namespace merganser::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw InputError("cannot write " + path + ": " + what + ": " + std::strerror(error));
}

/// The file a chain of symbolic links ends at, so that a link is written through and not replaced.
std::string destination(const std::string& path) {
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(path, ignored);
  return ignored || real.empty() ? path : real.string();
}

/// Free bytes on the file system of a folder; -1 if unknown.
std::int64_t free_bytes(const std::string& folder) {
  struct statvfs s {};
  if (statvfs(folder.c_str(), &s) != 0) return -1;
  return static_cast<std::int64_t>(s.f_bavail) * static_cast<std::int64_t>(s.f_frsize);
}

/// Flushes a file or folder to the disk; returns errno, 0 if all is well.
int flush(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = fsync(file) == 0 ? 0 : errno;
  close(file);
  return error == EINVAL ? 0 : error;  // a file system that cannot
}

/// Reserves blocks for `bytes` bytes of an open file. @return errno of a lack of room; 0 if there is room or the file
/// system cannot tell
int reserve(int file, int mode, std::int64_t bytes) {
  if (bytes == 0 || fallocate(file, mode, 0, bytes) == 0) return 0;
  return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
}

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

std::string parent(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

[[noreturn]] void no_room(const std::string& path, std::int64_t bytes, int error) {
  throw InputError("cannot write " + path + ": it needs " + std::to_string(bytes) + " bytes: " + std::strerror(error) +
                   room_left(path));
}

}  // namespace

std::string room_left(const std::string& path) {
  const std::int64_t free = free_bytes(parent(path));
  return free < 0 ? std::string() : "; " + std::to_string(free) + " bytes are free on its file system";
}

OutputFile::OutputFile(const std::string& path, std::int64_t bytes)
    : path_(destination(path)), folder_(parent(path_)), bytes_(bytes) {
  struct stat s {};
  const bool exists = stat(path_.c_str(), &s) == 0;
  if (exists && !S_ISREG(s.st_mode)) throw InputError("cannot write " + path + ": it exists and is not a plain file");
  const std::int64_t free = free_bytes(folder_);
  if (free >= 0 && free < bytes) no_room(path_, bytes, ENOSPC);
  const std::string pattern = folder_ + "/." + fs::path(path_).filename().string() + ".XXXXXX";
  std::vector<char> name(pattern.begin(), pattern.end());
  name.push_back('\0');
  const int file = mkstemp(name.data());
  if (file < 0) fail(path, "cannot make a temporary file in " + folder_, errno);
  temporary_ = name.data();
  fchmod(file, exists ? s.st_mode & 07777 : usual_mode());
  // Growing the file meets limits on its size too; HDF5 then wants it empty.
  const int error = reserve(file, 0, bytes);
  const int shrunk = ftruncate(file, 0) == 0 ? 0 : errno;
  close(file);
  if (error != 0 || shrunk != 0) unlink(temporary_.c_str());
  if (error != 0) no_room(path_, bytes, error);
  if (shrunk != 0) fail(path, "cannot empty the temporary file", shrunk);
}

void OutputFile::hold_room() {
  const int file = open(temporary_.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail(path_, "cannot open the temporary file", errno);
  const int error = reserve(file, FALLOC_FL_KEEP_SIZE, bytes_);
  close(file);
  if (error != 0) no_room(path_, bytes_, error);
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::commit() {
  struct stat s {};
  if (stat(temporary_.c_str(), &s) == 0 && truncate(temporary_.c_str(), s.st_size) != 0)  // what was held too much
    fail(path_, "cannot trim the temporary file", errno);
  if (const int error = flush(temporary_); error != 0) fail(path_, "cannot flush", error);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "cannot rename the temporary file", errno);
  temporary_.clear();
  if (const int error = flush(folder_); error != 0 && error != EACCES) fail(path_, "cannot flush its folder", error);
}

}  // namespace merganser::io
