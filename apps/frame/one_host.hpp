#pragma once
/// Restriction of the sockets of a job to the loopback interface where all its ranks run on this host, so that no other host can
/// connect to them.
#include <string>
#include <vector>

#include "apps/frame/launcher.hpp"

namespace merganser::app {

/// Returns true if all ranks that a launcher starts will certainly run on this host: no scheduler, host list (Open MPI's default
/// one included) or parameter file may name others, and the launcher is no script, which could. Local.
[[nodiscard]] bool is_single_host(const Launcher& launcher);

/// Returns the settings that make the libraries and the launcher listen on the loopback interface; none unless is_single_host(), or
/// if there is no such interface. Settings that a variable or a parameter file of Open MPI sets or contradicts are left out.
[[nodiscard]] std::vector<comm::Setting> loopback_settings(const Launcher& launcher);

/// Returns LD_PRELOAD with the library that binds sockets to the loopback interface, before any libraries that are preloaded
/// already. Forced by mpirun of Open MPI 4.1 and its component btl/tcp, which listen on all interfaces whatever their settings say.
/// Empty unless is_single_host(), or if there is no such library.
[[nodiscard]] std::vector<comm::Setting> loopback_preload(const Launcher& launcher);

/// Returns the path of a library that belongs to this program, in its build or installation folder; empty if there is none.
[[nodiscard]] std::string library_beside(const std::string& name);

}  // namespace merganser::app
