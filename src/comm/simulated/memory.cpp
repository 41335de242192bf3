// Memory of the model rma on simulated ranks over SMPI's windows.
#include <mpi.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/simulated/network.hpp"
#include "src/comm/simulated/timed_memory.hpp"

namespace merganser::comm::detail {
namespace {

/// One-sided memory of a simulated rank over a window of SMPI, which is locked by target at the first operation to it.
class SimulatedMemory final : public Memory {
 public:
  SimulatedMemory(MPI_Comm comm, std::size_t bytes, Epoch epoch, Counters& counters)
      : comm_(comm), epoch_(epoch), counters_(counters), pages_(bytes) {
    check(MPI_Win_create(pages_.data(), static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &window_),
          "MPI_Win_create");
    if (epoch_ == Epoch::lifetime) ++counters_.epochs;
  }

  [[nodiscard]] std::byte* data() noexcept override { return static_cast<std::byte*>(pages_.data()); }

  /// Puts bytes into the block of a simulated rank by SMPI's MPI_Put.
  void put(int rank, std::size_t offset, const void* from, std::size_t bytes) override {
    begin(rank);
    check(MPI_Put(from, static_cast<int>(bytes), MPI_BYTE, rank, static_cast<MPI_Aint>(offset), static_cast<int>(bytes),
                  MPI_BYTE, window_),
          "MPI_Put");
    end(rank);
  }
  void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes) override {
    put(rank, offset, source(word), bytes);
  }
  /// Gets bytes from the block of a simulated rank by SMPI's MPI_Get.
  void get(int rank, std::size_t offset, void* to, std::size_t bytes) override {
    begin(rank);
    check(MPI_Get(to, static_cast<int>(bytes), MPI_BYTE, rank, static_cast<MPI_Aint>(offset), static_cast<int>(bytes),
                  MPI_BYTE, window_),
          "MPI_Get");
    end(rank);
  }
  /// Replaces a word of a simulated rank by its OR with `operand`, by SMPI's MPI_Fetch_and_op.
  void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) override {
    begin(rank);
    check(MPI_Fetch_and_op(source(operand), old, bytes == 4 ? MPI_UINT32_T : MPI_UINT64_T, rank,
                           static_cast<MPI_Aint>(offset), MPI_BOR, window_),
          "MPI_Fetch_and_op");
    end(rank);
  }

  /// Completes all one-sided operations of this simulated rank at their targets, and notifies these.
  void complete() override {
    if (touched_.empty()) return;
    for (const int rank : touched_) complete_target(rank);
    check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
    touched_.clear();
    words_.clear();
  }
  /// Does nothing: puts of other simulated ranks are in this memory when their flush ends.
  void progress() override {}

  void begin_phase() override {
    if (epoch_ == Epoch::per_phase) ++counters_.epochs;
  }
  void end_phase() override {
    if (epoch_ == Epoch::per_phase) unlock_all();
  }
  void free() override {
    unlock_all();
    check(MPI_Win_free(&window_), "MPI_Win_free");
  }

 private:
  /// Returns true if a list of target ranks of one-sided operations contains a rank.
  static bool holds(const std::vector<int>& ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }
  /// Begins a one-sided operation: locks the target in SMPI's window, unless its access epoch is open already.
  void begin(int rank) {
    const bool by_itself = epoch_ == Epoch::per_operation;
    if (by_itself) ++counters_.epochs;
    if (!holds(locked_, rank)) {
      check(MPI_Win_lock(MPI_LOCK_SHARED, rank, by_itself ? 0 : MPI_MODE_NOCHECK, window_), "MPI_Win_lock");
      if (!by_itself) locked_.push_back(rank);
    }
  }
  /// Ends a one-sided operation: completes it in Epoch::per_operation, else marks the target for the next flush.
  void end(int rank) {
    if (epoch_ != Epoch::per_operation) {
      if (!holds(touched_, rank)) touched_.push_back(rank);
      return;
    }
    complete_target(rank);
    check(MPI_Win_flush(rank, window_), "MPI_Win_flush");
    check(MPI_Win_unlock(rank, window_), "MPI_Win_unlock");
    words_.clear();
  }
  /// Completes all one-sided operations and closes the access epochs to all targets.
  void unlock_all() {
    complete();
    for (const int rank : locked_) check(MPI_Win_unlock(rank, window_), "MPI_Win_unlock");
    locked_.clear();
  }

  /// Returns a copy of a word to put that lives until the next complete(): SMPI may read it as late as the flush.
  const void* source(std::uint64_t word) { return &words_.emplace_back(word); }

  /// Blocks until the one-sided operations to a simulated rank are complete there, and notifies the rank. The flush, with the time
  /// of its acknowledgement (packages/simulate/simulate/costs.cpp, which the program is linked with), follows.
  void complete_target(int rank) {
    check(MPI_Win_flush_local(rank, window_), "MPI_Win_flush_local");
    notify_rank(world_ranks(comm_, {&rank, 1}).front());
  }

  MPI_Comm comm_;
  Epoch epoch_;         // extent of the access epochs
  Counters& counters_;  // operation counts of the transport
  MPI_Win window_ = MPI_WIN_NULL;
  ZeroPages pages_;                  // this rank's block
  std::deque<std::uint64_t> words_;  // sources of puts since the last flush, at stable addresses
  std::vector<int> locked_;          // ranks to which an access epoch is open
  std::vector<int> touched_;         // ranks with operations since the last flush
};

}  // namespace

std::shared_ptr<Memory> simulated_memory(MPI_Comm comm, std::size_t bytes, Epoch epoch, Counters& counters) {
  if (messages_are_timers()) return timed_memory(comm, bytes, epoch, counters);
  return std::make_shared<SimulatedMemory>(comm, bytes, epoch, counters);
}

}  // namespace merganser::comm::detail
