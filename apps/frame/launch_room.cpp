// Check that this host can hold the processes of a job, by its free tasks and memory.
#include "apps/frame/launch_room.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "apps/frame/elsewhere.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"

namespace merganser::app {

// Check before a launcher starts more processes than this host can hold, which would end in messages of libraries.
void check_processes(int ranks) {
  if (std::getenv("SLURM_JOB_ID") != nullptr || has_other_hosts()) return;
  // A process of an MPI library, before it has any input, and the helper threads that it starts.
  constexpr double kBytes = 16 * 1048576.0;
  constexpr std::int64_t kTasks = 3;
  const ThreadHeadroom room = thread_headroom();
  const auto there = static_cast<double>(available_bytes());
  const auto by_memory = there == 0 ? room.more : static_cast<std::int64_t>(there / kBytes);
  const std::int64_t most = std::max<std::int64_t>(1, std::min(room.more / kTasks, by_memory));
  if (ranks <= most) return;
  throw UsageError(
      fmt::format("ranks: {} processes, which need about {}; allowed here: up to {} ({}); more need more machines",
                  ranks, bytes_text(ranks * kBytes), most,
                  by_memory <= room.more / kTasks ? "there is " + bytes_text(there) : room.limit));
}

}  // namespace merganser::app
