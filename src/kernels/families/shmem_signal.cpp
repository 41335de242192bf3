// requires: OpenSHMEM
#include <chrono>
#include <cstring>

#include "merganser/base/error.hpp"
#include "src/kernels/families/openshmem/shmem_exchange.hpp"
#include "src/kernels/families/support/family.hpp"

/// Puts in symmetric memory, and the target is told by a word per in-arc that grows by one per iteration: nothing is
/// ever reset, and a sender that is ahead does no harm.
namespace merganser::kernels::detail {
namespace {

#if defined(SHMEM_MAJOR_VERSION) && (SHMEM_MAJOR_VERSION > 1 || (SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION >= 5))
#define MERGANSER_SHMEM_SIGNALS 1
#endif

class Signalled : public ShmemPutExchange {
 public:
  using ShmemPutExchange::ShmemPutExchange;
  [[nodiscard]] std::vector<int> missing() const override {
    return lacking([this](std::size_t arc, std::uint64_t epoch) {
      return std::atomic_ref(*my_signal(arc)).load(std::memory_order_relaxed) >= epoch;
    });
  }

 protected:
  [[nodiscard]] std::uint64_t* my_signal(std::size_t arc) const {
    return reinterpret_cast<std::uint64_t*>(block_->data() + plan_.flag(arc));
  }
  [[nodiscard]] std::uint64_t* their_signal(std::size_t arc) const {
    return reinterpret_cast<std::uint64_t*>(block_->data() + plan_.target_flag(arc));
  }
  void await_all(std::uint64_t epoch) {
    for (std::size_t arc = 0; arc < in_.size(); ++arc) await_word(my_signal(arc), epoch);
  }
};

class PutSignal final : public Signalled {
 public:
  using Signalled::Signalled;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    const std::uint64_t epoch = next_epoch();
    if (!out_.empty()) {
      for (std::size_t arc = 0; arc < out_.size(); ++arc) {
        if (out_bytes_[arc] == 0) continue;
        shmem_putmem(block_->data() + target_at(arc, buffer), out_at(arc, buffer), out_bytes_[arc], out_[arc]);
      }
      shmem_fence();
      for (std::size_t arc = 0; arc < out_.size(); ++arc) {
        if (!dropped(arc)) shmem_uint64_p(their_signal(arc), epoch, out_[arc]);
      }
    }
    await_all(epoch);
  }

 private:
  void count(comm::Counters& counters) const override {
    counters.puts += far_out();
    counters.syncs += out_.empty() ? 0 : 1;
  }
};

template <class Kernel>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  auto block = symmetric_block(control, plan.landing_and_flag_bytes());
  return make_agreed<Kernel>(control, control, std::move(block), std::move(plan));
}

#ifdef MERGANSER_SHMEM_SIGNALS

class PutSignalNative final : public Signalled {
 public:
  using Signalled::Signalled;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    const std::uint64_t epoch = next_epoch();
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      std::byte* to = block_->data() + target_at(arc, buffer);
      if (dropped(arc)) {
        shmem_putmem(to, out_at(arc, buffer), out_bytes_[arc], out_[arc]);
        continue;
      }
      shmem_putmem_signal(to, out_at(arc, buffer), out_bytes_[arc], their_signal(arc), epoch, SHMEM_SIGNAL_SET,
                          out_[arc]);
    }
    await_all(epoch);
  }

 private:
  void count(comm::Counters& counters) const override { counters.puts += far_out(); }
};

/// Some libraries declare the call and do nothing in it: a rank sends itself a signal and looks whether it comes.
void check_signals_work(comm::Transport& control) {
  const auto block = symmetric_block(control, 2 * kLine);
  auto* signal = reinterpret_cast<std::uint64_t*>(block->data() + kLine);
  const std::uint64_t sent = 42;
  shmem_putmem_signal(block->data(), &sent, sizeof sent, signal, 1, SHMEM_SIGNAL_SET, shmem_my_pe());
  shmem_quiet();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  bool came = false;
  while (!came && std::chrono::steady_clock::now() < until) came = shmem_uint64_test(signal, SHMEM_CMP_EQ, 1) != 0;
  came = came && std::memcmp(block->data(), &sent, sizeof sent) == 0;
  agree(control, [&] {
    if (!came) throw CommError("shmem_putmem_signal is declared by this OpenSHMEM, but does nothing");
  });
}

std::unique_ptr<Exchange> make_native(comm::Transport& control, ExchangePlan&& plan) {
  check_signals_work(control);
  return make<PutSignalNative>(control, std::move(plan));
}

#else

std::unique_ptr<Exchange> make_native(comm::Transport& control, ExchangePlan&&) {
  agree(control, [] {
    throw CommError("shmem_putmem_signal is not in OpenSHMEM " + std::to_string(SHMEM_MAJOR_VERSION) + "." +
                    std::to_string(SHMEM_MINOR_VERSION) + "; 1.5 has it");
  });
  return nullptr;
}

#endif

constexpr KernelEntry kKernels[] = {
    {{"shmem.put-signal", "shmem", "shmem_putmem, shmem_fence, a put of a word that the target watches",
      Completion::notified},
     make<PutSignal>},
    {{"shmem.put-signal-native", "shmem", "shmem_putmem_signal, then the signals are waited for", Completion::notified},
     make_native},
};

}  // namespace

extern const KernelFamily shmem_signal_kernels;
const KernelFamily shmem_signal_kernels{kKernels, {}};

}  // namespace merganser::kernels::detail
