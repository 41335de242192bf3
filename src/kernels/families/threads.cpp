// requires: nothing
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <thread>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/waiter.hpp"
#include "src/kernels/families/support/exchange_base.hpp"
#include "src/kernels/families/support/family.hpp"
#include "src/kernels/families/support/transport_exchange.hpp"

/// Exchange kernels, synchronised start and all-gathers for ranks that are threads: a put is a copy into the memory of another
/// rank, a notification a word with the number of the iteration.
namespace merganser::kernels::detail {
namespace {

/// Notification word of one arc, or of one round of a barrier, between ranks that are threads: number of the last iteration or
/// barrier that has arrived.
struct alignas(kLine) Flag {
  std::atomic<std::uint64_t> epoch{0};
};
using Flags = std::unique_ptr<Flag[]>;  // notification words of one rank: by in-arc, or by round of a barrier

/// Memory of an exchange between ranks that are threads, which all of them access. It is shared by the exchange objects of all
/// ranks, so it lives until the last one is destroyed: a rank may still copy into the landing zones of one that has left.
struct ExchangeMemory {
  explicit ExchangeMemory(int size) : landings(static_cast<std::size_t>(size)), flags(landings.size()) {}
  std::vector<std::unique_ptr<Block>> landings;  // by rank: its landing zones
  std::vector<Flags> flags;                      // by rank: the notification words that others set there
  std::atomic<bool> broken{false};               // a rank has thrown: waits of the others end
};

/// Returns the number of this rank as an index of arrays by rank.
std::size_t index(const comm::Transport& control) { return static_cast<std::size_t>(control.rank()); }

/// Returns on every rank, a thread of one process, the shared pointer that rank 0 passed. Collective.
template <class T>
std::shared_ptr<T> broadcast_pointer(comm::Transport& control, std::shared_ptr<T> given) {
  const auto address = reinterpret_cast<std::uintptr_t>(&given);
  const auto all = all_gather_value(control, address);
  if (control.rank() != 0) given = *reinterpret_cast<const std::shared_ptr<T>*>(all[0]);
  control.barrier();  // rank 0 keeps its pointer, on its stack, until all have copied it
  return given;
}

/// Allocates the memory that the exchanges of all threads share: rank 0 allocates it and sends its address to the others.
/// Collective.
std::shared_ptr<ExchangeMemory> make_exchange_memory(comm::Transport& control) {
  return broadcast_pointer(control, control.rank() == 0 ? std::make_shared<ExchangeMemory>(control.size()) : nullptr);
}

/// Ends the wait of this thread after another rank has failed. @throws the error of run() once it has arrived, else comm::Released
[[noreturn]] void throw_after_peer_failure(comm::Transport& control) {
  control.barrier();  // throws once the error of the other rank has reached run()
  throw comm::Released();
}

/// Executes the pause instruction of the processor, which a spinning wait repeats.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Notification words of one rank (a thread), which other ranks set and this one waits for. If an exception destroys a Signals
/// object, the waits of the other ranks end.
class Signals : Pinned {
 public:
  /// Allocates the notification words of this rank in the shared memory of the exchange. Local.
  Signals(comm::Transport& control, std::shared_ptr<ExchangeMemory> shared, std::size_t flags)
      : control_(control), shared_(std::move(shared)), rank_(index(control)) {
    shared_->flags[rank_] = std::make_unique<Flag[]>(flags + 1);
  }
  ~Signals() {
    if (std::uncaught_exceptions() > 0) shared_->broken.store(true, std::memory_order_release);
  }

  /// Sets a notification word of another rank to the number of an iteration or barrier. The release, with the acquire in is_set(),
  /// publishes all copies that this rank made before.
  void set(int rank, std::size_t flag, std::uint64_t epoch) {
    shared_->flags[static_cast<std::size_t>(rank)][flag].epoch.store(epoch, std::memory_order_release);
  }
  /// Returns whether a notification word of this rank has reached the number of an iteration or barrier.
  [[nodiscard]] bool is_set(std::size_t flag, std::uint64_t epoch) const {
    return shared_->flags[rank_][flag].epoch.load(std::memory_order_acquire) >= epoch;
  }
  /// Waits until a notification word of this rank has reached the number of an iteration or barrier: spins, then yields the core.
  /// @throws CommError if the wait exceeds MERGANSER_WAIT_LIMIT, or the error of another rank that has failed
  void await(std::size_t flag, std::uint64_t epoch, const comm::detail::Waiter::Describe& describe) {
    constexpr int kSpins = 64;      // polls before the core is yielded
    constexpr unsigned kLook = 16;  // polls between checks of the limit; a yield may take a whole time slice
    for (int i = 0; i < kSpins; ++i) {
      if (is_set(flag, epoch)) return;
      relax();
    }
    comm::detail::Waiter waiter(describe);
    for (unsigned polls = 1; !is_set(flag, epoch); ++polls) {
      std::this_thread::yield();
      if (shared_->broken.load(std::memory_order_relaxed)) throw_after_peer_failure(control_);
      if (polls % kLook == 0) waiter.check_limit();
    }
  }
  /// Returns the memory that the exchange objects of all threads share.
  [[nodiscard]] ExchangeMemory& shared() const { return *shared_; }

 private:
  comm::Transport& control_;
  std::shared_ptr<ExchangeMemory> shared_;
  std::size_t rank_;
};

/// Dissemination barrier of ranks that are threads: in round k a rank sets a flag of the rank 2^k above it, and waits for the rank
/// 2^k below.
class Dissemination {
 public:
  /// Makes a barrier over the notification words of this rank, one per round, which it must not share. Local.
  Dissemination(Signals& signals, int rank, int size) : signals_(signals), rank_(rank), size_(size) {}
  /// Returns the number of rounds of a dissemination barrier, ceil(log2(ranks)).
  [[nodiscard]] static std::size_t rounds(int size) {
    std::size_t rounds = 0;
    while ((1 << rounds) < size) ++rounds;
    return rounds;
  }

  /// Blocks until every rank has entered this barrier. Collective. @throws CommError if a wait exceeds MERGANSER_WAIT_LIMIT
  void wait(const comm::detail::Waiter::Describe& describe) {
    ++epoch_;
    std::size_t flag = 0;
    for (int step = 1; step < size_; step *= 2, ++flag) {
      signals_.set((rank_ + step) % size_, flag, epoch_);
      waits_for_.store((rank_ - step + size_) % size_, std::memory_order_relaxed);
      signals_.await(flag, epoch_, describe);
    }
    waits_for_.store(-1, std::memory_order_relaxed);
  }
  /// Returns the rank whose flag the barrier waits for at the moment, -1 if none. Another thread may call it.
  [[nodiscard]] int waits_for() const { return waits_for_.load(std::memory_order_relaxed); }

 private:
  Signals& signals_;  // notification words, one per round
  int rank_;
  int size_;                        // number of ranks of the barrier
  std::uint64_t epoch_ = 0;         // number of barriers begun; flags hold it, so none is ever reset
  std::atomic<int> waits_for_{-1};  // rank whose flag is awaited; -1 outside wait()
};

/// Exchange kernel for ranks that are threads, which copies (memcpy) into the landing zones of the out-neighbours, without
/// notification.
class Copy : public ExchangeBase {
 public:
  Copy(comm::Transport& control, ExchangePlan plan, const std::shared_ptr<ExchangeMemory>& shared)
      : ExchangeBase(control, std::move(plan), {.landings = shared->landings[index(control)]->data()}),
        signals_(control, shared, std::max(in_.size(), Dissemination::rounds(control.size()))) {}

  /// Makes one exchange: copies the source zones into the landing zones of the out-neighbours.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    copy(buffer);
  }

 protected:
  /// Copies the source zones of all out-arcs into the landing zones of the out-neighbours, threads of the same process.
  void copy(std::size_t buffer) {
    const auto& landings = signals_.shared().landings;
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      std::byte* to = landings[static_cast<std::size_t>(out_[arc])]->data() + target_at(arc, buffer);
      std::memcpy(to, out_at(arc, buffer), out_bytes_[arc]);
    }
  }

  Signals signals_;  // notification words of this rank, by in-arc or by round of a barrier
};

/// Exchange kernel for ranks that are threads: copies, then sets a flag of every out-neighbour, which waits for it.
class CopyFlag final : public Copy {
 public:
  using Copy::Copy;
  /// Makes one exchange: copies, sets a flag of each out-neighbour, then waits for the flags of all in-arcs.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    const std::uint64_t epoch = next_epoch();
    copy(buffer);
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (!dropped(arc)) signals_.set(out_[arc], plan_.targets[arc].slot, epoch);
    }
    for (std::size_t arc = 0; arc < in_.size(); ++arc) signals_.await(arc, epoch, describe_);
  }
  [[nodiscard]] std::vector<int> missing() const override {
    return lacking([this](std::size_t arc, std::uint64_t epoch) { return signals_.is_set(arc, epoch); });
  }

 private:
  /// Counts the flag of each out-arc to another rank as a put.
  void count(comm::Counters& counters) const override { counters.puts += far_out(); }
};

/// Exchange kernel for ranks that are threads: copies, then a dissemination barrier of all ranks.
class CopyBarrier final : public Copy {
 public:
  CopyBarrier(comm::Transport& control, ExchangePlan plan, const std::shared_ptr<ExchangeMemory>& shared)
      : Copy(control, std::move(plan), shared), barrier_(signals_, control.rank(), control.size()) {}
  /// Makes one exchange: copies, then waits in a dissemination barrier of all ranks.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    copy(buffer);
    barrier_.wait(describe_);
  }
  [[nodiscard]] std::vector<int> missing() const override {
    const int rank = barrier_.waits_for();
    return rank < 0 ? std::vector<int>{} : std::vector<int>{rank};
  }

 private:
  void count(comm::Counters& counters) const override { ++counters.collectives; }
  Dissemination barrier_;
};

/// Makes an exchange kernel for ranks that are threads: landing zones of all ranks first, then the exchange. Collective.
template <class Kernel>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  const auto shared = make_exchange_memory(control);
  agree(control, [&] { shared->landings[index(control)] = std::make_unique<Block>(plan.landing_bytes()); });
  return make_agreed<Kernel>(control, control, std::move(plan), shared);
}

/// Synchronised start of a measurement for ranks that are threads, by a dissemination barrier.
class ThreadStart final : public Start {
 public:
  ThreadStart(comm::Transport& control, const std::shared_ptr<ExchangeMemory>& shared)
      : signals_(control, shared, Dissemination::rounds(control.size())),
        barrier_(signals_, control.rank(), control.size()) {}
  void wait() override { barrier_.wait(describe_); }
  [[nodiscard]] int waits_for() const override { return barrier_.waits_for(); }

 private:
  Signals signals_;
  Dissemination barrier_;
  const comm::detail::Waiter::Describe describe_ = [this] {
    return "rank " + std::to_string(waits_for()) + " to start";
  };
};

/// Makes the synchronised start of a measurement for ranks that are threads. Collective.
std::unique_ptr<Start> make_thread_start(comm::Transport& control) {
  const auto shared = make_exchange_memory(control);
  return make_agreed<ThreadStart>(control, control, shared);
}

/// Parts of all-gathers that one rank, a thread, has published for the others to copy. Two buffers alternate: a rank that publishes
/// its part of gather n has completed gather n - 1. For that gather all ranks had published, so all had completed gather n - 2,
/// whose buffer is overwritten.
struct PublishedParts {
  explicit PublishedParts(std::size_t bytes) : buffers{comm::detail::Bytes(bytes), comm::detail::Bytes(bytes)} {}
  comm::detail::Bytes buffers[2];       // part of gather n in buffer n % 2
  std::atomic<std::uint64_t> count{0};  // gathers for which this rank has published its part
};

/// Memory of an all-gather between ranks that are threads, which all of them access.
struct GatherMemory {
  GatherMemory(int size, std::size_t bytes) {
    for (int r = 0; r < size; ++r) parts.push_back(std::make_unique<PublishedParts>(bytes));
  }
  std::vector<std::unique_ptr<PublishedParts>> parts;  // by rank: the parts that it publishes
  std::atomic<bool> broken{false};                     // a rank has thrown: waits of the others end
};

/// All-gather between ranks that are threads, in shared memory: each rank publishes its part, waits for those of all others, and
/// copies them.
class ThreadGather final : public Gather {
 public:
  ThreadGather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes,
               std::shared_ptr<GatherMemory> shared)
      : Gather(control, info, part_bytes),
        shared_(std::move(shared)),
        mine_(*shared_->parts[static_cast<std::size_t>(control.rank())]),
        all_(part_bytes * static_cast<std::size_t>(control.size())) {}
  ~ThreadGather() override {
    if (std::uncaught_exceptions() > 0) shared_->broken.store(true, std::memory_order_release);
  }

 protected:
  /// Copies the part of this rank into its buffer; publishes it at once in a non-blocking all-gather, else in do_complete().
  void do_start(std::span<const std::byte> mine) override {
    auto& buffer = mine_.buffers[count_ % 2];
    std::copy(mine.begin(), mine.end(), buffer.begin());
    ++count_;
    if (info().kind == GatherKind::non_blocking) mine_.count.store(count_, std::memory_order_release);
  }

  /// Publishes the part of this rank, if do_start() has not, and copies the parts of all ranks as they are published.
  std::span<const std::byte> do_complete() override {
    mine_.count.store(count_, std::memory_order_release);
    for (std::size_t r = 0; r < shared_->parts.size(); ++r) {
      const PublishedParts& theirs = *shared_->parts[r];
      await(theirs, r);
      const auto& part = theirs.buffers[(count_ - 1) % 2];
      std::copy(part.begin(), part.end(), all_.begin() + static_cast<std::ptrdiff_t>(r * part_bytes()));
    }
    return all_;
  }

 private:
  /// Waits until another rank has published its part of this all-gather; the acquire makes the bytes of the part visible.
  /// @throws CommError if the wait exceeds MERGANSER_WAIT_LIMIT, or the error of another rank that has failed
  void await(const PublishedParts& theirs, std::size_t rank) const {
    const comm::detail::Waiter::Describe describe = [rank] {
      return "all-gather: the part of rank " + std::to_string(rank);
    };
    comm::detail::Waiter waiter(describe);
    while (theirs.count.load(std::memory_order_acquire) < count_) {
      if (shared_->broken.load(std::memory_order_acquire)) throw_after_peer_failure(control_);
      waiter.idle();
    }
  }

  std::shared_ptr<GatherMemory> shared_;
  PublishedParts& mine_;
  comm::detail::Bytes all_;
  std::uint64_t count_ = 0;  // gathers that this rank has started
};

/// Makes an all-gather for threads, blocking or non-blocking: rank 0 allocates the memory of all parts and sends its address to the
/// others. Collective.
std::unique_ptr<Gather> make_thread_gather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes) {
  std::shared_ptr<GatherMemory> shared;
  agree(control, [&] {
    if (control.rank() == 0) shared = std::make_shared<GatherMemory>(control.size(), part_bytes);
  });
  return make_agreed<ThreadGather>(control, control, info, part_bytes, broadcast_pointer(control, std::move(shared)));
}

/// Factory of the kernels over a Transport of threads, which is that of the caller: `make` is make_mailbox_exchange or
/// make_stream_exchange. Collective.
template <auto make>
std::unique_ptr<Exchange> make_over_control(comm::Transport& control, ExchangePlan&& plan) {
  return make(control, control, std::move(plan));
}

constexpr KernelEntry kKernels[] = {
    {{"threads.copy", "threads", "memcpy into the landing zone of every out-neighbour", Completion::remote},
     make<Copy>},
    {{"threads.copy-flag", "threads", "memcpy, then a word that every out-neighbour waits for", Completion::notified},
     make<CopyFlag>},
    {{"threads.copy-barrier", "threads", "memcpy, then a dissemination barrier", Completion::global},
     make<CopyBarrier>},
    {{"threads.mailbox", "threads", kMailboxText, Completion::notified}, make_over_control<make_mailbox_exchange>},
    {{"threads.stream", "threads", kStreamText, Completion::notified}, make_over_control<make_stream_exchange>},
};
constexpr StartEntry kStarts[] = {{"threads", make_thread_start}};
constexpr GatherEntry kGathers[] = {
    {{GatherKind::blocking, "threads", "parts on a board, shown and copied when the gather is completed"},
     make_thread_gather},
    {{GatherKind::non_blocking, "threads", "parts on a board, shown at once, copied when the gather is completed"},
     make_thread_gather},
};

}  // namespace

extern const KernelFamily threads_kernels;
const KernelFamily threads_kernels{kKernels, kStarts, kGathers};

}  // namespace merganser::kernels::detail
