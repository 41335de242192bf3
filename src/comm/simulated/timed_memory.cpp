// One-sided memory of simulated ranks whose puts and gets are transfers in the simulated network.
#include "src/comm/simulated/timed_memory.hpp"

#include <simgrid/barrier.h>

#include <algorithm>
#include <cstring>
#include <simulate/costs.hpp>
#include <unordered_map>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/simulated/made_by_first.hpp"
#include "src/comm/simulated/network.hpp"

namespace merganser::comm::detail {
namespace {

/// Memory blocks of all simulated ranks in one piece of one-sided memory, by rank of the communicator. One object, which all
/// simulated ranks share.
class Blocks : Pinned {
 public:
  explicit Blocks(std::vector<int> world)
      : world_ranks(std::move(world)),
        data(world_ranks.size()),
        all_(sg_barrier_init(static_cast<unsigned>(world_ranks.size()))) {}
  ~Blocks() { sg_barrier_destroy(all_); }
  /// Blocks until all simulated ranks of the communicator have called it.
  void wait_for_all() { sg_barrier_wait(all_); }

  const std::vector<int> world_ranks;  // by rank of the communicator: rank of the world
  std::vector<std::byte*> data;        // by rank of the communicator: its block

 private:
  sg_bar_t all_;  // the simulator's barrier of the ranks
};

/// One-sided memory of a simulated rank whose operations are timers: bytes are copied at once on this rank, else at
/// their simulated arrival.
class TimedMemory final : public Memory {
 public:
  TimedMemory(int rank, std::shared_ptr<Blocks> blocks, std::size_t bytes, Epoch epoch, Counters& counters)
      : rank_(rank),
        me_(simulated_world().rank),
        blocks_(std::move(blocks)),
        epoch_(epoch),
        counters_(counters),
        pages_(bytes) {
    blocks_->data[static_cast<std::size_t>(rank)] = data();
    if (epoch_ == Epoch::lifetime) ++counters_.epochs;
    blocks_->wait_for_all();
  }

  [[nodiscard]] std::byte* data() noexcept override { return static_cast<std::byte*>(pages_.data()); }

  /// Puts bytes into the block of a simulated rank, by a transfer that copies them at its arrival; on this rank at once.
  void put(int rank, std::size_t offset, const void* from, std::size_t bytes) override {
    const simulated::Call call;
    Target& target = begin(rank);
    std::byte* const to = at(rank, offset);
    if (rank == rank_) {
      std::memcpy(to, from, bytes);
    } else {
      const auto* const first = static_cast<const std::byte*>(from);
      start(target, me_, target.rank, target.costs.put_s, Bytes(first, first + bytes), to);
      target.puts = true;
    }
    end(target);
  }
  void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes) override {
    put(rank, offset, &word, bytes);
  }
  /// Gets bytes from the block of a simulated rank, by a transfer back; they are read at the beginning, as SMPI does.
  void get(int rank, std::size_t offset, void* to, std::size_t bytes) override {
    const simulated::Call call;
    Target& target = begin(rank);
    const std::byte* const from = at(rank, offset);
    if (rank == rank_) {
      std::memcpy(to, from, bytes);
    } else {
      start(target, target.rank, me_, target.costs.get_s, Bytes(from, from + bytes), static_cast<std::byte*>(to));
      target.gets = true;
    }
    end(target);
  }
  /// Replaces a word of a simulated rank by its OR with `operand`; blocks for the time of a get and a put.
  void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) override {
    const simulated::Call call;
    Target& target = begin(rank);
    if (rank != rank_) {
      start(target, target.rank, me_, target.costs.get_s, Bytes(bytes), nullptr);
      wait(target);
    }
    start(target, me_, target.rank, target.costs.get_s, Bytes(bytes), nullptr);
    wait(target);
    std::byte* const there = at(rank, offset);
    std::memcpy(old, there, bytes);
    std::uint64_t word = 0;
    std::memcpy(&word, there, bytes);
    word |= operand;
    std::memcpy(there, &word, bytes);  // 4 or 8 bytes of a little-endian word
    end(target);
  }

  /// Completes all one-sided operations of this simulated rank at their targets, and waits for the last acknowledgement.
  void complete() override {
    if (touched_.empty()) return;
    const simulated::Call call;
    double way_back = 0;
    for (Target* const target : touched_) {
      complete_target(*target);
      way_back = std::max(way_back, completion_delay(*target));
      target->touched = false;
    }
    touched_.clear();
    simulated_sleep(me_, way_back);
  }
  /// Does nothing: puts of other simulated ranks are in this memory when their flush ends.
  void progress() override {}

  void begin_phase() override {
    if (epoch_ == Epoch::per_phase) ++counters_.epochs;
  }
  void end_phase() override {
    if (epoch_ == Epoch::per_phase) complete();
  }
  void free() override {
    complete();
    blocks_->wait_for_all();
  }

 private:
  /// State of this simulated rank's one-sided operations to one target rank.
  struct Target {
    int rank = 0;                    // the target, rank of the world
    simulated::OneSidedCosts costs;  // times of operations to the target
    int under_way = 0;               // number of operations in transit
    bool puts = false;               // puts since the last flush
    bool gets = false;               // gets since the last flush
    bool touched = false;            // is in touched_
  };

  /// Returns an address in the memory block of a simulated rank of the communicator. @param offset  in bytes
  [[nodiscard]] std::byte* at(int rank, std::size_t offset) const {
    return blocks_->data[static_cast<std::size_t>(rank)] + offset;
  }

  /// Begins a one-sided operation to a simulated rank; opens an access epoch of its own in Epoch::per_operation.
  Target& begin(int rank) {
    const auto [found, fresh] = targets_.try_emplace(rank);
    Target& target = found->second;
    if (fresh) {
      target.rank = blocks_->world_ranks[static_cast<std::size_t>(rank)];
      target.costs = simulated::one_sided_costs(SimulatedNetwork::get().on_one_node(me_, target.rank));
    }
    if (epoch_ == Epoch::per_operation) {
      ++counters_.epochs;
      simulated_sleep(me_, target.costs.epoch_s / 2);
    }
    return target;
  }

  /// Ends a one-sided operation: completes it in Epoch::per_operation, else marks the target for the next flush.
  void end(Target& target) {
    if (epoch_ != Epoch::per_operation) {
      if (!target.touched) touched_.push_back(&target);
      target.touched = true;
      return;
    }
    complete_target(target);
    simulated_sleep(me_, completion_delay(target));
    simulated_sleep(me_, target.costs.epoch_s / 2);
  }

  /// Starts a transfer of a one-sided operation between this simulated rank and the target, from rank `from` to rank `towards` of
  /// the world, which copies the bytes to `to` at its arrival (null: nowhere). @param overhead  time of this rank for it, s
  void start(Target& target, int from, int towards, double overhead, Bytes bytes, std::byte* to) {
    simulated_sleep(me_, overhead);
    ++target.under_way;
    const std::size_t size = bytes.size();
    SimulatedNetwork::get().send(from, towards, size, simulated_now(), [this, &target, to, bytes = std::move(bytes)] {
      if (to != nullptr) std::memcpy(to, bytes.data(), bytes.size());
      if (--target.under_way == 0 && waits_for_ == &target) notify_rank(me_);
    });
  }

  /// Blocks this simulated rank until no one-sided operation to the target is in transit.
  void wait(Target& target) {
    waits_for_ = &target;
    while (target.under_way > 0) wait_for_notification();
    waits_for_ = nullptr;
  }

  /// Blocks until the one-sided operations to a simulated rank are complete there, and notifies the rank.
  void complete_target(Target& target) {
    wait(target);
    notify_rank(target.rank);
  }

  /// Returns the time in seconds from the completion of one-sided operations at the target until the flush of this rank returns.
  static double completion_delay(Target& target) {
    const double puts = target.puts ? target.costs.put_done_s : 0;
    const double gets = target.gets ? target.costs.get_done_s : 0;
    target.puts = target.gets = false;
    return std::max(puts, gets);
  }

  int rank_;  // this rank in the communicator
  int me_;    // this rank in the world
  std::shared_ptr<Blocks> blocks_;
  Epoch epoch_;                              // extent of the access epochs
  Counters& counters_;                       // operation counts of the transport
  ZeroPages pages_;                          // this rank's block
  std::unordered_map<int, Target> targets_;  // by rank of the communicator
  std::vector<Target*> touched_;             // targets of operations since the last flush
  const Target* waits_for_ = nullptr;        // target that this rank waits for
};

}  // namespace

std::shared_ptr<Memory> timed_memory(MPI_Comm comm, std::size_t bytes, Epoch epoch, Counters& counters) {
  auto blocks = make_by_first(comm, [&](int) { return std::make_shared<Blocks>(world_ranks(comm)); });
  return std::make_shared<TimedMemory>(rank_in(comm), std::move(blocks), bytes, epoch, counters);
}

}  // namespace merganser::comm::detail
