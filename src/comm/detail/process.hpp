#pragma once
/// State of a process as one rank of a job.
#include <array>
#include <csignal>
#include <functional>
#include <memory>

#include "merganser/base/pinned.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// Exports the launcher_settings() that take effect from within a process, those not set yet, after refusing a rank of srun that
/// no plug-in for MPI has prepared. To be called before a library is started. @throws CommError
void apply_runtime_workarounds();

/// Puts back what the program does on SIGINT, SIGTERM and SIGHUP when it dies: around the start of a library. Open MPI's
/// OpenSHMEM swallows SIGTERM, and UCX takes SIGHUP as a wish for debugging, so ranks that are told to stop would not.
class KeptSignals : Pinned {
 public:
  KeptSignals();
  ~KeptSignals();

 private:
  std::array<struct sigaction, 3> before_{};
};

/// @throws CommError if the launcher promised several ranks and the library sees `size`
void check_world(int rank, int size, const char* library);

/// Opens a transport, runs `each` and closes the transport if all ranks leave alike.
void run_process(const std::function<std::unique_ptr<TransportBase>()>& open,
                 const std::function<void(TransportBase&)>& each);

/// Notes that this process ends with an error that the other ranks have not agreed on.
void mark_local_failure();
/// Whether mark_local_failure() was called, or run() ended with such an error: the process must not wait for others any more.
[[nodiscard]] bool failed_locally();

}  // namespace merganser::comm::detail
