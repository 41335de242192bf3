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

/// Ranks are threads: a put is a copy, a notification a word that grows by one per iteration.
namespace merganser::kernels::detail {
namespace {

struct alignas(kLine) Flag {
  std::atomic<std::uint64_t> epoch{0};
};
using Flags = std::unique_ptr<Flag[]>;

/// What the threads see of each other.
struct Board {
  explicit Board(int size) : landings(static_cast<std::size_t>(size)), flags(landings.size()) {}
  // By rank. They live as long as anybody is at the board: who copies into them may be late.
  std::vector<std::unique_ptr<Block>> landings;
  std::vector<Flags> flags;
  std::atomic<bool> broken{false};
};

std::size_t index(const comm::Transport& control) { return static_cast<std::size_t>(control.rank()); }

/// What rank 0 gives, on every rank. Collective.
template <class T>
std::shared_ptr<T> shown_by_first(comm::Transport& control, std::shared_ptr<T> given) {
  const auto shown = reinterpret_cast<std::uintptr_t>(&given);
  const auto all = all_gather_value(control, shown);
  if (control.rank() != 0) given = *reinterpret_cast<const std::shared_ptr<T>*>(all[0]);
  control.barrier();
  return given;
}

std::shared_ptr<Board> common_board(comm::Transport& control) {
  return shown_by_first(control, control.rank() == 0 ? std::make_shared<Board>(control.size()) : nullptr);
}

/// Ends this rank after another one has failed. @throws the error of run() once it has arrived, else comm::Released
[[noreturn]] void throw_after_peer_failure(comm::Transport& control) {
  control.barrier();  // throws once the error of the other rank has reached run()
  throw comm::Released();
}

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// One rank's place at the board. A rank that leaves it with an error releases the others from their waits.
class Seat : Pinned {
 public:
  Seat(comm::Transport& control, std::shared_ptr<Board> board, std::size_t flags)
      : control_(control), board_(std::move(board)), rank_(index(control)) {
    board_->flags[rank_] = std::make_unique<Flag[]>(flags + 1);
  }
  ~Seat() {
    if (std::uncaught_exceptions() > 0) board_->broken.store(true, std::memory_order_release);
  }

  void raise(int rank, std::size_t flag, std::uint64_t epoch) {
    board_->flags[static_cast<std::size_t>(rank)][flag].epoch.store(epoch, std::memory_order_release);
  }
  [[nodiscard]] bool raised(std::size_t flag, std::uint64_t epoch) const {
    return board_->flags[rank_][flag].epoch.load(std::memory_order_acquire) >= epoch;
  }
  void await(std::size_t flag, std::uint64_t epoch, const comm::detail::Waiter::Describe& describe) {
    constexpr int kSpins = 64;
    for (int i = 0; i < kSpins; ++i) {
      if (raised(flag, epoch)) return;
      relax();
    }
    comm::detail::Waiter waiter(describe);
    for (unsigned polls = 1; !raised(flag, epoch); ++polls) {
      std::this_thread::yield();
      if (board_->broken.load(std::memory_order_relaxed)) throw_after_peer_failure(control_);
      if (polls % 1024 == 0) waiter.check_limit();
    }
  }
  [[nodiscard]] Board& board() const { return *board_; }

 private:
  comm::Transport& control_;
  std::shared_ptr<Board> board_;
  std::size_t rank_;
};

/// ceil(log2(ranks)) rounds; in each a rank tells one and is told by one.
class Dissemination {
 public:
  Dissemination(Seat& seat, int rank, int size) : seat_(seat), rank_(rank), size_(size) {}
  [[nodiscard]] static std::size_t rounds(int size) {
    std::size_t rounds = 0;
    while ((1 << rounds) < size) ++rounds;
    return rounds;
  }

  void wait(const comm::detail::Waiter::Describe& describe) {
    ++epoch_;
    std::size_t flag = 0;
    for (int step = 1; step < size_; step *= 2, ++flag) {
      seat_.raise((rank_ + step) % size_, flag, epoch_);
      waits_for_.store((rank_ - step + size_) % size_, std::memory_order_relaxed);
      seat_.await(flag, epoch_, describe);
    }
    waits_for_.store(-1, std::memory_order_relaxed);
  }
  [[nodiscard]] int waits_for() const { return waits_for_.load(std::memory_order_relaxed); }

 private:
  Seat& seat_;
  int rank_;
  int size_;
  std::uint64_t epoch_ = 0;
  std::atomic<int> waits_for_{-1};
};

class Copy : public ExchangeBase {
 public:
  Copy(comm::Transport& control, ExchangePlan plan, const std::shared_ptr<Board>& board)
      : ExchangeBase(control, std::move(plan), {.landings = board->landings[index(control)]->data()}),
        seat_(control, board, std::max(in_.size(), Dissemination::rounds(control.size()))) {}

  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    copy(buffer);
  }

 protected:
  void copy(std::size_t buffer) {
    const auto& landings = seat_.board().landings;
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      std::byte* to = landings[static_cast<std::size_t>(out_[arc])]->data() + target_at(arc, buffer);
      std::memcpy(to, out_at(arc, buffer), out_bytes_[arc]);
    }
  }

  Seat seat_;
};

class CopyFlag final : public Copy {
 public:
  using Copy::Copy;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    const std::uint64_t epoch = next_epoch();
    copy(buffer);
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (!dropped(arc)) seat_.raise(out_[arc], plan_.targets[arc].slot, epoch);
    }
    for (std::size_t arc = 0; arc < in_.size(); ++arc) seat_.await(arc, epoch, describe_);
  }
  [[nodiscard]] std::vector<int> missing() const override {
    return lacking([this](std::size_t arc, std::uint64_t epoch) { return seat_.raised(arc, epoch); });
  }

 private:
  void count(comm::Counters& counters) const override { counters.puts += far_out(); }
};

class CopyBarrier final : public Copy {
 public:
  CopyBarrier(comm::Transport& control, ExchangePlan plan, const std::shared_ptr<Board>& board)
      : Copy(control, std::move(plan), board), barrier_(seat_, control.rank(), control.size()) {}
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

template <class Kernel>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  const auto board = common_board(control);
  agree(control, [&] { board->landings[index(control)] = std::make_unique<Block>(plan.landing_bytes()); });
  return make_agreed<Kernel>(control, control, std::move(plan), board);
}

class ThreadStart final : public Start {
 public:
  ThreadStart(comm::Transport& control, const std::shared_ptr<Board>& board)
      : seat_(control, board, Dissemination::rounds(control.size())), barrier_(seat_, control.rank(), control.size()) {}
  void wait() override { barrier_.wait(describe_); }
  [[nodiscard]] int waits_for() const override { return barrier_.waits_for(); }

 private:
  Seat seat_;
  Dissemination barrier_;
  const comm::detail::Waiter::Describe describe_ = [this] {
    return "rank " + std::to_string(waits_for()) + " to start";
  };
};

std::unique_ptr<Start> make_thread_start(comm::Transport& control) {
  const auto board = common_board(control);
  return make_agreed<ThreadStart>(control, control, board);
}

/// Two parts of each rank, in turns: a rank that shows its next part has completed the last gather, so all others have
/// shown theirs of that one, hence completed the one before.
struct Parts {
  explicit Parts(std::size_t bytes) : shown{comm::detail::Bytes(bytes), comm::detail::Bytes(bytes)} {}
  comm::detail::Bytes shown[2];
  std::atomic<std::uint64_t> count{0};  // gathers that this rank has shown a part for
};

struct GatherBoard {
  GatherBoard(int size, std::size_t bytes) {
    for (int r = 0; r < size; ++r) parts.push_back(std::make_unique<Parts>(bytes));
  }
  std::vector<std::unique_ptr<Parts>> parts;
  std::atomic<bool> broken{false};
};

/// Each rank shows its part on a board, and copies those of all others when they are there.
class BoardGather final : public Gather {
 public:
  BoardGather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes,
              std::shared_ptr<GatherBoard> board)
      : Gather(control, info, part_bytes),
        board_(std::move(board)),
        here_(*board_->parts[static_cast<std::size_t>(control.rank())]),
        all_(part_bytes * static_cast<std::size_t>(control.size())) {}
  ~BoardGather() override {
    if (std::uncaught_exceptions() > 0) board_->broken.store(true, std::memory_order_release);
  }

 protected:
  void do_start(std::span<const std::byte> mine) override {
    auto& place = here_.shown[count_ % 2];
    std::copy(mine.begin(), mine.end(), place.begin());
    ++count_;
    if (info().kind == GatherKind::non_blocking) here_.count.store(count_, std::memory_order_release);
  }

  std::span<const std::byte> do_complete() override {
    here_.count.store(count_, std::memory_order_release);
    for (std::size_t r = 0; r < board_->parts.size(); ++r) {
      const Parts& theirs = *board_->parts[r];
      await(theirs, r);
      const auto& part = theirs.shown[(count_ - 1) % 2];
      std::copy(part.begin(), part.end(), all_.begin() + static_cast<std::ptrdiff_t>(r * part_bytes()));
    }
    return all_;
  }

 private:
  void await(const Parts& theirs, std::size_t rank) const {
    const comm::detail::Waiter::Describe describe = [rank] {
      return "all-gather: the part of rank " + std::to_string(rank);
    };
    comm::detail::Waiter waiter(describe);
    while (theirs.count.load(std::memory_order_acquire) < count_) {
      if (board_->broken.load(std::memory_order_acquire)) throw_after_peer_failure(control_);
      waiter.idle();
    }
  }

  std::shared_ptr<GatherBoard> board_;
  Parts& here_;
  comm::detail::Bytes all_;
  std::uint64_t count_ = 0;
};

std::unique_ptr<Gather> make_board_gather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes) {
  std::shared_ptr<GatherBoard> board;
  agree(control, [&] {
    if (control.rank() == 0) board = std::make_shared<GatherBoard>(control.size(), part_bytes);
  });
  return make_agreed<BoardGather>(control, control, info, part_bytes, shown_by_first(control, std::move(board)));
}

constexpr KernelEntry kKernels[] = {
    {{"threads.copy", "threads", "memcpy into the landing zone of every out-neighbour", Completion::remote},
     make<Copy>},
    {{"threads.copy-flag", "threads", "memcpy, then a word that every out-neighbour waits for", Completion::notified},
     make<CopyFlag>},
    {{"threads.copy-barrier", "threads", "memcpy, then a dissemination barrier", Completion::global},
     make<CopyBarrier>},
};
constexpr StartEntry kStarts[] = {{"threads", make_thread_start}};
constexpr GatherEntry kGathers[] = {
    {{GatherKind::blocking, "threads", "parts on a board, shown and copied when the gather is completed"},
     make_board_gather},
    {{GatherKind::non_blocking, "threads", "parts on a board, shown at once, copied when the gather is completed"},
     make_board_gather},
};

}  // namespace

extern const KernelFamily threads_kernels;
const KernelFamily threads_kernels{kKernels, kStarts, kGathers};

}  // namespace merganser::kernels::detail
