#pragma once
/// Shared state of ranks that are threads of one process (model threads): message queues and a rendezvous for collectives.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "merganser/comm/runtime.hpp"
#include "merganser/comm/transport.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/transport_base.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm::detail {

/// Flag of the calling thread rank: true once one of its waits has ended with Released. Its errors after that are consequences of
/// another rank's.
inline thread_local bool released = false;

/// Throws Released, which ends a wait of the calling thread rank because another rank has failed.
[[noreturn]] inline void release_this_rank() {
  released = true;
  throw Released();
}

/// Kinds of collective calls of thread ranks, by which ranks that make different calls at the same time are detected.
enum class Call : std::uint8_t { barrier, all_reduce, gather, broadcast, all_gather, all_to_all, set_up, subset };

/// Returns the name of a collective call of thread ranks ("all_gather"), for errors.
inline std::string call_name(Call call) {
  constexpr std::array kNames{"barrier",    "all_reduce", "gather", "broadcast",
                              "all_gather", "all_to_all", "set-up", "subset"};
  return kNames[static_cast<std::size_t>(call)];
}

inline constexpr std::chrono::milliseconds kLook{50};  // interval at which a sleeping thread checks the wait limit

/// Message between two thread ranks, in the receiver's queue of a link.
struct QueuedMessage {
  std::size_t from;  // sending rank
  Bytes bytes;       // the message
};

/// Queues of the messages that have arrived for one thread rank, one queue per link.
struct Desk {
  std::mutex mutex;                 // of the queues
  std::condition_variable arrived;  // notified for every message, and when a rank has failed
  std::unordered_map<std::uint64_t, std::deque<QueuedMessage>> mail;  // by number of the Link
  std::atomic<std::uint64_t> version{0};  // number of messages so far, for polls without the lock
};

/// State that the thread ranks of one transport share: their message queues, and the rendezvous of their collective calls. All
/// calls are thread-safe.
class Hub {
 public:
  explicit Hub(int size)
      : size_(size), desks_(static_cast<std::size_t>(size)), boards_(desks_.size()), here_(desks_.size()) {}

  [[nodiscard]] int size() const noexcept { return size_; }
  /// Returns the message queues of a thread rank.
  Desk& desk(int rank) { return desks_[static_cast<std::size_t>(rank)]; }

  /// Checks that no thread rank of the transport has failed. @throws Released if one has
  void check() const {
    if (poisoned_.load(std::memory_order_acquire)) release_this_rank();
  }
  /// Returns true if a thread rank has failed, so that all waits end.
  [[nodiscard]] bool poisoned() const { return poisoned_.load(std::memory_order_acquire); }

  /// Ends the present and all later waits of every thread rank, of this transport and of its sub-transports, with Released.
  /// Called by a rank that has failed. The mutexes are locked so that no thread misses the notification between its check and
  /// its wait.
  void poison() {
    poisoned_.store(true, std::memory_order_release);
    for (auto& desk : desks_) {
      const std::scoped_lock lock(desk.mutex);
      desk.arrived.notify_all();
    }
    const std::scoped_lock lock(mutex_);
    everybody_.notify_all();
    for (auto& child : children_) {
      if (const auto hub = child.lock()) hub->poison();
    }
  }

  /// Blocks until every thread rank has entered the same collective call. @throws CommError if the ranks that have entered are in
  /// another call
  void rendezvous(int rank, Call call) {
    rendezvous(rank, call, [](bool, std::uint64_t) {});
  }

  /// Blocks until every thread rank has entered the same collective call; each rank runs come(first, meeting) under the lock when
  /// it enters, where `first` is true on the first rank and `meeting` is the number of the rendezvous.
  /// @throws CommError if the ranks that have entered are in another call
  template <class Come>
  void rendezvous(int rank, Call call, const Come& come) {
    std::unique_lock lock(mutex_);
    const auto generation = generation_;
    if (count_ > 0 && call_ != call) {
      const auto first = std::find(here_.begin(), here_.end(), 1) - here_.begin();
      throw CommError("rank " + std::to_string(rank) + " calls " + call_name(call) + ", but rank " +
                      std::to_string(first) + " calls " + call_name(call_) +
                      "; every rank must make the same collective calls in the same order");
    }
    come(count_ == 0, generation);
    call_ = call;
    here_[static_cast<std::size_t>(rank)] = 1;
    if (++count_ == size_) {
      count_ = 0;
      std::fill(here_.begin(), here_.end(), 0);
      ++generation_;
      everybody_.notify_all();
      return;
    }
    const auto over = [&] { return generation_ != generation || poisoned(); };
    if (wait_limit() > 0) {
      Waiter waiter([&] { return describe_wait(rank); });
      try {
        while (!everybody_.wait_until(lock, std::chrono::system_clock::now() + kLook, over)) waiter.check_limit();
      } catch (...) {
        here_[static_cast<std::size_t>(rank)] = 0;  // withdraw, so that the counts stay consistent
        --count_;
        throw;
      }
    } else {
      everybody_.wait(lock, over);
    }
    if (generation_ == generation) release_this_rank();  // the wait has ended because another rank has failed
  }

  /// Exposes `mine` to all thread ranks in a collective call and runs look(shown) on each, where shown(rank) returns the object
  /// that a rank exposes. Blocks before and after, so that objects are complete before they are read and live until all have been.
  template <class T, class Look>
  void expose(int rank, Call call, const T& mine, const Look& look) {
    boards_[static_cast<std::size_t>(rank)] = &mine;
    rendezvous(rank, call);
    look([this](int other) -> const T& { return *static_cast<const T*>(boards_[static_cast<std::size_t>(other)]); });
    rendezvous(rank, call);
  }

  /// Reduces words of all thread ranks element by element, in one rendezvous, into `words` of every rank. Two totals alternate: one
  /// may be read while the next is computed, but not while the one after is, since its reader must have entered the next
  /// rendezvous by then.
  void reduce(int rank, std::span<std::uint64_t> words, Op op) {
    std::vector<std::uint64_t>* total = nullptr;
    rendezvous(rank, Call::all_reduce, [&](bool first, std::uint64_t meeting) {
      total = &totals_[meeting % 2];
      if (first) {
        total->assign(words.begin(), words.end());
        return;
      }
      for (std::size_t i = 0; i < std::min(words.size(), total->size()); ++i) {
        (*total)[i] = reduce_pair((*total)[i], words[i], op);
      }
    });
    std::copy_n(total->begin(), std::min(words.size(), total->size()), words.begin());
  }

  /// Registers the shared state of a sub-transport of thread ranks: poison() ends the waits there with Released too.
  void adopt(const std::shared_ptr<Hub>& child) {
    const std::scoped_lock lock(mutex_);
    children_.push_back(child);
    if (poisoned()) child->poison();
  }

 private:
  /// Describes a collective call of thread ranks that waits for some of them, for the error of a wait that exceeds its limit.
  [[nodiscard]] std::string describe_wait(int rank) const {
    std::string text = "rank " + std::to_string(rank) + " in " + call_name(call_) + ": " + std::to_string(count_) +
                       " of " + std::to_string(size_) + " ranks have come, not ranks";
    for (std::size_t r = 0; r < here_.size(); ++r) {
      if (here_[r] == 0) text += " " + std::to_string(r);
    }
    return text;
  }

  int size_;                                          // number of thread ranks
  std::deque<Desk> desks_;                            // by rank: its message queues
  std::vector<const void*> boards_;                   // by rank: the object that it exposes
  std::mutex mutex_;                                  // of everything below
  std::condition_variable everybody_;                 // notified when all ranks have entered, or one has failed
  std::vector<std::uint8_t> here_;                    // by rank: 1 if it has entered the current rendezvous
  int count_ = 0;                                     // number of ranks that have entered
  Call call_ = Call::barrier;                         // collective call of the ranks that have entered
  std::uint64_t generation_ = 0;                      // number of the current rendezvous
  std::array<std::vector<std::uint64_t>, 2> totals_;  // totals of reductions, by parity of the rendezvous
  std::atomic<bool> poisoned_{false};                 // a rank has failed
  std::vector<std::weak_ptr<Hub>> children_;          // of sub-transports
};

}  // namespace merganser::comm::detail
