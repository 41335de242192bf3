// requires: OpenSHMEM
#include <shmem.h>

#include <cstring>

#include "merganser/base/error.hpp"
#include "src/kernels/families/openshmem/symmetric.hpp"
#include "src/kernels/families/support/exchange_base.hpp"
#include "src/kernels/families/support/family.hpp"

/// OpenSHMEM's collect of equal parts; there is none that does not block.
namespace merganser::kernels::detail {
namespace {

#if defined(SHMEM_MAJOR_VERSION) && (SHMEM_MAJOR_VERSION > 1 || (SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION >= 5))
#define MERGANSER_SHMEM_TEAMS 1  // which replace the calls with work words
#endif

constexpr std::size_t kWord = sizeof(std::uint32_t);

/// Two landing places and two sets of work words, in turns: who is in the next call may write to a rank that still reads
/// what this one brought, but not before all have entered the next can anybody be in the one after it.
class Collect final : public Gather {
 public:
  struct Layout {
    std::size_t words;  ///< of a part
    std::size_t ranks;
    [[nodiscard]] std::size_t landing() const { return kWord * words * ranks; }
    [[nodiscard]] std::size_t landing_at(std::size_t turn) const { return kWord * words + turn * landing(); }
    /// Work words, behind all parts, aligned.
    [[nodiscard]] std::size_t sync_at(std::size_t turn) const {
      return (landing_at(2) + kLine - 1) / kLine * kLine + turn * SHMEM_COLLECT_SYNC_SIZE * sizeof(long);
    }
    [[nodiscard]] std::size_t bytes() const { return sync_at(2); }
  };

  Collect(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes, const Layout& layout,
          std::shared_ptr<SymmetricBlock> block)
      : Gather(control, info, part_bytes), layout_(layout), block_(std::move(block)) {
    for (std::size_t turn = 0; turn < 2; ++turn) {
      for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; ++i) sync(turn)[i] = SHMEM_SYNC_VALUE;
    }
  }

 protected:
  void do_start(std::span<const std::byte> mine) override {
    if (!mine.empty()) std::memcpy(block_->data(), mine.data(), mine.size());
  }

  std::span<const std::byte> do_complete() override {
    turn_ = 1 - turn_;
    std::byte* all = block_->data() + layout_.landing_at(turn_);
    if (layout_.words == 0) return {};
#ifdef MERGANSER_SHMEM_TEAMS
    if (shmem_fcollectmem(SHMEM_TEAM_WORLD, all, block_->data(), layout_.words * kWord) != 0)
      throw CommError("shmem_fcollectmem failed");
#else
    shmem_fcollect32(all, block_->data(), layout_.words, 0, 0, static_cast<int>(layout_.ranks), sync(turn_));
#endif
    for (std::size_t r = 1; r < layout_.ranks && part_bytes() % kWord != 0; ++r) {
      std::memmove(all + r * part_bytes(), all + r * layout_.words * kWord, part_bytes());
    }
    return {all, part_bytes() * layout_.ranks};
  }

 private:
  [[nodiscard]] long* sync(std::size_t turn) { return reinterpret_cast<long*>(block_->data() + layout_.sync_at(turn)); }

  Layout layout_;
  std::shared_ptr<SymmetricBlock> block_;
  std::size_t turn_ = 0;
};

std::unique_ptr<Gather> make_collect(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes) {
  const Collect::Layout layout{(part_bytes + kWord - 1) / kWord, static_cast<std::size_t>(control.size())};
  auto block = symmetric_block(control, layout.bytes());
  auto gather = make_agreed<Collect>(control, control, info, part_bytes, layout, std::move(block));
  return gather;  // agreed: everybody's work words are set
}

constexpr GatherEntry kGathers[] = {{{GatherKind::blocking, "shmem", "shmem_fcollect32"}, make_collect}};

}  // namespace

extern const KernelFamily gather_shmem_kernels;
const KernelFamily gather_shmem_kernels{{}, {}, kGathers};

}  // namespace merganser::kernels::detail
