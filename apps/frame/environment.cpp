#include "apps/frame/environment.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>

extern char** environ;

namespace merganser::app {
namespace {

constexpr const char* kPrefixes[] = {"OMPI_", "OPAL_",  "PRTE_", "PMIX_MCA_", "OSHMEM_", "SHMEM_",
                                     "SMA_",  "MPICH_", "MPIR_", "HYDRA_",    "I_MPI_",  "MV2_",
                                     "UCX_",  "UCC_",   "FI_",   "PALS_",     "SLURM_",  "PBS_",
                                     "FLUX_", "LSB_",   "OMP_",  "KMP_",      "GOMP_",   "MERGANSER_"};
// Parts of names whose values let others act as this user, or into this job.
constexpr const char* kSecret[] = {"JWT",  "TOKEN", "SECRET", "PASS",         "KEY",          "COOKIE",
                                   "CRED", "AUTH",  "_URI",   "precondition", "MERGANSER_JOB"};
// What launchers tell each process about the job and itself.
constexpr const char* kOfJob[] = {"OMPI_COMM_WORLD_",
                                  "OMPI_UNIVERSE",
                                  "OMPI_APP_CTX",
                                  "OMPI_ARGV",
                                  "OMPI_COMMAND",
                                  "OMPI_FILE_",
                                  "OMPI_FIRST_",
                                  "OMPI_NUM_APP",
                                  "OMPI_MCA_orte_",
                                  "OMPI_MCA_ess_",
                                  "OMPI_MCA_initial_wdir",
                                  "OMPI_MCA_pmix",
                                  "PMIX_MCA_mca_",
                                  "PALS_",
                                  "PBS_",
                                  "FLUX_",
                                  "LSB_",
                                  "OMPI_MCA_shmem_RUNTIME_QUERY_hint"};
// Of what Slurm sets the part that places ranks; the rest names the job.
constexpr const char* kOfSlurm[] = {"SLURM_MPI_TYPE",    "SLURM_CPU_BIND",         "SLURM_DISTRIBUTION",
                                    "SLURM_HINT",        "SLURM_MEM_BIND",         "SLURM_NETWORK",
                                    "SLURM_OVERCOMMIT",  "SLURM_CPUS_PER_TASK",    "SLURM_JOB_NUM_NODES",
                                    "SLURM_NTASKS_PER_", "SLURM_THREADS_PER_CORE", "SLURM_TASKS_PER_NODE"};
constexpr std::size_t kLongest = 500;

template <std::size_t N>
bool begins_with_one(const std::string& name, const char* const (&list)[N]) {
  return std::any_of(std::begin(list), std::end(list), [&](const char* part) { return name.starts_with(part); });
}

}  // namespace

Json library_variables() {
  Json out = Json::object();
  for (char** v = environ; v != nullptr && *v != nullptr; ++v) {
    const std::string line(*v);
    const auto at = line.find('=');
    if (at == std::string::npos) continue;
    const std::string name = line.substr(0, at);
    const bool secret = std::any_of(std::begin(kSecret), std::end(kSecret),
                                    [&](const char* part) { return name.find(part) != std::string::npos; });
    if (secret || !begins_with_one(name, kPrefixes)) continue;
    out[bytes_to_utf8(name)] = bytes_to_utf8(line.substr(at + 1, kLongest));
  }
  return out;
}

bool is_setting(const std::string& name) {
  if (name.starts_with("SLURM_")) return begins_with_one(name, kOfSlurm);
  if (name.find("hostfile") != std::string::npos || name.find("HOST_FILE") != std::string::npos) return false;
  return begins_with_one(name, kPrefixes) && !begins_with_one(name, kOfJob);
}

Json loaded_components() {
  std::map<std::string, std::set<std::string>> found;
  for (const auto& path : mapped_files()) {
    const std::string file = path.substr(path.rfind('/') + 1);
    if (!file.starts_with("mca_") || !file.ends_with(".so")) continue;
    const auto split = file.find('_', 4);
    if (split == std::string::npos) continue;
    const std::string framework = file.substr(4, split - 4);
    for (const char* known : {"pml", "mtl", "btl", "osc", "spml"})
      if (framework == known) found[framework].insert(file.substr(split + 1, file.size() - split - 4));
  }
  Json out = Json::object();
  for (const auto& [framework, names] : found) out[framework] = names;
  return out;
}

std::vector<std::string> mapped_files() {
  std::vector<std::string> out;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const auto at = line.find('/'); at != std::string::npos) out.push_back(line.substr(at));
  return out;
}

std::string core_list() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
  std::string out;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    int last = i;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    out += (out.empty() ? "" : ",") + (last > i ? fmt::format("{}-{}", i, last) : std::to_string(i));
    i = last;
  }
  return out;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

}  // namespace merganser::app
