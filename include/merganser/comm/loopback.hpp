#pragma once
/// Launcher settings of a job whose ranks are all on one host, so that no socket listens for other hosts.
#include <string>
#include <vector>

#include "merganser/comm/runtime.hpp"

namespace merganser::comm {

/// Returns environment variables that make the libraries whose version strings are `mpi` and `shmem` ("none": absent), and
/// their launchers, listen and connect on one interface alone. Open MPI 4 binds to all interfaces nevertheless; src/loopback
/// corrects that. Local.
/// @param interface  name of the loopback interface of the host
[[nodiscard]] std::vector<Setting> loopback_settings(const std::string& mpi, const std::string& shmem,
                                                     const std::string& interface);

}  // namespace merganser::comm
