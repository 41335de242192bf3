// Collectives of simulated ranks in shared memory, which take no simulated time (SimulatedCollectives). The ranks are coroutines
// of one thread that switch only in calls of the simulator, so nothing is locked.
#include <mpi.h>
#include <simgrid/barrier.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "merganser/base/pinned.hpp"
#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/detail/transport_base.hpp"
#include "src/comm/simulated/made_by_first.hpp"

namespace merganser::comm::detail {
namespace {

/// Data of the collective calls of simulated ranks that not all ranks have read yet, by number of the call. One object, which the
/// ranks of a transport share; a barrier of the simulator separates writing from reading.
class SharedCalls : Pinned {
 public:
  explicit SharedCalls(int ranks)
      : ranks_(static_cast<std::size_t>(ranks)), all_here_(sg_barrier_init(static_cast<unsigned>(ranks))) {}
  ~SharedCalls() { sg_barrier_destroy(all_here_); }

  /// Blocks until every simulated rank of the transport has called it.
  void wait() { sg_barrier_wait(all_here_); }

  // In the collectives below, `round` is the number of the call, the same on every rank.
  /// Returns the bytes of all simulated ranks, by rank, on every rank. The last rank that reads them erases the shared copy. Collective.
  std::vector<Bytes> all_gather(std::size_t rank, std::uint64_t round, BytesView mine) {
    Round& told = publish(rank, round, mine);
    const bool last = ++told.readers == ranks_;
    std::vector<Bytes> all = last ? std::move(told.by_sender) : told.by_sender;
    if (last) rounds_.erase(round);
    return all;
  }

  /// Reduces words of all simulated ranks element by element, in the order in which they call, into `words`. Collective.
  void reduce(std::uint64_t round, std::span<std::uint64_t> words, Op op) {
    Round& told = rounds_[round];
    const bool first = !std::exchange(told.written, true);
    if (first) told.words.assign(words.begin(), words.end());
    for (std::size_t i = 0; i < words.size() && !first; ++i) told.words[i] = reduce_pair(told.words[i], words[i], op);
    wait();
    std::copy(told.words.begin(), told.words.end(), words.begin());
    note_read(round, told);
  }

  /// Returns the bytes of all simulated ranks, by rank, on rank 0, and an empty vector on the others. Collective.
  std::vector<Bytes> gather(std::size_t rank, std::uint64_t round, BytesView mine) {
    Round& told = publish(rank, round, mine);
    if (rank != 0) return {};
    std::vector<Bytes> all = std::move(told.by_sender);
    rounds_.erase(round);
    return all;
  }

  /// Returns the bytes of simulated rank 0 on every rank. Collective.
  Bytes broadcast(std::size_t rank, std::uint64_t round, BytesView mine) {
    Round& told = rounds_[round];
    if (rank == 0) told.by_sender.emplace_back(mine.begin(), mine.end());
    wait();
    Bytes text = told.by_sender[0];
    note_read(round, told);
    return text;
  }

  /// Sends messages[i] to simulated rank ranks[i] and returns the message received from each of `ranks`. Collective.
  std::vector<Bytes> exchange(std::size_t rank, std::uint64_t round, std::span<const int> ranks,
                              const std::vector<Bytes>& messages) {
    Round& told = rounds_[round];
    told.by_receiver.resize(ranks_);
    for (std::size_t i = 0; i < ranks.size(); ++i)
      told.by_receiver[static_cast<std::size_t>(ranks[i])].push_back({rank, messages[i]});
    wait();
    std::vector<Bytes> came(ranks.size());
    for (auto& message : told.by_receiver[rank]) {
      const auto arc = std::find(ranks.begin(), ranks.end(), static_cast<int>(message.from)) - ranks.begin();
      came[static_cast<std::size_t>(arc)] = std::move(message.text);
    }
    note_read(round, told);
    return came;
  }

  /// Sends to[r] to simulated rank r and returns the messages received, by sender. Collective.
  std::vector<Bytes> all_to_all(std::size_t rank, std::uint64_t round, std::span<const BytesView> to) {
    Round& told = rounds_[round];
    told.by_receiver.resize(ranks_);
    for (std::size_t r = 0; r < to.size(); ++r)
      if (!to[r].empty()) told.by_receiver[r].push_back({rank, Bytes(to[r].begin(), to[r].end())});
    wait();
    std::vector<Bytes> from(ranks_);
    for (auto& message : told.by_receiver[rank]) from[message.from] = std::move(message.text);
    note_read(round, told);
    return from;
  }

 private:
  /// Message of one simulated rank to another in a collective call.
  struct Message {
    std::size_t from;  // sending rank
    Bytes text;        // bytes of the message
  };
  /// Data of one collective call of simulated ranks.
  struct Round {
    std::vector<Bytes> by_sender;                   // bytes of each rank, for gathers and broadcasts
    std::vector<std::vector<Message>> by_receiver;  // messages to each rank, for exchanges
    std::vector<std::uint64_t> words;               // the result of a reduction so far
    bool written = false;                           // `words` has those of some rank
    std::size_t readers = 0;                        // number of ranks that have read
  };

  /// Stores this simulated rank's bytes for a collective call, blocks until all ranks have done so, and returns the call's data.
  Round& publish(std::size_t rank, std::uint64_t round, BytesView mine) {
    Round& told = rounds_[round];
    told.by_sender.resize(ranks_);
    told.by_sender[rank].assign(mine.begin(), mine.end());
    wait();
    return told;
  }
  /// Counts a simulated rank that has read a collective call's data; the last one erases them.
  void note_read(std::uint64_t round, Round& told) {
    if (++told.readers == ranks_) rounds_.erase(round);
  }

  std::size_t ranks_;                      // number of simulated ranks
  sg_bar_t all_here_;                      // the simulator's barrier of these ranks
  std::map<std::uint64_t, Round> rounds_;  // by number of the collective call
};

/// Collectives of one simulated rank over call data that the ranks share, which take no simulated time.
class FreeCollectives final : public SimulatedCollectives {
 public:
  FreeCollectives(MPI_Comm comm, std::shared_ptr<SharedCalls> board)
      : board_(std::move(board)), rank_(static_cast<std::size_t>(rank_in(comm))) {}
  void barrier() override { board_->wait(); }
  void reduce(std::span<std::uint64_t> words, Op op) override { board_->reduce(round_++, words, op); }
  [[nodiscard]] std::vector<Bytes> gather(BytesView mine) override { return board_->gather(rank_, round_++, mine); }
  [[nodiscard]] Bytes broadcast(BytesView mine) override { return board_->broadcast(rank_, round_++, mine); }
  [[nodiscard]] std::vector<Bytes> exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) override {
    return board_->exchange(rank_, round_++, ranks, messages);
  }
  [[nodiscard]] std::vector<Bytes> all_gather(BytesView mine) override {
    return board_->all_gather(rank_, round_++, mine);
  }
  [[nodiscard]] std::vector<Bytes> all_to_all(std::span<const BytesView> to) override {
    return board_->all_to_all(rank_, round_++, to);
  }

 private:
  std::shared_ptr<SharedCalls> board_;
  std::size_t rank_;
  std::uint64_t round_ = 0;  // number of the next call, alike on every rank
};

}  // namespace

// Makes untimed collectives in a simulation if an environment variable chooses them.
std::unique_ptr<SimulatedCollectives> simulated_collectives(MPI_Comm comm) {
  const char* which = std::getenv("MERGANSER_SIMULATED_COLLECTIVES");
  if (which == nullptr || std::string_view(which) != "free") return nullptr;
  return std::make_unique<FreeCollectives>(
      comm, make_by_first(comm, [](int ranks) { return std::make_shared<SharedCalls>(ranks); }));
}

// Returns the first of a transport's message tags in a simulation, which take the place of a duplicate communicator.
int simulated_first_tag(MPI_Comm comm) {
  constexpr int kTags = 1000;
  static int transports = 0;  // shared by all ranks, so only the first rank of a transport counts it
  return make_by_first(comm, [](int) { return kTags * transports++; });
}

}  // namespace merganser::comm::detail
