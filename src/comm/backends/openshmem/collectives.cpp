// requires: OpenSHMEM
// Collectives of the model shmem over boards in symmetric memory. A rank's board and its lengths (row) change only between two
// barriers that separate them from the gets of other ranks.
#include "src/comm/backends/openshmem/collectives.hpp"

#include <shmem.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "merganser/base/detail/shared_word.hpp"
#include "src/comm/backends/openshmem/library.hpp"
#include "src/comm/backends/openshmem/puts.hpp"
#include "src/comm/detail/registry.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm::detail {

void progress_shmem(long* idle_word) {
  constexpr unsigned kProbe = 8;  // calls of which one makes progress in MPI, for what else waits for this rank
  static thread_local unsigned polls = 0;
  (void)shmem_long_test(idle_word, SHMEM_CMP_NE, 0L);
  if (++polls % kProbe == 0 && mpi() != nullptr) mpi()->progress();
}

// Allocation of the symmetric memory of a transport's collectives: boards, lengths, words of barriers, slots of reductions.
std::byte* ShmemCollectives::new_board(const Members& members, const Highest& highest) {
  const std::size_t bytes = kBoardBytes + 2 * sizeof(std::uint64_t) * members.pes.size() +
                            kRounds * sizeof(std::uint64_t) + sizeof(long) + (kRounds + 1) * sizeof(Slot);
  const Symmetric board = symmetric_zeros(members, bytes, highest);
  if (board.error.empty()) return board.data;
  note_agreed_error(board.error);
  throw CommError(board.error);
}

ShmemCollectives::ShmemCollectives(Members members, std::byte* board)
    : members_(std::make_shared<const Members>(std::move(members))),
      rank_(members_->rank),
      size_(static_cast<int>(members_->pes.size())),
      rows_bytes_(sizeof(std::uint64_t) * members_->pes.size()),
      board_(board) {
  depend_on(shmem_started);
}

void ShmemCollectives::release() {
  barrier("end of the run");
  free_symmetric(board_, [] {});  // after the last barrier nothing is on its way to it
}

Highest ShmemCollectives::highest() {
  return [this](std::span<std::uint64_t> words) { do_reduce(words, Op::max); };
}

// Dissemination barrier: in round k a word goes to the rank 2^k further on.
void ShmemCollectives::barrier(const char* what) {
  check_usable();
  complete_puts();
  ++barriers_;
  int distance = 1;
  const Waiter::Describe describe = [&] {
    return "rank " + std::to_string(rank_) + " in " + what + ": no word from rank " +
           std::to_string((rank_ + size_ - distance) % size_) + ", which may wait for others itself";
  };
  for (std::size_t round = 0; distance < size_; ++round, distance *= 2) {
    Waiter waiter(describe);
    // The number of the barrier only grows, so a sender that is one barrier ahead overwrites nothing that is still needed.
    put_word(words() + round, barriers_, pe((rank_ + distance) % size_));
    while (merganser::detail::load_word(words()[round], std::memory_order_acquire) < barriers_) {
      progress_shmem(idle_word());
      waiter.idle();
    }
  }
}

// Data phase of the collectives: every rank exposes its bytes one board at a time, and gets its parts of the boards of
// others.
void ShmemCollectives::exchange_boards(const char* what, std::span<const std::byte> mine, std::uint64_t longest,
                                       const std::vector<Part>& parts) {
  for (std::uint64_t begin = 0; begin < longest; begin += kBoardBytes) {
    const std::uint64_t end = begin + kBoardBytes;
    if (begin < mine.size()) std::memcpy(board_, mine.data() + begin, std::min(kBoardBytes, mine.size() - begin));
    barrier(what);  // every board is filled; the one below: every board has been read
    for (const Part& part : parts) {
      const std::uint64_t from = std::max(begin, part.begin);
      const std::uint64_t to = std::min<std::uint64_t>(end, part.begin + part.to->size());
      if (from < to)
        get_bytes(part.to->data() + (from - part.begin), board_ + (from - begin), to - from, pe(part.rank));
    }
    barrier(what);
  }
}

// Send of a reduction in the binomial tree: the words first, then the number that marks their arrival; order_puts() is the fence.
void ShmemCollectives::put_slot(int rank, Slot* slot, std::span<const std::uint64_t> words) {
  put_bytes(slot->words.data(), words.data(), words.size_bytes(), pe(rank));
  order_puts();
  put_word(&slot->number, reductions_, pe(rank));
}

// Receive of a reduction in the binomial tree; blocks until the number of the reduction is in the slot.
const ShmemCollectives::Slot& ShmemCollectives::await_slot(int rank, Slot* slot) {
  const Waiter::Describe describe = [&] {
    return "rank " + std::to_string(rank_) + " in all_reduce: no word from rank " + std::to_string(rank) +
           ", which may wait for others itself";
  };
  Waiter waiter(describe);
  while (merganser::detail::load_word(slot->number, std::memory_order_acquire) < reductions_) {
    progress_shmem(idle_word());
    waiter.idle();
  }
  return *slot;
}

// Binomial tree: partial results go up to rank 0, the total goes down. No slot is overwritten before it was read. A child puts its
// next words only after it has the total, for which the parent has read the slot; a parent puts the next total only after the
// child's next words, and the child has read the last one by then.
void ShmemCollectives::reduce(std::span<std::uint64_t> words, Op op) {
  ++reductions_;
  int distance = 1;
  for (std::size_t round = 0; distance < size_ && (rank_ & distance) == 0; ++round, distance *= 2) {
    if (rank_ + distance >= size_) continue;
    const Slot& theirs = await_slot(rank_ + distance, slots() + round);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = reduce_pair(words[i], theirs.words[i], op);
  }
  Slot* const down = slots() + kRounds;
  if (rank_ != 0) {
    put_slot(rank_ - distance, slots() + std::countr_zero(static_cast<unsigned>(distance)), words);
    const Slot& total = await_slot(rank_ - distance, down);
    std::copy_n(total.words.begin(), words.size(), words.begin());
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (rank_ + distance < size_) put_slot(rank_ + distance, down, words);
  }
}

void ShmemCollectives::do_reduce(std::span<std::uint64_t> words, Op op) {
  check_usable();
  for (std::size_t at = 0; at < words.size(); at += kReduced) {
    reduce(words.subspan(at, std::min(kReduced, words.size() - at)), op);
  }
}

// Gather of bytes to rank 0, which alone gets the boards of the other ranks.
std::vector<Bytes> ShmemCollectives::do_gather(std::span<const std::byte> mine) {
  check_usable();
  row()[0] = mine.size();
  std::uint64_t longest = mine.size();
  do_reduce({&longest, 1}, Op::max);  // also a barrier: every rank has stored its length before rank 0 gets it
  std::vector<Bytes> all(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  std::vector<Part> parts;
  for (std::size_t r = 0; r < all.size(); ++r) {
    all[r].resize(get_word(row(), pe(static_cast<int>(r))));
    parts.push_back({static_cast<int>(r), 0, &all[r]});
  }
  barrier("gather");  // no rank changes its length before rank 0 has got it
  exchange_boards("gather", mine, longest, parts);
  return all;
}

// Broadcast of the bytes of rank 0 from its board.
Bytes ShmemCollectives::do_broadcast(std::span<const std::byte> mine) {
  check_usable();
  std::uint64_t size = rank_ == 0 ? mine.size() : 0;
  do_reduce({&size, 1}, Op::max);
  Bytes told(size);
  exchange_boards("broadcast", rank_ == 0 ? mine : std::span<const std::byte>(), size, {{0, 0, &told}});
  return told;
}

// Exchange of descriptors between neighbours in a handshake: each rank's board has its messages behind one another.
std::vector<Bytes> ShmemCollectives::do_exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) {
  check_usable();
  Bytes mine;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    row()[ranks[i]] = messages[i].size();
    begins()[ranks[i]] = mine.size();
    mine.insert(mine.end(), messages[i].begin(), messages[i].end());
  }
  std::uint64_t longest = mine.size();
  do_reduce({&longest, 1},
            Op::max);  // also a barrier: every rank has stored its lengths and offsets before others get them
  std::vector<Bytes> came(ranks.size());
  std::vector<Part> parts;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    came[i].resize(get_word(row() + rank_, pe(ranks[i])));
    parts.push_back({ranks[i], get_word(begins() + rank_, pe(ranks[i])), &came[i]});
  }
  barrier("set-up");  // no rank changes its lengths and offsets before its partners have got them
  exchange_boards("set-up", mine, longest, parts);
  return came;
}

// All-gather of bytes: each rank gets the boards of all.
std::vector<Bytes> ShmemCollectives::do_all_gather(std::span<const std::byte> mine) {
  check_usable();
  row()[0] = mine.size();
  barrier("all_gather");
  std::vector<Bytes> all(static_cast<std::size_t>(size_));
  std::vector<Part> parts;
  std::uint64_t longest = 0;
  for (int i = 0; i < size_; ++i) {
    const int other = (rank_ + i) % size_;  // another first one on every rank, which spreads the gets
    auto& theirs = all[static_cast<std::size_t>(other)];
    theirs.resize(get_word(row(), pe(other)));
    longest = std::max<std::uint64_t>(longest, theirs.size());
    parts.push_back({other, 0, &theirs});
  }
  barrier("all_gather");
  exchange_boards("all_gather", mine, longest, parts);
  return all;
}

// All-to-all of bytes: each rank gets its part of every board; its offset there is the sum of the lengths for lower ranks.
std::vector<Bytes> ShmemCollectives::do_all_to_all(std::span<const BytesView> to) {
  check_usable();
  const auto ranks = static_cast<std::size_t>(size_);
  Bytes mine;
  for (std::size_t r = 0; r < ranks; ++r) {
    row()[r] = to[r].size();
    mine.insert(mine.end(), to[r].begin(), to[r].end());
  }
  barrier("all_to_all");
  std::vector<Bytes> all(ranks);
  std::vector<Part> parts;
  std::uint64_t longest = 0;
  std::vector<std::uint64_t> sizes(ranks);
  for (int i = 0; i < size_; ++i) {
    const int other = (rank_ + i) % size_;
    auto& theirs = all[static_cast<std::size_t>(other)];
    get_bytes(sizes.data(), row(), rows_bytes_, pe(other));
    theirs.resize(sizes[static_cast<std::size_t>(rank_)]);
    parts.push_back({other, std::accumulate(sizes.begin(), sizes.begin() + rank_, std::uint64_t{0}), &theirs});
    longest = std::max(longest, std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}));
  }
  barrier("all_to_all");
  exchange_boards("all_to_all", mine, longest, parts);
  return all;
}

}  // namespace merganser::comm::detail
