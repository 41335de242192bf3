// Reductions, barriers and all-gathers of simulated ranks with the time of SMPI's algorithms (TimedCollectives).
#include <mpi.h>

#include <algorithm>
#include <map>
#include <memory>
#include <simulate/costs.hpp>
#include <utility>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/detail/transport_base.hpp"
#include "src/comm/simulated/gathering.hpp"
#include "src/comm/simulated/made_by_first.hpp"
#include "src/comm/simulated/network.hpp"
#include "src/comm/simulated/rounds.hpp"

namespace merganser::comm::detail {
namespace {

/// Timed reductions and barriers in progress of the simulated ranks of a transport. One object, which all ranks share. The last
/// rank to enter computes the dates at which the ranks leave, all of which are later than its own entry.
class SharedReductions {
 public:
  explicit SharedReductions(std::vector<int> world) : gatherings(world), world_(std::move(world)) {}
  /// Returns the number of simulated ranks of the transport.
  [[nodiscard]] int size() const { return static_cast<int>(world_.size()); }

  /// Enters a simulated rank into reduction `number`, blocks until the rank may leave, and returns the result in `words`.
  /// @param algorithm  adds the rounds of messages by which dates are computed
  template <class Algorithm>
  void reduce(std::size_t rank, std::uint64_t number, std::span<std::uint64_t> words, Op op,
              const Algorithm& algorithm) {
    Reduction& meeting = meetings_[number];
    meeting.came.resize(world_.size());
    meeting.came[rank] = simulated_now();
    add(meeting, words, op);
    // The last rank to enter computes the dates at which all ranks leave; timers at these dates end their waits below.
    if (++meeting.present == world_.size()) {
      Rounds rounds(world_, std::move(meeting.came));
      algorithm(rounds);
      schedule_release(meeting, std::move(rounds).dates());
    }
    while (meeting.through.empty() || !meeting.through[rank]) wait_for_notification(world_[rank]);
    std::copy(meeting.words.begin(), meeting.words.end(), words.begin());
    if (--meeting.present == 0) meetings_.erase(number);
  }

  Gatherings gatherings;  // all-gathers of the same ranks

 private:
  /// Timed reduction or barrier of simulated ranks in progress.
  struct Reduction {
    std::vector<double> came;          // by rank: simulated date of its entry, s
    std::size_t present = 0;           // number of ranks that have entered and not left
    std::vector<std::uint64_t> words;  // the result of the reduction so far
    std::vector<bool> through;         // by rank: it may leave; empty until all have entered
  };

  /// Reduces the words of one simulated rank into the result of the reduction so far.
  static void add(Reduction& meeting, std::span<const std::uint64_t> words, Op op) {
    if (meeting.present == 0) {
      meeting.words.assign(words.begin(), words.end());
      return;
    }
    for (std::size_t i = 0; i < words.size(); ++i) meeting.words[i] = reduce_pair(meeting.words[i], words[i], op);
  }

  /// Schedules the end of a reduction or barrier on every simulated rank. @param dates  by rank: date at which it leaves, s
  void schedule_release(Reduction& meeting, const std::vector<double>& dates) {
    meeting.through.resize(world_.size());
    for (std::size_t r = 0; r < dates.size(); ++r) {
      simulated_timer(dates[r], [this, &meeting, r] {
        meeting.through[r] = true;
        notify_rank(world_[r]);
      });
    }
  }

  std::vector<int> world_;                       // by rank of the transport: rank of the world
  std::map<std::uint64_t, Reduction> meetings_;  // by number of the collective call
};

/// Timed collectives of one simulated rank, over the reductions and all-gathers in progress that the ranks share.
class SharedTimedCollectives final : public TimedCollectives {
 public:
  SharedTimedCollectives(int rank, std::shared_ptr<SharedReductions> table)
      : rank_(static_cast<std::size_t>(rank)), table_(std::move(table)) {}
  void reduce(std::span<std::uint64_t> words, Op op, std::size_t bytes) override {
    const simulated::Call call;
    const bool halves = is_long(words.size(), bytes, table_->size());
    table_->reduce(rank_, number_++, words, op, [&](Rounds& rounds) {
      halves ? halving_and_doubling(rounds, bytes) : recursive_doubling(rounds, bytes);
    });
  }
  void barrier() override {
    const simulated::Call call;
    table_->reduce(rank_, number_++, {}, Op::max, [](Rounds& rounds) { dissemination(rounds); });
  }
  [[nodiscard]] std::shared_ptr<const Parts> all_gather(BytesView mine, bool equal) override {
    const simulated::Call call;
    return table_->gatherings.gather(rank_, number_++, mine, equal);
  }

 private:
  std::size_t rank_;
  std::shared_ptr<SharedReductions> table_;
  std::uint64_t number_ = 0;  // number of the next call, alike on every rank
};

}  // namespace

std::unique_ptr<TimedCollectives> timed_collectives(MPI_Comm comm) {
  if (!messages_are_timers()) return nullptr;
  (void)ring_threshold();  // throws for a bad variable on every rank, before anything is shared
  auto table = make_by_first(comm, [&](int) { return std::make_shared<SharedReductions>(world_ranks(comm)); });
  SimulatedNetwork::get();
  return std::make_unique<SharedTimedCollectives>(rank_in(comm), std::move(table));
}

}  // namespace merganser::comm::detail
