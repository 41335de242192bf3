#pragma once
/// All-gathers of simulated ranks, whose messages take their time in the network (network.hpp) but hold no bytes: all ranks
/// share one result.
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "src/comm/backends/mpi/simulated.hpp"

namespace merganser::comm::detail {

/// Returns the total size in bytes from which the timed all-gathers of simulated ranks use a ring: that of MPICH, or by the
/// variable MERGANSER_SIMULATED_ALL_GATHERS ("mpich"; "bruck": never; "ring": always). Local. @throws UsageError for another value
[[nodiscard]] std::size_t ring_threshold();

/// Timed all-gathers of the simulated ranks of a transport, by Bruck's algorithm (in round k a rank sends all its parts, 2^k or the
/// rest, to the rank 2^k before it), or in a ring. One object, which all ranks share.
class Gatherings : Pinned {
 public:
  /// Makes the timed all-gathers of a transport of simulated ranks. @param world  ranks of the world, by rank of the transport
  explicit Gatherings(std::vector<int> world);
  ~Gatherings();

  /// Gathers the bytes of all simulated ranks and returns one result that all share, at the date at which this rank has received
  /// it. Collective.
  /// @param number  number of the collective call, the same on every rank
  /// @param equal   all parts have one size; else a gather of sizes is timed before
  [[nodiscard]] std::shared_ptr<const Parts> gather(std::size_t rank, std::uint64_t number, BytesView mine, bool equal);

 private:
  struct Gathering;                                                // one all-gather
  std::vector<int> world_;                                         // by rank of the transport: rank of the world
  std::map<std::uint64_t, std::unique_ptr<Gathering>> under_way_;  // by number of the collective call
};

}  // namespace merganser::comm::detail
