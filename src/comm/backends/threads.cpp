// requires: nothing
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/message_transport.hpp"
#include "src/comm/detail/registry.hpp"

/// Ranks are threads of this process; a message is a vector that changes hands.
namespace merganser::comm::detail {
namespace {

/// Whether this rank has been released from a wait: whatever it throws after that follows from another rank's error.
thread_local bool released = false;

[[noreturn]] void release_this_rank() {
  released = true;
  throw Released();
}

/// What ranks meet for.
enum class Call : std::uint8_t { barrier, all_gather, all_to_all, subset };

std::string call_name(Call call) {
  constexpr std::array kNames{"barrier", "all_gather", "all_to_all", "subset"};
  return kNames[static_cast<std::size_t>(call)];
}

constexpr std::chrono::milliseconds kLook{50};  // how often one who sleeps looks at the wait limit

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
    std::unique_lock lock(mutex_);
    const auto generation = generation_;
    if (count_ > 0 && call_ != call) {
      const auto first = std::find(here_.begin(), here_.end(), 1) - here_.begin();
      throw CommError("rank " + std::to_string(rank) + " calls " + call_name(call) + ", but rank " +
                      std::to_string(first) + " calls " + call_name(call_) +
                      "; every rank must make the same collective calls in the same order");
    }
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
      const Waiter::Describe describe = [&] { return missing(rank); };
      Waiter waiter(describe);
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

  /// Shows `mine` to everybody while `look` runs on every rank.
  template <class Look>
  void show(int rank, Call call, const void* mine, const Look& look) {
    boards_[static_cast<std::size_t>(rank)] = mine;
    meet(rank, call);
    look(boards_);
    meet(rank, call);
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
  std::atomic<bool> poisoned_{false};
  std::vector<std::weak_ptr<Hub>> children_;
};

class ThreadLink final : public Link {
 public:
  ThreadLink(std::shared_ptr<Hub> hub, int rank, std::uint64_t number, const Graph& graph)
      : hub_(std::move(hub)), desk_(hub_->desk(rank)), number_(number), rank_(rank), out_(graph.out), in_(graph.in) {}

  ~ThreadLink() override {
    const std::scoped_lock lock(desk_.mutex);
    desk_.mail.erase(number_);
  }

  void send(std::size_t arc, std::span<const std::byte> message) override {
    hub_->check();
    Mail mail{static_cast<std::size_t>(rank_), Bytes(message.begin(), message.end())};
    Desk& desk = hub_->desk(out_[arc]);
    const std::scoped_lock lock(desk.mutex);
    desk.mail[number_].push_back(std::move(mail));
    desk.version.fetch_add(1, std::memory_order_release);
    desk.arrived.notify_one();
  }

  bool sent() override {
    hub_->check();
    return true;
  }

  std::optional<std::size_t> receive(Bytes& message) override {
    hub_->check();
    const std::scoped_lock lock(desk_.mutex);
    auto& queue = desk_.mail[number_];
    if (queue.empty()) {
      seen_ = desk_.version.load(std::memory_order_relaxed);
      return std::nullopt;
    }
    const std::size_t arc = in_(static_cast<int>(queue.front().from));
    message = std::move(queue.front().bytes);
    queue.pop_front();
    return arc;
  }

  void idle(Waiter& waiter) override {
    constexpr int kYields = 4;
    for (int i = 0; i < kYields; ++i) {
      if (desk_.version.load(std::memory_order_acquire) != seen_) return;
      std::this_thread::yield();
    }
    std::unique_lock lock(desk_.mutex);
    const auto ready = [this] { return desk_.version.load(std::memory_order_relaxed) != seen_ || hub_->poisoned(); };
    if (wait_limit() > 0) {
      if (!desk_.arrived.wait_until(lock, std::chrono::system_clock::now() + kLook, ready)) {
        waiter.check_limit();
      }
    } else {
      desk_.arrived.wait(lock, ready);
    }
  }

 private:
  std::shared_ptr<Hub> hub_;
  Desk& desk_;
  std::uint64_t number_;
  int rank_;
  std::vector<int> out_;
  ArcOf in_;
  std::uint64_t seen_ = 0;
};

class ThreadTransport final : public MessageTransport {
 public:
  ThreadTransport(std::shared_ptr<Hub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return hub_->size(); }
  [[nodiscard]] std::string_view name() const noexcept override { return "threads"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.one_sided = false, .subset_waves = true, .sub_transports = true, .processes = false};
  }

  [[nodiscard]] std::unique_ptr<Transport> subset(bool take_part) override;

 protected:
  std::unique_ptr<Link> link(const Graph& graph) override {
    return std::make_unique<ThreadLink>(hub_, rank_, links_++, graph);
  }
  void do_barrier() override {
    check_usable();
    hub_->meet(rank_, Call::barrier);
  }
  std::vector<Bytes> do_all_gather(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_to_all(std::span<const BytesView> to) override;

 private:
  std::shared_ptr<Hub> hub_;
  int rank_;
  std::uint64_t links_ = 0;
};

std::vector<Bytes> ThreadTransport::do_all_gather(std::span<const std::byte> mine) {
  check_usable();
  std::vector<Bytes> all;
  hub_->show(rank_, Call::all_gather, &mine, [&](const std::vector<const void*>& boards) {
    for (const void* board : boards) {
      const auto& theirs = *static_cast<const std::span<const std::byte>*>(board);
      all.emplace_back(theirs.begin(), theirs.end());
    }
  });
  return all;
}

std::vector<Bytes> ThreadTransport::do_all_to_all(std::span<const BytesView> to) {
  check_usable();
  std::vector<Bytes> all;
  hub_->show(rank_, Call::all_to_all, &to, [&](const std::vector<const void*>& boards) {
    for (const void* board : boards) {
      const auto theirs = (*static_cast<const std::span<const BytesView>*>(board))[static_cast<std::size_t>(rank_)];
      all.emplace_back(theirs.begin(), theirs.end());
    }
  });
  return all;
}

std::unique_ptr<Transport> ThreadTransport::subset(bool take_part) {
  ++counters_.collectives;
  const std::byte flag{static_cast<unsigned char>(take_part ? 1 : 0)};
  const auto flags = do_all_gather({&flag, 1});
  int members = 0;
  int leader = -1;
  int mine = 0;
  for (int r = 0; r < size(); ++r) {
    if (flags[static_cast<std::size_t>(r)][0] == std::byte{0}) continue;
    if (leader < 0) leader = r;
    if (r == rank_) mine = members;
    ++members;
  }
  std::shared_ptr<Hub> hub;
  if (rank_ == leader) {
    hub = std::make_shared<Hub>(members);
    hub_->adopt(hub);
  }
  const std::shared_ptr<Hub> shown = hub;
  hub_->show(rank_, Call::subset, &shown, [&](const std::vector<const void*>& boards) {
    if (take_part) hub = *static_cast<const std::shared_ptr<Hub>*>(boards[static_cast<std::size_t>(leader)]);
  });
  if (!take_part) return nullptr;
  auto part = std::make_unique<ThreadTransport>(std::move(hub), mine);
  adopt(*part);
  return part;
}

std::unique_ptr<TransportBase> start_one() { return std::make_unique<ThreadTransport>(std::make_shared<Hub>(1), 0); }
std::unique_ptr<TransportBase> open_one(int) { return start_one(); }  // open() has seen that there is one

/// How much an error tells: those of communication may follow from others, those of released ranks do.
enum class Tells : std::uint8_t { nothing, little, all };

Tells tells(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Released&) {
    return Tells::nothing;
  } catch (const Error& e) {
    return e.exit_code() == CommError("").exit_code() ? Tells::little : Tells::all;
  } catch (...) {
    return Tells::all;
  }
}

/// Throws what ended the ranks, if anything did: of the errors that tell most that of the lowest rank.
void rethrow_cause(const std::vector<std::exception_ptr>& errors) {
  for (const Tells most : {Tells::all, Tells::little, Tells::nothing}) {
    for (const auto& error : errors) {
      if (error && tells(error) == most) std::rethrow_exception(error);
    }
  }
}

/// Holds threads back until all are there, so that one that cannot be started costs no work.
class Gate {
 public:
  void open(bool all_there) {
    const std::scoped_lock lock(mutex_);
    state_ = all_there ? State::open : State::given_up;
    moved_.notify_all();
  }
  /// @return false if the run is given up
  bool pass() {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [this] { return state_ != State::closed; });
    return state_ == State::open;
  }

 private:
  enum class State { closed, open, given_up };
  std::mutex mutex_;
  std::condition_variable moved_;
  State state_ = State::closed;
};

void run_threads(int ranks, const BackendEntry::Each& each) {
  check_thread_ranks(ranks);
  const auto hub = std::make_shared<Hub>(ranks);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  Gate gate;
  const auto one = [&](int rank) {
    if (!gate.pass()) return;
    released = false;
    try {
      ThreadTransport transport(hub, rank);
      each(transport);
    } catch (...) {
      if (released) return;
      errors[static_cast<std::size_t>(rank)] = std::current_exception();
      hub->poison();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (int rank = 1; rank < ranks; ++rank) threads.emplace_back(one, rank);
    gate.open(true);
    one(0);
  } catch (const std::system_error& e) {
    gate.open(false);
    errors[0] = std::make_exception_ptr(CommError("threads: only " + std::to_string(threads.size() + 1) + " of " +
                                                  std::to_string(ranks) + " threads could be started (" + e.what() +
                                                  "); allowed now: up to those"));
  }
  for (auto& thread : threads) thread.join();
  rethrow_cause(errors);
}

}  // namespace

extern const BackendEntry threads_backend;
const BackendEntry threads_backend{
    {"threads", "ranks are threads of one process; needs nothing", false}, start_one, open_one, run_threads};

}  // namespace merganser::comm::detail
