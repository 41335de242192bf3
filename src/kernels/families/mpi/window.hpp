#pragma once
/// Windows of kernels.
#include <mpi.h>

#include <memory>

#include "src/kernels/families/mpi/group.hpp"

namespace merganser::kernels::detail {

/// Zeroed memory that MPI allocated.
class Window final : public comm::detail::CollectiveResource {
 public:
  enum class Use { in_one_epoch, in_epochs_of_its_own };
  /// Collective over the group. What went wrong here is in error().
  Window(const MpiGroup& group, std::size_t bytes, Use use);

  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] MPI_Win handle() const noexcept { return window_; }
  [[nodiscard]] std::byte* data() const noexcept { return base_; }
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// Makes writes of others known here, and writes here known to others.
  void sync() { comm::detail::sync_window(window_, comm_, locked_); }
  void free() override;

 private:
  MPI_Comm comm_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* base_ = nullptr;
  bool locked_ = false;
  std::string error_;
};

/// Collective. @throws CommError on every rank
[[nodiscard]] std::shared_ptr<Window> make_window(comm::Transport& control, MpiGroup& group, std::size_t bytes,
                                                  Window::Use use);

}  // namespace merganser::kernels::detail
