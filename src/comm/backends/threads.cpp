// requires: nothing
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "src/comm/backends/threads/hub.hpp"
#include "src/comm/detail/message_transport.hpp"
#include "src/comm/detail/registry.hpp"

/// The model threads: ranks are threads of this process; a message is a vector that is moved from a queue to the receiver.
namespace merganser::comm::detail {
namespace {

/// Link of a thread rank: messages along arcs are moved through the receiver's queue in the Hub that the threads of a transport
/// share. A send copies the message, so it is complete at once.
class ThreadLink final : public Link {
 public:
  ThreadLink(std::shared_ptr<Hub> hub, int rank, std::uint64_t number, const Graph& graph)
      : hub_(std::move(hub)), desk_(hub_->desk(rank)), number_(number), rank_(rank), out_(graph.out), in_(graph.in) {}

  /// Frees this link's queue of received messages, with those not taken.
  ~ThreadLink() override {
    const std::scoped_lock lock(desk_.mutex);
    desk_.mail.erase(number_);
  }

  /// Copies a message into the queue of the thread rank at out-arc `arc` and notifies that rank.
  void send(std::size_t arc, std::span<const std::byte> message) override {
    hub_->check();
    QueuedMessage mail{static_cast<std::size_t>(rank_), Bytes(message.begin(), message.end())};
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

  /// Moves the oldest message of this thread rank's queue into `message` and returns its in-arc; nothing if the queue is empty.
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

  /// Blocks until a message arrives for this thread rank over any link, another rank fails, or the wait limit passes.
  void idle(Waiter& waiter) override {
    // A few polls without the lock, then sleep until a message arrives. seen_ was read under the lock with an empty queue, so
    // any message since then has changed the version, and none is missed.
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
  Desk& desk_;            // queues of this rank
  std::uint64_t number_;  // number of this link, alike on every rank
  int rank_;
  std::vector<int> out_;    // per out-arc: receiving rank
  ArcIndex in_;             // from sending rank to in-arc
  std::uint64_t seen_ = 0;  // version of this rank's queues when this link's was last found empty
};

/// Transport of the model threads, of one rank that is a thread of this process.
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
    hub_->rendezvous(rank_, Call::barrier);
  }
  void do_reduce(std::span<std::uint64_t> words, Op op) override {
    check_usable();
    hub_->reduce(rank_, words, op);
  }
  std::vector<Bytes> do_gather(std::span<const std::byte> mine) override;
  Bytes do_broadcast(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_gather(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_to_all(std::span<const BytesView> to) override;
  std::vector<Bytes> do_exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) override;

 private:
  /// Returns copies of the bytes part(rank) that every thread rank exposes in a collective call, by rank.
  template <class Part>
  [[nodiscard]] std::vector<Bytes> copies(const Part& part) const {
    std::vector<Bytes> all;
    for (int r = 0; r < size(); ++r) all.emplace_back(part(r).begin(), part(r).end());
    return all;
  }

  std::shared_ptr<Hub> hub_;  // state that the thread ranks of this transport share
  int rank_;
  std::uint64_t links_ = 0;  // number of links made, alike on every rank
};

// Gather of the bytes of thread ranks on rank 0, which copies them from the memory of the others.
std::vector<Bytes> ThreadTransport::do_gather(std::span<const std::byte> mine) {
  check_usable();
  std::vector<Bytes> all;
  hub_->expose(rank_, Call::gather, mine, [&](const auto& shown) {
    if (rank_ == 0) all = copies(shown);
  });
  return all;
}

// Broadcast from thread rank 0, whose bytes every rank copies.
Bytes ThreadTransport::do_broadcast(std::span<const std::byte> mine) {
  check_usable();
  Bytes told;
  hub_->expose(rank_, Call::broadcast, mine, [&](const auto& shown) { told.assign(shown(0).begin(), shown(0).end()); });
  return told;
}

// Exchange of descriptors between neighbouring thread ranks in a handshake: each rank exposes its messages and reads those of its
// partners.
std::vector<Bytes> ThreadTransport::do_exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) {
  check_usable();
  struct Post {
    ArcIndex place;
    const std::vector<Bytes>& messages;
  };
  std::vector<Bytes> came;
  hub_->expose(rank_, Call::set_up, Post{ArcIndex(ranks), messages}, [&](const auto& shown) {
    for (const int other : ranks) came.push_back(shown(other).messages.at(shown(other).place(rank_)));
  });
  return came;
}

// All-gather of thread ranks: each copies the bytes of all from their memory.
std::vector<Bytes> ThreadTransport::do_all_gather(std::span<const std::byte> mine) {
  check_usable();
  std::vector<Bytes> all;
  hub_->expose(rank_, Call::all_gather, mine, [&](const auto& shown) { all = copies(shown); });
  return all;
}

// All-to-all of thread ranks: each copies the bytes for itself from the memory of all.
std::vector<Bytes> ThreadTransport::do_all_to_all(std::span<const BytesView> to) {
  check_usable();
  std::vector<Bytes> all;
  hub_->expose(rank_, Call::all_to_all, to, [&](const auto& shown) {
    all = copies([&](int other) { return shown(other)[static_cast<std::size_t>(rank_)]; });
  });
  return all;
}

// Sub-transport of the model threads: the lowest rank that takes part makes a hub, which the others get by reference.
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
  hub_->expose(rank_, Call::subset, std::shared_ptr<Hub>(hub), [&](const auto& shown) {
    if (take_part) hub = shown(leader);
  });
  if (!take_part) return nullptr;
  auto part = std::make_unique<ThreadTransport>(std::move(hub), mine);
  adopt(*part);
  return part;
}

/// Implements BackendEntry::start of the model threads: makes a transport of one rank, the calling thread. Local.
std::unique_ptr<TransportBase> start_one() { return std::make_unique<ThreadTransport>(std::make_shared<Hub>(1), 0); }
/// Implements BackendEntry::open of the model threads over a communicator of one rank, which open() has checked. Local.
std::unique_ptr<TransportBase> open_one(int) { return start_one(); }

/// Relation of one thread rank's error to the failure of a run: errors of released ranks are consequences of another rank's,
/// those of communication may be.
enum class Significance : std::uint8_t { consequence, possible_consequence, cause };

/// Returns the relation of a thread rank's error to the failure of the run, by the type of the exception.
Significance classify_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Released&) {
    return Significance::consequence;
  } catch (const Error& e) {
    return e.exit_code() == CommError("").exit_code() ? Significance::possible_consequence : Significance::cause;
  } catch (...) {
    return Significance::cause;
  }
}

/// Rethrows the error that caused the failure of a run of thread ranks: the most significant one, of several such that of the
/// lowest rank. Returns if there is none. @param errors  by rank
void rethrow_cause(const std::vector<std::exception_ptr>& errors) {
  for (const Significance most : {Significance::cause, Significance::possible_consequence, Significance::consequence}) {
    for (const auto& error : errors) {
      if (error && classify_error(error) == most) std::rethrow_exception(error);
    }
  }
}

/// Start barrier of thread ranks: they begin the program's body only once all threads have been started, so that a thread that
/// cannot be started fails the run before any work.
class StartBarrier {
 public:
  /// Unblocks all thread ranks: to begin the run, or, if not all threads could be started (`all_there` is false), to cancel it.
  void open(bool all_there) {
    const std::scoped_lock lock(mutex_);
    state_ = all_there ? State::open : State::given_up;
    moved_.notify_all();
  }
  /// Blocks this thread rank until open() was called. Returns false if the run is cancelled.
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

/// Implements BackendEntry::run of the model threads: runs `each` on `ranks` threads, the calling thread being rank 0, and returns
/// when all have ended. @throws the error of the rank that failed
void run_threads(int ranks, const BackendEntry::Each& each) {
  check_thread_ranks(ranks);
  const auto hub = std::make_shared<Hub>(ranks);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  StartBarrier gate;
  const auto one = [&](int rank) {
    if (!gate.pass()) return;
    released = false;
    try {
      ThreadTransport transport(hub, rank);
      each(transport);
    } catch (...) {
      if (released) return;  // a consequence of another rank's error, which is stored
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
