#include "graphs/files/replace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "merganser/base/error.hpp"

namespace merganser::graphs::detail {

Replacement::Replacement(std::string path, comm::Transport& transport)
    : path_(std::move(path)), part_(path_ + ".part"), transport_(transport) {
  try {
    comm::agree(transport_, [&] {
      struct stat status {};
      if (transport_.rank() != 0) return;
      if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        throw InputError("cannot write " + path_ + ": it is no plain file");
      handle_ = ::open(part_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
      if (handle_ < 0) fail(errno);
      made_ = true;
    });
    comm::agree(transport_, [&] {
      if (transport_.rank() == 0) return;
      handle_ = ::open(part_.c_str(), O_WRONLY | O_CLOEXEC);
      if (handle_ < 0) fail(errno);
    });
  } catch (...) {
    if (handle_ >= 0) ::close(handle_);
    if (made_) ::unlink(part_.c_str());
    throw;
  }
}

Replacement::~Replacement() {
  if (handle_ >= 0) ::close(handle_);
  if (made_) ::unlink(part_.c_str());
}

void Replacement::write(std::uint64_t at, const void* data, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t put =
        ::pwrite(handle_, static_cast<const char*>(data) + done, bytes - done, static_cast<off_t>(at + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail(put == 0 ? EIO : errno);
    done += static_cast<std::uint64_t>(put);
  }
}

void Replacement::keep() {
  comm::agree(transport_, [&] {
    const int handle = handle_;
    handle_ = -1;
    if (::close(handle) != 0) fail(errno);
  });
  comm::agree(transport_, [&] {
    if (transport_.rank() != 0) return;
    if (std::rename(part_.c_str(), path_.c_str()) != 0) fail(errno);
    made_ = false;
  });
}

void Replacement::fail(int reason) const { throw InputError("cannot write " + path_ + ": " + std::strerror(reason)); }

}  // namespace merganser::graphs::detail
