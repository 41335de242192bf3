#pragma once
/// Start, end and failure of a process as one rank of a job.
#include <array>
#include <csignal>
#include <functional>
#include <memory>

#include "merganser/base/pinned.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// Sets the environment variables of launcher_settings(), which work around faults of libraries, unless they are set or
/// MERGANSER_SETTINGS is "none". Local; called before MPI or OpenSHMEM is initialised.
/// @throws CommError for a rank that srun started without its plug-in for MPI, which would run alone
void apply_runtime_workarounds();

/// Guard around the initialisation of MPI or OpenSHMEM that restores the actions of SIGINT, SIGTERM and SIGHUP at its end: Open
/// MPI's OpenSHMEM ignores SIGTERM, and UCX uses SIGHUP for debugging, so ranks would not end by these signals.
class KeptSignals : Pinned {
 public:
  /// Stores the present actions of SIGINT, SIGTERM and SIGHUP.
  KeptSignals();
  ~KeptSignals();

 private:
  std::array<struct sigaction, 3> before_{};
};

/// Compares rank and number of ranks that an initialised library (MPI, OpenSHMEM) reports with those of the launcher. Local.
/// @throws CommError if they differ: the launcher belongs to another library
void check_world(int rank, int size, const char* library);

/// Opens a transport, runs `each` over it and closes it, also after an error that all ranks throw alike. Collective. Any other
/// error marks a local failure and passes through without a collective call.
void run_process(const std::function<std::unique_ptr<TransportBase>()>& open,
                 const std::function<void(TransportBase&)>& each);

/// Marks that this process ends with an error that the other ranks of the job do not throw. Local.
void mark_local_failure();
/// Returns true if this process ends with an error that the other ranks of the job do not throw, by mark_local_failure() or
/// run_process(): it must not enter a collective call, such as MPI_Finalize, any more. Local.
[[nodiscard]] bool failed_locally();

}  // namespace merganser::comm::detail
