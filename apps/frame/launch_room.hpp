#pragma once
/// Whether this machine can hold the processes of a job, asked before a launcher is started.

namespace merganser::app {

/// Refuses more processes than the tasks and the memory that are left here allow. Not looked at where a job scheduler or
/// a list of hosts says that there are other machines. Local. @throws UsageError with what is allowed
void check_processes(int ranks);

}  // namespace merganser::app
