#pragma once
/// What of the surroundings of a process decides how its libraries talk: variables, components, cores.
#include <string>
#include <vector>

#include "apps/frame/json.hpp"

namespace merganser::app {

/// Variables of this process of which is_setting() holds, by name, without what secrets.hpp knows as a secret.
[[nodiscard]] Json library_variables();

/// Whether a variable is known to choose how MPI, OpenSHMEM, their transports and launchers talk, or where ranks and threads run:
/// it is in the list of known_variables.cpp, and its name has no word for a secret. Others name a job, a process or a user.
[[nodiscard]] bool is_setting(const std::string& name);

/// Components of Open MPI that this process has loaded, by framework: {"pml": ["ob1"], "btl": ["self", "tcp"], ...}. Of pml
/// that is the chosen one; of btl those that may be used; of osc those from which each window takes the first that can
/// serve it. Empty before MPI has started, for other libraries, and where components are built into the library.
[[nodiscard]] Json loaded_components();

/// Files that this process has mapped, its libraries among them: their paths, one for each mapping.
[[nodiscard]] std::vector<std::string> mapped_files();

/// Cores that this process may use, as "0-3,8".
[[nodiscard]] std::string core_list();

/// Name of this machine; empty if it has none.
[[nodiscard]] std::string host_name();

}  // namespace merganser::app
