#pragma once
/// Liveness token of a transport: objects that outlive it may be destroyed, but not used.
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::comm::detail {

/// Flag that a transport has ended, shared by it and the objects made from it, which may outlive it. Belongs to one rank, so
/// one thread uses it.
class LivenessToken {
 public:
  /// Marks the transport as ended.
  void end() noexcept { ended_ = true; }
  /// Ties the token to the library beneath: once `library_runs` returns false, the token counts as ended. Needed
  /// because the program may finalise MPI while transports are open.
  void depend_on(bool (*library_runs)()) noexcept { library_runs_ = library_runs; }
  [[nodiscard]] bool ended() const noexcept { return ended_ || library_ended(); }
  /// Throws CommError if the transport or its library has ended. @param what  name of the call, for the message
  void check(const char* what) const {
    if (ended()) refuse(what);
  }
  /// Throws CommError if the transport has ended. For calls within a round that check() admitted: it skips the check of the
  /// library, which would cost a call for each record.
  void check_round(const char* what) const {
    if (ended_) refuse(what);
  }

 private:
  [[nodiscard]] bool library_ended() const noexcept { return library_runs_ != nullptr && !library_runs_(); }
  [[noreturn]] void refuse(const char* what) const {
    throw CommError(std::string(what) +
                    (library_ended() ? ": MPI is finalised; what was made over a communicator may be freed, not used; "
                                       "allowed: before MPI_Finalize"
                                     : ": the run that this was made in, or its transport, has ended; it may be "
                                       "destroyed, not used"));
  }

  bool ended_ = false;
  bool (*library_runs_)() = nullptr;
};

}  // namespace merganser::comm::detail
