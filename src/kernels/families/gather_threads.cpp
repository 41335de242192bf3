// requires: nothing
#include <atomic>
#include <exception>

#include "merganser/comm/collectives.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/waiter.hpp"
#include "src/kernels/families/support/exchange_base.hpp"
#include "src/kernels/families/support/family.hpp"

/// Ranks are threads: each shows its part on a board, and copies those of all others when they are there.
namespace merganser::kernels::detail {
namespace {

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
      if (board_->broken.load(std::memory_order_acquire)) {
        control_.barrier();  // throws once the error of the other rank has reached run()
        throw comm::Released();
      }
      waiter.idle();
    }
  }

  std::shared_ptr<GatherBoard> board_;
  Parts& here_;
  comm::detail::Bytes all_;
  std::uint64_t count_ = 0;
};

/// The board of rank 0, on every rank. Collective.
std::shared_ptr<GatherBoard> common_gather_board(comm::Transport& control, std::size_t part_bytes) {
  std::shared_ptr<GatherBoard> board;
  agree(control, [&] {
    if (control.rank() == 0) board = std::make_shared<GatherBoard>(control.size(), part_bytes);
  });
  const auto shown = reinterpret_cast<std::uintptr_t>(&board);
  const auto all = all_gather_value(control, shown);
  if (control.rank() != 0) board = *reinterpret_cast<const std::shared_ptr<GatherBoard>*>(all[0]);
  control.barrier();
  return board;
}

std::unique_ptr<Gather> make_board_gather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes) {
  return make_agreed<BoardGather>(control, control, info, part_bytes, common_gather_board(control, part_bytes));
}

constexpr GatherEntry kGathers[] = {
    {{GatherKind::blocking, "threads", "parts on a board, shown and copied when the gather is completed"},
     make_board_gather},
    {{GatherKind::non_blocking, "threads", "parts on a board, shown at once, copied when the gather is completed"},
     make_board_gather},
};

}  // namespace

extern const KernelFamily gather_threads_kernels;
const KernelFamily gather_threads_kernels{{}, {}, kGathers};

}  // namespace merganser::kernels::detail
