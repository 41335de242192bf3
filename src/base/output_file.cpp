#include "merganser/base/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/file_identity.hpp"
#include "merganser/base/private_folder.hpp"
#include "src/base/replaced_file.hpp"

namespace merganser {
namespace {

constexpr const char* kData = "data";  // in a private folder: the file to be
constexpr const char* kLock = "lock";  // and what its maker holds as long as it lives
constexpr std::time_t kUnlocked = 60;  // seconds that a maker may take from making its folder to locking it

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw InputError("cannot write " + path + ": " + what + ": " + std::strerror(error));
}

std::string open_file_path(int file) { return "/proc/self/fd/" + std::to_string(file); }

/// Free bytes on the file system of a folder; -1 if unknown.
std::int64_t free_bytes(const std::string& folder) {
  struct statvfs s {};
  if (::statvfs(folder.c_str(), &s) != 0) return -1;
  return static_cast<std::int64_t>(s.f_bavail) * static_cast<std::int64_t>(s.f_frsize);
}

[[noreturn]] void no_room(const std::string& path, const std::string& folder, std::int64_t bytes, int error) {
  const std::int64_t free = free_bytes(folder);
  throw InputError("cannot write " + path + ": it needs " + std::to_string(bytes) + " bytes: " + std::strerror(error) +
                   (free < 0 ? "" : "; " + std::to_string(free) + " bytes are free on its file system"));
}

/// Flushes a file or folder to the disk. @return errno, 0 if all is well or the file system cannot
int flush(int file) { return ::fsync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno; }

/// Reserves blocks for `bytes` bytes of an open file. @return errno of a lack of room; 0 if there is room or the file
/// system cannot tell
int reserve(int file, int mode, std::int64_t bytes) {
  if (bytes == 0 || ::fallocate(file, mode, 0, bytes) == 0) return 0;
  return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
}

/// @return errno, 0 if all is well
int write_all(int file, const char* data, std::size_t bytes, std::int64_t at) {
  while (bytes > 0) {
    const ssize_t n = at < 0 ? ::write(file, data, bytes) : ::pwrite(file, data, bytes, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 ? EIO : errno;
    data += n;
    bytes -= static_cast<std::size_t>(n);
    if (at >= 0) at += n;
  }
  return 0;
}

/// How the private folders of a destination begin; what follows is random.
std::string private_prefix(const std::string& base) { return "." + base.substr(0, 200) + ".merganser-"; }

void remove_private(int folder, const std::string& name, int inside) noexcept {
  ::unlinkat(inside, kData, 0);
  ::unlinkat(inside, kLock, 0);
  ::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
}

/// Removes a private folder if it is this user's and nobody holds its lock.
void remove_if_left(int folder, const std::string& name) {
  const int inside = ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inside < 0) return;
  struct stat s {};
  if (::fstat(inside, &s) == 0 && s.st_uid == ::geteuid()) {
    const int lock = ::openat(inside, kLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    const bool held = lock < 0 ? std::time(nullptr) - s.st_mtime < kUnlocked : ::flock(lock, LOCK_EX | LOCK_NB) != 0;
    if (!held) remove_private(folder, name, inside);
    if (lock >= 0) ::close(lock);
  }
  ::close(inside);
}

/// Removes what programs that are no more have left of a destination.
void remove_left_overs(int folder, const std::string& base) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(again), ::closedir);
  if (!list) return;
  const std::string prefix = private_prefix(base);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(list.get()))
    if (std::string_view(entry->d_name).starts_with(prefix)) names.emplace_back(entry->d_name);
  for (const auto& name : names) remove_if_left(folder, name);
}

/// Nothing here writes compressed files, and one under such a name would be none.
void check_name(const std::string& path) {
  if (path.empty()) throw UsageError("\"\" is no name of a file; allowed: a path, or - for standard output");
  if (path.ends_with(".gz"))
    throw UsageError(path + " is the name of a compressed file; allowed: names without .gz, files are written plain (" +
                     path.substr(0, path.size() - 3) + ", then gzip)");
}

}  // namespace

std::string room_left(const std::string& path) {
  const std::int64_t free = identity(path) ? free_bytes(place_of_output(path).folder) : -1;
  return free < 0 ? std::string() : "; " + std::to_string(free) + " bytes are free on its file system";
}

OutputFile::OutputFile(const std::string& path, std::int64_t bytes, Opened opened) : shown_(path), bytes_(bytes) {
  check_name(path);
  try {
    Place place{temporary_folder(), "", true};
    if (path == "-") {
      stream_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    } else if (const Place there = place_of_output(path); !there.stream) {
      place = there;
    } else {
      stream_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    }
    if (place.stream && stream_ < 0) fail(path, "cannot open it", errno);
    if (place.stream && opened == Opened::by_name)
      throw InputError("cannot write " + path + ": it is not a plain file; allowed here: one");
    folder_path_ = place.folder;
    base_ = place.name;
    folder_ = ::open(folder_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) fail(path, folder_path_, errno);
    if (!base_.empty()) remove_left_overs(folder_, base_);
    detail::check_replaceable({shown_, folder_, base_});
    if (opened == Opened::here) open_unnamed();
    if (file_ < 0) open_in_folder();
    detail::keep_owner({shown_, folder_, base_}, file_);
    const std::int64_t free = free_bytes(folder_path_);
    if (free >= 0 && free < bytes) no_room(path, folder_path_, bytes, ENOSPC);
    // Growing the file meets limits on its size too; HDF5 then requires it to be empty.
    if (const int error = reserve(file_, 0, bytes); error != 0) no_room(path, folder_path_, bytes, error);
    if (::ftruncate(file_, 0) != 0) fail(path, "cannot empty the temporary file", errno);
  } catch (...) {
    clean_up();
    throw;
  }
}

OutputFile::~OutputFile() { clean_up(); }

void OutputFile::open_unnamed() {
  file_ = ::openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (file_ < 0 && (errno == EACCES || errno == EPERM || errno == EROFS || errno == ENOSPC || errno == EDQUOT))
    fail(shown_, "cannot make a file in " + folder_path_, errno);
  if (file_ >= 0) name_ = open_file_path(file_);
}

void OutputFile::open_in_folder() {
  make_private();
  file_ = ::openat(private_folder_, kData, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file_ < 0) fail(shown_, "cannot make a file in " + folder_path_, errno);
  name_ = folder_path_ + '/' + private_ + '/' + kData;
}

void OutputFile::make_private() {
  const std::string name = private_prefix(base_) + random_letters();
  const std::string path = folder_path_ + '/' + name;
  const MakingFiles making;
  cleanup_[0] = CleanupName(path, true);
  cleanup_[1] = CleanupName(path + '/' + kLock, false);
  cleanup_[2] = CleanupName(path + '/' + kData, false);
  if (::mkdirat(folder_, name.c_str(), 0700) != 0) fail(shown_, "cannot make a folder in " + folder_path_, errno);
  private_ = name;
  private_folder_ = ::openat(folder_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  lock_ = ::openat(private_folder_, kLock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock_ < 0) fail(shown_, "cannot make a file in " + path, errno);
  static_cast<void>(::flock(lock_, LOCK_EX | LOCK_NB));
}

void OutputFile::write(std::uint64_t at, const void* data, std::size_t bytes) {
  const int error = write_all(file_, static_cast<const char*>(data), bytes, static_cast<std::int64_t>(at));
  if (error != 0) throw InputError("cannot write " + shown_ + ": " + std::strerror(error) + room_left(shown_));
}

void OutputFile::hold_room() {
  const int error = reserve(file_, FALLOC_FL_KEEP_SIZE, bytes_);
  if (error != 0) no_room(shown_, folder_path_, bytes_, error);
}

void OutputFile::commit() {
  struct stat s {};
  if (::fstat(file_, &s) == 0 && bytes_ > 0 && ::ftruncate(file_, s.st_size) != 0)  // what was held too much
    fail(shown_, "cannot trim the temporary file", errno);
  if (stream_ >= 0) {
    copy_to_stream();
  } else {
    detail::keep_owner_and_mode({shown_, folder_, base_}, file_);
    if (const int error = flush(file_); error != 0) fail(shown_, "cannot flush", error);
    give_name();
    if (const int error = flush(folder_); error != 0 && error != EACCES) fail(shown_, "cannot flush its folder", error);
  }
  clean_up();
}

void OutputFile::give_name() {
  if (private_.empty()) {
    const std::string open_file = open_file_path(file_);
    if (::linkat(AT_FDCWD, open_file.c_str(), folder_, base_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
    if (errno != EEXIST) fail(shown_, "cannot give it its name", errno);
    // A link cannot replace a file, renaming can.
    make_private();
    if (::linkat(AT_FDCWD, open_file.c_str(), private_folder_, kData, AT_SYMLINK_FOLLOW) != 0)
      fail(shown_, "cannot give it its name", errno);
  }
  if (::renameat(private_folder_, kData, folder_, base_.c_str()) != 0) fail(shown_, "cannot rename it", errno);
}

void OutputFile::copy_to_stream() const {
  std::vector<char> block(std::size_t{1} << 16);
  for (std::int64_t at = 0;;) {
    const ssize_t n = ::pread(file_, block.data(), block.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(shown_, "cannot read what was written", errno);
    if (n == 0) return;
    if (const int error = write_all(stream_, block.data(), static_cast<std::size_t>(n), -1); error != 0)
      throw InputError("cannot write " + shown_ + ": " + std::strerror(error));
    at += n;
  }
}

void OutputFile::clean_up() noexcept {
  if (!private_.empty()) remove_private(folder_, private_, private_folder_);
  private_.clear();
  for (auto& name : cleanup_) name.release();
  for (int* file : {&file_, &stream_, &lock_, &private_folder_, &folder_}) {
    if (*file >= 0) ::close(*file);
    *file = -1;
  }
}

void write_file(const std::string& path, const std::string& bytes) {
  OutputFile file(path, static_cast<std::int64_t>(bytes.size()));
  file.write(0, bytes.data(), bytes.size());
  file.commit();
}

void check_output(const std::string& path) {
  check_name(path);
  if (path == "-") return;
  const Place place = place_of_output(path);
  const std::string file = place.folder + '/' + place.name;
  struct stat s {};
  const bool exists = ::stat(place.stream ? path.c_str() : file.c_str(), &s) == 0;
  if (!exists && errno != ENOENT)  // a name that is too long, a folder that is none
    throw InputError("cannot write " + path + ": " + std::strerror(errno));
  if (exists && S_ISDIR(s.st_mode)) throw InputError("cannot write " + path + ": it is a folder; allowed: a file");
  if (exists && !place.stream) {  // whether it may be replaced shows when the file in its place is made
    const OutputFile trial(path);
    return;
  }
  const int answer = place.stream ? ::access(path.c_str(), W_OK) : ::access((place.folder + "/.").c_str(), W_OK | X_OK);
  if (answer != 0) throw InputError("cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace merganser
