#pragma once
/// Substitutes for parts of the models over MPI in builds for a simulated MPI (SimGrid's SMPI, detail/simulated.hpp):
/// collectives, links, memory, neighbourhood mailbox. Defined in src/comm/simulated/, in such builds only.
#include <mpi.h>

#include <memory>

#include "src/comm/detail/memory.hpp"
#include "src/comm/detail/message_objects.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {

/// Collectives in the memory that simulated ranks share, which take no simulated time but that of waiting for the last rank:
/// for set-up and totals, which are not measured and would take most of the time of a simulation of many ranks. The calls are
/// collective and promise what the do_... functions of Transport promise.
class SimulatedCollectives {
 public:
  virtual ~SimulatedCollectives() = default;
  /// Blocks until all simulated ranks have called it.
  virtual void barrier() = 0;
  /// Reduces words of all simulated ranks element by element, into `words` of every rank.
  virtual void reduce(std::span<std::uint64_t> words, Op op) = 0;
  /// Returns the bytes of all simulated ranks, by rank, on rank 0, and an empty vector on the others.
  [[nodiscard]] virtual std::vector<Bytes> gather(BytesView mine) = 0;
  /// Returns the bytes of simulated rank 0 on every rank.
  [[nodiscard]] virtual Bytes broadcast(BytesView mine) = 0;
  /// Sends messages[i] to simulated rank ranks[i] and returns the message received from each of `ranks`.
  [[nodiscard]] virtual std::vector<Bytes> exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) = 0;
  /// Returns the bytes of all simulated ranks, by rank, on every rank.
  [[nodiscard]] virtual std::vector<Bytes> all_gather(BytesView mine) = 0;
  /// Sends to[r] to simulated rank r and returns the messages received, by sender.
  [[nodiscard]] virtual std::vector<Bytes> all_to_all(std::span<const BytesView> to) = 0;
};
/// Makes the untimed collectives of simulated ranks in shared memory if the variable MERGANSER_SIMULATED_COLLECTIVES is "free",
/// else returns null: the simulated MPI's are used. Collective.
[[nodiscard]] std::unique_ptr<SimulatedCollectives> simulated_collectives(MPI_Comm comm);
/// Contributions of all simulated ranks to an all-gather, one behind the other; filled by TimedCollectives::all_gather().
struct Parts {
  Bytes bytes;                     ///< contributions of all ranks, in the order of ranks
  std::vector<std::size_t> begin;  ///< per rank: offset of its contribution in bytes; and the end of the last one
};

/// Reductions, barriers and all-gathers that take the simulated time of SMPI's algorithms for them (machines.py) without its
/// messages: the time at which each rank leaves is computed from those at which all entered. All calls are collective.
class TimedCollectives {
 public:
  virtual ~TimedCollectives() = default;
  /// Reduces words of simulated ranks element by element, timed as recursive doubling; for long arrays, as in MPICH, as a
  /// reduce-scatter by halving and an all-gather. @param bytes  size of the array in the program that is simulated
  virtual void reduce(std::span<std::uint64_t> words, Op op, std::size_t bytes) = 0;
  /// Blocks until all simulated ranks have entered, timed as a dissemination barrier.
  virtual void barrier() = 0;
  /// Gathers the bytes of all simulated ranks in memory that all ranks share, timed as Bruck's algorithm; as a ring, as in MPICH,
  /// for 512 KiB and more in all. @param equal  all contributions have one size; else a gather of sizes is timed before
  [[nodiscard]] virtual std::shared_ptr<const Parts> all_gather(BytesView mine, bool equal) = 0;
};
/// Makes the timed collectives of simulated ranks, or returns null if messages are SMPI's (variable MERGANSER_SIMULATED_MESSAGES).
/// Collective.
[[nodiscard]] std::unique_ptr<TimedCollectives> timed_collectives(MPI_Comm comm);

/// Returns the first of the message tags of a new transport in a simulation, which shares its MPI communicator with other
/// transports, since a duplicate would take memory for each pair of simulated ranks. Collective.
[[nodiscard]] int simulated_first_tag(MPI_Comm comm);

/// Makes the Link of a simulated rank: its messages are timers of the simulator (simulated/wire.hpp); or, if messages are SMPI's,
/// two-sided messages with a receive that is always posted instead of probes. Local.
[[nodiscard]] std::unique_ptr<Link> simulated_link(MPI_Comm comm, int tag, const Graph& graph);

/// Makes the Memory of the model rma: puts and gets by timers (simulated/timed_memory.hpp); or, if messages are SMPI's, a window
/// with locks by target instead of MPI_Win_lock_all, whose cost in SMPI grows with the square of the ranks. Both notify the
/// target of puts. Collective.
[[nodiscard]] std::shared_ptr<Memory> simulated_memory(MPI_Comm comm, std::size_t bytes, Epoch epoch,
                                                       Counters& counters);

/// Makes the Mailbox of the model neighborhood. SMPI has no neighbourhood collectives, so they are emulated as libraries without
/// hardware support implement them: a message along every arc, all at once, first the sizes and then the outboxes. Collective.
[[nodiscard]] std::unique_ptr<Mailbox> simulated_neighborhood(Place place, Graph graph, std::unique_ptr<Link> link,
                                                              MPI_Comm comm, int tag);

}  // namespace merganser::comm::detail
