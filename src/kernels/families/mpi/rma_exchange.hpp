#pragma once
/// What the kernels over windows share.
#include "src/kernels/families/mpi/mpi_exchange.hpp"
#include "src/kernels/families/mpi/window.hpp"

namespace merganser::kernels::detail {

class WindowExchange : public ExchangeBase {
 public:
  void settle() override {
    window_->sync();
    control_.barrier();
    window_->sync();
  }

 protected:
  WindowExchange(comm::Transport& control, std::shared_ptr<Window> window, ExchangePlan plan, Places places)
      : ExchangeBase(control, std::move(plan), places), window_(std::move(window)), win_(window_->handle()) {}

  std::shared_ptr<Window> window_;
  MPI_Win win_;
};

/// Landing zones lie in the window.
class PutExchange : public WindowExchange {
 public:
  PutExchange(comm::Transport& control, const std::shared_ptr<Window>& window, ExchangePlan plan)
      : WindowExchange(control, window, std::move(plan), {.landings = window->data()}) {}

 protected:
  void put_one(std::size_t arc, std::size_t buffer) {
    const int bytes = mpi_count(out_bytes_[arc]);
    check(MPI_Put(out_at(arc, buffer), bytes, MPI_BYTE, out_[arc], static_cast<MPI_Aint>(target_at(arc, buffer)), bytes,
                  MPI_BYTE, win_),
          "MPI_Put");
  }
  void put(std::size_t buffer) {
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_bytes_[arc] != 0) put_one(arc, buffer);
    }
  }
};

}  // namespace merganser::kernels::detail
