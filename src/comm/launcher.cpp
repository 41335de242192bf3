// Environment of a job: rank and size from the variables of launchers, settings that work around faults of libraries.
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "merganser/comm/loopback.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm {
namespace {

/// Names of the environment variables in which a launcher (mpirun, srun) passes rank and number of processes of a job.
struct LauncherVariables {
  const char* rank;
  const char* size;
};

// Variables that launchers set for the processes they start, most specific first.
constexpr std::array kLaunchers{
    LauncherVariables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    LauncherVariables{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},    // MVAPICH2
    LauncherVariables{"PMI_RANK", "PMI_SIZE"},                          // MPICH, Cray
    LauncherVariables{"PALS_RANKID", "PALS_SIZE"},                      // Cray PALS
    LauncherVariables{"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},               // Flux
    LauncherVariables{"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},      // IBM jsrun
    LauncherVariables{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},          // srun
};

/// Returns the whole number in an environment variable of a launcher; nothing if the variable is not set or no number.
std::optional<int> read_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size()) return std::nullopt;
  return value;
}

}  // namespace

// Returns rank and size of this process without initialising any library: from the variables of the launcher.
World launcher_world() {
  if constexpr (kSimulated) return detail::simulated_world();
  for (const auto& names : kLaunchers) {
    const auto rank = read_number(names.rank);
    const auto size = read_number(names.size);
    // A pair that is incomplete or inconsistent is a remainder of another launcher.
    if (rank && size && *size > 0 && *rank >= 0 && *rank < *size) return {*rank, *size};
  }
  return {};
}

std::vector<Setting> launcher_settings() { return launcher_settings(mpi_library(), shmem_library()); }

// Lists the environment variables of a job by the libraries in use; each has the fault that it works around as its reason.
std::vector<Setting> launcher_settings(const std::string& mpi, const std::string& shmem) {
  const bool open_mpi = (mpi + shmem).find("Open MPI") != std::string::npos;
  std::vector<Setting> settings;  // the one list: cmake/testing.cmake reads the lines of push_back too
  if (open_mpi) {
    settings.push_back({"OMPI_MCA_opal_common_ucx_opal_mem_hooks", "0",
                        "Open MPI before 4.1.6 crashes when OpenSHMEM ends: a hook of an unloaded library is called"});
    settings.push_back({"OMPI_MCA_mpi_yield_when_idle", "1",
                        "ranks that wait leave the core to others; else a barrier of more ranks than cores takes tens "
                        "of milliseconds"});
    settings.push_back({"OMPI_MCA_rmaps_base_oversubscribe", "1", "more ranks than cores are allowed"});
    settings.push_back({"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe",
                        "the same, as the launcher of Open MPI 5 reads it"});
    settings.push_back({"UCX_DEBUG_SIGNO", "0",
                        "UCX takes SIGHUP as a wish for debugging: ranks would write pages instead of ending"});
  }
  if (mpi.find("Open MPI v4") != std::string::npos) {  // its successor has no pt2pt
    settings.push_back({"OMPI_MCA_osc", "sm,rdma,pt2pt",
                        "the components that Debian allows refuse windows on one rank and between hosts"});
    settings.push_back({"OMPI_MCA_osc_rdma_priority", "50",
                        "osc/rdma ranks itself above osc/sm: a put between ranks of one host takes ten times as long"});
  }
  // Set to different values the two names are an error.
  constexpr const char* kHeap = "room for the mailboxes and streams of many neighbours; pages not used cost nothing";
  const bool heap = shmem != "none" && std::getenv("SMA_SYMMETRIC_SIZE") == nullptr;
  const bool of_open_mpi = shmem.find("open-mpi") != std::string::npos;
  if (heap && !of_open_mpi) settings.push_back({"SHMEM_SYMMETRIC_SIZE", "512M", kHeap});
  if (heap && of_open_mpi) {
    settings.push_back({"SHMEM_SYMMETRIC_HEAP_SIZE", "512M", kHeap});
  }
  if (shmem.find("Sandia") != std::string::npos) {  // not push_back: the tests of another library need none of it
    constexpr const char* kQueue =
        "UCX 1.13 loses or spoils what is put between processes of one host when a queue of 64 elements is full";
    for (const char* name : {"UCX_POSIX_FIFO_SIZE", "UCX_SYSV_FIFO_SIZE"})
      settings.push_back(Setting{name, "8192", kQueue});
  }
  if (open_mpi && geteuid() == 0) {
    settings.push_back({"OMPI_ALLOW_RUN_AS_ROOT", "1", "mpirun refuses root, the usual user in a container"});
    settings.push_back({"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", "the second half of the same permission"});
  }
  return settings;
}

// Lists the environment variables that bind MPI, OpenSHMEM and UCX to the loopback interface, for jobs on one host.
std::vector<Setting> loopback_settings(const std::string& mpi, const std::string& shmem, const std::string& interface) {
  const bool open_mpi = (mpi + shmem).find("Open MPI") != std::string::npos;
  const bool mpich = mpi.find("MPICH") != std::string::npos || mpi.find("Intel") != std::string::npos;
  constexpr const char* kWhy = "all ranks are on this host: nothing listens where other hosts can connect";
  std::vector<std::string> names;
  if (open_mpi) names = {"OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_btl_tcp_if_include", "PRTE_MCA_prte_if_include"};
  if (mpich) names = {"HYDRA_IFACE", "FI_TCP_IFACE", "FI_SOCKETS_IFACE"};
  if (open_mpi || mpich || shmem != "none") names.emplace_back("UCX_NET_DEVICES");
  std::vector<Setting> settings;
  for (const auto& name : names) settings.push_back(Setting{name, interface, kWhy});
  return settings;
}

}  // namespace merganser::comm
