// requires: MPI
#include "src/kernels/families/mpi/rma_exchange.hpp"
#include "src/kernels/families/support/family.hpp"

/// One-sided, in one epoch for the life of the window; the targets are not told.
namespace merganser::kernels::detail {
namespace {

class PutFlush final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    put(buffer);
    check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
  }

 private:
  void count(comm::Counters& counters) const override { ++counters.syncs; }
};

class PutFlushLocal final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    put(buffer);
    check(MPI_Win_flush_local_all(win_), "MPI_Win_flush_local_all");
  }
  void settle() override {
    check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
    PutExchange::settle();
  }

 private:
  void count(comm::Counters& counters) const override { ++counters.syncs; }
};

/// As [neve] does: request-based puts, all requests waited for, then a flush.
class RputFlush final : public PutExchange {
 public:
  RputFlush(comm::Transport& control, const std::shared_ptr<Window>& window, ExchangePlan plan)
      : PutExchange(control, window, std::move(plan)), requests_(out_.size(), MPI_REQUEST_NULL) {}
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    int used = 0;
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_bytes_[arc] == 0) continue;
      const int bytes = mpi_count(out_bytes_[arc]);
      check(MPI_Rput(out_at(arc, buffer), bytes, MPI_BYTE, out_[arc], static_cast<MPI_Aint>(target_at(arc, buffer)),
                     bytes, MPI_BYTE, win_, &requests_[static_cast<std::size_t>(used++)]),
            "MPI_Rput");
    }
    check(MPI_Waitall(used, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
  }

 private:
  void count(comm::Counters& counters) const override { ++counters.syncs; }
  std::vector<MPI_Request> requests_;
};

/// An epoch per operation.
class Lock final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_bytes_[arc] == 0) continue;
      check(MPI_Win_lock(MPI_LOCK_SHARED, out_[arc], 0, win_), "MPI_Win_lock");
      put_one(arc, buffer);
      check(MPI_Win_unlock(out_[arc], win_), "MPI_Win_unlock");
    }
  }

 private:
  void count(comm::Counters& counters) const override {
    counters.epochs += counters.puts;
    counters.syncs += counters.puts;
  }
};

class Fence final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    check(MPI_Win_fence(MPI_MODE_NOPRECEDE, win_), "MPI_Win_fence");
    put(buffer);
    check(MPI_Win_fence(MPI_MODE_NOSUCCEED, win_), "MPI_Win_fence");
  }

 private:
  void count(comm::Counters& counters) const override {
    ++counters.epochs;
    counters.syncs += 2;
    counters.collectives += 2;
  }
};

class Get final : public WindowExchange {
 public:
  Get(comm::Transport& control, const std::shared_ptr<Window>& window, ExchangePlan plan)
      : WindowExchange(control, window, std::move(plan), {.sources = window->data()}) {}
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      if (in_bytes_[arc] == 0) continue;
      const int bytes = mpi_count(in_bytes_[arc]);
      check(MPI_Get(in_at(arc, buffer), bytes, MPI_BYTE, in_[arc], static_cast<MPI_Aint>(origin_at(arc, buffer)), bytes,
                    MPI_BYTE, win_),
            "MPI_Get");
    }
    check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
  }

 private:
  void count(comm::Counters& counters) const override { ++counters.syncs; }
};

template <class Kernel, Window::Use use>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  MpiGroup& group = mpi_group(control);
  const std::size_t bytes = plan.info->pulls ? plan.source_bytes() : plan.landing_bytes();
  auto window = make_window(control, group, bytes, use);
  return make_agreed<Kernel>(control, control, std::move(window), std::move(plan));
}
constexpr auto kOne = Window::Use::in_one_epoch;
constexpr auto kOwn = Window::Use::in_epochs_of_its_own;

constexpr KernelEntry kKernels[] = {
    {{"rma.put-flush", "rma", "MPI_Put, then MPI_Win_flush_all, in one epoch for ever", Completion::remote},
     make<PutFlush, kOne>,
     kMostMpiBytes},
    {{"rma.put-flush-local", "rma", "MPI_Put, then MPI_Win_flush_local_all, in one epoch for ever", Completion::local},
     make<PutFlushLocal, kOne>,
     kMostMpiBytes},
    {{"rma.rput-flush", "rma", "MPI_Rput, MPI_Waitall, MPI_Win_flush_all, in one epoch for ever", Completion::remote},
     make<RputFlush, kOne>,
     kMostMpiBytes},
    {{"rma.lock", "rma", "MPI_Win_lock (shared), MPI_Put, MPI_Win_unlock for every arc", Completion::remote},
     make<Lock, kOwn>,
     kMostMpiBytes},
    {{"rma.fence", "rma", "MPI_Win_fence, MPI_Put, MPI_Win_fence", Completion::global},
     make<Fence, kOwn>,
     kMostMpiBytes},
    {{"rma.get", "rma", "MPI_Get, then MPI_Win_flush_all, in one epoch for ever", Completion::remote, true},
     make<Get, kOne>,
     kMostMpiBytes},
};

}  // namespace

extern const KernelFamily rma_kernels;
const KernelFamily rma_kernels{kKernels, {}};

}  // namespace merganser::kernels::detail
