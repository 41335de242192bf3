// Life of a process as one rank of a job: environment before the libraries start, check of the launcher, close or failure.
#include "src/comm/detail/process.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"

extern char** environ;

namespace merganser::comm::detail {
namespace {
std::atomic<bool> local_failure{false};  // this process ends with an error that other ranks do not throw

/// Throws CommError for a rank of a Slurm step whose library would find no other ranks: Open MPI ends such a rank with pages
/// of text, other libraries run as single processes. Launchers that Slurm starts, and its plug-ins for MPI, set a variable.
void check_step() {
  const World promised = launcher_world();
  if (std::getenv("SLURM_STEP_NUM_TASKS") == nullptr || promised.size < 2) return;
  for (char** v = environ; v != nullptr && *v != nullptr; ++v)
    for (const char* known : {"PMI", "OMPI_COMM_WORLD_", "MV2_COMM_WORLD_", "PALS_", "FLUX_", "JSM_"})
      if (std::string_view(*v).starts_with(known)) return;
  throw CommError(
      "srun has started this as rank " + std::to_string(promised.rank) + " of " + std::to_string(promised.size) +
      " without a plug-in for MPI, so every process would run for itself; allowed: srun --mpi=pmix (Open MPI), "
      "srun --mpi=pmi2 (MPICH), or merganser run within the allocation");
}

}  // namespace

// Start of a process as a rank, before MPI or OpenSHMEM is initialised: settings that avoid known faults of the
// libraries.
void apply_runtime_workarounds() {
  check_step();
  const char* wanted = std::getenv("MERGANSER_SETTINGS");
  if (wanted != nullptr && std::string_view(wanted) == "none") return;
  constexpr int kKeep = 0;  // a variable that the user has set stays
  for (const auto& setting : launcher_settings()) setenv(setting.name.c_str(), setting.value.c_str(), kKeep);
}

constexpr std::array kKept{SIGINT, SIGTERM, SIGHUP};  // signals whose actions KeptSignals restores

KeptSignals::KeptSignals() {
  for (std::size_t i = 0; i < kKept.size(); ++i) ::sigaction(kKept[i], nullptr, &before_[i]);
}

KeptSignals::~KeptSignals() {
  for (std::size_t i = 0; i < kKept.size(); ++i) ::sigaction(kKept[i], &before_[i], nullptr);
}

// Check after the initialisation of a library: a launcher of another library starts every process as a job of its own.
void check_world(int rank, int size, const char* library) {
  const World promised = launcher_world();
  if (promised.size == size && promised.rank == rank) return;
  throw CommError("the launcher says this is rank " + std::to_string(promised.rank) + " of " +
                  std::to_string(promised.size) + ", but " + library + " sees rank " + std::to_string(rank) + " of " +
                  std::to_string(size) +
                  ": the launcher belongs to another library, so every process runs for itself. Use the mpirun or "
                  "srun plug-in of the library that this program is linked with (merganser doctor shows it)");
}

// Frame of a run whose ranks are processes: the transport is closed collectively only if all ranks get there.
void run_process(const std::function<std::unique_ptr<TransportBase>()>& open,
                 const std::function<void(TransportBase&)>& each) {
  std::unique_ptr<TransportBase> transport;
  try {
    transport = open();
    each(*transport);
  } catch (const std::exception& e) {
    if (was_agreed(e)) {
      if (transport) transport->close();  // collective, and every rank gets here with the same error
    } else {
      local_failure = true;
    }
    throw;
  } catch (...) {
    local_failure = true;
    throw;
  }
  transport->close();
}

void mark_local_failure() { local_failure = true; }
bool failed_locally() { return local_failure; }

}  // namespace merganser::comm::detail
