// requires: OpenSHMEM
#include "src/kernels/families/openshmem/shmem_exchange.hpp"
#include "src/kernels/families/support/family.hpp"

/// Puts and gets in symmetric memory; the targets are not told, or all wait for all.
namespace merganser::kernels::detail {
namespace {

class PutQuiet final : public ShmemPutExchange {
 public:
  using ShmemPutExchange::ShmemPutExchange;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    put_nbi(buffer);
    shmem_quiet();
  }

 private:
  void count(comm::Counters& counters) const override { ++counters.syncs; }
};

class PutBarrier final : public ShmemPutExchange {
 public:
  using ShmemPutExchange::ShmemPutExchange;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    put_nbi(buffer);
    shmem_barrier_all();
  }

 private:
  void count(comm::Counters& counters) const override {
    ++counters.syncs;
    ++counters.collectives;
  }
};

class Get final : public ShmemExchange {
 public:
  Get(comm::Transport& control, const std::shared_ptr<SymmetricBlock>& block, ExchangePlan plan)
      : ShmemExchange(control, block, std::move(plan), {.sources = block->data()}) {}
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      if (in_bytes_[arc] == 0) continue;
      shmem_getmem_nbi(in_at(arc, buffer), block_->data() + origin_at(arc, buffer), in_bytes_[arc], in_[arc]);
    }
    shmem_quiet();
  }

 private:
  void count(comm::Counters& counters) const override { ++counters.syncs; }
};

template <class Kernel>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  auto block = symmetric_block(control, plan.info->pulls ? plan.source_bytes() : plan.landing_bytes());
  return make_agreed<Kernel>(control, control, std::move(block), std::move(plan));
}

/// ceil(log2(ranks)) rounds of one word each.
class WordStart final : public Start {
 public:
  WordStart(comm::Transport& control, std::shared_ptr<SymmetricBlock> block)
      : block_(std::move(block)), rank_(control.rank()), size_(control.size()) {}

  void wait() override {
    ++epoch_;
    std::size_t round = 0;
    for (int step = 1; step < size_; step *= 2, ++round) {
      shmem_uint64_p(word(round), epoch_, (rank_ + step) % size_);
      waits_for_.store((rank_ - step + size_) % size_, std::memory_order_relaxed);
      await_word(word(round), epoch_);
    }
    waits_for_.store(-1, std::memory_order_relaxed);
  }
  [[nodiscard]] int waits_for() const override { return waits_for_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::uint64_t* word(std::size_t round) {
    return reinterpret_cast<std::uint64_t*>(block_->data() + round * kLine);
  }
  std::shared_ptr<SymmetricBlock> block_;
  int rank_;
  int size_;
  std::uint64_t epoch_ = 0;
  std::atomic<int> waits_for_{-1};
};

std::unique_ptr<Start> make_word_start(comm::Transport& control) {
  constexpr std::size_t kRounds = 32;
  auto block = symmetric_block(control, kRounds * kLine);
  return make_agreed<WordStart>(control, control, std::move(block));
}

constexpr KernelEntry kKernels[] = {
    {{"shmem.put-quiet", "shmem", "shmem_putmem_nbi, then shmem_quiet", Completion::remote}, make<PutQuiet>},
    {{"shmem.put-barrier", "shmem", "shmem_putmem_nbi, then shmem_barrier_all", Completion::global}, make<PutBarrier>},
    {{"shmem.get", "shmem", "shmem_getmem_nbi, then shmem_quiet", Completion::remote, true}, make<Get>},
};
constexpr StartEntry kStarts[] = {{"shmem", make_word_start}};

}  // namespace

extern const KernelFamily shmem_kernels;
const KernelFamily shmem_kernels{kKernels, kStarts};

}  // namespace merganser::kernels::detail
