#pragma once
/// Settings for a job whose ranks are all on one host, where nothing need listen to other hosts.
#include <string>
#include <vector>

#include "merganser/comm/runtime.hpp"

namespace merganser::comm {

/// Settings with which libraries that call themselves `mpi` and `shmem` ("none": there is none), and their launchers, listen and
/// connect on one interface alone: the loopback one of the host. They hold only where the libraries heed them; Open MPI 4
/// binds to all interfaces all the same. Local.
[[nodiscard]] std::vector<Setting> loopback_settings(const std::string& mpi, const std::string& shmem,
                                                     const std::string& interface);

}  // namespace merganser::comm
