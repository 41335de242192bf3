// requires: OpenSHMEM
// Allocation of symmetric memory of the model shmem. A part of the job cannot call shmem_malloc(), a collective of all processes,
// so it allocates from memory that all processes reserved at the start, and agrees on an offset that is free on every member.
#include "src/comm/backends/openshmem/heap.hpp"

#include <shmem.h>

#include <array>
#include <cstring>
#include <numeric>

#include "src/comm/backends/openshmem/library.hpp"
#include "src/comm/backends/openshmem/puts.hpp"

namespace merganser::comm::detail {
namespace {

constexpr std::size_t kShare = 4;  // 1 / kShare of the heap is for transports of some of the ranks

/// Symmetric memory reserved for parts of the job, at the same address of every process. Each process stores its own
/// allocations only.
struct ReservedMemory {
  std::byte* data = nullptr;  // first byte of the reserved memory; null if none could be reserved
  Ranges ranges;              // this process's allocations in it

  /// Returns true if a block of symmetric memory is in the reserved memory, false if shmem_malloc() allocated it.
  [[nodiscard]] bool holds(const std::byte* block) const {
    return data != nullptr && block >= data && block < data + ranges.bytes();
  }
};
/// Returns this process's symmetric memory that is reserved for transports of a part of the job.
ReservedMemory& kept() {
  static ReservedMemory of_this_process;
  return of_this_process;
}

/// Returns the advice in errors of a full symmetric heap: the environment variable to set and its present value.
std::string heap_advice() { return "set " + heap_setting().name + " higher (it is " + heap_setting().value + ")"; }

/// Returns the error text of an allocation of `bytes` bytes of symmetric memory for the whole job.
std::string no_space_error(std::uint64_t bytes) {
  return "shmem: the symmetric heap has no room for " + std::to_string(bytes) + " bytes more; " + heap_advice();
}

/// Returns the error text of an allocation of `bytes` bytes of symmetric memory for a part of the job.
/// @param room  size in bytes of the largest free block on the member where that is least
std::string no_space_error(const Members& members, std::uint64_t bytes, std::uint64_t room) {
  return "shmem: no room for " + std::to_string(bytes) + " bytes more at one place of all " +
         std::to_string(members.pes.size()) + " ranks: " + std::to_string(kept().ranges.bytes()) +
         " bytes of the symmetric heap, a quarter of it, are for transports of some of the ranks, and who has least "
         "left has " +
         std::to_string(room) + " of them in one piece; " + heap_advice();
}

/// Allocates zeroed symmetric memory for the whole job by shmem_malloc(). Collective over all processes.
Symmetric zeros_of_all(std::uint64_t bytes) {
  const ShmemCall call;
  auto* data = static_cast<std::byte*>(shmem_malloc(bytes));
  if (data == nullptr) return {nullptr, no_space_error(bytes)};
  std::memset(data, 0, bytes);
  shmem_barrier_all();
  return {data, ""};
}

/// Allocates zeroed symmetric memory for a part of the job, at one offset of the reserved memory of all members. Collective over
/// the ranks of `highest`.
Symmetric zeros_of_part(const Members& members, std::uint64_t bytes, const Highest& highest) {
  Ranges* mine = members.mine() ? &kept().ranges : nullptr;
  const std::uint64_t at = find_common_offset(mine, bytes, highest);
  if (at == Ranges::kNowhere) return {nullptr, no_space_error(members, bytes, find_common_capacity(mine, highest))};
  std::byte* data = nullptr;
  if (mine != nullptr) {
    mine->reserve(at, bytes);
    data = kept().data + at;
    std::memset(data, 0, bytes);
    shmem_fence();  // the zeros are visible before puts of others that follow the reduction below
  }
  std::uint64_t done = 1;
  highest({&done, 1});  // serves as a barrier of the ranks
  return {data, ""};
}

}  // namespace

bool Members::whole() const { return pes.size() == static_cast<std::size_t>(shmem_n_pes()); }

Members all_members() {
  Members all{shmem_my_pe(), std::vector<int>(static_cast<std::size_t>(shmem_n_pes()))};
  std::iota(all.pes.begin(), all.pes.end(), 0);
  return all;
}

// Reservation at start-up, since only then all processes are sure to take part.
void reserve_for_parts() {
  const std::size_t bytes = heap_bytes() / kShare;
  auto* data = static_cast<std::byte*>(shmem_align(Ranges::kLine, bytes));
  if (data != nullptr) kept() = {data, Ranges(bytes)};
}

// Allocation of symmetric memory: shmem_malloc() is collective over all processes, so a part of the job uses reserved
// memory.
Symmetric symmetric_zeros(const Members& members, std::uint64_t bytes, const Highest& highest) {
  if (!members.whole()) return zeros_of_part(members, bytes, highest);
  Symmetric found = zeros_of_all(bytes);
  if (found.data != nullptr || !highest) return found;
  const Symmetric kept_for_parts = zeros_of_part(members, bytes, highest);
  return kept_for_parts.error.empty() ? kept_for_parts : found;
}

// Release of symmetric memory; in reserved memory a barrier ensures that no put to the block is in flight.
void free_symmetric(std::byte* data, const std::function<void()>& barrier) {
  if (!kept().holds(data)) {
    const ShmemCall call;
    return shmem_free(data);
  }
  barrier();
  kept().ranges.release(static_cast<std::uint64_t>(data - kept().data));
}

}  // namespace merganser::comm::detail
