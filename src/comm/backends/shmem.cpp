// requires: OpenSHMEM
#include <shmem.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>

#include "src/comm/backends/openshmem/library.hpp"
#include "src/comm/detail/one_sided.hpp"
#include "src/comm/detail/registry.hpp"

/// OpenSHMEM 1.4, all of it over the world: symmetric blocks of the largest size asked for, fences instead of flushes.
/// Set-up needs nothing but puts, gets and barriers, so this works without MPI too.
namespace merganser::comm::detail {
namespace {

constexpr std::size_t kBoardBytes = std::size_t{256} << 10;
constexpr std::size_t kRounds = 32;  // of a barrier, for up to 2^32 ranks
constexpr std::size_t kReduced = 7;  // words that are reduced at once

/// Memory at the same place of every rank's heap. Null where the heap is too small, on every rank.
std::byte* symmetric_zeros(std::size_t bytes) {
  auto* data = static_cast<std::byte*>(shmem_malloc(bytes));
  if (data != nullptr) std::memset(data, 0, bytes);
  shmem_barrier_all();
  return data;
}

std::string heap_error(std::size_t bytes) {
  return "shmem: the symmetric heap has no room for " + std::to_string(bytes) + " bytes more; set " +
         heap_setting().name + " higher (it is " + heap_setting().value + ")";
}

/// `idle_word` is one that nobody writes: a test of it that never holds lets the library work. In Open MPI it lets
/// nothing work, but a probe of MPI does; else a rank whose put needs the target's help, as over TCP, would wait for ever.
void let_shmem_work(long* idle_word) {
  (void)shmem_long_test(idle_word, SHMEM_CMP_NE, 0L);
  if (mpi() != nullptr) mpi()->progress();
}

class ShmemMemory final : public Memory {
 public:
  ShmemMemory(std::byte* data, long* idle_word) : data_(data), idle_word_(idle_word) {}

  [[nodiscard]] std::byte* data() noexcept override { return data_; }
  void put(int rank, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes > 0) shmem_putmem(data_ + offset, from, bytes, rank);
  }
  void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes) override {
    if (bytes == sizeof word) {
      shmem_uint64_p(reinterpret_cast<std::uint64_t*>(data_ + offset), word, rank);
      return;
    }
    std::uint32_t half = 0;
    std::memcpy(&half, &word, sizeof half);
    shmem_uint32_p(reinterpret_cast<std::uint32_t*>(data_ + offset), half, rank);
  }
  void get(int rank, std::size_t offset, void* to, std::size_t bytes) override {
    shmem_getmem_nbi(to, data_ + offset, bytes, rank);
  }
  /// Open MPI 4.1.4: shmem_..._atomic_fetch_or changes nothing and a 32-bit compare-and-swap aborts (its issue 11257).
  /// So both widths go through a 64-bit compare-and-swap of the aligned word around them.
  void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) override {
    const std::size_t inside = offset % sizeof(std::uint64_t);
    auto* target = reinterpret_cast<unsigned long*>(data_ + offset - inside);
    std::uint64_t shifted = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&shifted) + inside, &operand, bytes);
    std::uint64_t was = 0;
    for (;;) {
      const std::uint64_t seen = shmem_ulong_atomic_compare_swap(target, was, was | shifted, rank);
      if (seen == was) break;
      was = seen;
    }
    std::memcpy(old, reinterpret_cast<const std::byte*>(&was) + inside, bytes);
  }
  void order() override { shmem_fence(); }
  void commit() override {}
  void complete() override { shmem_quiet(); }
  void progress() override { let_shmem_work(idle_word_); }
  void free() override { shmem_free(data_); }

 private:
  std::byte* data_;
  long* idle_word_;
};

/// Collectives: every rank shows a board of fixed size, the others read what is theirs, again and again. The barrier
/// between is our own, since the library's cannot be left by a rank that waits in vain: ceil(log2(ranks)) rounds, in
/// round k a word goes to the rank 2^k further on. Reductions go up a binomial tree and down again.
class ShmemCollectives : public MessageTransport {
 public:
  ShmemCollectives()
      : rank_(shmem_my_pe()),
        size_(shmem_n_pes()),
        rows_bytes_(sizeof(std::uint64_t) * static_cast<std::size_t>(size_)) {
    const std::size_t bytes =
        kBoardBytes + 2 * rows_bytes_ + kRounds * sizeof(std::uint64_t) + sizeof(long) + (kRounds + 1) * sizeof(Slot);
    board_ = symmetric_zeros(bytes);
    if (board_ == nullptr) {
      note_agreed_error(heap_error(bytes));
      throw CommError(heap_error(bytes));
    }
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

 protected:
  void release() override {
    barrier("end of the run");
    shmem_free(board_);
  }
  std::unique_ptr<Link> link(const Graph&) override { return nullptr; }  // made by OneSided
  void do_barrier() override { barrier("barrier"); }
  void do_reduce(std::span<std::uint64_t> words, Op op) override;
  std::vector<Bytes> do_gather(std::span<const std::byte> mine) override;
  Bytes do_broadcast(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_gather(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_to_all(std::span<const BytesView> to) override;
  std::vector<Bytes> do_exchange(std::span<const int> ranks, const std::vector<Bytes>& letters) override;
  [[nodiscard]] long* idle_word() { return reinterpret_cast<long*>(words() + kRounds); }

 private:
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
  /// Completes what this rank has put and waits until every rank has. `what` it waits in is named.
  void barrier(const char* what);
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

  std::uint64_t barriers_ = 0;
  std::uint64_t reductions_ = 0;
  int rank_;
  int size_;
  std::size_t rows_bytes_;
  std::byte* board_ = nullptr;
};

void ShmemCollectives::barrier(const char* what) {
  check_usable();
  shmem_quiet();
  ++barriers_;
  int distance = 1;
  const Waiter::Describe describe = [&] {
    return "rank " + std::to_string(rank_) + " in " + what + ": no word from rank " +
           std::to_string((rank_ + size_ - distance) % size_) + ", which may wait for others itself";
  };
  for (std::size_t round = 0; distance < size_; ++round, distance *= 2) {
    Waiter waiter(describe);
    shmem_uint64_p(words() + round, barriers_, (rank_ + distance) % size_);
    const std::atomic_ref<std::uint64_t> mine(words()[round]);
    while (mine.load(std::memory_order_acquire) < barriers_) {
      let_shmem_work(idle_word());
      waiter.idle();
    }
  }
}

void ShmemCollectives::show(const char* what, std::span<const std::byte> mine, std::uint64_t longest,
                            const std::vector<Part>& parts) {
  for (std::uint64_t begin = 0; begin < longest; begin += kBoardBytes) {
    const std::uint64_t end = begin + kBoardBytes;
    if (begin < mine.size()) std::memcpy(board_, mine.data() + begin, std::min(kBoardBytes, mine.size() - begin));
    barrier(what);
    for (const Part& part : parts) {
      const std::uint64_t from = std::max(begin, part.begin);
      const std::uint64_t to = std::min<std::uint64_t>(end, part.begin + part.to->size());
      if (from < to) shmem_getmem(part.to->data() + (from - part.begin), board_ + (from - begin), to - from, part.rank);
    }
    barrier(what);
  }
}

void ShmemCollectives::tell(int rank, Slot* slot, std::span<const std::uint64_t> words) {
  shmem_putmem(slot->words.data(), words.data(), words.size_bytes(), rank);
  shmem_fence();
  shmem_uint64_p(&slot->number, reductions_, rank);
}

const ShmemCollectives::Slot& ShmemCollectives::hear(int rank, Slot* slot) {
  const Waiter::Describe describe = [&] {
    return "rank " + std::to_string(rank_) + " in all_reduce: no word from rank " + std::to_string(rank) +
           ", which may wait for others itself";
  };
  Waiter waiter(describe);
  const std::atomic_ref<std::uint64_t> number(slot->number);
  while (number.load(std::memory_order_acquire) < reductions_) {
    let_shmem_work(idle_word());
    waiter.idle();
  }
  return *slot;
}

/// A slot is written again only by who has heard that it was read: nobody gets the total before all have been told.
void ShmemCollectives::reduce(std::span<std::uint64_t> words, Op op) {
  ++reductions_;
  int distance = 1;
  for (std::size_t round = 0; distance < size_ && (rank_ & distance) == 0; ++round, distance *= 2) {
    if (rank_ + distance >= size_) continue;
    const Slot& theirs = hear(rank_ + distance, slots() + round);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::uint64_t one = words[i];
      const std::uint64_t other = theirs.words[i];
      words[i] = op == Op::sum ? one + other : op == Op::min ? std::min(one, other) : std::max(one, other);
    }
  }
  Slot* const down = slots() + kRounds;
  if (rank_ != 0) {
    tell(rank_ - distance, slots() + std::countr_zero(static_cast<unsigned>(distance)), words);
    const Slot& total = hear(rank_ - distance, down);
    std::copy_n(total.words.begin(), words.size(), words.begin());
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (rank_ + distance < size_) tell(rank_ + distance, down, words);
  }
}

void ShmemCollectives::do_reduce(std::span<std::uint64_t> words, Op op) {
  check_usable();
  for (std::size_t at = 0; at < words.size(); at += kReduced) {
    reduce(words.subspan(at, std::min(kReduced, words.size() - at)), op);
  }
}

std::vector<Bytes> ShmemCollectives::do_gather(std::span<const std::byte> mine) {
  check_usable();
  row()[0] = mine.size();
  std::uint64_t longest = mine.size();
  do_reduce({&longest, 1}, Op::max);
  std::vector<Bytes> all(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  std::vector<Part> parts;
  for (std::size_t r = 0; r < all.size(); ++r) {
    all[r].resize(shmem_uint64_g(row(), static_cast<int>(r)));
    parts.push_back({static_cast<int>(r), 0, &all[r]});
  }
  barrier("gather");
  show("gather", mine, longest, parts);
  return all;
}

Bytes ShmemCollectives::do_broadcast(std::span<const std::byte> mine) {
  check_usable();
  std::uint64_t size = rank_ == 0 ? mine.size() : 0;
  do_reduce({&size, 1}, Op::max);
  Bytes told(size);
  show("broadcast", rank_ == 0 ? mine : std::span<const std::byte>(), size, {{0, 0, &told}});
  return told;
}

std::vector<Bytes> ShmemCollectives::do_exchange(std::span<const int> ranks, const std::vector<Bytes>& letters) {
  check_usable();
  Bytes mine;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    row()[ranks[i]] = letters[i].size();
    begins()[ranks[i]] = mine.size();
    mine.insert(mine.end(), letters[i].begin(), letters[i].end());
  }
  std::uint64_t longest = mine.size();
  do_reduce({&longest, 1}, Op::max);
  std::vector<Bytes> came(ranks.size());
  std::vector<Part> parts;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    came[i].resize(shmem_uint64_g(row() + rank_, ranks[i]));
    parts.push_back({ranks[i], shmem_uint64_g(begins() + rank_, ranks[i]), &came[i]});
  }
  barrier("set-up");
  show("set-up", mine, longest, parts);
  return came;
}

std::vector<Bytes> ShmemCollectives::do_all_gather(std::span<const std::byte> mine) {
  check_usable();
  row()[0] = mine.size();
  barrier("all_gather");
  std::vector<Bytes> all(static_cast<std::size_t>(size_));
  std::vector<Part> parts;
  std::uint64_t longest = 0;
  for (int i = 0; i < size_; ++i) {
    const int other = (rank_ + i) % size_;  // not all ask the same one first
    auto& theirs = all[static_cast<std::size_t>(other)];
    theirs.resize(shmem_uint64_g(row(), other));
    longest = std::max<std::uint64_t>(longest, theirs.size());
    parts.push_back({other, 0, &theirs});
  }
  barrier("all_gather");
  show("all_gather", mine, longest, parts);
  return all;
}

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
    shmem_getmem(sizes.data(), row(), rows_bytes_, other);
    theirs.resize(sizes[static_cast<std::size_t>(rank_)]);
    parts.push_back({other, std::accumulate(sizes.begin(), sizes.begin() + rank_, std::uint64_t{0}), &theirs});
    longest = std::max(longest, std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}));
  }
  barrier("all_to_all");
  show("all_to_all", mine, longest, parts);
  return all;
}

class Shmem final : public OneSided<ShmemCollectives> {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "shmem"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.one_sided = true, .subset_waves = true, .sub_transports = false, .processes = true};
  }
  [[nodiscard]] std::unique_ptr<Transport> subset(bool) override {
    throw CommError("shmem: the symmetric heap belongs to all ranks, so there are no transports of some of them");
  }

 protected:
  std::shared_ptr<Memory> allocate(std::size_t bytes, Epoch) override {
    static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
    std::uint64_t most = (std::max(bytes, sizeof(std::uint64_t)) + 7) / 8 * 8;
    do_reduce({&most, 1}, Op::max);
    std::byte* data = symmetric_zeros(most);
    this->agree_on(data == nullptr ? heap_error(most) : std::string());
    return std::make_shared<ShmemMemory>(data, idle_word());
  }
};

std::unique_ptr<TransportBase> start() {
  start_shmem();
  return std::make_unique<Shmem>();
}
std::unique_ptr<TransportBase> open_world(int) { return start(); }  // open() has seen that it is the world

}  // namespace

extern const BackendEntry shmem_backend;
const BackendEntry shmem_backend{{"shmem", "OpenSHMEM: symmetric memory, puts and fences", true}, start, open_world};

}  // namespace merganser::comm::detail
