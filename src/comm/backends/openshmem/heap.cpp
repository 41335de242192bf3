// requires: OpenSHMEM
#include "src/comm/backends/openshmem/heap.hpp"

#include <shmem.h>

#include <array>
#include <cstring>
#include <numeric>

#include "src/comm/backends/openshmem/library.hpp"
#include "src/comm/backends/openshmem/puts.hpp"

namespace merganser::comm::detail {
namespace {

constexpr std::size_t kShare = 4;  // of the heap one part in so many is for transports of some of the ranks

/// What is kept for parts, at the same place of every process. Each knows what it has taken of its own.
struct Kept {
  std::byte* data = nullptr;
  Ranges ranges;

  [[nodiscard]] bool holds(const std::byte* block) const {
    return data != nullptr && block >= data && block < data + ranges.bytes();
  }
};
Kept& kept() {
  static Kept of_this_process;
  return of_this_process;
}

std::string more_room() { return "set " + heap_setting().name + " higher (it is " + heap_setting().value + ")"; }

std::string no_room(std::uint64_t bytes) {
  return "shmem: the symmetric heap has no room for " + std::to_string(bytes) + " bytes more; " + more_room();
}

std::string no_room(const Members& members, std::uint64_t bytes, std::uint64_t room) {
  return "shmem: no room for " + std::to_string(bytes) + " bytes more at one place of all " +
         std::to_string(members.pes.size()) + " ranks: " + std::to_string(kept().ranges.bytes()) +
         " bytes of the symmetric heap, a quarter of it, are for transports of some of the ranks, and who has least "
         "left has " +
         std::to_string(room) + " of them in one piece; " + more_room();
}

Symmetric zeros_of_all(std::uint64_t bytes) {
  const ShmemCall call;
  auto* data = static_cast<std::byte*>(shmem_malloc(bytes));
  if (data == nullptr) return {nullptr, no_room(bytes)};
  std::memset(data, 0, bytes);
  shmem_barrier_all();
  return {data, ""};
}

Symmetric zeros_of_part(const Members& members, std::uint64_t bytes, const Highest& highest) {
  Ranges* mine = members.mine() ? &kept().ranges : nullptr;
  const std::uint64_t at = common_place(mine, bytes, highest);
  if (at == Ranges::kNowhere) return {nullptr, no_room(members, bytes, common_room(mine, highest))};
  std::byte* data = nullptr;
  if (mine != nullptr) {
    mine->take(at, bytes);
    data = kept().data + at;
    std::memset(data, 0, bytes);
    shmem_fence();  // the zeros arrive before what others put after this is known to them
  }
  std::uint64_t done = 1;
  highest({&done, 1});
  return {data, ""};
}

}  // namespace

bool Members::whole() const { return pes.size() == static_cast<std::size_t>(shmem_n_pes()); }

Members all_members() {
  Members all{shmem_my_pe(), std::vector<int>(static_cast<std::size_t>(shmem_n_pes()))};
  std::iota(all.pes.begin(), all.pes.end(), 0);
  return all;
}

void reserve_for_parts() {
  const std::size_t bytes = heap_bytes() / kShare;
  auto* data = static_cast<std::byte*>(shmem_align(Ranges::kLine, bytes));
  if (data != nullptr) kept() = {data, Ranges(bytes)};
}

Symmetric symmetric_zeros(const Members& members, std::uint64_t bytes, const Highest& highest) {
  if (!members.whole()) return zeros_of_part(members, bytes, highest);
  Symmetric found = zeros_of_all(bytes);
  if (found.data != nullptr || !highest) return found;
  const Symmetric kept_for_parts = zeros_of_part(members, bytes, highest);
  return kept_for_parts.error.empty() ? kept_for_parts : found;
}

void free_symmetric(std::byte* data, const std::function<void()>& barrier) {
  if (!kept().holds(data)) {
    const ShmemCall call;
    return shmem_free(data);
  }
  barrier();
  kept().ranges.give(static_cast<std::uint64_t>(data - kept().data));
}

}  // namespace merganser::comm::detail
