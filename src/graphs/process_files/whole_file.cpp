#include "src/graphs/process_files/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"

namespace merganser::graphs::detail {
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

 private:
  int fd_;
};

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

}  // namespace merganser::graphs::detail
