#pragma once
/// The liveness token of a transport: objects that outlive it may be destroyed, but not used.
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::comm::detail {

/// Whether a transport has ended: shared by it and the objects made from it, which may outlive it. Of one rank, so used by
/// one thread.
class LivenessToken {
 public:
  void end() noexcept { ended_ = true; }
  /// From now on it also ends when the library beneath does: the program may end MPI while transports are open.
  void depend_on(bool (*library_runs)()) noexcept { library_runs_ = library_runs; }
  [[nodiscard]] bool ended() const noexcept { return ended_ || library_ended(); }
  /// @throws CommError if the transport has ended; `what` names the call
  void check(const char* what) const {
    if (ended()) refuse(what);
  }
  /// The same within a round that check() has let begin: it does not ask the library.
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
