#pragma once
/// What the system still gives this process: memory, threads, room on a disk. The limits of a container count.
#include <cstdint>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser {

/// Memory that the system can still give, in bytes; 0 if it does not tell.
[[nodiscard]] std::int64_t available_bytes();

/// How many more threads this process can start, and the limit that says so ("pids.max of /sys/fs/cgroup/a").
struct ThreadRoom {
  std::int64_t more = 0;
  std::string limit;
};
/// The least of: the container's limit of tasks, those of the kernel and of the user, mappings and address space for
/// stacks. Memory is not looked at. Cost: some files of /proc, well below a millisecond.
[[nodiscard]] ThreadRoom thread_room();

/// Free on the disk that a file lies on or would lie on, in bytes; 0 if the system does not tell.
[[nodiscard]] std::int64_t free_disk_bytes(const std::string& path);

namespace detail {
/// Folder that /proc and /sys are looked for in. Tests put there what another system would say.
inline std::string system_root;
}  // namespace detail

}  // namespace merganser
