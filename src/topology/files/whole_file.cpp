#include "topology/files/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"

namespace merganser::topology::detail {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  throw InputError("cannot " + what + " " + path + ": " + std::strerror(error));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  /// @return errno, 0 if all is well
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

/// @return errno, 0 if all is well
int write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      return n == 0 ? EIO : errno;
    }
  }
  return 0;
}

mode_t mode_for(const struct stat* there) {
  if (there != nullptr) return there->st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

std::string read_whole(const std::string& path) {
  // Not waiting for a writer of a pipe, which is refused below.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail("read", path, errno);
  struct stat s {};
  if (::fstat(file.get(), &s) != 0) fail("read", path, errno);
  if (!S_ISREG(s.st_mode)) throw InputError("cannot read " + path + ": it is not a plain file; allowed: those");
  // The graph that is made of them takes as much again, and more.
  if (const auto there = available_bytes(); there > 0 && s.st_size > there / 2)
    throw InputError("cannot read " + path + ": it has " + bytes_text(static_cast<double>(s.st_size)) +
                     "; allowed: up to half the memory that is there, " + bytes_text(static_cast<double>(there)));
  std::string bytes(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", path, errno);
    if (n == 0) break;  // cut while it was read
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

void write_whole(const std::string& path, const std::string& bytes) {
  struct stat s {};
  const bool exists = ::stat(path.c_str(), &s) == 0;
  if (exists && S_ISDIR(s.st_mode)) fail("write", path, EISDIR);
  if (exists && !S_ISREG(s.st_mode)) {
    Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0) fail("write", path, errno);
    if (const int error = write_all(device.get(), bytes); error != 0) fail("write", path, error);
    return;
  }
  std::error_code ignored;
  const std::string real = std::filesystem::weakly_canonical(path, ignored).string();
  const std::string target = ignored || real.empty() ? path : real;
  std::string temporary = target + ".XXXXXX";
  Descriptor file(::mkstemp(temporary.data()));
  if (file.get() < 0) fail("write", path, errno);
  int error = ::fchmod(file.get(), mode_for(exists ? &s : nullptr)) == 0 ? 0 : errno;
  if (error == 0) error = write_all(file.get(), bytes);
  if (error == 0 && ::fsync(file.get()) != 0 && errno != EINVAL) error = errno;
  const int closed = file.close();
  if (error == 0) error = closed;
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  fail("write", path, error);
}

}  // namespace merganser::topology::detail
