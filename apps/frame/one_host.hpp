#pragma once
/// Keeping what a job listens on to this host, where all of its ranks run.
#include <string>
#include <vector>

#include "apps/frame/launcher.hpp"

namespace merganser::app {

/// Whether all ranks that a launcher starts will run on this host. No where a scheduler, a list of hosts (also the default one
/// of Open MPI) or a parameter file of Open MPI may say otherwise, nor if the launcher is a script, which may name hosts.
[[nodiscard]] bool is_on_this_host(const Launcher& launcher);

/// Settings with which what a job listens on is the loopback interface, for a launcher of which is_on_this_host() is true, if
/// there is such an interface. Without those that a variable or a parameter file of Open MPI answers in its own way.
[[nodiscard]] std::vector<comm::Setting> loopback_settings(const Launcher& launcher);

/// LD_PRELOAD with the library that does the same to programs that bind to all interfaces, whatever their settings; empty
/// where there is no such library, or the launcher needs none.
[[nodiscard]] std::vector<comm::Setting> loopback_preload(const Launcher& launcher);

/// The file of a library that lies beside this program, as it is built or installed; empty if there is none.
[[nodiscard]] std::string library_beside(const std::string& name);

}  // namespace merganser::app
