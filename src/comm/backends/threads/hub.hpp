#pragma once
/// Where ranks that are threads of one process meet and leave their mail.
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

/// Whether this rank has been released from a wait: whatever it throws after that follows from another rank's error.
inline thread_local bool released = false;

[[noreturn]] inline void release_this_rank() {
  released = true;
  throw Released();
}

/// What ranks meet for.
enum class Call : std::uint8_t { barrier, all_reduce, gather, broadcast, all_gather, all_to_all, set_up, subset };

inline std::string call_name(Call call) {
  constexpr std::array kNames{"barrier",    "all_reduce", "gather", "broadcast",
                              "all_gather", "all_to_all", "set-up", "subset"};
  return kNames[static_cast<std::size_t>(call)];
}

inline constexpr std::chrono::milliseconds kLook{50};  // how often one who sleeps looks at the wait limit

struct Mail {
  std::size_t from;
  Bytes bytes;
};

/// What has come for one rank.
struct Desk {
  std::mutex mutex;
  std::condition_variable arrived;
  std::unordered_map<std::uint64_t, std::deque<Mail>> mail;  // by number of the link
  std::atomic<std::uint64_t> version{0};
};

class Hub {
 public:
  explicit Hub(int size)
      : size_(size), desks_(static_cast<std::size_t>(size)), boards_(desks_.size()), here_(desks_.size()) {}

  [[nodiscard]] int size() const noexcept { return size_; }
  Desk& desk(int rank) { return desks_[static_cast<std::size_t>(rank)]; }

  void check() const {
    if (poisoned_.load(std::memory_order_acquire)) release_this_rank();
  }
  [[nodiscard]] bool poisoned() const { return poisoned_.load(std::memory_order_acquire); }

  /// Releases every rank from its wait.
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

  /// Waits until every rank has come for the same call. @throws CommError if one has come for another
  void meet(int rank, Call call) {
    meet(rank, call, [](bool, std::uint64_t) {});
  }

  /// The same; come(first, meeting) is called before, by one rank at a time: whether it is the first, and the number of
  /// the meeting.
  template <class Come>
  void meet(int rank, Call call, const Come& come) {
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
      Waiter waiter([&] { return missing(rank); });
      try {
        while (!everybody_.wait_until(lock, std::chrono::system_clock::now() + kLook, over)) waiter.check_limit();
      } catch (...) {
        here_[static_cast<std::size_t>(rank)] = 0;  // it has not come after all
        --count_;
        throw;
      }
    } else {
      everybody_.wait(lock, over);
    }
    if (generation_ == generation) release_this_rank();
  }

  /// Shows `mine` to everybody while `look` runs on every rank: it is given a function that tells what a rank shows.
  template <class T, class Look>
  void show(int rank, Call call, const T& mine, const Look& look) {
    boards_[static_cast<std::size_t>(rank)] = &mine;
    meet(rank, call);
    look([this](int other) -> const T& { return *static_cast<const T*>(boards_[static_cast<std::size_t>(other)]); });
    meet(rank, call);
  }

  /// Element-wise, in one meeting. Of two totals the one of the meeting before is read while the other is made: who has
  /// not read it has not come to the next.
  void reduce(int rank, std::span<std::uint64_t> words, Op op) {
    std::vector<std::uint64_t>* total = nullptr;
    meet(rank, Call::all_reduce, [&](bool first, std::uint64_t meeting) {
      total = &totals_[meeting % 2];
      if (first) {
        total->assign(words.begin(), words.end());
        return;
      }
      for (std::size_t i = 0; i < std::min(words.size(), total->size()); ++i) {
        (*total)[i] = combined((*total)[i], words[i], op);
      }
    });
    std::copy_n(total->begin(), std::min(words.size(), total->size()), words.begin());
  }

  void adopt(const std::shared_ptr<Hub>& child) {
    const std::scoped_lock lock(mutex_);
    children_.push_back(child);
    if (poisoned()) child->poison();
  }

 private:
  [[nodiscard]] std::string missing(int rank) const {
    std::string text = "rank " + std::to_string(rank) + " in " + call_name(call_) + ": " + std::to_string(count_) +
                       " of " + std::to_string(size_) + " ranks have come, not ranks";
    for (std::size_t r = 0; r < here_.size(); ++r) {
      if (here_[r] == 0) text += " " + std::to_string(r);
    }
    return text;
  }

  int size_;
  std::deque<Desk> desks_;
  std::vector<const void*> boards_;
  std::mutex mutex_;
  std::condition_variable everybody_;
  std::vector<std::uint8_t> here_;  // by rank: has come
  int count_ = 0;
  Call call_ = Call::barrier;
  std::uint64_t generation_ = 0;
  std::array<std::vector<std::uint64_t>, 2> totals_;
  std::atomic<bool> poisoned_{false};
  std::vector<std::weak_ptr<Hub>> children_;
};

}  // namespace merganser::comm::detail
