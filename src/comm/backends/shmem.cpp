// requires: OpenSHMEM
#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <utility>

#include "src/comm/backends/openshmem/collectives.hpp"
#include "src/comm/backends/openshmem/library.hpp"
#include "src/comm/backends/openshmem/puts.hpp"
#include "src/comm/detail/models.hpp"
#include "src/comm/detail/one_sided.hpp"
#include "src/comm/detail/process.hpp"
#include "src/comm/detail/registry.hpp"

/// The model shmem: OpenSHMEM 1.4, symmetric blocks of the maximum size over ranks, fences instead of flushes. Set-up uses
/// puts, gets and barriers only, so it works without MPI too. Only memory of the whole job is allocated by collective calls of
/// the library, which has none for parts of it.
namespace merganser::comm::detail {
namespace {

/// One-sided memory of the model shmem: a block at the same address of the symmetric heap of every member.
class ShmemMemory final : public Memory {
 public:
  /// Takes ownership of this rank's block `data` of symmetric memory.
  /// @param idle_word  word of symmetric memory that no process writes, for progress()
  /// @param barrier    barrier of the members that completes puts; only free() calls it, while the transport lives
  ShmemMemory(std::byte* data, std::shared_ptr<const Members> members, long* idle_word, std::function<void()> barrier)
      : data_(data), members_(std::move(members)), idle_word_(idle_word), barrier_(std::move(barrier)) {}

  [[nodiscard]] std::byte* data() noexcept override { return data_; }
  void put(int rank, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes > 0) put_bytes(data_ + offset, from, bytes, pe(rank));
  }
  /// Puts a word of 8 bytes, or the first 4 of them, into the block of `rank` as one access.
  void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes) override {
    if (bytes == sizeof word) {
      comm::detail::put_word(reinterpret_cast<std::uint64_t*>(data_ + offset), word, pe(rank));
      return;
    }
    std::uint32_t half = 0;
    std::memcpy(&half, &word, sizeof half);
    comm::detail::put_word(reinterpret_cast<std::uint32_t*>(data_ + offset), half, pe(rank));
  }
  void get(int rank, std::size_t offset, void* to, std::size_t bytes) override {
    get_bytes_nbi(to, data_ + offset, bytes, pe(rank));
  }
  /// Replaces a word of `rank` by its OR with `operand` and stores the former one in `old`. In Open MPI 4.1.4
  /// shmem_..._atomic_fetch_or changes nothing and a 32-bit compare-and-swap aborts (its issue 11257). So words of 4 and 8 bytes
  /// both use a 64-bit compare-and-swap of the aligned word around them.
  void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) override {
    const std::size_t inside = offset % sizeof(std::uint64_t);
    auto* target = reinterpret_cast<std::uint64_t*>(data_ + offset - inside);
    std::uint64_t shifted = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&shifted) + inside, &operand, bytes);
    std::uint64_t was = 0;
    const ShmemCall call;
    for (;;) {
      const std::uint64_t seen = swap_word(target, was, was | shifted, pe(rank));
      if (seen == was) break;
      was = seen;
    }
    std::memcpy(old, reinterpret_cast<const std::byte*>(&was) + inside, bytes);
  }
  void order() override { order_puts(); }
  void commit() override { release_sources(); }
  void complete() override { complete_puts(); }
  void progress() override { progress_shmem(idle_word_); }
  void free() override { free_symmetric(data_, barrier_); }

 private:
  [[nodiscard]] int pe(int rank) const { return members_->pes[static_cast<std::size_t>(rank)]; }

  std::byte* data_;                         // this rank's block of symmetric memory
  std::shared_ptr<const Members> members_;  // processes that have a block
  long* idle_word_;                         // word that no process writes, for progress()
  std::function<void()> barrier_;           // barrier of the members, for free()
};

/// Transport of the model shmem (OpenSHMEM) as one rank holds it.
class Shmem final : public OneSided<ShmemCollectives> {
 public:
  using OneSided::OneSided;
  ~Shmem() override {
    // A sub-transport ends with its owner. While an error unwinds nothing collective is called, and the memory stays.
    if (std::uncaught_exceptions() == 0 && shmem_started()) close();
  }
  [[nodiscard]] std::string_view name() const noexcept override { return "shmem"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.one_sided = true, .subset_waves = true, .sub_transports = true, .processes = true};
  }
  [[nodiscard]] std::unique_ptr<Transport> subset(bool take_part) override;

 protected:
  /// Allocates a zeroed block of symmetric memory, of the largest size that a rank wants. Collective.
  std::shared_ptr<Memory> allocate(std::size_t bytes, Epoch) override {
    // Whole words of 8 bytes, since fetch_or() swaps the word around one of 4; the same size on every rank, as is symmetric.
    std::uint64_t most = (std::max(bytes, sizeof(std::uint64_t)) + 7) / 8 * 8;
    do_reduce({&most, 1}, Op::max);
    const Symmetric block = symmetric_zeros(*members(), most, highest());
    this->agree_on(block.error);
    return std::make_shared<ShmemMemory>(block.data, members(), idle_word(), [this] { barrier("freeing memory"); });
  }
};

// Sub-transport of the model shmem over some processes, with the board of its collectives in reserved symmetric memory.
std::unique_ptr<Transport> Shmem::subset(bool take_part) {
  ++counters_.collectives;
  const std::byte mine{static_cast<std::uint8_t>(take_part ? 1 : 0)};
  const auto said = do_all_gather({&mine, 1});
  Members part{Members::kNone, {}};
  for (std::size_t r = 0; r < said.size(); ++r) {
    if (said[r].front() == std::byte{0}) continue;
    if (static_cast<int>(r) == rank()) part.rank = static_cast<int>(part.pes.size());
    part.pes.push_back(members()->pes[r]);
  }
  if (part.pes.empty()) return nullptr;
  free_unused_memory();  // reserved symmetric memory may be held by objects that all ranks have destroyed
  std::byte* const board = new_board(part, highest());  // its reductions are over all ranks of this transport
  if (!take_part) return nullptr;
  auto transport = std::make_unique<Shmem>(std::move(part), board);
  adopt(*transport);
  return transport;
}

/// Implements BackendEntry::start of the model shmem: initialises OpenSHMEM and makes the transport of all its processes.
/// Collective.
std::unique_ptr<TransportBase> start() {
  start_shmem();
  Members all = all_members();
  std::byte* const board = ShmemCollectives::new_board(all, {});
  return std::make_unique<Shmem>(std::move(all), board);
}

/// Returns a function that computes element-wise maxima of words below 2^63 over the ranks of `control`, a transport of any model,
/// by which processes agree on a place in symmetric memory before their transport of the model shmem exists.
Highest highest_over(Transport& control) {
  return [&control](std::span<std::uint64_t> words) {
    std::vector<std::int64_t> values(words.begin(), words.end());
    control.all_reduce(values, Op::max);
    std::copy(values.begin(), values.end(), words.begin());
  };
}

/// Returns the processes of an MPI communicator, given as its Fortran handle, as members of a transport of the model shmem. Their
/// numbers in OpenSHMEM equal their ranks in MPI_COMM_WORLD. Local.
Members find_members(int communicator) {
  Members members{0, mpi()->communicators->world_ranks(communicator)};
  const auto mine = std::find(members.pes.begin(), members.pes.end(), mpi()->communicators->world().rank);
  members.rank = static_cast<int>(mine - members.pes.begin());
  return members;
}

/// Returns the reason why the model shmem cannot run on the ranks of an MPI communicator: ranks outside of MPI_COMM_WORLD, or a
/// part of the ranks before OpenSHMEM was started by all. Empty if it can. Local.
std::string refusal(int communicator) {
  const Communicators& communicators = *mpi()->communicators;
  const std::vector<int> pes = communicators.world_ranks(communicator);
  const auto all = static_cast<std::size_t>(communicators.world().size);
  const std::string over = "model 'shmem' over a communicator of " + std::to_string(pes.size()) + " ranks";
  if (std::count(pes.begin(), pes.end(), -1) > 0) {
    return over +
           ", not all of them in MPI_COMM_WORLD, to which the symmetric heap belongs; allowed: ranks of it, or another "
           "model";
  }
  if (pes.size() == all || shmem_started()) return {};
  return over + ", before all " + std::to_string(all) +
         " ranks have started OpenSHMEM; allowed: after a transport of 'shmem' has been opened over all of them (it "
         "may be destroyed at once), or another model";
}

/// Implements BackendEntry::open of the model shmem: makes a transport over the ranks of an MPI communicator. A temporary
/// transport of the model p2p agrees on the place of its symmetric memory. Collective.
std::unique_ptr<TransportBase> open_over(int communicator) {
  Members members = find_members(communicator);
  if (static_cast<int>(members.pes.size()) == mpi()->communicators->world().size) start_shmem();
  std::byte* board = nullptr;
  run_process([&] { return find_model("p2p").open(communicator); },
              [&](TransportBase& control) { board = ShmemCollectives::new_board(members, highest_over(control)); });
  return std::make_unique<Shmem>(std::move(members), board);
}

}  // namespace

extern const BackendEntry shmem_backend;
const BackendEntry shmem_backend{
    {"shmem", "OpenSHMEM: symmetric memory, puts and fences", true}, start, open_over, nullptr, refusal};

}  // namespace merganser::comm::detail
