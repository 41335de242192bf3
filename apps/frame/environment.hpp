#pragma once
/// What of the surroundings of a process decides how its libraries talk: variables, components, cores.
#include <string>
#include <vector>

#include "apps/frame/json.hpp"

namespace merganser::app {

/// Variables that MPI, OpenSHMEM, their transports, launchers and schedulers read or set, by name: OMPI_*, MPICH_*, UCX_*,
/// SLURM_* and the like. Without those that hold a secret, which have a word for one in their names. Rank 0 of a job sees
/// what all ranks were given; what belongs to one process (its rank, its address) is among them.
[[nodiscard]] Json library_variables();

/// Whether a variable chooses how libraries talk or ranks are placed; others name a job or a process.
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
