#pragma once
/// Allocation of memory blocks at the same address of OpenSHMEM's symmetric heap of all, or of some, processes of the job.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/comm/detail/common_place.hpp"

namespace merganser::comm::detail {

/// Processes of a transport of the model shmem, all of the job or some (OpenSHMEM: team).
struct Members {
  int rank = 0;          ///< rank of this process in the transport; kNone if it is no member
  std::vector<int> pes;  ///< by rank of the transport: number of the process in OpenSHMEM (PE)

  static constexpr int kNone = -1;  ///< value in place of a rank: this process is no member
  /// Returns true if this process is a member of the transport.
  [[nodiscard]] bool mine() const noexcept { return rank != kNone; }
  /// Returns true if the members are all OpenSHMEM processes of the job, in any order.
  [[nodiscard]] bool whole() const;
};

/// Returns all OpenSHMEM processes of the job in their order, as members of a transport. Local; OpenSHMEM must be initialised.
[[nodiscard]] Members all_members();

/// Reserves a quarter of the symmetric heap for transports of some of the processes, which cannot call shmem_malloc(), a
/// collective of all, on their own. Collective over all processes; called once, after OpenSHMEM was initialised.
void reserve_for_parts();

/// Result of an allocation of symmetric memory: the block, or the error that prevented it; filled by symmetric_zeros().
struct Symmetric {
  std::byte* data = nullptr;  ///< first byte of the block; null on an error, and on processes that are no members
  std::string error;          ///< error text, the same on every rank; empty if there is a block
};
/// Allocates zeroed symmetric memory at the same address of every member of a transport: for the whole job by shmem_malloc(), for
/// a part of it, or if that fails, from the memory that reserve_for_parts() reserved.
///
/// Collective over the ranks of `highest`: the members, and perhaps others that take part in reductions. When it returns,
/// every member has written its zeros. `highest` may be empty for the whole job; then only shmem_malloc() is tried.
[[nodiscard]] Symmetric symmetric_zeros(const Members& members, std::uint64_t bytes, const Highest& highest);

/// Frees a block of symmetric memory that symmetric_zeros() allocated. Collective over its members.
/// @param barrier  completes the puts of this rank and blocks until all members have done so; called where the library does not
///                 do that itself
void free_symmetric(std::byte* data, const std::function<void()>& barrier);

}  // namespace merganser::comm::detail
