#pragma once
/// Collectives of the model `shmem`, made of puts and gets in symmetric memory.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/comm/backends/openshmem/heap.hpp"
#include "src/comm/detail/message_transport.hpp"

namespace merganser::comm::detail {

/// Makes progress in OpenSHMEM by a test of a word that nobody writes, `idle_word`. In Open MPI such a test makes no progress,
/// so MPI is probed too; otherwise a put that needs progress at its target, as over TCP, would never complete.
void progress_shmem(long* idle_word);

/// Collectives by a board (a buffer of fixed size) per rank: each rank fills its board, the others get their parts, repeatedly.
/// The barrier in between is a dissemination barrier of our own, ceil(log2(ranks)) rounds with a word to the rank 2^k further
/// on in round k, since that of the library cannot be left at a wait limit. Reductions use a binomial tree, up and down.
class ShmemCollectives : public MessageTransport {
 public:
  /// Allocates, in symmetric memory, the board of the transport of `members`. Collective over the ranks of `highest`: the members,
  /// and perhaps others.
  /// @throws CommError on every rank, agreed on, if the symmetric heap has too little space
  [[nodiscard]] static std::byte* new_board(const Members& members, const Highest& highest);
  /// Makes the transport of `members` with its collectives, and takes ownership of `board`, made by new_board(). Local.
  ShmemCollectives(Members members, std::byte* board);

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

 protected:
  /// Frees the board in symmetric memory after a barrier. Collective.
  void release() override;
  std::unique_ptr<Link> link(const Graph&) override { return nullptr; }  // made by OneSided
  void do_barrier() override { barrier("barrier"); }
  void do_reduce(std::span<std::uint64_t> words, Op op) override;
  std::vector<Bytes> do_gather(std::span<const std::byte> mine) override;
  Bytes do_broadcast(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_gather(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_to_all(std::span<const BytesView> to) override;
  std::vector<Bytes> do_exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) override;
  /// Returns a function that computes element-wise maxima over all ranks of this transport.
  [[nodiscard]] Highest highest();
  /// Blocks until every rank has called this dissemination barrier in symmetric memory; completes the puts of this rank first.
  /// Collective. @param what  the call that is named in the error after the wait limit
  void barrier(const char* what);
  /// Returns the OpenSHMEM processes that are the ranks of this transport.
  [[nodiscard]] const std::shared_ptr<const Members>& members() const noexcept { return members_; }
  /// Returns a word of symmetric memory that no process writes, for progress_shmem().
  [[nodiscard]] long* idle_word() { return reinterpret_cast<long*>(words() + kRounds); }

 private:
  static constexpr std::size_t kBoardBytes = std::size_t{256} << 10;
  static constexpr std::size_t kRounds = 32;  // of a barrier, for up to 2^32 ranks
  static constexpr std::size_t kReduced = 7;  // words in one reduction: with the number 64 bytes

  /// Part of another rank's bytes in a collective over boards that this rank needs, and its destination.
  struct Part {
    int rank;             // the other rank
    std::uint64_t begin;  // offset of the first needed byte; the last one is at begin + to->size() - 1
    Bytes* to;            // destination on this rank, of the length needed
  };
  /// Message of a reduction from one rank to the next in the binomial tree; the number of the reduction is put last, so it marks
  /// the arrival.
  struct Slot {
    std::array<std::uint64_t, kReduced> words;  // partial results, or the total on the way down
    std::uint64_t number;                       // number of the reduction that the words belong to
  };
  /// Reduces up to kReduced words over all ranks by a binomial tree, up to rank 0 and down again. Collective.
  void reduce(std::span<std::uint64_t> words, Op op);
  /// Puts the words of the current reduction, then its number, into a slot of `rank`.
  void put_slot(int rank, Slot* slot, std::span<const std::uint64_t> words);
  /// Blocks until `rank` has put the words of the current reduction into a slot of this rank, and returns the slot.
  const Slot& await_slot(int rank, Slot* slot);
  // Layout of the block in symmetric memory: the board, per rank a length (row) and an offset (begins), a word per round of a
  // barrier, a word that is never written, slots of reductions: one per round of the tree, one for the way down.
  [[nodiscard]] std::uint64_t* begins() { return row() + rows_bytes_ / sizeof(std::uint64_t); }
  [[nodiscard]] std::uint64_t* words() { return begins() + rows_bytes_ / sizeof(std::uint64_t); }
  [[nodiscard]] Slot* slots() { return reinterpret_cast<Slot*>(idle_word() + 1); }
  [[nodiscard]] std::uint64_t* row() { return reinterpret_cast<std::uint64_t*>(board_ + kBoardBytes); }
  /// Exposes this rank's bytes `mine` on its board, one board after the other, and gets `parts` from the boards of other ranks.
  /// Collective. @param longest  largest number of bytes that a rank exposes, the same on every rank
  void exchange_boards(const char* what, std::span<const std::byte> mine, std::uint64_t longest,
                       const std::vector<Part>& parts);

  /// Returns the number of a rank's process in OpenSHMEM (PE).
  [[nodiscard]] int pe(int rank) const { return members_->pes[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<const Members> members_;
  std::uint64_t barriers_ = 0;    // number of the last barrier, alike on every rank
  std::uint64_t reductions_ = 0;  // number of the last reduction, alike on every rank
  int rank_;
  int size_;
  std::size_t rows_bytes_;  // size of row(), and of begins(): a word per rank
  std::byte* board_;        // first byte of the block in symmetric memory
};

}  // namespace merganser::comm::detail
