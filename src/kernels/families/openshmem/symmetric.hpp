#pragma once
/// Symmetric memory of kernels.
#include <memory>

#include "merganser/comm/transport.hpp"
#include "src/comm/detail/collective_pool.hpp"

namespace merganser::kernels::detail {

/// Zeroed memory at the same place of every rank's heap, of the largest size that a rank asks for.
class SymmetricBlock final : public comm::detail::CollectiveResource {
 public:
  SymmetricBlock(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  void free() override;

 private:
  std::byte* data_;
  std::size_t bytes_;
};

/// Starts OpenSHMEM where nobody has. Collective.
/// @throws UsageError where `control` is not of all processes, CommError where the heap has no room; on every rank
[[nodiscard]] std::shared_ptr<SymmetricBlock> symmetric_block(comm::Transport& control, std::size_t bytes);

}  // namespace merganser::kernels::detail
