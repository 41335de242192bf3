#pragma once
/// What outlives a run may be destroyed, but not used.
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::comm::detail {

/// Whether a transport still goes on; shared with the objects made from it. One rank's, so one thread's.
class Life {
 public:
  void end() noexcept { ended_ = true; }
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// @throws CommError if the transport has ended; `what` names the call
  void check(const char* what) const {
    if (ended_) refuse(what);
  }

 private:
  [[noreturn]] static void refuse(const char* what) {
    throw CommError(std::string(what) +
                    ": the run that this was made in, or its transport, has ended; it may be destroyed, not used");
  }

  bool ended_ = false;
};

}  // namespace merganser::comm::detail
