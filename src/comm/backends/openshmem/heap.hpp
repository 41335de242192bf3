#pragma once
/// Allocation of blocks at the same address of the symmetric heap of all, or of some, processes.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/comm/detail/common_place.hpp"

namespace merganser::comm::detail {

/// Processes of a transport over OpenSHMEM, all of the job or some (OpenSHMEM: team).
struct Members {
  int rank = 0;          ///< rank of this process; kNone if it is no member
  std::vector<int> pes;  ///< by rank: the number of the process in OpenSHMEM

  static constexpr int kNone = -1;
  /// Returns true if this process is a member.
  [[nodiscard]] bool mine() const noexcept { return rank != kNone; }
  /// Returns true if the members are all processes of the job, in any order.
  [[nodiscard]] bool whole() const;
};

/// Returns all processes of the job in their order. Local; OpenSHMEM must be initialised.
[[nodiscard]] Members all_members();

/// Reserves a quarter of the heap for transports of some of the processes, which cannot call shmem_malloc(), a collective of
/// all, on their own. Collective over all processes; called once, after OpenSHMEM was initialised.
void reserve_for_parts();

/// Result of an allocation: a symmetric block of memory, or the error that prevented it.
struct Symmetric {
  std::byte* data = nullptr;  ///< null on an error, and on processes that are no members
  std::string error;          ///< the same on every rank; empty if there is a block
};
/// Allocates zeroed memory at the same address of every member: for the whole job by shmem_malloc(), for a part of it, or if
/// that fails, from the memory that reserve_for_parts() reserved.
///
/// Collective over the ranks of `highest`: the members, and perhaps others that take part in reductions. When it returns,
/// every member has written its zeros. `highest` may be empty for the whole job; then only shmem_malloc() is tried.
[[nodiscard]] Symmetric symmetric_zeros(const Members& members, std::uint64_t bytes, const Highest& highest);

/// Frees a block. Collective over its members. @param barrier  completes the puts of this rank and blocks until all members
/// have done so; called where the library does not do that itself
void free_symmetric(std::byte* data, const std::function<void()>& barrier);

}  // namespace merganser::comm::detail
