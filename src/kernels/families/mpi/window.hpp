#pragma once
/// MPI windows in which one-sided benchmark kernels exchange data.
#include <mpi.h>

#include <memory>

#include "src/kernels/families/mpi/group.hpp"

namespace merganser::kernels::detail {

/// MPI window of a benchmark kernel: zeroed memory that MPI allocated (MPI_Win_allocate), used from its first cache line on, since
/// MPI promises no alignment.
class Window final : public comm::detail::CollectiveResource {
 public:
  /// Synchronisation of the kernel that uses the window: one passive epoch (MPI_Win_lock_all) for the lifetime of the window, or
  /// epochs of the kernel.
  enum class Use { in_one_epoch, in_epochs_of_its_own };
  /// Allocates an MPI window with `bytes` bytes on this rank. Collective over the group; does not throw if the library cannot, but
  /// sets error() on this rank.
  Window(const MpiGroup& group, std::size_t bytes, Use use);

  /// Returns the error of the MPI library if it could not allocate the window on this rank; empty if it could.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// Returns the MPI handle of the window, which this object owns.
  [[nodiscard]] MPI_Win handle() const noexcept { return window_; }
  /// Returns the window memory of this rank from its first cache line on.
  [[nodiscard]] std::byte* data() const noexcept { return base_ + shift_; }
  /// Returns the displacement of data() in the window of this rank, in bytes; it may differ from rank to rank.
  [[nodiscard]] std::size_t shift() const noexcept { return shift_; }
  /// Returns the communicator of the ranks that share the MPI window.
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// Makes puts of other ranks visible to loads of this rank, and stores of this rank visible to gets of others.
  void sync() { comm::detail::sync_window(window_, comm_, locked_); }
  /// Frees the MPI window. Collective over its ranks; the pool calls it.
  void free() override;

 private:
  MPI_Comm comm_;                  // communicator that the window was allocated on, not owned
  MPI_Win window_ = MPI_WIN_NULL;  // null if the allocation failed
  std::byte* base_ = nullptr;      // memory of this rank as MPI allocated it
  std::size_t shift_ = 0;          // bytes from base_ to its first cache line
  bool locked_ = false;            // the passive epoch of MPI_Win_lock_all is open
  std::string error_;              // error of the allocation on this rank; empty: none
};

/// Allocates an MPI window of zeroed memory for a benchmark kernel, after freeing windows that no rank uses any more. When it
/// returns, the memory of every rank is zero, so puts may begin. Collective. @throws CommError on every rank if a rank could not
/// allocate its part
[[nodiscard]] std::shared_ptr<Window> make_window(comm::Transport& control, MpiGroup& group, std::size_t bytes,
                                                  Window::Use use);

}  // namespace merganser::kernels::detail
