// Detection of jobs that may span several hosts, by the variables of schedulers and launchers.
#include "apps/frame/elsewhere.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"

namespace merganser::app {
namespace {

/// Environment variables by which schedulers and launchers name the hosts of a job. Slurm's are tested apart: it tells their
/// number.
constexpr const char* kOtherMachines[] = {"PBS_NODEFILE",
                                          "PBS_JOBID",
                                          "LSB_HOSTS",
                                          "LSB_MCPU_HOSTS",
                                          "LSB_JOBID",
                                          "PE_HOSTFILE",
                                          "FLUX_URI",
                                          "COBALT_NODEFILE",
                                          "COBALT_JOBID",
                                          "HYDRA_HOST_FILE",
                                          "I_MPI_HYDRA_HOST_FILE",
                                          "OMPI_MCA_hostfile",
                                          "OMPI_MCA_orte_default_hostfile",
                                          "PRTE_MCA_hostfile",
                                          "PRTE_MCA_prte_default_hostfile"};

}  // namespace

// Test before anything that assumes one host, as temporary files shared by ranks.
bool has_other_hosts() {
  if (std::getenv("SLURM_JOB_ID") != nullptr) {
    const char* nodes = std::getenv("SLURM_JOB_NUM_NODES");
    return nodes == nullptr || std::strcmp(nodes, "1") != 0;
  }
  for (const char* name : kOtherMachines)
    if (std::getenv(name) != nullptr) return true;
  return false;
}

std::string shared_folder() {
  if (!has_other_hosts()) return temporary_folder();
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  if (error) throw InputError("the current folder, where ranks on other machines look for files: " + error.message());
  return here.string();
}

}  // namespace merganser::app
