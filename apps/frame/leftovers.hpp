#pragma once
/// Removal of the processes and the shared memory that a job leaves on this host when its launcher is killed. A launcher that gets
/// SIGTERM cleans up by itself; one that is killed cannot, and Open MPI's files under /dev/shm then stay until the next boot.
#include <sys/types.h>

#include <set>
#include <string>

namespace merganser::app {

/// Ends every descendant of this process, by SIGTERM and after two seconds by SIGKILL, and removes the shared memory (files under
/// /dev/shm) that they had mapped or that Open MPI has named after one of `jobs` ("vader_segment.HOST.0.21d70001.0"), unless
/// another process has mapped it. Local; at most about four seconds. This process must be a child subreaper
/// (PR_SET_CHILD_SUBREAPER) since before it started them, so that orphans become its descendants.
/// @param jobs  job numbers of Open MPI, as ranks reported them
void end_leftovers(const std::set<unsigned>& jobs);

/// Returns the text of /proc/PID/stat of a process: its state stands behind its name in brackets, then its parent. Empty if there is no
/// such process, also where it ends while the text is read. Local.
[[nodiscard]] std::string read_process_status(pid_t pid);

}  // namespace merganser::app
