#pragma once
/// Start, end and failure of a process as one rank of a job.
#include <array>
#include <csignal>
#include <functional>
#include <memory>

#include "merganser/base/pinned.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// Sets the environment variables of launcher_settings() that are not set yet. Local; called before a library is initialised.
/// @throws CommError for a rank that srun started without its plug-in for MPI, which would run alone
void apply_runtime_workarounds();

/// Guard that restores the actions of SIGINT, SIGTERM and SIGHUP at its end, for the initialisation of a library: Open MPI's
/// OpenSHMEM ignores SIGTERM, and UCX uses SIGHUP for debugging, so ranks would not end by these signals.
class KeptSignals : Pinned {
 public:
  /// Stores the present actions of the signals.
  KeptSignals();
  ~KeptSignals();

 private:
  std::array<struct sigaction, 3> before_{};
};

/// Compares rank and size that a library reports with those of the launcher. Local. @throws CommError if they differ
void check_world(int rank, int size, const char* library);

/// Opens a transport, runs `each` over it and closes it, also after an error that all ranks throw alike. Collective. Any other
/// error marks a local failure and passes through without a collective call.
void run_process(const std::function<std::unique_ptr<TransportBase>()>& open,
                 const std::function<void(TransportBase&)>& each);

/// Marks that this process ends with an error that other ranks do not throw. Local.
void mark_local_failure();
/// Returns true if mark_local_failure() was called or run() ended with such an error: the process must not enter a collective
/// call, such as MPI_Finalize, any more. Local.
[[nodiscard]] bool failed_locally();

}  // namespace merganser::comm::detail
