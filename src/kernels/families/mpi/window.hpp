#pragma once
/// MPI windows of kernels.
#include <mpi.h>

#include <memory>

#include "src/kernels/families/mpi/group.hpp"

namespace merganser::kernels::detail {

/// Window of zeroed memory that MPI allocated (MPI_Win_allocate), used from its first cache line on: MPI promises no alignment.
class Window final : public comm::detail::CollectiveResource {
 public:
  /// Synchronisation of the kernel: one passive epoch (MPI_Win_lock_all) for the lifetime of the window, or epochs of the kernel.
  enum class Use { in_one_epoch, in_epochs_of_its_own };
  /// Allocates a window. Collective over the group; does not throw if the library cannot, but sets error() on this rank.
  Window(const MpiGroup& group, std::size_t bytes, Use use);

  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] MPI_Win handle() const noexcept { return window_; }
  [[nodiscard]] std::byte* data() const noexcept { return base_ + shift_; }
  /// Returns the displacement of data() in the window of this rank, in bytes; it may differ from rank to rank.
  [[nodiscard]] std::size_t shift() const noexcept { return shift_; }
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// Makes puts of other ranks visible to loads of this rank, and stores of this rank visible to gets of others.
  void sync() { comm::detail::sync_window(window_, comm_, locked_); }
  void free() override;

 private:
  MPI_Comm comm_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* base_ = nullptr;
  std::size_t shift_ = 0;
  bool locked_ = false;
  std::string error_;
};

/// Allocates a window of zeroed memory, after freeing windows that no rank uses any more. When it returns, the memory of every rank
/// is zero, so puts may begin. Collective. @throws CommError on every rank if a rank could not allocate its part
[[nodiscard]] std::shared_ptr<Window> make_window(comm::Transport& control, MpiGroup& group, std::size_t bytes,
                                                  Window::Use use);

}  // namespace merganser::kernels::detail
