// Result files that appear whole or not at all: unnamed temporary files, private folders, links, owners and free space.
#include "merganser/base/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/file_identity.hpp"
#include "merganser/base/private_folder.hpp"
#include "src/base/replaced_file.hpp"

namespace merganser {
namespace {

constexpr const char* kData = "data";  // in a private folder: the file that is written
constexpr const char* kLock = "lock";  // in a private folder: locked as long as the process that created it lives
constexpr std::time_t kUnlocked = 60;  // seconds after which a private folder without a lock is stale

/// Throws InputError for a result file that cannot be written, with the reason of the system.
[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw InputError("cannot write " + path + ": " + what + ": " + std::strerror(error));
}

/// Returns the path under /proc that stands for an open file of this process, by its descriptor.
std::string open_file_path(int file) { return "/proc/self/fd/" + std::to_string(file); }

/// Returns the free bytes on the file system of the folder of an output; -1 if unknown.
std::int64_t free_bytes(const std::string& folder) {
  struct statvfs s {};
  if (::statvfs(folder.c_str(), &s) != 0) return -1;
  return static_cast<std::int64_t>(s.f_bavail) * static_cast<std::int64_t>(s.f_frsize);
}

/// Throws InputError for a result file that does not fit on its file system.
[[noreturn]] void throw_no_space(const std::string& path, const std::string& folder, std::int64_t bytes, int error) {
  const std::int64_t free = free_bytes(folder);
  throw InputError("cannot write " + path + ": it needs " + std::to_string(bytes) + " bytes: " + std::strerror(error) +
                   (free < 0 ? "" : "; " + std::to_string(free) + " bytes are free on its file system"));
}

/// Flushes an output file or its folder to the disk. @return errno, 0 for success and for file systems that cannot flush
int flush(int file) { return ::fsync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno; }

/// Reserves disk blocks for `bytes` bytes of an open output file. @return errno if there is not enough space; 0 for success and for
/// file systems that cannot reserve
int reserve(int file, int mode, std::int64_t bytes) {
  if (bytes == 0 || ::fallocate(file, mode, 0, bytes) == 0) return 0;
  return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
}

/// Writes all bytes to an output file, at the offset `at`, or at the end of the file if that is negative. @return errno, 0 for
/// success
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

/// Returns the prefix of the names of private folders beside the destination of an output; random letters follow.
std::string private_prefix(const std::string& base) { return "." + base.substr(0, 200) + ".merganser-"; }

/// Removes the private folder of an output with its data and lock files, by the descriptors of its parent and of itself.
void remove_private_folder(int folder, const std::string& name, int inside) noexcept {
  ::unlinkat(inside, kData, 0);
  ::unlinkat(inside, kLock, 0);
  ::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
}

/// Removes the private folder of an output if it is this user's and no live process holds its lock (the system drops a lock when
/// its process ends).
void remove_if_stale(int folder, const std::string& name) {
  const int inside = ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inside < 0) return;
  struct stat s {};
  if (::fstat(inside, &s) == 0 && s.st_uid == ::geteuid()) {
    const int lock = ::openat(inside, kLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    const bool held = lock < 0 ? std::time(nullptr) - s.st_mtime < kUnlocked : ::flock(lock, LOCK_EX | LOCK_NB) != 0;
    if (!held) remove_private_folder(folder, name, inside);
    if (lock >= 0) ::close(lock);
  }
  ::close(inside);
}

/// Removes the private folders beside the destination of an output that killed programs left.
void remove_stale_folders(int folder, const std::string& base) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(again), ::closedir);
  if (!list) return;
  const std::string prefix = private_prefix(base);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(list.get()))
    if (std::string_view(entry->d_name).starts_with(prefix)) names.emplace_back(entry->d_name);
  for (const auto& name : names) remove_if_stale(folder, name);
}

/// Refuses an empty path of an output and names of compressed files, since all files are written without compression.
void check_output_name(const std::string& path) {
  if (path.empty()) throw UsageError("\"\" is no name of a file; allowed: a path, or - for standard output");
  constexpr std::array<std::array<std::string_view, 2>, 4> kCompressed{
      {{".gz", "gzip"}, {".bz2", "bzip2"}, {".xz", "xz"}, {".zst", "zstd"}}};
  for (const auto& [extension, tool] : kCompressed)
    if (path.ends_with(extension))
      throw UsageError(path + " is the name of a compressed file; allowed: names without " + std::string(extension) +
                       ", files are written plain (" + path.substr(0, path.size() - extension.size()) + ", then " +
                       std::string(tool) + ")");
}

}  // namespace

std::string free_space_note(const std::string& path) {
  const std::int64_t free = file_identity(path) ? free_bytes(resolve_output(path).folder) : -1;
  return free < 0 ? std::string() : "; " + std::to_string(free) + " bytes are free on its file system";
}

// Opens a result file that appears whole or not at all: data go to an unnamed file, or a file in a private folder, of the
// destination's file system.
OutputFile::OutputFile(const std::string& path, std::int64_t bytes, Opened opened) : shown_(path), bytes_(bytes) {
  check_output_name(path);
  try {
    // Bytes for a stream are first written to a temporary file, since write() takes offsets in any order.
    OutputLocation place{temporary_folder(), "", true};
    if (path == "-") {
      stream_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    } else if (const OutputLocation there = resolve_output(path); !there.stream) {
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
    if (!base_.empty()) remove_stale_folders(folder_, base_);
    detail::check_replaceable({shown_, folder_, base_});
    if (opened == Opened::here) open_unnamed();
    if (file_ < 0) open_in_folder();
    detail::keep_owner({shown_, folder_, base_}, file_);
    const std::int64_t free = free_bytes(folder_path_);
    if (free >= 0 && free < bytes) throw_no_space(path, folder_path_, bytes, ENOSPC);
    // Growing the file also detects limits on the size of a file and quotas; HDF5 then requires it to be empty.
    if (const int error = reserve(file_, 0, bytes); error != 0) throw_no_space(path, folder_path_, bytes, error);
    if (::ftruncate(file_, 0) != 0) fail(path, "cannot empty the temporary file", errno);
  } catch (...) {
    clean_up();
    throw;
  }
}

OutputFile::~OutputFile() { clean_up(); }

/// Opens the output as a file without a name in the destination folder (O_TMPFILE), which vanishes by itself if this process ends.
void OutputFile::open_unnamed() {
  file_ = ::openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  // Other errors mean that the file system has no unnamed files; the constructor then creates one in a private folder.
  if (file_ < 0 && (errno == EACCES || errno == EPERM || errno == EROFS || errno == ENOSPC || errno == EDQUOT))
    fail(shown_, "cannot make a file in " + folder_path_, errno);
  if (file_ >= 0) name_ = open_file_path(file_);
}

/// Creates the temporary file of the output in a private folder, where the file system has no unnamed files.
void OutputFile::open_in_folder() {
  make_private_folder();
  file_ = ::openat(private_folder_, kData, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file_ < 0) fail(shown_, "cannot make a file in " + folder_path_, errno);
  name_ = folder_path_ + '/' + private_ + '/' + kData;
}

/// Creates a private folder beside the destination of the output, with a lock that shows that its process lives.
void OutputFile::make_private_folder() {
  const std::string name = private_prefix(base_) + random_letters();
  const std::string path = folder_path_ + '/' + name;
  const MakingFiles making;
  // Registered before they exist: a signal between creation and registration would leave them.
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
  if (error != 0) throw InputError("cannot write " + shown_ + ": " + std::strerror(error) + free_space_note(shown_));
}

void OutputFile::hold_room() {
  const int error = reserve(file_, FALLOC_FL_KEEP_SIZE, bytes_);
  if (error != 0) throw_no_space(shown_, folder_path_, bytes_, error);
  held_ = true;
}

// Makes the complete file appear under its name: flushed to disk first, with the owner and mode of the file that it replaces.
void OutputFile::commit() {
  struct stat s {};
  // Drops blocks that hold_room() reserved beyond the end of the file. Other files are left as they are: where other processes have
  // written the last bytes, a network file system may tell this one a size of before.
  if (held_ && ::fstat(file_, &s) == 0 && ::ftruncate(file_, s.st_size) != 0)
    fail(shown_, "cannot trim the temporary file", errno);
  if (stream_ >= 0) {
    copy_to_stream();
  } else {
    // The data is flushed before the name appears, and the folder after it: a power failure leaves the old file or the whole new
    // one.
    detail::keep_owner_and_mode({shown_, folder_, base_}, file_);
    if (const int error = flush(file_); error != 0) fail(shown_, "cannot flush", error);
    link_destination();
    if (const int error = flush(folder_); error != 0 && error != EACCES) fail(shown_, "cannot flush its folder", error);
  }
  clean_up();
}

/// Gives the complete output file its name, atomically, also in place of an existing file.
void OutputFile::link_destination() {
  if (private_.empty()) {
    const std::string open_file = open_file_path(file_);
    if (::linkat(AT_FDCWD, open_file.c_str(), folder_, base_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
    if (errno != EEXIST) fail(shown_, "cannot give it its name", errno);
    // linkat() cannot replace a file, renameat() can: the file gets a name in a private folder first.
    make_private_folder();
    if (::linkat(AT_FDCWD, open_file.c_str(), private_folder_, kData, AT_SYMLINK_FOLLOW) != 0)
      fail(shown_, "cannot give it its name", errno);
  }
  if (::renameat(private_folder_, kData, folder_, base_.c_str()) != 0) fail(shown_, "cannot rename it", errno);
}

/// Copies the complete output from its temporary file to a device, a pipe or standard output.
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

// Removes the private folder of the output, ends its registrations and closes all descriptors.
void OutputFile::clean_up() noexcept {
  if (!private_.empty()) remove_private_folder(folder_, private_, private_folder_);
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

// Tests early, before the work for it, that a result file can be written.
void check_output(const std::string& path) {
  check_output_name(path);
  if (path == "-") return;
  const OutputLocation place = resolve_output(path);
  const std::string file = place.folder + '/' + place.name;
  struct stat s {};
  const bool exists = ::stat(place.stream ? path.c_str() : file.c_str(), &s) == 0;
  if (!exists && errno != ENOENT)  // a name that is too long, a folder that is none
    throw InputError("cannot write " + path + ": " + std::strerror(errno));
  if (exists && S_ISDIR(s.st_mode)) throw InputError("cannot write " + path + ": it is a folder; allowed: a file");
  if (exists && !place.stream) {
    // Opening an OutputFile checks that the file may be replaced; its destructor leaves it unchanged.
    const OutputFile trial(path);
    return;
  }
  const int answer = place.stream ? ::access(path.c_str(), W_OK) : ::access((place.folder + "/.").c_str(), W_OK | X_OK);
  if (answer != 0) throw InputError("cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace merganser
