// requires: MPI
// MPI windows for the landing and source zones of one-sided benchmark kernels: allocation, agreement on errors, release.
#include "src/kernels/families/mpi/window.hpp"

#include <cstdint>
#include <cstring>

#include "merganser/base/error.hpp"
#include "src/comm/detail/scoped_yield.hpp"
#include "src/kernels/families/support/plan.hpp"

namespace merganser::kernels::detail {

// Allocates the MPI window of a one-sided kernel. A failure is only noted, since the other ranks are in the same collective call.
Window::Window(const MpiGroup& group, std::size_t bytes, Use use) : comm_(group.comm) {
  const MPI_Aint size = comm::detail::window_bytes(bytes + kLine);
  const comm::detail::ScopedYield yield;
  try {
    check(MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm_, &base_, &window_), "MPI_Win_allocate");
  } catch (const CommError& e) {
    window_ = MPI_WIN_NULL;
    error_ = "rma: a window of " + std::to_string(size) + " bytes: " + e.what() +
             "; with Open MPI 4 set OMPI_MCA_osc=sm,rdma,pt2pt";
    return;
  }
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  // Zones start at a cache line, which the allocation of one line more allows on every rank.
  shift_ = (kLine - reinterpret_cast<std::uintptr_t>(base_) % kLine) % kLine;
  std::memset(base_, 0, static_cast<std::size_t>(size));
  if (use == Use::in_one_epoch) {
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    locked_ = true;
  }
}

// Ends the passive epoch of the MPI window, if it has one, and frees the window. Collective over its ranks.
void Window::free() {
  if (window_ == MPI_WIN_NULL) return;
  const comm::detail::ScopedYield yield;
  if (locked_) check(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
  check(MPI_Win_free(&window_), "MPI_Win_free");
}

// Makes the MPI window of a one-sided kernel, with the errors of all ranks agreed upon. Collective.
std::shared_ptr<Window> make_window(comm::Transport& control, MpiGroup& group, std::size_t bytes, Window::Use use) {
  free_unused(control, group.pool);
  auto window = std::make_shared<Window>(group, bytes, use);
  // This synchronises too: every window is zeroed before any rank puts. A window that failed on one rank is not freed, since that
  // is collective.
  agree(control, [&] {
    if (!window->error().empty()) throw CommError(window->error());
  });
  return group.pool.add(std::move(window));
}

}  // namespace merganser::kernels::detail
