#pragma once
/// Start of jobs of the probe from a test of one process, in an environment with only the variables that the launcher needs.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "merganser/comm/runtime.hpp"
#include "tests/support/patience.hpp"

namespace merganser::test {

struct Outcome {
  int code = 0;
  std::string output;
};

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// What mpirun itself reads of settings, as a shell has it before a command: processes set the rest, but for programs that
/// initialise MPI themselves, which are told to yield.
inline std::string for_mpirun(const std::vector<comm::Setting>& settings, bool own_mpi = false) {
  std::string line;
  for (const auto& s : settings)
    if (s.name.find("_ALLOW_") != std::string::npos || s.name.find("_rmaps_") != std::string::npos ||
        (own_mpi && s.name.find("_yield_") != std::string::npos))
      line += s.name + '=' + s.value + ' ';
  return line;
}

/// Runs a command for at most `seconds`, times patience(), with the variables in `extra` and few others.
inline Outcome start(const std::string& command, const std::string& extra = "", int seconds = 60) {
  std::string line = "timeout " + std::to_string(seconds * patience()) + " env -i PATH='" + variable("PATH") +
                     "' HOME='" + variable("HOME") + "' ";
  // Open MPI takes an empty TMPDIR for the root of the file system.
  if (!variable("TMPDIR").empty()) line += "TMPDIR='" + variable("TMPDIR") + "' ";
  line += for_mpirun(comm::launcher_settings()) + extra + " " + command + " 2>&1";
  Outcome outcome;
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start: " + line);
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) outcome.output += part.data();
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline constexpr int kTimedOut = 124;

inline bool says(const Outcome& outcome, const std::string& text) {
  return outcome.output.find(text) != std::string::npos;
}

/// "mpirun -n 3 probe ", by the launcher of this build.
inline std::string launched(int ranks) {
  return variable("MERGANSER_TEST_LAUNCHER") + " " + std::to_string(ranks) + " " + variable("MERGANSER_TEST_PROBE") +
         " ";
}
inline std::string alone() { return variable("MERGANSER_TEST_PROBE") + " "; }

inline std::vector<std::string> process_models() {
  std::vector<std::string> names;
  for (const auto& backend : merganser::comm::backends()) {
    if (backend.processes) names.emplace_back(backend.name);
  }
  return names;
}

}  // namespace merganser::test
