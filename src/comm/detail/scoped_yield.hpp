#pragma once
/// Yields the core while a library waits. MPICH polls without ever yielding: where ranks are more than cores, the
/// rank that all wait for gets its turn when the system takes the core from one that waits, milliseconds per message. And
/// Hydra makes every rank a session of its own, for which Linux keeps a share of the core (autogroups): among those sched_yield()
/// does nothing, only sleep does.
#include "merganser/base/pinned.hpp"

namespace merganser::comm::detail {

/// Enables ScopedYield in this process, for a library that polls. Before the first call a ScopedYield does nothing.
/// MERGANSER_YIELD=0 leaves it off, 1 takes ranks for more than cores, whatever they are. May be called again.
/// @param ranks  processes of the job on this host, as ranks_here(); 0: not known, and what an earlier call knew holds
/// @throws UsageError if MERGANSER_YIELD is something else
void enable_yielding(int ranks);

/// Processes of the job on this host, as Hydra, Open MPI's launcher or Slurm tells them; 0 if nobody does.
[[nodiscard]] int ranks_here();

/// Whether ranks are more than cores, so that who waits should soon sleep.
[[nodiscard]] bool oversubscribed() noexcept;

/// During its lifetime, a thread that stays in calls of the library sleeps repeatedly: 50 us after every 50 us, from the first
/// millisecond on, or from the first 50 us on where ranks are oversubscribed. A timer of this thread sends one of the real-time
/// signals that the program does not use. Outside of a ScopedYield none is sent, so sleep and system calls of the program are
/// not interrupted; system calls inside are restarted. May be nested.
class ScopedYield : Pinned {
 public:
  enum class Call {
    collective,  ///< waits for other ranks
    brief        ///< mostly returns at once, where two system calls would be felt: only where ranks are oversubscribed
  };
  explicit ScopedYield(Call call = Call::collective) noexcept;
  ~ScopedYield();

 private:
  bool on_;
};

}  // namespace merganser::comm::detail
