#pragma once
/// File descriptors and pipes that are closed with the object.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser::app {

/// A descriptor, -1 for none.
struct Descriptor : Pinned {
  int number = -1;
  ~Descriptor() { close(); }
  void close() {
    if (number >= 0) ::close(number);
    number = -1;
  }
};

/// Both ends of a pipe, which programs that this process starts do not inherit. @throws CommError if the system gives none
struct Pipe {
  Descriptor from;
  Descriptor to;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw CommError(std::string("cannot make a pipe: ") + std::strerror(errno));
    from.number = ends[0];
    to.number = ends[1];
  }
};

}  // namespace merganser::app
