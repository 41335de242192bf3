#pragma once
/// Where and how a result was made: program, build, libraries, machine.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace merganser::app {

/// How this program was built. Generated at build time.
struct BuildInfo {
  std::string_view version;
  std::string_view git;  ///< short hash, "+" appended where the tree was changed; empty without git
  std::string_view compiler;
  std::string_view flags;
  std::string_view build_type;
};
[[nodiscard]] BuildInfo build_info();

struct Machine {
  std::string cpu;
  int cores = 0;        ///< that this process may use
  int all_cores = 0;    ///< of the machine: what its load is shared by
  std::string vectors;  ///< extensions of the CPU that matter here: "avx2 fma avx512f"
  std::int64_t memory_bytes = 0;
  std::int64_t available_bytes = 0;
  std::array<double, 3> load{};         ///< load average over 1, 5, 15 minutes
  std::array<double, 3> load_before{};  ///< the same when this program began: without what it did itself
  std::string kernel;
};
[[nodiscard]] Machine machine();
/// "1 core", "2 cores".
[[nodiscard]] std::string cores_text(std::int64_t cores);

/// "2026-05-09T07:30:00Z"
[[nodiscard]] std::string utc_time();

/// Several lines, for --version and doctor.
[[nodiscard]] std::string version_text();

}  // namespace merganser::app
