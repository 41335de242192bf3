// Hints of doctor: rules on settings of Open MPI, UCX and shared memory that are known to slow down or break programs.
#include "apps/doctor/hints.hpp"

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "apps/frame/provenance.hpp"
#include "apps/frame/secrets.hpp"
#include "apps/frame/table.hpp"
#include "merganser/comm/runtime.hpp"

extern char** environ;

namespace merganser::app {
namespace {

constexpr double kSharedMemoryOfRank = 64.0 * 1048576;  // bytes in /dev/shm that are advised for each rank

/// Returns the value of an environment variable in the state of the machine; empty if it is not set.
std::string variable_value(const Surroundings& s, const std::string& name) {
  const auto at = s.variables.find(name);
  return at == s.variables.end() ? "" : at->second;
}

/// Returns true if the MPI or the OpenSHMEM library is Open MPI's.
bool is_open_mpi(const Surroundings& s) { return (s.mpi + s.openshmem).find("Open MPI") != std::string::npos; }

/// Returns true if a list of Open MPI's components in an environment variable, as "a,b" or "^a,b", leaves `name` out.
bool is_left_out(const std::string& list, const std::string& name) {
  if (list.empty()) return false;
  const bool negative = list[0] == '^';
  const auto names = split_at(std::string_view(list).substr(negative ? 1 : 0), ',');
  return (std::find(names.begin(), names.end(), name) != names.end()) == negative;
}

/// Adds the hints of doctor on components of Open MPI and transports of UCX that the environment selects.
void component_hints(const Surroundings& s, std::vector<Hint>& out) {
  const auto seen = [&s](const std::string& name) { return name + '=' + variable_value(s, name); };
  const std::string osc = variable_value(s, "OMPI_MCA_osc");
  const std::string btl = variable_value(s, "OMPI_MCA_btl");
  const std::string pml = variable_value(s, "OMPI_MCA_pml");
  if (is_left_out(osc, "sm"))
    out.push_back({"one-sided communication on one host without shared memory", seen("OMPI_MCA_osc"),
                   "let it hold sm: OMPI_MCA_osc=sm,rdma,pt2pt (merganser run sets it)"});
  if (!osc.empty() && is_left_out(osc, "pt2pt") && is_left_out(osc, "ucx"))
    out.push_back({"windows on one rank or between hosts may be refused", seen("OMPI_MCA_osc"),
                   "let it hold pt2pt too: OMPI_MCA_osc=sm,rdma,pt2pt"});
  if (!osc.empty() && osc[0] != '^' && !is_left_out(osc, "ucx") && is_left_out(osc, "sm"))
    out.push_back({"windows over UCX: dynamic ones take ten times as long, targets must help", seen("OMPI_MCA_osc"),
                   "OMPI_MCA_osc=sm,rdma,pt2pt"});
  const bool shared = !is_left_out(btl, "vader") || !is_left_out(btl, "sm");
  if (!btl.empty() && !shared)
    out.push_back({"messages between ranks of one host do not go through shared memory", seen("OMPI_MCA_btl"),
                   "let it hold vader (Open MPI 4) or sm (5): OMPI_MCA_btl=self,vader,tcp"});
  if (pml == "ucx" && !osc.empty() && is_left_out(osc, "ucx"))
    out.push_back({"messages go over UCX, windows do not: both progress by turns and slow each other",
                   seen("OMPI_MCA_pml") + ' ' + seen("OMPI_MCA_osc"),
                   "use one for both: unset OMPI_MCA_pml, or OMPI_MCA_osc=ucx"});
  if (const std::string tls = variable_value(s, "UCX_TLS");
      !tls.empty() && tls != "all" && tls.find("sm") == std::string::npos && tls.find("posix") == std::string::npos &&
      tls.find("sysv") == std::string::npos)
    out.push_back({"OpenSHMEM over UCX without shared memory: a put takes microseconds instead of tens of nanoseconds",
                   "UCX_TLS=" + tls, "add sm: UCX_TLS=" + tls + ",sm"});
}

/// Adds the hints of doctor on shared memory between ranks: cross-memory attach, size of /dev/shm, XPMEM.
void memory_hints(const Surroundings& s, std::vector<Hint>& out) {
  if (s.ptrace_scope > 1)
    out.push_back({"a rank may not copy from another's memory (cross-memory attach): long messages are copied twice",
                   fmt::format("/proc/sys/kernel/yama/ptrace_scope is {}", s.ptrace_scope),
                   s.in_container ? "start the container with the capability SYS_PTRACE"
                                  : "as root: sysctl kernel.yama.ptrace_scope=0"});
  else if (s.ptrace_scope == 1 && is_open_mpi(s) && s.mpi.find("v4") == std::string::npos && s.mpi != "none")
    out.push_back({"cross-memory attach is restricted to child processes", "/proc/sys/kernel/yama/ptrace_scope is 1",
                   "as root: sysctl kernel.yama.ptrace_scope=0"});
  const double needed = kSharedMemoryOfRank * std::max(2, s.ranks > 0 ? s.ranks : s.cores);
  if (s.shared_memory_bytes < 0)
    out.push_back({"no shared memory file system: ranks on one host talk over sockets, OpenSHMEM may not start",
                   "/dev/shm is not there", "mount -t tmpfs tmpfs /dev/shm; in a container: --shm-size=1g"});
  else if (s.shared_memory_bytes < needed)
    out.push_back({"little shared memory: ranks may end with a bus error, or fall back to sockets",
                   fmt::format("/dev/shm has {} free, {} are advised for {} ranks", bytes_text(s.shared_memory_bytes),
                               bytes_text(needed), std::max(2, s.ranks > 0 ? s.ranks : s.cores)),
                   "in a container: --shm-size=1g; files of jobs that crashed may be left there: vader_segment.*"});
  if (is_open_mpi(s) && !s.xpmem && variable_value(s, "OMPI_MCA_btl_vader_single_copy_mechanism") == "xpmem")
    out.push_back({"XPMEM is asked for and not there", "OMPI_MCA_btl_vader_single_copy_mechanism=xpmem, no /dev/xpmem",
                   "load the kernel module xpmem, or set it to cma"});
}

/// Adds the hints of doctor on waiting ranks that keep their core, and on a fault of OpenSHMEM's memory hooks.
void oversubscription_hints(const Surroundings& s, std::vector<Hint>& out) {
  const std::string yield = variable_value(s, "OMPI_MCA_mpi_yield_when_idle");
  if (s.ranks > s.cores && is_open_mpi(s) && yield != "1" && yield != "true")
    out.push_back({"more ranks than cores, and ranks that wait keep their core: a barrier takes tens of milliseconds",
                   fmt::format("{} ranks on {}, OMPI_MCA_mpi_yield_when_idle is {}", s.ranks, cores_text(s.cores),
                               yield.empty() ? "not set" : yield),
                   "OMPI_MCA_mpi_yield_when_idle=1 (merganser run sets it)"});
  else if (yield == "0" && is_open_mpi(s))
    out.push_back({"ranks that wait keep their core", "OMPI_MCA_mpi_yield_when_idle=0",
                   fmt::format("1, where there may be more ranks than {}", cores_text(s.cores))});
  const std::string hooks = variable_value(s, "OMPI_MCA_opal_common_ucx_opal_mem_hooks");
  if (s.openshmem != "none" && is_open_mpi(s) && !hooks.empty() && hooks != "0" && hooks != "false")
    out.push_back({"OpenSHMEM programs crash when they end", "OMPI_MCA_opal_common_ucx_opal_mem_hooks=" + hooks,
                   "0 (merganser run sets it)"});
}

}  // namespace

// State of the machine as input of the hints: environment variables, libraries, cores, kernel settings, shared memory.
Surroundings read_surroundings() {
  Surroundings s;
  for (char** v = environ; v != nullptr && *v != nullptr; ++v) {
    const std::string line(*v);
    const auto at = line.find('=');
    if (at != std::string::npos) s.variables[line.substr(0, at)] = without_secrets(line.substr(at + 1));
  }
  s.mpi = comm::mpi_library();
  s.openshmem = comm::shmem_library();
  s.cores = std::max(1, machine().cores);
  s.ranks = comm::launched() ? comm::launcher_world().size : 0;
  if (std::ifstream in("/proc/sys/kernel/yama/ptrace_scope"); !(in >> s.ptrace_scope)) s.ptrace_scope = -1;
  s.in_container = ::access("/.dockerenv", F_OK) == 0 || ::access("/run/.containerenv", F_OK) == 0;
  struct statvfs f {};
  if (::statvfs("/dev/shm", &f) == 0)
    s.shared_memory_bytes = static_cast<double>(f.f_bavail) * static_cast<double>(f.f_frsize);
  s.xpmem = ::access("/dev/xpmem", F_OK) == 0;
  return s;
}

std::vector<Hint> setting_hints(const Surroundings& s) {
  std::vector<Hint> out;
  component_hints(s, out);
  memory_hints(s, out);
  oversubscription_hints(s, out);
  return out;
}

Json hints_json(const std::vector<Hint>& hints) {
  return json_list(hints, [](const Hint& h) { return Json{{"what", h.what}, {"seen", h.seen}, {"advice", h.advice}}; });
}

std::string hints_text(const std::vector<Hint>& hints) {
  std::string out;
  for (const auto& h : hints) out += "  - " + h.what + "\n      seen: " + h.seen + "\n      do:   " + h.advice + '\n';
  return out;
}

}  // namespace merganser::app
