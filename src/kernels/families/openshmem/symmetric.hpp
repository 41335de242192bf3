#pragma once
/// Symmetric memory of OpenSHMEM in which benchmark kernels exchange data.
#include <memory>

#include "merganser/comm/transport.hpp"
#include "src/comm/detail/collective_pool.hpp"

namespace merganser::kernels::detail {

/// Block of zeroed memory for a benchmark kernel at the same offset in the OpenSHMEM symmetric heap of every rank, of the largest
/// size that any rank passed.
class SymmetricBlock final : public comm::detail::CollectiveResource {
 public:
  /// Takes ownership of memory that shmem_align returned on every rank. Local.
  SymmetricBlock(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  /// Returns the address of the block of symmetric memory on this rank.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  /// Returns the size of the block of symmetric memory in bytes, equal on every rank.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Frees the symmetric memory (shmem_free). Collective over all processes; the pool calls it.
  void free() override;

 private:
  std::byte* data_;    // in the symmetric heap of this rank
  std::size_t bytes_;  // size of the block, equal on every rank
};

/// Allocates a block of symmetric memory, after freeing blocks that no rank uses any more; initialises OpenSHMEM if nothing has.
/// When it returns, the block of every rank is zero, so puts may begin. Collective.
/// @param bytes  least size on this rank, in bytes
/// @throws UsageError if `control` does not have all processes in their order, CommError if the heap is too small, with the size
/// that is needed; the same on every rank
[[nodiscard]] std::shared_ptr<SymmetricBlock> symmetric_block(comm::Transport& control, std::size_t bytes);

/// Returns a transport of OpenSHMEM on the ranks of `control`: `control` itself if it is of that model, else one of all processes
/// that is opened on the first call and ends with the library. Collective. @throws UsageError if `control` does not have all
/// processes in their order, the same on every rank
[[nodiscard]] comm::Transport& shmem_transport(comm::Transport& control);

}  // namespace merganser::kernels::detail
