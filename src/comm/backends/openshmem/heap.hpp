#pragma once
/// Memory at one place of the symmetric heap of some processes.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/comm/detail/common_place.hpp"

namespace merganser::comm::detail {

/// The processes of a transport.
struct Members {
  int rank = 0;          ///< of this process; kNone if it is none of them
  std::vector<int> pes;  ///< by rank: the number of the process in OpenSHMEM

  static constexpr int kNone = -1;
  [[nodiscard]] bool mine() const noexcept { return rank != kNone; }
  /// Whether they are all processes of the job, in whatever order.
  [[nodiscard]] bool whole() const;
};

/// All processes in their order. OpenSHMEM runs.
[[nodiscard]] Members all_members();

/// Keeps a quarter of the heap for transports of some of the processes, which cannot call shmem_malloc() by themselves.
/// Collective over all processes; once, when OpenSHMEM has been started.
void reserve_for_parts();

/// A block, or why there is none.
struct Symmetric {
  std::byte* data = nullptr;  ///< null for who is no member, too
  std::string error;          ///< the same on every rank; empty if there is a block
};
/// Zeroed memory at the same place of every member. The whole job gets it by shmem_malloc(), or where that has no room like
/// a part of it: from what is kept for parts.
///
/// Collective over the ranks of `highest`: the members, and perhaps others that help to reduce. When it returns nobody
/// writes zeros any more. The whole job may come without `highest`; it then has shmem_malloc() alone.
[[nodiscard]] Symmetric symmetric_zeros(const Members& members, std::uint64_t bytes, const Highest& highest);

/// Frees a block. Collective over its members. `barrier` completes what this rank has put and waits until all of them have;
/// it is called where the library does not do so by itself.
void free_symmetric(std::byte* data, const std::function<void()>& barrier);

}  // namespace merganser::comm::detail
