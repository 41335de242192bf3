#pragma once
/// Provenance of results: program, build, libraries and machine, as run records and --version give them.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace merganser::app {

/// Version, compiler and flags of this program, for run records and --version. Its values are generated at build time.
struct BuildInfo {
  std::string_view version;   ///< version of merganser
  std::string_view git;       ///< short hash of the commit, "+" appended where the tree was changed; empty without git
  std::string_view compiler;  ///< name and version of the compiler
  std::string_view flags;     ///< compiler flags that the program was built with
  std::string_view build_type;  ///< CMake's build type
};
/// Returns version, compiler and flags with which this program was built.
[[nodiscard]] BuildInfo build_info();

/// Description of this host and its load for run records; filled by machine().
struct Machine {
  std::string cpu;                      ///< model name; "unknown" if the system does not give it
  int cores = 0;                        ///< cores in the affinity mask of this process
  int all_cores = 0;                    ///< cores of the host, which share its load
  std::string vectors;                  ///< extensions of the CPU that matter here: "avx2 fma avx512f"
  std::int64_t memory_bytes = 0;        ///< memory of the host
  std::int64_t available_bytes = 0;     ///< free memory of the host
  std::array<double, 3> load{};         ///< load average over 1, 5, 15 minutes
  std::array<double, 3> load_before{};  ///< load average when this program began, hence without its own load
  std::string kernel;                   ///< name, release and architecture of the operating system
};
/// Returns a description of this host and its load as they are now. Local.
[[nodiscard]] Machine machine();
/// Formats a number of CPU cores for reports: "1 core", "2 cores".
[[nodiscard]] std::string cores_text(std::int64_t cores);

/// Returns the current time in UTC for run records, as "2026-05-09T07:30:00Z".
[[nodiscard]] std::string utc_time();

/// Returns version, compiler, libraries and models in several lines, for --version and doctor.
[[nodiscard]] std::string version_text();

}  // namespace merganser::app
