#pragma once
/// Hints of the doctor: things known to go wrong, with what was seen and what to do.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "apps/frame/json.hpp"

namespace merganser::app {

struct Hint {
  std::string what;
  std::string seen;  ///< the evidence: a value, and where it comes from
  std::string advice;
};
[[nodiscard]] Json hints_json(const std::vector<Hint>& hints);
[[nodiscard]] std::string hints_text(const std::vector<Hint>& hints);

/// What the hints look at. From the machine, or made by a test.
struct Surroundings {
  std::map<std::string, std::string> variables;  ///< those of the environment that are set
  std::string mpi, openshmem;                    ///< versions of the libraries, "none"
  int cores = 1;
  int ranks = 0;          ///< of the job this process is part of, 0: none
  int ptrace_scope = -1;  ///< of the kernel; -1: unknown or none
  bool in_container = false;
  double shared_memory_bytes = -1;  ///< free in /dev/shm; -1: not there
  bool xpmem = false;               ///< /dev/xpmem is there
};
[[nodiscard]] Surroundings look_around();

/// Settings and shared memory: needs no measurement.
[[nodiscard]] std::vector<Hint> setting_hints(const Surroundings& s);

/// Hints that a package derives from measurements; `doctor` calls those of each package that is built. A file
/// apps/FOLDER/NAME_hints.cpp of the package defines one and declares it "extern const MeasuredHints NAME;".
struct MeasuredHints {
  std::vector<Hint> (*of_record)(
      const std::string& path);           ///< of a record in a file @throws InputError naming the file
  std::vector<Hint> (*of_measurement)();  ///< measures between two ranks @throws CommError if that fails
};
/// Those of the packages that are built. Generated.
[[nodiscard]] std::span<const MeasuredHints* const> measured_hints_of_packages();

}  // namespace merganser::app
