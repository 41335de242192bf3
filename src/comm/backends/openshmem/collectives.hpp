#pragma once
/// Collectives of the model `shmem`.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/comm/backends/openshmem/heap.hpp"
#include "src/comm/detail/message_transport.hpp"

namespace merganser::comm::detail {

/// `idle_word` is one that nobody writes: a test of it that never holds lets the library work. In Open MPI it lets
/// nothing work, but a probe of MPI does; else a rank whose put needs the target's help, as over TCP, would wait for ever.
void let_shmem_work(long* idle_word);

/// Collectives: every rank shows a board of fixed size, the others read what is theirs, again and again. The barrier
/// between is our own, since the library's cannot be left by a rank that waits in vain: ceil(log2(ranks)) rounds, in
/// round k a word goes to the rank 2^k further on. Reductions go up a binomial tree and down again.
class ShmemCollectives : public MessageTransport {
 public:
  /// A board for the ranks of a transport to come. Collective as symmetric_zeros().
  /// @throws CommError on every rank of `highest`, agreed on, where there is no room
  [[nodiscard]] static std::byte* new_board(const Members& members, const Highest& highest);
  /// `board` is a new one, whose owner this becomes.
  ShmemCollectives(Members members, std::byte* board);

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

 protected:
  void release() override;
  std::unique_ptr<Link> link(const Graph&) override { return nullptr; }  // made by OneSided
  void do_barrier() override { barrier("barrier"); }
  void do_reduce(std::span<std::uint64_t> words, Op op) override;
  std::vector<Bytes> do_gather(std::span<const std::byte> mine) override;
  Bytes do_broadcast(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_gather(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_to_all(std::span<const BytesView> to) override;
  std::vector<Bytes> do_exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) override;
  /// Their maximum over all ranks.
  [[nodiscard]] Highest highest();
  /// Completes what this rank has put and waits until every rank has. `what` it waits in is named.
  void barrier(const char* what);
  [[nodiscard]] const std::shared_ptr<const Members>& members() const noexcept { return members_; }
  [[nodiscard]] long* idle_word() { return reinterpret_cast<long*>(words() + kRounds); }

 private:
  static constexpr std::size_t kBoardBytes = std::size_t{256} << 10;
  static constexpr std::size_t kRounds = 32;  // of a barrier, for up to 2^32 ranks
  static constexpr std::size_t kReduced = 7;  // words that are reduced at once

  /// Bytes begin .. begin + to.size() of what another rank shows.
  struct Part {
    int rank;
    std::uint64_t begin;
    Bytes* to;
  };
  /// What a rank says to the next one in a reduction; `number` is that of the reduction and comes last.
  struct Slot {
    std::array<std::uint64_t, kReduced> words;
    std::uint64_t number;
  };
  void reduce(std::span<std::uint64_t> words, Op op);
  void tell(int rank, Slot* slot, std::span<const std::uint64_t> words);
  const Slot& hear(int rank, Slot* slot);
  [[nodiscard]] std::uint64_t* begins() { return row() + rows_bytes_ / sizeof(std::uint64_t); }  // of what is in row()
  [[nodiscard]] std::uint64_t* words() { return begins() + rows_bytes_ / sizeof(std::uint64_t); }  // of barriers
  [[nodiscard]] Slot* slots() {
    return reinterpret_cast<Slot*>(idle_word() + 1);
  }  // one per round, one for the way down
  [[nodiscard]] std::uint64_t* row() { return reinterpret_cast<std::uint64_t*>(board_ + kBoardBytes); }
  void show(const char* what, std::span<const std::byte> mine, std::uint64_t longest, const std::vector<Part>& parts);

  /// The number of a rank in OpenSHMEM.
  [[nodiscard]] int pe(int rank) const { return members_->pes[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<const Members> members_;
  std::uint64_t barriers_ = 0;
  std::uint64_t reductions_ = 0;
  int rank_;
  int size_;
  std::size_t rows_bytes_;
  std::byte* board_;
};

}  // namespace merganser::comm::detail
