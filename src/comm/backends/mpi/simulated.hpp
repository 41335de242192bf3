#pragma once
/// The models over a simulated MPI (detail/simulated.hpp). Defined in src/comm/simulated/, in such builds alone.
#include <mpi.h>

#include <memory>

#include "src/comm/detail/memory.hpp"
#include "src/comm/detail/message_objects.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {

/// Collectives that lie in the memory which simulated ranks share, and take no simulated time but that of waiting for the last
/// rank: for set-up and totals, which nobody times and which would be most of what a simulation of many ranks has to do.
class SimulatedCollectives {
 public:
  virtual ~SimulatedCollectives() = default;
  virtual void barrier() = 0;
  virtual void reduce(std::span<std::uint64_t> words, Op op) = 0;
  [[nodiscard]] virtual std::vector<Bytes> gather(BytesView mine) = 0;
  [[nodiscard]] virtual Bytes broadcast(BytesView mine) = 0;
  [[nodiscard]] virtual std::vector<Bytes> exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) = 0;
  [[nodiscard]] virtual std::vector<Bytes> all_gather(BytesView mine) = 0;
  [[nodiscard]] virtual std::vector<Bytes> all_to_all(std::span<const BytesView> to) = 0;
};
/// Null, so that MPI's are used, unless the variable MERGANSER_SIMULATED_COLLECTIVES is "free". Collective.
[[nodiscard]] std::unique_ptr<SimulatedCollectives> simulated_collectives(MPI_Comm comm);
/// The parts of all ranks, one behind the other.
struct Parts {
  Bytes bytes;
  std::vector<std::size_t> begin;  ///< of each rank's, and the end of the last
};

/// Reductions, barriers and all-gathers that take the simulated time of SMPI's algorithms for them (machines.py), but none of its
/// messages: when each rank is through follows from when all of them came.
class TimedCollectives {
 public:
  virtual ~TimedCollectives() = default;
  /// Recursive doubling; long arrays, as in MPICH, a reduce-scatter by halving and an all-gather. @param bytes  of the array
  virtual void reduce(std::span<std::uint64_t> words, Op op, std::size_t bytes) = 0;
  /// Dissemination.
  virtual void barrier() = 0;
  /// Bruck's algorithm; a ring, as in MPICH, for 512 KiB and more in all. All ranks hold the same memory in the end.
  /// @param equal  all parts have one size; else a gather of sizes comes first
  [[nodiscard]] virtual std::shared_ptr<const Parts> all_gather(BytesView mine, bool equal) = 0;
};
/// Null where messages are SMPI's (MERGANSER_SIMULATED_MESSAGES). Collective.
[[nodiscard]] std::unique_ptr<TimedCollectives> timed_collectives(MPI_Comm comm);

/// The first of the tags of a transport, which shares its communicator with others: copies of it would take memory for each pair
/// of ranks. Collective.
[[nodiscard]] int simulated_first_tag(MPI_Comm comm);

/// Messages carried by timers (simulated/wire.hpp); or, where they are SMPI's, MpiLink with a receive that is always posted
/// instead of probes.
[[nodiscard]] std::unique_ptr<Link> simulated_link(MPI_Comm comm, int tag, const Graph& graph);

/// The memory of rma: puts and gets carried by timers (simulated/timed_memory.hpp); or, where they are SMPI's, locks by target
/// instead of MPI_Win_lock_all, whose cost there grows with the square of the ranks. Both ring a bell for who waits for what was
/// put. Collective.
[[nodiscard]] std::shared_ptr<Memory> simulated_memory(MPI_Comm comm, std::size_t bytes, Epoch epoch,
                                                       Counters& counters);

/// The mailbox of neighborhood. SMPI has no neighbourhood collectives, so they are emulated as libraries without hardware for
/// them do it: a message along every arc, all at once, first the sizes and then what the outboxes hold.
[[nodiscard]] std::unique_ptr<Mailbox> simulated_neighborhood(Place place, Graph graph, std::unique_ptr<Link> link,
                                                              MPI_Comm comm, int tag);

}  // namespace merganser::comm::detail
