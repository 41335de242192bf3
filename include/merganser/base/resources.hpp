#pragma once
/// Resources that are still available to this process: memory, threads, disk space, with the limits of containers (control groups).
#include <cstdint>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser {

/// Returns the memory that this process can still allocate, in bytes: the least of what the system has available, what its control
/// groups leave, and what the limit of address space leaves; 0 if it is unknown. Local.
[[nodiscard]] std::int64_t available_bytes();

/// Number of threads that this process can still start, and the limit that determines it; thread_headroom() returns it.
struct ThreadHeadroom {
  std::int64_t more = 0;  ///< threads in addition to those that run, >= 0
  std::string limit;      ///< name of the limit: "pids.max of /sys/fs/cgroup/a"
};
/// Returns the number of threads that this process can still start: the least that the limits of tasks of its control groups, of
/// the kernel and of the user, the number of memory mappings and the address space for stacks allow. Memory is not considered.
/// Local. Cost: reads some files of /proc, well below a millisecond.
[[nodiscard]] ThreadHeadroom thread_headroom();

/// Returns the free space, in bytes, of the file system on which a file lies or would be created; 0 if it is unknown. Local.
[[nodiscard]] std::int64_t free_disk_bytes(const std::string& path);

}  // namespace merganser
