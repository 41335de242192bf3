#pragma once
/// Check that this host has the tasks and the memory for the processes of a job, before a launcher is started.

namespace merganser::app {

/// Refuses more processes than the free tasks and memory of this host allow. No check where a job scheduler or a host list names
/// other hosts. Local. @throws UsageError with the number that is allowed
void check_processes(int ranks);

}  // namespace merganser::app
