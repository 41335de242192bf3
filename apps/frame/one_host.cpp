// Loopback settings for jobs on one host: tests for signs of other hosts, and for settings of the user that contradict them.
#include "apps/frame/one_host.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "apps/frame/elsewhere.hpp"
#include "merganser/comm/loopback.hpp"

#ifndef MERGANSER_LIBDIR
#define MERGANSER_LIBDIR "lib"
#endif

namespace merganser::app {
namespace {

namespace fs = std::filesystem;

/// Returns true if an environment variable is set in this process.
bool is_set(const std::string& name) { return std::getenv(name.c_str()) != nullptr; }

/// Returns the folders in which Open MPI and PRRTE look for parameter files and host lists.
std::vector<fs::path> configuration_folders(const Launcher& launcher) {
  std::vector<fs::path> out{"/etc/openmpi"};
  std::error_code error;
  if (const fs::path program = fs::canonical(launcher.path, error); !error)
    out.push_back(program.parent_path().parent_path() / "etc");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    for (const char* name : {".openmpi", ".prte"}) out.push_back(fs::path(home) / name);
  return out;
}

/// Returns the lines of a launcher's parameter file or host list that are not empty, without comments and surrounding blanks;
/// none if it cannot be read.
std::vector<std::string> significant_lines(const fs::path& path) {
  std::vector<std::string> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty()) out.push_back(std::move(line));
  }
  return out;
}

/// Returns the names of the parameters that configuration files of Open MPI and PRRTE set.
std::set<std::string> configured_parameters(const Launcher& launcher) {
  std::set<std::string> out;
  for (const auto& folder : configuration_folders(launcher))
    for (const char* name : {"openmpi-mca-params.conf", "prte-mca-params.conf", "mca-params.conf"})
      for (const auto& line : significant_lines(folder / name)) out.insert(line.substr(0, line.find_first_of(" \t=")));
  return out;
}

/// Returns true if the launcher at `path` is a script: its file begins with "#!".
bool is_script(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return in.get() == '#' && in.get() == '!';
}

/// Returns the variable of Open MPI or UCX that contradicts the loopback setting `name` if both are set, as if_exclude does
/// if_include; empty if there is none.
std::string conflicting_variable(const std::string& name) {
  if (name == "UCX_NET_DEVICES")
    return "UCX_TLS";  // may name a transport of a device other than the loopback interface
  const auto at = name.find("if_include");
  return at == std::string::npos ? "" : name.substr(0, at) + "if_exclude";
}

/// Returns the name of the parameter that a variable of Open MPI or PRRTE sets.
std::string parameter_name(const std::string& variable) {
  for (const std::string prefix : {"OMPI_MCA_", "PRTE_MCA_"})
    if (variable.starts_with(prefix)) return variable.substr(prefix.size());
  return variable;
}

/// Returns the name of the loopback interface that is up, as "lo"; empty without one.
std::string loopback_interface() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(all, ::freeifaddrs);
  constexpr unsigned kWanted = IFF_UP | IFF_LOOPBACK;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
    if ((one->ifa_flags & kWanted) == kWanted && one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET)
      return one->ifa_name;
  return "";
}

}  // namespace

// Conservative test: any sign of other hosts keeps the sockets of a job as they are.
bool is_single_host(const Launcher& launcher) {
  // In an allocation of Slurm, even of one node, this process may run on the login node and the ranks elsewhere.
  if (launcher.path.empty() || has_other_hosts() || is_set("SLURM_JOB_ID") || is_script(launcher.path)) return false;
  if (launcher.family != "Open MPI" && launcher.family != "MPICH" && launcher.family != "Intel MPI") return false;
  if (launcher.family != "Open MPI") return true;
  for (const auto& folder : configuration_folders(launcher))
    for (const char* name : {"openmpi-default-hostfile", "prte-default-hostfile"})
      if (!significant_lines(folder / name).empty()) return false;
  const auto names = configured_parameters(launcher);
  return std::none_of(names.begin(), names.end(), [](const auto& n) { return n.find("host") != std::string::npos; });
}

// Settings of `merganser run` for jobs on one host, unless the user has set or contradicted them.
std::vector<comm::Setting> loopback_settings(const Launcher& launcher) {
  if (!is_single_host(launcher)) return {};
  const std::string interface = loopback_interface();
  if (interface.empty()) return {};
  const auto files = configured_parameters(launcher);
  auto settings = comm::loopback_settings(comm::mpi_library(), comm::shmem_library(), interface);
  std::erase_if(settings, [&](const comm::Setting& s) {
    const std::string other = conflicting_variable(s.name);
    return files.contains(parameter_name(s.name)) ||
           (!other.empty() && (is_set(other) || files.contains(parameter_name(other))));
  });
  return settings;
}

// Preload of `merganser run` for launchers that ignore these settings.
std::vector<comm::Setting> loopback_preload(const Launcher& launcher) {
  if (!is_single_host(launcher) || loopback_interface().empty()) return {};
  const std::string library = library_beside("libmerganser-loopback.so");
  if (library.empty() || library.find_first_of(" :") != std::string::npos) return {};  // separators of LD_PRELOAD
  const char* others = std::getenv("LD_PRELOAD");
  const bool any = others != nullptr && *others != '\0';
  return {{"LD_PRELOAD", any ? others + (':' + library) : library,
           "Open MPI's mpirun and its component btl/tcp listen on all interfaces, whatever their settings"}};
}

std::string library_beside(const std::string& name) {
  const fs::path here = fs::path(self_path()).parent_path();
  for (const fs::path& folder : {here / "..", here, here / ".." / MERGANSER_LIBDIR / "merganser"}) {
    const fs::path candidate = folder / name;
    if (::access(candidate.c_str(), R_OK) == 0) return fs::canonical(candidate).string();
  }
  return "";
}

}  // namespace merganser::app
