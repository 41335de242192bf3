#pragma once
/// A full disk, as a program sees it.
#include <sys/resource.h>

#include <csignal>

#include "merganser/base/pinned.hpp"

namespace merganser::test {

/// Lets no file of this process grow beyond `bytes`: a full disk as a program sees it.
class FullDisk : Pinned {
 public:
  explicit FullDisk(rlim_t bytes) {
    old_signal_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_signal_);
  }

 private:
  rlimit old_{};
  void (*old_signal_)(int);
};

}  // namespace merganser::test
