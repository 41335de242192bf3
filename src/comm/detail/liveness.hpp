#pragma once
/// Liveness token of a transport: communication objects that outlive the transport may be destroyed, but not used.
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::comm::detail {

/// Flag that a transport has ended, shared by it and the objects made from it, which may outlive it. Belongs to one rank, so
/// one thread uses it.
class LivenessToken {
 public:
  /// Marks the transport as ended: its objects throw from now on.
  void end() noexcept { ended_ = true; }
  /// Ties the transport's life to the library beneath (MPI, OpenSHMEM): once `library_runs` returns false, the transport counts as
  /// ended. Needed because the program may finalise MPI while transports are open.
  void depend_on(bool (*library_runs)()) noexcept { library_runs_ = library_runs; }
  /// Returns true if the transport or the library beneath it has ended.
  [[nodiscard]] bool ended() const noexcept { return ended_ || library_ended(); }
  /// Throws CommError if the transport or its library has ended. @param what  name of the program's call, for the message
  void check(const char* what) const {
    if (ended()) refuse(what);
  }
  /// Throws CommError if the transport has ended. For calls within a round of a Stream that check() admitted: it skips the check of
  /// the library, which would cost a call for each record. @param what  name of the program's call, for the message
  void check_round(const char* what) const {
    if (ended_) refuse(what);
  }

 private:
  [[nodiscard]] bool library_ended() const noexcept { return library_runs_ != nullptr && !library_runs_(); }
  /// Throws CommError: the program's call `what` uses an object of a transport, or of a library, that has ended.
  [[noreturn]] void refuse(const char* what) const {
    throw CommError(std::string(what) +
                    (library_ended() ? ": MPI is finalised; what was made over a communicator may be freed, not used; "
                                       "allowed: before MPI_Finalize"
                                     : ": the run that this was made in, or its transport, has ended; it may be "
                                       "destroyed, not used"));
  }

  bool ended_ = false;                // end() was called
  bool (*library_runs_)() = nullptr;  // null: the transport is over no library
};

}  // namespace merganser::comm::detail
