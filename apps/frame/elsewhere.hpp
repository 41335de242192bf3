#pragma once
/// Detection of jobs that may span several hosts, and the folder in which their ranks can exchange files.
#include <string>

namespace merganser::app {

/// Returns true if the environment of this process (a job scheduler or a host list) names hosts of the job other than this one.
/// Local.
[[nodiscard]] bool has_other_hosts();

/// Returns a folder that all ranks of a job can read and write: the temporary folder if all run on this host, else the current
/// folder, because each host has temporary files of its own. Local. @throws InputError if the current folder cannot be read
[[nodiscard]] std::string shared_folder();

}  // namespace merganser::app
