// requires: OpenSHMEM
// Blocks of OpenSHMEM symmetric memory for the zones and signals of benchmark kernels.
#include "src/kernels/families/openshmem/symmetric.hpp"

#include <shmem.h>

#include <bit>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/backends/openshmem/library.hpp"

namespace merganser::kernels::detail {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;  // bytes of a MiB, the unit of the heap size setting

/// Returns the pool of the blocks of symmetric memory of kernels, which all ranks hold and free together.
comm::detail::CollectivePool& pool() {
  static comm::detail::CollectivePool of_all_ranks;
  return of_all_ranks;
}

/// Returns a setting of the size of the OpenSHMEM symmetric heap, in MiB, that suffices for `bytes` bytes more: libraries may round
/// blocks up to powers of two, and fragment the heap.
std::string heap_needed(std::size_t bytes) {
  const std::size_t needed = std::bit_ceil(std::max(comm::detail::heap_bytes(), kMega) + 2 * std::bit_ceil(bytes));
  return std::to_string(needed / kMega) + "M";
}

/// Checks that `control` has all processes of the job in their order: shmem_align is collective over all. @throws UsageError
/// otherwise
void check_world_is_control(const comm::Transport& control) {
  const comm::World world = comm::launcher_world();
  if (control.size() == world.size && control.rank() == world.rank) return;
  throw UsageError("shmem: the symmetric heap belongs to all " + std::to_string(world.size) +
                   " processes; kernels over " + std::to_string(control.size()) + " of them are not possible");
}

}  // namespace

// Frees the block of OpenSHMEM symmetric memory. Collective over all processes.
void SymmetricBlock::free() { shmem_free(data_); }

// Allocates the memory of an OpenSHMEM kernel: the largest size of all ranks everywhere, since symmetric memory demands it.
std::shared_ptr<SymmetricBlock> symmetric_block(comm::Transport& control, std::size_t bytes) {
  agree(control, [&] { check_world_is_control(control); });
  agree(control, [] { comm::detail::start_shmem(); });
  pool().free_unused([&](std::span<std::int64_t> values) { control.all_reduce(values, comm::Op::sum); });
  const auto most = static_cast<std::size_t>(
      control.all_reduce(static_cast<std::int64_t>(std::max<std::size_t>(bytes, 64)), comm::Op::max));
  auto* data = static_cast<std::byte*>(shmem_align(64, most));
  if (data != nullptr) std::memset(data, 0, most);
  agree(control, [&] {  // synchronises too: every block is zeroed before any rank puts
    if (data != nullptr) return;
    throw CommError("shmem: the symmetric heap has no room for " + std::to_string(most) + " bytes more; set " +
                    comm::detail::heap_setting().name + " to at least " + heap_needed(most) + " (it is " +
                    comm::detail::heap_setting().value + ")");
  });
  return pool().add(std::make_shared<SymmetricBlock>(data, most));
}

// Returns a transport of OpenSHMEM over all processes, which the first call opens. Never destroyed: the library ends it.
comm::Transport& shmem_transport(comm::Transport& control) {
  agree(control, [&] { check_world_is_control(control); });
  if (control.name() == "shmem") return control;
  static auto* session = new comm::Session({.backend = "shmem"});
  return session->transport();
}

}  // namespace merganser::kernels::detail
