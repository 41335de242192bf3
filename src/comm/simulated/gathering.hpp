#pragma once
/// All-gathers of simulated ranks, whose messages are on their way as all others (network.hpp) but hold no bytes: all ranks
/// share one result.
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "src/comm/backends/mpi/simulated.hpp"

namespace merganser::comm::detail {

/// From so many bytes in all on, all-gathers go round a ring: as in MPICH, or as the variable MERGANSER_SIMULATED_ALL_GATHERS says
/// (bruck: never, ring: always). @throws UsageError for another value
[[nodiscard]] std::size_t ring_from();

/// The all-gathers of the ranks of a transport, by Bruck's algorithm (what a rank has, it sends to the rank so many before it,
/// twice as much in each round, and the rest in the last one), or in a ring.
class Gatherings : Pinned {
 public:
  /// @param world  ranks of the world, by rank
  explicit Gatherings(std::vector<int> world);
  ~Gatherings();

  /// Called by every rank with the same number. @param equal  see TimedCollectives
  [[nodiscard]] std::shared_ptr<const Parts> gather(std::size_t rank, std::uint64_t number, BytesView mine, bool equal);

 private:
  struct Gathering;
  std::vector<int> world_;
  std::map<std::uint64_t, std::unique_ptr<Gathering>> under_way_;
};

}  // namespace merganser::comm::detail
