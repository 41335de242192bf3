#pragma once
/// Yielding of the core while MPI or OpenSHMEM polls, for oversubscribed jobs. MPICH polls without ever yielding: with more ranks
/// than cores, the rank that all wait for runs only when the system preempts a polling one, milliseconds per message. Hydra
/// starts every rank in a session of its own, to which Linux gives a share of the core (autogroups): between those
/// sched_yield() has no effect, sleeping has.
#include "merganser/base/pinned.hpp"

namespace merganser::comm::detail {

/// Enables ScopedYield in this process, for an MPI or OpenSHMEM that polls. Before the first call a ScopedYield does nothing.
/// MERGANSER_YIELD=0 leaves it off, 1 treats the ranks as oversubscribed. May be called again. Local.
/// @param ranks  number of processes of the job on this host, from count_local_ranks(); 0: unknown, the number of an earlier
///               call holds
/// @throws UsageError if MERGANSER_YIELD has another value
void enable_yielding(int ranks);

/// Returns the number of processes of the job on this host, from variables of Hydra, Open MPI's launcher or Slurm; 0 without
/// one. Local.
[[nodiscard]] int count_local_ranks();

/// Returns true if the job has more ranks than cores on this host, so that waits should sleep early. Local.
[[nodiscard]] bool oversubscribed() noexcept;

/// Guard around a call of MPI or OpenSHMEM, during which this thread sleeps repeatedly: 50 us after every 50 us, after the first
/// millisecond, or after the first 50 us if ranks are oversubscribed. A timer of this thread sends it a real-time signal that
/// the program does not use, and the handler sleeps. Outside of a ScopedYield none is sent, so sleep and system calls of the
/// program are not interrupted; system calls inside are restarted. May be nested.
class ScopedYield : Pinned {
 public:
  /// Kind of the guarded call of MPI or OpenSHMEM.
  enum class Call {
    collective,  ///< blocks until other ranks make their calls
    brief        ///< mostly returns at once, so two system calls would cost too much: guarded only if oversubscribed
  };
  /// Begins the guarded library call: arms this thread's timer if yielding is enabled for this kind of call.
  explicit ScopedYield(Call call = Call::collective) noexcept;
  ~ScopedYield();

 private:
  bool on_;  // this guard counts in the depth of the thread's timer
};

}  // namespace merganser::comm::detail
