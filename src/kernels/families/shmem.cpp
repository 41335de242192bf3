// requires: OpenSHMEM
#include <shmem.h>

#include <chrono>
#include <cstring>

#include "merganser/base/detail/shared_word.hpp"
#include "merganser/base/error.hpp"
#include "src/kernels/families/openshmem/symmetric.hpp"
#include "src/kernels/families/support/exchange_base.hpp"
#include "src/kernels/families/support/family.hpp"
#include "src/kernels/families/support/transport_exchange.hpp"

#if defined(SHMEM_MAJOR_VERSION) && (SHMEM_MAJOR_VERSION > 1 || (SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION >= 5))
#define MERGANSER_SHMEM_1_5 1
#endif

/// Exchange kernels by puts, gets and signals of OpenSHMEM in symmetric memory, the synchronised start by words, and the
/// all-gather.
namespace merganser::kernels::detail {
namespace {

/// Base of the exchange kernels by OpenSHMEM: source or landing zones of this rank lie in symmetric memory.
class ShmemExchange : public ExchangeBase {
 public:
  /// Completes all puts of all ranks by an OpenSHMEM barrier, which also makes stores into source zones visible. Collective.
  void quiesce() override {
    shmem_barrier_all();  // completes all puts of all ranks, and makes stores of this rank visible
    control_.barrier();
  }

 protected:
  /// Keeps the symmetric memory, in which the zones named in `places` lie, and allocates the others. Local.
  ShmemExchange(comm::Transport& control, std::shared_ptr<SymmetricBlock> block, ExchangePlan plan, Places places)
      : ExchangeBase(control, std::move(plan), places), block_(std::move(block)) {}
  std::shared_ptr<SymmetricBlock> block_;  // symmetric memory of the zones that other ranks access

 private:
  /// Counts the shmem_quiet that ends an iteration of an OpenSHMEM kernel.
  void count(comm::Counters& counters) const override { ++counters.syncs; }
};

/// Base of the exchange kernels by OpenSHMEM puts into the landing zones of the out-neighbours, which lie in symmetric memory.
class ShmemPutExchange : public ShmemExchange {
 public:
  /// Places the landing zones of this rank in symmetric memory and allocates its source zones. Local.
  ShmemPutExchange(comm::Transport& control, const std::shared_ptr<SymmetricBlock>& block, ExchangePlan plan)
      : ShmemExchange(control, block, std::move(plan), {.landings = block->data()}) {}

 protected:
  /// Issues shmem_putmem_nbi for all out-arcs that carry data; the puts are complete after shmem_quiet or a barrier.
  void put_nbi(std::size_t buffer) {
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_bytes_[arc] == 0) continue;
      shmem_putmem_nbi(block_->data() + target_at(arc, buffer), out_at(arc, buffer), out_bytes_[arc], out_[arc]);
    }
  }
};

/// Waits until a word of symmetric memory that another rank puts is at least `value`. Not by a loop of shmem_uint64_test: in Open
/// MPI that does not drive the progress of MPI, so a rank whose put into a window needs the help of this rank would block for ever.
void await_word(std::uint64_t* word, std::uint64_t value) { shmem_uint64_wait_until(word, SHMEM_CMP_GE, value); }

/// Exchange kernel by non-blocking OpenSHMEM puts, then shmem_quiet: the data has arrived at the targets.
class PutQuiet final : public ShmemPutExchange {
 public:
  using ShmemPutExchange::ShmemPutExchange;
  /// Makes one exchange: non-blocking puts on all out-arcs, then shmem_quiet.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    put_nbi(buffer);
    shmem_quiet();
  }
};

/// Exchange kernel by non-blocking OpenSHMEM puts, then a barrier of all ranks (shmem_barrier_all), which completes them.
class PutBarrier final : public ShmemPutExchange {
 public:
  using ShmemPutExchange::ShmemPutExchange;
  /// Makes one exchange: non-blocking puts on all out-arcs, then a barrier of all ranks. Collective.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    put_nbi(buffer);
    shmem_barrier_all();
  }

 private:
  /// Counts the barrier of an iteration, which is one synchronisation and one collective.
  void count(comm::Counters& counters) const override {
    ++counters.syncs;
    ++counters.collectives;
  }
};

/// Exchange kernel by non-blocking OpenSHMEM gets from the source zones of the in-neighbours in symmetric memory, then shmem_quiet.
class GetQuiet final : public ShmemExchange {
 public:
  /// Places the source zones of this rank in symmetric memory and allocates its landing zones. Local.
  GetQuiet(comm::Transport& control, const std::shared_ptr<SymmetricBlock>& block, ExchangePlan plan)
      : ShmemExchange(control, block, std::move(plan), {.sources = block->data()}) {}
  /// Makes one exchange: non-blocking gets on all in-arcs, then shmem_quiet.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      if (in_bytes_[arc] == 0) continue;
      shmem_getmem_nbi(in_at(arc, buffer), block_->data() + origin_at(arc, buffer), in_bytes_[arc], in_[arc]);
    }
    shmem_quiet();
  }
};

/// Base of the exchange kernels by OpenSHMEM puts with a signal: a word per in-arc to which the sender puts the number of the
/// iteration. The number only grows, so no word is ever reset, and a sender that is one iteration ahead does no harm.
class SignalledPut : public ShmemPutExchange {
 public:
  using ShmemPutExchange::ShmemPutExchange;
  /// Returns the in-neighbours whose signal of the running iteration has not arrived. Another thread may call it.
  [[nodiscard]] std::vector<int> missing() const override {
    return lacking([this](std::size_t arc, std::uint64_t epoch) {
      return merganser::detail::load_word(*my_signal(arc), std::memory_order_relaxed) >= epoch;
    });
  }

 protected:
  /// Returns the address of the signal word of an in-arc, in the symmetric memory of this rank.
  [[nodiscard]] std::uint64_t* my_signal(std::size_t arc) const {
    return reinterpret_cast<std::uint64_t*>(block_->data() + plan_.flag(arc));
  }
  /// Returns the address of the signal word of an out-arc on the out-neighbour; symmetric memory has one address on all ranks.
  [[nodiscard]] std::uint64_t* their_signal(std::size_t arc) const {
    return reinterpret_cast<std::uint64_t*>(block_->data() + plan_.target_flag(arc));
  }
  /// Waits until the signals of all in-arcs have reached the number of this iteration.
  void await_all(std::uint64_t epoch) {
    for (std::size_t arc = 0; arc < in_.size(); ++arc) await_word(my_signal(arc), epoch);
  }
};

/// Exchange kernel by blocking OpenSHMEM puts of the data, a fence, then puts of the signal words, which the targets wait for.
class PutSignal final : public SignalledPut {
 public:
  using SignalledPut::SignalledPut;
  /// Makes one exchange: puts, a fence, puts of the signal words, then waits for the signals of all in-arcs.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    const std::uint64_t epoch = next_epoch();
    if (!out_.empty()) {
      for (std::size_t arc = 0; arc < out_.size(); ++arc) {
        if (out_bytes_[arc] == 0) continue;
        shmem_putmem(block_->data() + target_at(arc, buffer), out_at(arc, buffer), out_bytes_[arc], out_[arc]);
      }
      shmem_fence();  // orders puts to the same target: the signal arrives after the data
      for (std::size_t arc = 0; arc < out_.size(); ++arc) {
        if (!dropped(arc)) shmem_uint64_p(their_signal(arc), epoch, out_[arc]);
      }
    }
    await_all(epoch);
  }

 private:
  /// Counts the puts of the signal words, and the fence of an iteration with out-arcs.
  void count(comm::Counters& counters) const override {
    counters.puts += far_out();
    counters.syncs += out_.empty() ? 0 : 1;
  }
};

/// Makes an exchange kernel by OpenSHMEM: symmetric memory first, on every rank, then the exchange in it. Collective.
template <class Kernel>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  auto block = symmetric_block(control, plan.far_bytes());
  return make_agreed<Kernel>(control, control, std::move(block), std::move(plan));
}

#ifdef MERGANSER_SHMEM_1_5

/// Exchange kernel by the puts with signal of OpenSHMEM 1.5 (shmem_putmem_signal), whose signals the targets wait for.
class PutSignalNative final : public SignalledPut {
 public:
  using SignalledPut::SignalledPut;
  /// Makes one exchange: a put with signal on each out-arc, then waits for the signals of all in-arcs.
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
  /// Counts the signal of each put as a put of its own.
  void count(comm::Counters& counters) const override { counters.puts += far_out(); }
};

/// Checks that shmem_putmem_signal works, since some libraries declare it and do nothing in it: a rank puts a signal to itself and
/// polls for it up to one second. Collective. @throws CommError on every rank if it does not arrive
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

/// Makes the exchange kernel by shmem_putmem_signal, after a check that the library implements it. Collective.
std::unique_ptr<Exchange> make_native(comm::Transport& control, ExchangePlan&& plan) {
  check_signals_work(control);
  return make<PutSignalNative>(control, std::move(plan));
}

#else

/// Refuses the exchange kernel by shmem_putmem_signal, which OpenSHMEM before 1.5 lacks. Collective. @throws CommError on every
/// rank
std::unique_ptr<Exchange> make_native(comm::Transport& control, ExchangePlan&&) {
  agree(control, [] {
    throw CommError("shmem_putmem_signal is not in OpenSHMEM " + std::to_string(SHMEM_MAJOR_VERSION) + "." +
                    std::to_string(SHMEM_MINOR_VERSION) + "; 1.5 has it");
  });
  return nullptr;
}

#endif

/// Synchronised start of a measurement over OpenSHMEM by a dissemination barrier, with one word per round. In round k a rank puts
/// the number of the barrier to the rank 2^k above it, and waits for the word of the rank 2^k below.
class WordStart final : public Start {
 public:
  WordStart(comm::Transport& control, std::shared_ptr<SymmetricBlock> block)
      : block_(std::move(block)), rank_(control.rank()), size_(control.size()) {}

  /// Runs the dissemination barrier: ceil(log2(ranks)) rounds of one put word each. Collective.
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
  /// Returns the word of a round of the barrier, on a cache line of its own at the same address on every rank.
  [[nodiscard]] std::uint64_t* word(std::size_t round) {
    return reinterpret_cast<std::uint64_t*>(block_->data() + round * kLine);
  }
  std::shared_ptr<SymmetricBlock> block_;  // symmetric memory of one word per round of the barrier
  int rank_;                               // number of this rank among all processes
  int size_;                               // number of processes
  std::uint64_t epoch_ = 0;                // number of barriers begun; words hold it, so none is ever reset
  std::atomic<int> waits_for_{-1};         // rank whose word of the present round is awaited; -1 outside wait()
};

/// Makes the synchronised start of OpenSHMEM ranks in symmetric memory of one word per round. Collective.
std::unique_ptr<Start> make_word_start(comm::Transport& control) {
  constexpr std::size_t kRounds = 32;  // suffices for any number of ranks, which is an int
  auto block = symmetric_block(control, kRounds * kLine);
  return make_agreed<WordStart>(control, control, std::move(block));
}

constexpr std::size_t kWord = sizeof(std::uint32_t);  // unit of shmem_fcollect32, in bytes
#ifdef MERGANSER_SHMEM_1_5
constexpr const char* kCollect = "shmem_fcollectmem";
#else
constexpr const char* kCollect = "shmem_fcollect32";
#endif

/// All-gather of OpenSHMEM ranks by the library's call kCollect, which is blocking; OpenSHMEM has no non-blocking one.
///
/// Two landing zones and two sets of work words alternate. A rank that has entered the next call may write to a rank that still
/// reads the result of this one, but no rank can complete the next call, and enter the one after it, before all ranks have entered
/// the next.
class ShmemAllgather final : public Gather {
 public:
  /// Offsets, in bytes, in the symmetric block of an all-gather: own part, two landing zones, two sets of work words.
  struct Layout {
    std::size_t words;  ///< 32-bit words of the part of a rank, rounded up
    std::size_t ranks;  ///< number of ranks
    /// Returns the bytes of a landing zone for the parts of all ranks.
    [[nodiscard]] std::size_t landing() const { return kWord * words * ranks; }
    /// Returns the offset of a landing zone (turn 0 or 1), in bytes; turn 2: the end of both.
    [[nodiscard]] std::size_t landing_at(std::size_t turn) const { return kWord * words + turn * landing(); }
    /// Returns the offset of a set of work words, behind all parts and aligned to a cache line.
    [[nodiscard]] std::size_t sync_at(std::size_t turn) const {
      return (landing_at(2) + kLine - 1) / kLine * kLine + turn * SHMEM_COLLECT_SYNC_SIZE * sizeof(long);
    }
    /// Returns the bytes of the whole symmetric block of the all-gather.
    [[nodiscard]] std::size_t bytes() const { return sync_at(2); }
  };

  ShmemAllgather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes, const Layout& layout,
                 std::shared_ptr<SymmetricBlock> block)
      : Gather(control, info, part_bytes), layout_(layout), block_(std::move(block)) {
    for (std::size_t turn = 0; turn < 2; ++turn) {
      for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; ++i) sync(turn)[i] = SHMEM_SYNC_VALUE;
    }
  }

 protected:
  /// Copies the part of this rank in the all-gather into symmetric memory. Local.
  void do_start(std::span<const std::byte> mine) override {
    if (!mine.empty()) std::memcpy(block_->data(), mine.data(), mine.size());
  }

  /// Runs the call kCollect into the landing zone whose turn it is, and closes the gaps between parts. Collective.
  std::span<const std::byte> do_complete() override {
    turn_ = 1 - turn_;
    std::byte* all = block_->data() + layout_.landing_at(turn_);
    if (layout_.words == 0) return {};
#ifdef MERGANSER_SHMEM_1_5  // OpenSHMEM 1.5 has calls without work words
    if (shmem_fcollectmem(SHMEM_TEAM_WORLD, all, block_->data(), layout_.words * kWord) != 0)
      throw CommError("shmem_fcollectmem failed");
#else
    shmem_fcollect32(all, block_->data(), layout_.words, 0, 0, static_cast<int>(layout_.ranks), sync(turn_));
#endif
    // Parts were gathered in whole words; moves them together if they end within a word, ascending, so that no part is overwritten.
    for (std::size_t r = 1; r < layout_.ranks && part_bytes() % kWord != 0; ++r) {
      std::memmove(all + r * part_bytes(), all + r * layout_.words * kWord, part_bytes());
    }
    return {all, part_bytes() * layout_.ranks};
  }

 private:
  /// Returns a set of work words (pSync) of shmem_fcollect32, in symmetric memory.
  [[nodiscard]] long* sync(std::size_t turn) { return reinterpret_cast<long*>(block_->data() + layout_.sync_at(turn)); }

  Layout layout_;
  std::shared_ptr<SymmetricBlock> block_;  // own part, landing zones and work words
  std::size_t turn_ = 0;                   // landing zone and set of work words of the last all-gather: 0 or 1
};

/// Makes the blocking all-gather of OpenSHMEM ranks, in symmetric memory. Collective.
std::unique_ptr<Gather> make_collect(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes) {
  const ShmemAllgather::Layout layout{(part_bytes + kWord - 1) / kWord, static_cast<std::size_t>(control.size())};
  auto block = symmetric_block(control, layout.bytes());
  auto gather = make_agreed<ShmemAllgather>(control, control, info, part_bytes, layout, std::move(block));
  return gather;  // make_agreed() has synchronised: the work words of every rank are initialised
}

/// Factory of the kernels over a Transport of OpenSHMEM: `make` is make_mailbox_exchange or make_stream_exchange. Collective.
template <auto make>
std::unique_ptr<Exchange> make_over_shmem(comm::Transport& control, ExchangePlan&& plan) {
  return make(control, shmem_transport(control), std::move(plan));
}

constexpr KernelEntry kKernels[] = {
    {{"shmem.put-quiet", "shmem", "shmem_putmem_nbi, then shmem_quiet", Completion::remote}, make<PutQuiet>},
    {{"shmem.put-barrier", "shmem", "shmem_putmem_nbi, then shmem_barrier_all", Completion::global}, make<PutBarrier>},
    {{"shmem.get", "shmem", "shmem_getmem_nbi, then shmem_quiet", Completion::remote, true}, make<GetQuiet>},
    {{"shmem.put-signal", "shmem", "shmem_putmem, shmem_fence, a put of a word that the target watches",
      Completion::notified},
     make<PutSignal>},
    {{"shmem.put-signal-native", "shmem", "shmem_putmem_signal, then the signals are waited for", Completion::notified},
     make_native},
    {{"shmem.mailbox", "shmem", kMailboxText, Completion::notified}, make_over_shmem<make_mailbox_exchange>},
    {{"shmem.stream", "shmem", kStreamText, Completion::notified}, make_over_shmem<make_stream_exchange>},
};
constexpr StartEntry kStarts[] = {{"shmem", make_word_start}};
constexpr GatherEntry kGathers[] = {{{GatherKind::blocking, "shmem", kCollect}, make_collect}};

}  // namespace

extern const KernelFamily shmem_kernels;
const KernelFamily shmem_kernels{kKernels, kStarts, kGathers};

}  // namespace merganser::kernels::detail
