// Provenance of run records: CPU, memory, load and time of this host, and the text of --version.
#include "apps/frame/provenance.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include "merganser/base/resources.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {
namespace {

/// Returns the value of the first line "key   : value" of a file under /proc; empty if there is none.
std::string proc_value(const char* path, std::string_view key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto from = line.find_first_not_of(" \t", colon + 1);
    return from == std::string::npos ? "" : line.substr(from);
  }
  return "";
}

/// Returns the vector extensions of this host's CPU that the kernels use, separated by blanks: "avx2 fma".
std::string vector_extensions() {
  std::istringstream flags(proc_value("/proc/cpuinfo", "flags"));
  std::string out;
  for (std::string f; flags >> f;) {
    if (f == "sse4_2" || f == "avx" || f == "avx2" || f == "fma" || f == "avx512f" || f == "avx512dq" ||
        f == "avx512vl")
      out += (out.empty() ? "" : " ") + f;
  }
  return out;
}

/// Returns the load averages of this host over 1, 5 and 15 minutes; zeros if unknown.
std::array<double, 3> load_average() noexcept {
  std::array<double, 3> load{};
  return getloadavg(load.data(), 3) == 3 ? load : std::array<double, 3>{};
}

const std::array<double, 3> g_load_before = load_average();

/// Returns a memory size of this host from /proc/meminfo, in bytes; 0 if it is not there.
std::int64_t meminfo_bytes(std::string_view key) { return std::atoll(proc_value("/proc/meminfo", key).c_str()) * 1024; }

}  // namespace

// Provenance of a run record: host, cores, memory and load.
Machine machine() {
  Machine m;
  m.cpu = proc_value("/proc/cpuinfo", "model name");
  if (m.cpu.empty()) m.cpu = "unknown";
  cpu_set_t set;
  m.cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  m.all_cores = std::max(m.cores, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
  m.vectors = vector_extensions();
  m.memory_bytes = meminfo_bytes("MemTotal");
  m.available_bytes = merganser::available_bytes();
  m.load = load_average();
  m.load_before = g_load_before;
  utsname name{};
  if (uname(&name) == 0) m.kernel = std::string(name.sysname) + ' ' + name.release + ' ' + name.machine;
  return m;
}

std::string cores_text(std::int64_t cores) { return std::to_string(cores) + (cores == 1 ? " core" : " cores"); }

std::string utc_time() {
  const std::time_t t = std::time(nullptr);
  std::tm tm{};
  gmtime_r(&t, &tm);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
  return text;
}

// Text of --version: what a bug report needs.
std::string version_text() {
  const BuildInfo b = build_info();
  std::ostringstream out;
  out << "merganser " << b.version;
  if (!b.git.empty()) out << " (" << b.git << ')';
  out << "\ncompiler   " << b.compiler << ", " << b.build_type << (b.flags.empty() ? "" : ", ") << b.flags << '\n';
  out << "mpi        " << comm::mpi_library() << '\n';
  out << "openshmem  " << comm::shmem_library() << '\n';
  out << "models    ";
  for (const auto& m : comm::backends()) out << ' ' << m.name;
  out << '\n';
  for (const auto& m : comm::missing_backends()) out << "missing    " << m << '\n';
  return out.str();
}

}  // namespace merganser::app
