// requires: MPI
#include <algorithm>
#include <cstring>
#include <optional>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/backends/mpi/transport.hpp"
#include "src/comm/detail/one_sided.hpp"
#include "src/comm/detail/registry.hpp"
#include "src/comm/detail/scoped_yield.hpp"

/// The model rma: MPI one-sided, windows made by MPI_Win_allocate_shared where all ranks share a host and by MPI_Win_allocate
/// elsewhere, by default one passive-target access epoch for the lifetime of a window and one flush per phase.
namespace merganser::comm::detail {
namespace {

constexpr std::size_t kSourceWords = 4096;  // words put since the last flush whose sources are kept

/// MPI window to be freed in MPI_Finalize, for MPI libraries that crash there while a window is left.
struct KeptWindow {
  MPI_Win window;
  bool open;  // an access epoch to all ranks (MPI_Win_lock_all) is open
};
/// Returns the MPI windows to be freed in MPI_Finalize, in the order of their creation, which is the same on all ranks of each.
std::vector<std::shared_ptr<KeptWindow>>& kept_windows() {
  static auto* all = new std::vector<std::shared_ptr<KeptWindow>>;  // never destroyed: MPI ends after statics
  return *all;
}

/// Frees the remaining MPI windows of the model rma; deletion callback that MPI_Finalize calls on all ranks. Collective.
int free_kept_windows(MPI_Comm, int, void*, void*) {
  const ScopedYield yield;
  for (const auto& kept : kept_windows()) {
    if (kept->open) MPI_Win_unlock_all(kept->window);
    MPI_Win_free(&kept->window);
  }
  kept_windows().clear();
  return MPI_SUCCESS;
}

/// Registers an MPI window to be freed in MPI_Finalize if it has not been freed before. Local.
std::shared_ptr<KeptWindow> keep_until_mpi_ends(MPI_Win window) {
  static const bool asked = [] {
    register_finalize_callback(free_kept_windows);
    return true;
  }();
  (void)asked;
  return kept_windows().emplace_back(std::make_shared<KeptWindow>(KeptWindow{window, false}));
}

/// Returns true if all ranks of an MPI communicator share memory; the same on all. Collective.
bool is_on_one_host(MPI_Comm comm) {
  const ScopedYield yield;
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  int sharing = 0;
  int all = 0;
  check(MPI_Comm_size(host, &sharing), "MPI_Comm_size");
  check(MPI_Comm_size(comm, &all), "MPI_Comm_size");
  check(MPI_Comm_free(&host), "MPI_Comm_free");
  return sharing == all;
}

/// One-sided memory of the model rma: an MPI window with memory of its own.
class RmaMemory final : public Memory {
 public:
  /// Allocates the MPI window, zeroes this rank's memory and, for Epoch::lifetime, opens the access epoch. Collective over
  /// `comm`.
  /// @param shared  allocate it as shared memory of one host
  /// @param error  set to the error text of this rank if the allocation fails here
  RmaMemory(MPI_Comm comm, std::size_t bytes, Epoch epoch, bool shared, Counters& counters, std::string& error)
      : comm_(comm), epoch_(epoch), counters_(counters), sources_(kSourceWords), shared_(shared) {
    const MPI_Aint size = window_bytes(bytes);
    const ScopedYield yield;
    const int result = shared ? MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, comm, &base_, &window_)
                              : MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm, &base_, &window_);
    if (result != MPI_SUCCESS) {
      error = std::string(shared ? "rma: MPI_Win_allocate_shared of " : "rma: MPI_Win_allocate of ") +
              std::to_string(size) + " bytes failed; with Open MPI 4 set OMPI_MCA_osc=sm,rdma,pt2pt";
      return;
    }
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    if (left_windows_crash()) kept_ = keep_until_mpi_ends(window_);
    std::memset(base_, 0, static_cast<std::size_t>(size));
    if (epoch_ == Epoch::lifetime) open_epoch();
  }

  [[nodiscard]] std::byte* data() noexcept override { return base_; }

  void put(int rank, std::size_t offset, const void* from, std::size_t bytes) override {
    const Operation one(*this, rank);
    check(MPI_Put(from, static_cast<int>(bytes), MPI_BYTE, rank, static_cast<MPI_Aint>(offset), static_cast<int>(bytes),
                  MPI_BYTE, window_),
          "MPI_Put");
  }

  void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes) override {
    put(rank, offset, source(word), bytes);
  }

  /// Starts MPI_Get of bytes from the window of `rank`, in pieces that an int can count.
  void get(int rank, std::size_t offset, void* to, std::size_t bytes) override {
    constexpr std::size_t kPiece = std::size_t{1} << 30;
    const Operation one(*this, rank);
    for (std::size_t at = 0; at < bytes; at += kPiece) {
      const auto length = static_cast<int>(std::min(kPiece, bytes - at));
      check(MPI_Get(static_cast<std::byte*>(to) + at, length, MPI_BYTE, rank, static_cast<MPI_Aint>(offset + at),
                    length, MPI_BYTE, window_),
            "MPI_Get");
    }
  }

  void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) override {
    const Operation one(*this, rank);
    check(MPI_Fetch_and_op(source(operand), old, bytes == 4 ? MPI_UINT32_T : MPI_UINT64_T, rank,
                           static_cast<MPI_Aint>(offset), MPI_BOR, window_),
          "MPI_Fetch_and_op");
  }

  /// Completes all MPI one-sided operations of this rank (puts, gets, fetch_or) since the last flush; the copies of words put may be
  /// reused afterwards. Local.
  void complete() override {
    const ScopedYield yield(ScopedYield::Call::brief);
    // MPI_Win_flush_all of MPICH before 4.0.3 may return before it has read what was put: ranks are flushed one by one there.
    if (dirty_ && by_rank_) {
      for (const int rank : touched_) check(MPI_Win_flush(rank, window_), "MPI_Win_flush");
    } else if (dirty_) {
      check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
    }
    touched_.clear();
    dirty_ = false;
    used_ = 0;
  }

  /// Makes puts of other ranks into the window visible to loads of this rank (MPI_Win_sync), and progress in MPI by a probe. Stores
  /// into a shared window arrive without progress, so there one call in kProbe probes, for what else waits for this rank.
  void progress() override {
    constexpr unsigned kProbe = 8;
    sync_window(window_, comm_, open_);
    if (shared_ && ++polls_ % kProbe != 0) return;
    int found = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }

  void begin_phase() override {
    if (epoch_ == Epoch::per_phase) open_epoch();
  }
  void end_phase() override {
    if (epoch_ == Epoch::per_phase) close_epoch();
  }

  /// Frees the MPI window, after its open access epoch. Collective.
  void free() override {
    const ScopedYield yield;
    if (open_) close_epoch();
    std::erase(kept_windows(), kept_);
    check(MPI_Win_free(&window_), "MPI_Win_free");
  }

 private:
  /// Guard around one MPI one-sided operation: opens and closes an access epoch of its own in Epoch::per_operation, else marks
  /// the target for the next flush.
  class Operation {
   public:
    /// Begins an operation to `rank`: marks it for the next flush, or locks it in Epoch::per_operation.
    Operation(RmaMemory& memory, int rank) : memory_(memory), rank_(rank) {
      memory_.dirty_ = memory_.epoch_ != Epoch::per_operation;
      if (memory_.dirty_) memory_.touch(rank);
      if (memory_.dirty_) return;
      const ScopedYield yield(ScopedYield::Call::brief);
      ++memory_.counters_.epochs;
      check(MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, memory_.window_), "MPI_Win_lock");
    }
    /// Ends the operation: in Epoch::per_operation flushes and unlocks the target.
    ~Operation() noexcept(false) {
      if (memory_.dirty_) return;
      const ScopedYield yield(ScopedYield::Call::brief);
      check(MPI_Win_flush(rank_, memory_.window_), "MPI_Win_flush");
      check(MPI_Win_unlock(rank_, memory_.window_), "MPI_Win_unlock");
    }

   private:
    RmaMemory& memory_;
    int rank_;
  };

  /// Marks a rank as target of a one-sided operation since the last flush, where ranks are flushed one by one.
  void touch(int rank) {
    if (by_rank_ && std::find(touched_.begin(), touched_.end(), rank) == touched_.end()) touched_.push_back(rank);
  }

  /// Returns a copy of a word to put that lives until the next complete(): MPI_Put may read its origin as late as the flush.
  const void* source(std::uint64_t word) {
    if (used_ == sources_.size()) {
      complete();
      used_ = 0;
    }
    sources_[used_] = word;
    return &sources_[used_++];
  }

  /// Records that an access epoch of the window to all ranks is open or closed, also for the release in MPI_Finalize.
  void note_open(bool open) {
    open_ = open;
    if (kept_) kept_->open = open;
  }
  /// Opens a passive-target access epoch of the window to all ranks (MPI_Win_lock_all).
  void open_epoch() {
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    ++counters_.epochs;
    note_open(true);
  }
  /// Closes the window's access epoch to all ranks, which completes all operations.
  void close_epoch() {
    const ScopedYield yield;
    check(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
    note_open(false);
    dirty_ = false;
    touched_.clear();
  }

  MPI_Comm comm_;
  Epoch epoch_;         // extent of the access epochs
  Counters& counters_;  // operation counts of the transport
  MPI_Win window_ = MPI_WIN_NULL;
  std::shared_ptr<KeptWindow> kept_;     // null: MPI_Finalize need not free the window
  std::byte* base_ = nullptr;            // this rank's memory in the window
  std::vector<std::uint64_t> sources_;   // copies of words put since the last flush
  std::size_t used_ = 0;                 // number of these copies
  bool shared_;                          // the window is shared memory of one host
  unsigned polls_ = 0;                   // calls of progress()
  bool open_ = false;                    // an access epoch to all ranks is open
  bool dirty_ = false;                   // one-sided operations have been called since the last flush
  bool by_rank_ = flush_all_is_early();  // flush each rank instead of all at once
  std::vector<int> touched_;             // ranks to flush, if by_rank_
};

/// Transport of the model rma (MPI one-sided windows) as one rank holds it.
class Rma final : public OneSided<MpiTransport> {
 public:
  using OneSided::OneSided;
  ~Rma() override {
    // A sub-transport ends with its owner; ranks that unwind an error leave the windows to the end of the process.
    if (std::uncaught_exceptions() == 0 && mpi_running()) close();
  }
  [[nodiscard]] std::string_view name() const noexcept override { return "rma"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.one_sided = true, .subset_waves = true, .sub_transports = true, .processes = true};
  }

 protected:
  [[nodiscard]] std::unique_ptr<MpiTransport> make(MPI_Comm parent) const override {
    return std::make_unique<Rma>(parent);
  }
  std::shared_ptr<Memory> allocate(std::size_t bytes, Epoch epoch) override {
    if constexpr (kSimulated) return simulated_memory(comm(), bytes, epoch, counters_);
    if (!shared_) {
      shared_ = is_on_one_host(comm());
      try {
        if (*shared_) return make_window(bytes, epoch);
      } catch (const CommError&) {
        shared_ = false;  // thrown on every rank: a list in OMPI_MCA_osc leaves out sm, for example
      }
    }
    return make_window(bytes, epoch);
  }

 private:
  /// Makes a window of the kind that shared_ says. Collective. @throws CommError on every rank if one cannot
  [[nodiscard]] std::shared_ptr<Memory> make_window(std::size_t bytes, Epoch epoch) {
    std::string error;
    auto memory = std::make_shared<RmaMemory>(comm(), bytes, epoch, *shared_, counters_, error);
    this->agree_on(error);  // also a barrier: every block is zero before the first put
    return memory;
  }

  /// Windows are allocated as shared memory; unknown before the first. Where all ranks are on one host, Open MPI 4.1 then puts by
  /// stores whatever its priorities, and files of windows have names of their own: those of osc/rdma hold job and context id only,
  /// which two communicators without a common rank may share, so that one truncates the memory of the other (SIGBUS).
  std::optional<bool> shared_;
};

}  // namespace

extern const BackendEntry rma_backend;
const BackendEntry rma_backend{{"rma", "MPI one-sided: allocated windows, one epoch for their lifetime", true},
                               start_over_world<Rma>,
                               open_over<Rma>};

}  // namespace merganser::comm::detail
