#pragma once
/// Run-time environment of a process that selects the transports of its communication libraries: variables, loaded components,
/// cores. For run records and hints.
#include <string>
#include <vector>

#include "apps/frame/json.hpp"

namespace merganser::app {

/// Returns the environment variables of this process that select transports or placement (is_setting()), by name, for run
/// records, with secrets masked.
[[nodiscard]] Json library_variables();

/// Returns true if an environment variable is known to select the transports of MPI, OpenSHMEM or their launchers, or the
/// placement of ranks and threads: it is in the list of known_variables.cpp, and its name has no word for a secret. Other
/// variables may name a job, a process or a user, and records leave them out.
[[nodiscard]] bool is_setting(const std::string& name);

/// Returns the components of Open MPI that this process has loaded, by framework: {"pml": ["ob1"], "btl": ["self", "tcp"], ...}.
/// Of pml that is the selected one; of btl those that may be used; of osc those from which each window takes the first that
/// supports it. Empty before MPI has started, for other libraries, and where components are built into the library.
[[nodiscard]] Json loaded_components();

/// Returns the paths of the files mapped into this process, shared libraries among them, one entry per mapping.
[[nodiscard]] std::vector<std::string> mapped_files();

/// Returns the cores in the affinity mask of this process, as "0-3,8"; empty if the system does not give it.
[[nodiscard]] std::string core_list();

/// Returns the name of this host; empty if it has none.
[[nodiscard]] std::string host_name();

}  // namespace merganser::app
