// Environment variables that run records may hold: those known to select transports or the placement of ranks. A list of allowed
// names, since the names under which an environment holds secrets cannot be enumerated.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "apps/frame/environment.hpp"
#include "apps/frame/secrets.hpp"

namespace merganser::app {
namespace {

// Frameworks and levels of Open MPI's parameters: OMPI_MCA_btl and OMPI_MCA_btl_tcp_if_include, say.
constexpr std::string_view kFrameworks[] = {
    "accelerator", "atomic",  "bml",   "btl",     "coll",   "common",   "fbtl",    "fcoll",
    "fs",          "hwloc",   "io",    "memheap", "memory", "mpi",      "mpool",   "mtl",
    "oob",         "op",      "opal",  "oshmem",  "osc",    "part",     "patcher", "plm_rsh_num_concurrent",
    "pml",         "rcache",  "rmaps", "scoll",   "shmem",  "sharedfp", "smsc",    "spml",
    "sshmem",      "threads", "topo"};
constexpr std::string_view kFrameworksOfPrrte[] = {"hwloc", "prte_if", "rmaps", "rtc"};

// Names of variables; a name with * at its end stands for all that begin so.
constexpr std::string_view kNames[] = {
    // MPICH and what is built on it
    "MPIR_CVAR_*", "MPICH_ABORT_ON_ERROR", "MPICH_ALL*", "MPICH_ASYNC_*", "MPICH_BCAST_*", "MPICH_CH4_*",
    "MPICH_COLL_*", "MPICH_DBG_*", "MPICH_DPM_*", "MPICH_ENABLE_*", "MPICH_ENV_DISPLAY", "MPICH_GATHERV_*",
    "MPICH_GPU_*", "MPICH_INTERFACE_*", "MPICH_INTRANODE_*", "MPICH_MAX_*", "MPICH_MPIIO_*", "MPICH_NEMESIS_*",
    "MPICH_NETMOD", "MPICH_NO_*", "MPICH_OFI_*", "MPICH_OPT_*", "MPICH_OPTIMIZED_*", "MPICH_PORT_RANGE",
    "MPICH_RANK_REORDER_*", "MPICH_REDUCE_*", "MPICH_RMA_*", "MPICH_SCATTERV_*", "MPICH_SHARED_MEM_*", "MPICH_SHM_*",
    "MPICH_SINGLE_*", "MPICH_SMP_*", "MPICH_THREADCOMM_*", "MPICH_UCX_*", "MPICH_USE_*", "MPICH_VERSION_DISPLAY",
    "HYDRA_BINDING", "HYDRA_IFACE", "HYDRA_MAPPING", "HYDRA_TOPOLIB", "I_MPI_ADJUST_*", "I_MPI_ASYNC_*", "I_MPI_CBWR",
    "I_MPI_COLL_*", "I_MPI_DAPL_*", "I_MPI_DEVICE", "I_MPI_EAGER_*", "I_MPI_FABRICS", "I_MPI_HYDRA_IFACE",
    "I_MPI_INTRANODE_*", "I_MPI_MALLOC", "I_MPI_OFI_*", "I_MPI_OFFLOAD*", "I_MPI_PIN", "I_MPI_PIN_*", "I_MPI_RDMA_*",
    "I_MPI_SCALABLE_*", "I_MPI_SHM", "I_MPI_SHM_*", "I_MPI_SPIN_COUNT", "I_MPI_THREAD_*", "I_MPI_WAIT_MODE",
    "MV2_CPU_*", "MV2_ENABLE_*", "MV2_HOMOGENEOUS_*", "MV2_IBA_*", "MV2_INTER_*", "MV2_INTRA_*", "MV2_NUM_*",
    "MV2_ON_DEMAND_*", "MV2_RAIL_*", "MV2_RNDV_*", "MV2_SHMEM_*", "MV2_SMP*", "MV2_SRQ_*", "MV2_USE_*", "MV2_VBUF_*",
    // OpenSHMEM
    "SHMEM_ALLTOALL*", "SHMEM_BARRIER*", "SHMEM_BCAST*", "SHMEM_BOUNCE_*", "SHMEM_BROADCAST*", "SHMEM_CMA_*",
    "SHMEM_COLL*", "SHMEM_CONTEXT_*", "SHMEM_DISABLE_*", "SHMEM_FCOLLECT*", "SHMEM_HEAP_*", "SHMEM_MAX_*",
    "SHMEM_OFI_*", "SHMEM_PROGRESS_*", "SHMEM_REDUC*", "SHMEM_SYMMETRIC_*", "SHMEM_TEAM*", "SHMEM_USE_*",
    "SMA_SYMMETRIC_SIZE",
    // UCX, UCC, libfabric
    "UCX_ADDRESS_*", "UCX_ADAPTIVE_*", "UCX_ASYNC_*", "UCX_ATOMIC_MODE", "UCX_BCOPY_*", "UCX_CM_*", "UCX_CMA_*",
    "UCX_CUDA_*", "UCX_DC_*", "UCX_DEBUG_SIGNO", "UCX_DEVICE_*", "UCX_DYNAMIC_*", "UCX_EAGER_*", "UCX_ERROR_*",
    "UCX_GDR_*", "UCX_GGA_*", "UCX_HANDLE_ERRORS", "UCX_IB_*", "UCX_KEEPALIVE_*", "UCX_KNEM_*", "UCX_LOG_LEVEL",
    "UCX_MAX_*", "UCX_MEM_*", "UCX_MIN_*", "UCX_MM_*", "UCX_NET_DEVICES", "UCX_NUM_*", "UCX_POSIX_*", "UCX_PROTO_*",
    "UCX_RC_*", "UCX_REG_*", "UCX_RNDV_*", "UCX_ROCM_*", "UCX_SELF_*", "UCX_SHM_*", "UCX_SOCKADDR_*", "UCX_SYSV_*",
    "UCX_TCP_*", "UCX_TLS", "UCX_UD_*", "UCX_UNIFIED_MODE", "UCX_WARN_*", "UCX_XPMEM_*", "UCX_ZCOPY_*", "UCC_CL_*",
    "UCC_CLS", "UCC_TL_*", "UCC_TLS", "FI_CXI_*", "FI_EFA_*", "FI_GNI_*", "FI_HMEM*", "FI_LOG_LEVEL", "FI_MR_*",
    "FI_OFI_RX*", "FI_OPX_*", "FI_PROVIDER", "FI_PSM2_*", "FI_PSM3_*", "FI_SHM_*", "FI_SOCKETS_*", "FI_TCP_*",
    "FI_UDP_*", "FI_UNIVERSE_SIZE", "FI_VERBS_*",
    // of Slurm what places ranks; the rest names the job
    "SLURM_MPI_TYPE", "SLURM_CPU_BIND", "SLURM_CPU_BIND_LIST", "SLURM_CPU_BIND_TYPE", "SLURM_CPU_BIND_VERBOSE",
    "SLURM_DISTRIBUTION", "SLURM_HINT", "SLURM_MEM_BIND", "SLURM_MEM_BIND_LIST", "SLURM_MEM_BIND_TYPE", "SLURM_NETWORK",
    "SLURM_OVERCOMMIT", "SLURM_CPUS_PER_TASK", "SLURM_JOB_NUM_NODES", "SLURM_NTASKS_PER_CORE", "SLURM_NTASKS_PER_NODE",
    "SLURM_NTASKS_PER_SOCKET", "SLURM_THREADS_PER_CORE", "SLURM_TASKS_PER_NODE",
    // threads
    "OMP_DISPLAY_*", "OMP_DYNAMIC", "OMP_MAX_*", "OMP_NESTED", "OMP_NUM_*", "OMP_PLACES", "OMP_PROC_BIND",
    "OMP_SCHEDULE", "OMP_STACKSIZE", "OMP_THREAD_LIMIT", "OMP_WAIT_POLICY", "KMP_AFFINITY", "KMP_BLOCKTIME",
    "KMP_HW_SUBSET", "KMP_LIBRARY", "KMP_STACKSIZE", "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT", "GOMP_STACKSIZE",
    // this program
    "MERGANSER_COMM", "MERGANSER_LAUNCHER", "MERGANSER_PLUGINS", "MERGANSER_SETTINGS", "MERGANSER_WAIT_LIMIT",
    "MERGANSER_YIELD"};

/// Returns true if a parameter of Open MPI belongs to a framework, as btl_tcp_if_include to btl.
bool is_of_framework(std::string_view parameter, std::string_view framework) {
  return parameter.starts_with(framework) &&
         (parameter.size() == framework.size() || parameter[framework.size()] == '_');
}

/// Returns true if the variable `name` is `prefix` followed by a parameter of one of Open MPI's known frameworks.
template <std::size_t N>
bool is_parameter(std::string_view name, std::string_view prefix, const std::string_view (&frameworks)[N]) {
  if (!name.starts_with(prefix)) return false;
  const std::string_view parameter = name.substr(prefix.size());
  // mpirun sets this in every rank, so it tells nothing about the user's settings.
  if (parameter == "shmem_RUNTIME_QUERY_hint") return false;
  return std::any_of(std::begin(frameworks), std::end(frameworks),
                     [&](auto f) { return is_of_framework(parameter, f); });
}

/// Returns true if the name of an environment variable equals a pattern, or begins with one that ends in *.
bool matches(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

}  // namespace

bool is_setting(const std::string& name) {
  if (is_secret_name(name)) return false;
  const auto known = [&](std::string_view pattern) { return matches(name, pattern); };
  return is_parameter(name, "OMPI_MCA_", kFrameworks) || is_parameter(name, "PRTE_MCA_", kFrameworksOfPrrte) ||
         std::any_of(std::begin(kNames), std::end(kNames), known);
}

}  // namespace merganser::app
