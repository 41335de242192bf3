#pragma once
/// Owners of file descriptors and pipes, which close them at the end of their lifetime.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser::app {

/// Owner of one file descriptor, which it closes at the end of its lifetime; -1 for none.
struct Descriptor : Pinned {
  int number = -1;
  ~Descriptor() { close(); }
  /// Closes the file descriptor, if there is one.
  void close() {
    if (number >= 0) ::close(number);
    number = -1;
  }
};

/// Owner of both ends of a pipe, which are closed on exec. @throws CommError if the system has no descriptors left
struct Pipe {
  Descriptor from;  ///< read end of the pipe
  Descriptor to;    ///< write end of the pipe
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw CommError(std::string("cannot make a pipe: ") + std::strerror(errno));
    from.number = ends[0];
    to.number = ends[1];
  }
};

}  // namespace merganser::app
