// requires: MPI
#include "merganser/base/detail/shared_word.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/kernels/families/mpi/mpi_exchange.hpp"
#include "src/kernels/families/mpi/window.hpp"
#include "src/kernels/families/support/family.hpp"

/// Exchange kernels by one-sided communication of MPI (RMA), in passive and active synchronisation, without and with notification.
namespace merganser::kernels::detail {
namespace {

/// Base of the exchange kernels by MPI one-sided communication: source or landing zones of this rank lie in an MPI window.
class WindowExchange : public ExchangeBase {
 public:
  /// Completes the exchange on all ranks: synchronises the public and private copies of the window around a barrier. Collective.
  void quiesce() override {
    // Stores of this rank are published before the barrier; after it, what other ranks have put becomes visible to loads.
    window_->sync();
    control_.barrier();
    window_->sync();
  }

 protected:
  /// Keeps the MPI window, in which the zones named in `places` lie, and allocates the others. Local.
  WindowExchange(comm::Transport& control, std::shared_ptr<Window> window, ExchangePlan plan, Places places)
      : ExchangeBase(control, std::move(plan), places), window_(std::move(window)), win_(window_->handle()) {}

  std::shared_ptr<Window> window_;  // window that all ranks of the exchange access
  MPI_Win win_;                     // handle of window_

 private:
  /// Counts the flush that ends an iteration of an exchange kernel by MPI one-sided communication.
  void count(comm::Counters& counters) const override { ++counters.syncs; }
};

/// Base of the exchange kernels that put (MPI_Put) into the landing zones of the out-neighbours, which lie in an MPI window.
class PutExchange : public WindowExchange {
 public:
  /// Places the landing zones of this rank in the MPI window and allocates its source zones. Local.
  PutExchange(comm::Transport& control, MpiGroup&, const std::shared_ptr<Window>& window, ExchangePlan plan)
      : WindowExchange(control, window, std::move(plan), {.landings = window->data()}) {}

 protected:
  /// Issues one MPI_Put of the source zone of an out-arc; it is complete only after a flush or the end of the epoch.
  void put_one(std::size_t arc, std::size_t buffer) {
    const int bytes = mpi_count(out_bytes_[arc]);
    check(MPI_Put(out_at(arc, buffer), bytes, MPI_BYTE, out_[arc], static_cast<MPI_Aint>(target_at(arc, buffer)), bytes,
                  MPI_BYTE, win_),
          "MPI_Put");
  }
  /// Issues MPI_Put of the source zones of all out-arcs that carry data.
  void put(std::size_t buffer) {
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_bytes_[arc] != 0) put_one(arc, buffer);
    }
  }
};

/// Exchange kernel by MPI_Put and one MPI_Win_flush_all, in one passive epoch for the lifetime of the window.
class PutFlush final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  /// Makes one exchange: puts on all out-arcs, then one flush, after which the data has arrived at the targets.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    put(buffer);
    check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
  }
};

/// Exchange kernel by MPI_Put and a local flush: sources may be overwritten, but the data may not have arrived. quiesce() flushes
/// the targets.
class PutFlushLocal final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  /// Makes one exchange: puts on all out-arcs, then a local flush, after which only the sources may be overwritten.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    put(buffer);
    check(MPI_Win_flush_local_all(win_), "MPI_Win_flush_local_all");
  }
  void quiesce() override {
    check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
    PutExchange::quiesce();
  }
};

/// Exchange kernel by request-based puts (MPI_Rput), MPI_Waitall, then a flush of all targets, the sequence of [neve].
class RputFlush final : public PutExchange {
 public:
  RputFlush(comm::Transport& control, MpiGroup& group, const std::shared_ptr<Window>& window, ExchangePlan plan)
      : PutExchange(control, group, window, std::move(plan)), requests_(out_.size(), MPI_REQUEST_NULL) {}
  /// Makes one exchange: request-based puts on all out-arcs, completed locally, then one flush of all targets.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    int used = 0;
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_bytes_[arc] == 0) continue;
      const int bytes = mpi_count(out_bytes_[arc]);
      check(MPI_Rput(out_at(arc, buffer), bytes, MPI_BYTE, out_[arc], static_cast<MPI_Aint>(target_at(arc, buffer)),
                     bytes, MPI_BYTE, win_, &requests_[static_cast<std::size_t>(used++)]),
            "MPI_Rput");
    }
    check(MPI_Waitall(used, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
  }

 private:
  std::vector<MPI_Request> requests_;  // of the MPI_Rputs of one iteration, at most one per out-arc
};

/// Exchange kernel by one put (MPI_Put) per out-arc, each in a passive epoch of its own: MPI_Win_lock (shared) to MPI_Win_unlock.
class Lock final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  /// Makes one exchange: for each out-arc a passive epoch with one put.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_bytes_[arc] == 0) continue;
      check(MPI_Win_lock(MPI_LOCK_SHARED, out_[arc], 0, win_), "MPI_Win_lock");
      put_one(arc, buffer);
      check(MPI_Win_unlock(out_[arc], win_), "MPI_Win_unlock");
    }
  }

 private:
  /// Counts one epoch and one synchronisation for each put of the lock kernel.
  void count(comm::Counters& counters) const override {
    counters.epochs += counters.puts;
    counters.syncs += counters.puts;
  }
};

/// Exchange kernel by puts (MPI_Put) between two MPI_Win_fence, which are collective over the window.
class Fence final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  /// Makes one exchange: puts on all out-arcs between two fences. Collective over the window.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    check(MPI_Win_fence(MPI_MODE_NOPRECEDE, win_), "MPI_Win_fence");
    put(buffer);
    check(MPI_Win_fence(MPI_MODE_NOSUCCEED, win_), "MPI_Win_fence");
  }

 private:
  /// Counts the epoch and the two collective fences of an iteration of the fence kernel.
  void count(comm::Counters& counters) const override {
    ++counters.epochs;
    counters.syncs += 2;
    counters.collectives += 2;
  }
};

/// Exchange kernel by MPI_Get from the source zones of the in-neighbours, which lie in an MPI window, then one flush of all
/// targets.
class GetFlush final : public WindowExchange {
 public:
  /// Places the source zones of this rank in the MPI window and allocates its landing zones. Local.
  GetFlush(comm::Transport& control, MpiGroup&, const std::shared_ptr<Window>& window, ExchangePlan plan)
      : WindowExchange(control, window, std::move(plan), {.sources = window->data()}) {}
  /// Makes one exchange: gets on all in-arcs, then one flush, after which the data has arrived on this rank.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      if (in_bytes_[arc] == 0) continue;
      const int bytes = mpi_count(in_bytes_[arc]);
      check(MPI_Get(in_at(arc, buffer), bytes, MPI_BYTE, in_[arc], static_cast<MPI_Aint>(origin_at(arc, buffer)), bytes,
                    MPI_BYTE, win_),
            "MPI_Get");
    }
    check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
  }
};

/// Exchange kernel by MPI_Put with a notification word: after a flush the sender puts the number of the iteration into a word of
/// the target, which polls it. The number only grows, so no word is ever reset, and a sender that is one iteration ahead does no
/// harm.
class PutNotify final : public PutExchange {
 public:
  using PutExchange::PutExchange;
  /// Makes one exchange: puts, a flush, puts of the notification words, then waits for the words of all in-arcs.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    epoch_value_ = next_epoch();
    if (!out_.empty()) {
      put(buffer);
      // Puts are not ordered: the data must have arrived at the target before the word is put.
      check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
      for (std::size_t arc = 0; arc < out_.size(); ++arc) {
        if (dropped(arc)) continue;
        check(MPI_Put(&epoch_value_, 1, MPI_UINT64_T, out_[arc], static_cast<MPI_Aint>(plan_.target_flag(arc)), 1,
                      MPI_UINT64_T, win_),
              "MPI_Put");
      }
      check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
    }
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      if (!has_come(arc, epoch_value_)) await(arc);
    }
  }

  /// Returns the in-neighbours whose notification word of the running iteration has not arrived. Another thread may call it.
  [[nodiscard]] std::vector<int> missing() const override {
    return lacking([this](std::size_t arc, std::uint64_t epoch) { return has_come(arc, epoch); });
  }

 private:
  /// Counts the puts of the notification words, and the two flushes of an iteration with out-arcs.
  void count(comm::Counters& counters) const override {
    counters.puts += far_out();
    counters.syncs += out_.empty() ? 0 : 2;
  }
  /// Returns whether the notification word of an in-arc has reached the number of an iteration; the acquire orders the reads of the
  /// landing zone after it.
  [[nodiscard]] bool has_come(std::size_t arc, std::uint64_t epoch) const {
    auto* word = reinterpret_cast<std::uint64_t*>(window_->data() + plan_.flag(arc));
    return merganser::detail::load_word(*word, std::memory_order_acquire) >= epoch;
  }
  /// Polls the notification word of an in-arc until the data of this iteration has arrived. @throws CommError if the wait exceeds
  /// MERGANSER_WAIT_LIMIT
  void await(std::size_t arc) {
    constexpr unsigned kLook = 4096;  // polls between two checks of the time limit
    // MPI_Win_sync makes puts visible to loads; MPI_Iprobe drives progress, which some libraries need to receive a put at all.
    comm::detail::Waiter waiter(describe_);
    for (unsigned polls = 1; !has_come(arc, epoch_value_); ++polls) {
      check(MPI_Win_sync(win_), "MPI_Win_sync");
      int found = 0;
      check(MPI_Iprobe(MPI_ANY_SOURCE, kNoTag, window_->comm(), &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
      if (polls % kLook == 0) waiter.check_limit();
    }
  }

  std::uint64_t epoch_value_ = 0;  // source of the notification puts, which must stay unchanged until the flush
};

/// Exchange kernel by MPI_Put with a notification message: after a flush the sender sends an empty message to the target, which
/// receives it.
class PutSend final : public PutExchange {
 public:
  /// Places the landing zones in the MPI window, and makes null requests with a message tag of its own. Called by all ranks in the
  /// same order.
  PutSend(comm::Transport& control, MpiGroup& group, const std::shared_ptr<Window>& window, ExchangePlan plan)
      : PutExchange(control, group, window, std::move(plan)),
        comm_(group.comm),
        tag_(group.new_tag()),
        requests_(in_then_out(graph())) {}
  /// Makes one exchange: puts, a flush, an empty message to each target, then waits for the messages of all in-arcs.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      check(MPI_Irecv(nullptr, 0, MPI_BYTE, in_[arc], tag_, comm_, &requests_[arc]), "MPI_Irecv");
    }
    if (!out_.empty()) {
      put(buffer);
      check(MPI_Win_flush_all(win_), "MPI_Win_flush_all");
    }
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (dropped(arc)) continue;
      check(MPI_Isend(nullptr, 0, MPI_BYTE, out_[arc], tag_, comm_, &requests_[in_.size() + arc]), "MPI_Isend");
    }
    requests_.wait(describe_);
  }
  /// Returns the ranks to or from which a notification message of the running iteration is pending. Another thread may call it.
  [[nodiscard]] std::vector<int> missing() const override { return requests_.missing(); }

 private:
  /// Counts the notification messages, and the flush of an iteration with out-arcs.
  void count(comm::Counters& counters) const override {
    counters.messages += far_out();
    counters.syncs += out_.empty() ? 0 : 1;
  }

  MPI_Comm comm_;      // communicator of the notification messages, not owned
  int tag_;            // tag of the notification messages of this exchange alone
  Requests requests_;  // one per in-arc (receive), then one per out-arc (send)
};

/// MPI group (MPI_Group) of some ranks of a communicator, the targets or origins of an epoch; freed by the destructor.
class RankGroup : Pinned {
 public:
  /// Makes the MPI group of these ranks of `comm`, in this order. Local.
  RankGroup(MPI_Comm comm, const std::vector<int>& ranks) {
    MPI_Group all = MPI_GROUP_NULL;
    check(MPI_Comm_group(comm, &all), "MPI_Comm_group");
    check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group_), "MPI_Group_incl");
    MPI_Group_free(&all);
  }
  ~RankGroup() {
    if (comm::detail::mpi_running() && group_ != MPI_GROUP_EMPTY) MPI_Group_free(&group_);
  }
  /// Returns the handle of the MPI group, which this object owns.
  operator MPI_Group() const noexcept { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_EMPTY;
};

/// Exchange kernel by MPI_Put in general active target synchronisation (post, start, complete, wait), which synchronises neighbours
/// only.
class Pscw final : public PutExchange {
 public:
  Pscw(comm::Transport& control, MpiGroup& group, const std::shared_ptr<Window>& window, ExchangePlan plan)
      : PutExchange(control, group, window, std::move(plan)), targets_(group.comm, out_), origins_(group.comm, in_) {}
  /// Makes one exchange: exposes the window to the in-neighbours, puts to the out-neighbours, and waits for both epochs to end.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    if (!in_.empty()) check(MPI_Win_post(origins_, 0, win_), "MPI_Win_post");
    if (!out_.empty()) {
      check(MPI_Win_start(targets_, 0, win_), "MPI_Win_start");
      put(buffer);
      check(MPI_Win_complete(win_), "MPI_Win_complete");
    }
    if (!in_.empty()) check(MPI_Win_wait(win_), "MPI_Win_wait");
  }
  /// Returns false: the calls of both ends match each other, so none can be omitted.
  bool drop_next(std::size_t) override { return false; }

 private:
  /// Counts an exposure epoch of a rank with in-arcs and an access epoch of one with out-arcs, of two synchronisations each.
  void count(comm::Counters& counters) const override {
    counters.epochs += (in_.empty() ? 0 : 1) + (out_.empty() ? 0 : 1);
    counters.syncs += 2 * ((in_.empty() ? 0 : 1) + (out_.empty() ? 0 : 1));
  }
  RankGroup targets_;  // out-neighbours, to which this rank opens an access epoch
  RankGroup origins_;  // in-neighbours, to which this rank exposes its window
};

/// Sets, for every arc of an exchange plan, the displacement of the zones of the rank at its other end within the window of that
/// rank. Collective.
void set_bases(comm::Transport& control, const Window& window, ExchangePlan& plan) {
  const std::vector<std::size_t> shifts = all_gather_value(control, window.shift());
  const auto set = [&](std::vector<FarZone>& zones, const std::vector<int>& ranks) {
    for (std::size_t arc = 0; arc < zones.size(); ++arc) zones[arc].base = shifts[static_cast<std::size_t>(ranks[arc])];
  };
  set(plan.targets, plan.spec.graph.out);
  set(plan.origins, plan.spec.graph.in);
}

/// Makes an exchange kernel by MPI one-sided communication: the window first, on every rank, then the exchange in it. Collective.
template <class Kernel, Window::Use use>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  MpiGroup& group = mpi_group(control);
  auto window = make_window(control, group, plan.far_bytes(), use);
  set_bases(control, *window, plan);
  return make_agreed<Kernel>(control, control, group, std::move(window), std::move(plan));
}
// Synchronisation of the window of a kernel: one passive epoch for its lifetime, or epochs that the kernel opens itself.
constexpr auto kOne = Window::Use::in_one_epoch;
constexpr auto kOwn = Window::Use::in_epochs_of_its_own;

constexpr KernelEntry kKernels[] = {
    mpi_kernel({"rma.put-flush", "rma", "MPI_Put, then MPI_Win_flush_all, in one epoch for ever", Completion::remote},
               make<PutFlush, kOne>),
    mpi_kernel({"rma.put-flush-local", "rma", "MPI_Put, then MPI_Win_flush_local_all, in one epoch for ever",
                Completion::local},
               make<PutFlushLocal, kOne>),
    mpi_kernel({"rma.rput-flush", "rma", "MPI_Rput, MPI_Waitall, MPI_Win_flush_all, in one epoch for ever",
                Completion::remote},
               make<RputFlush, kOne>),
    mpi_kernel({"rma.lock", "rma", "MPI_Win_lock (shared), MPI_Put, MPI_Win_unlock for every arc", Completion::remote},
               make<Lock, kOwn>),
    mpi_kernel({"rma.fence", "rma", "MPI_Win_fence, MPI_Put, MPI_Win_fence", Completion::global}, make<Fence, kOwn>),
    mpi_kernel({"rma.get", "rma", "MPI_Get, then MPI_Win_flush_all, in one epoch for ever", Completion::remote, true},
               make<GetFlush, kOne>),
    mpi_kernel({"rma.put-notify", "rma",
                "MPI_Put, MPI_Win_flush_all, MPI_Put of a word that the target watches, MPI_Win_flush_all",
                Completion::notified},
               make<PutNotify, kOne>),
    mpi_kernel({"rma.put-send", "rma", "MPI_Put, MPI_Win_flush_all, an empty message that the target waits for",
                Completion::notified},
               make<PutSend, kOne>),
    mpi_kernel({"rma.pscw", "rma", "MPI_Win_post, MPI_Win_start, MPI_Put, MPI_Win_complete, MPI_Win_wait",
                Completion::notified},
               make<Pscw, kOwn>),
    mpi_kernel({"rma.mailbox", "rma", kMailboxText, Completion::notified}, make_over_mpi<make_mailbox_exchange>),
    mpi_kernel({"rma.stream", "rma", kStreamText, Completion::notified}, make_over_mpi<make_stream_exchange>),
};

}  // namespace

extern const KernelFamily rma_kernels;
const KernelFamily rma_kernels{kKernels, {}};

}  // namespace merganser::kernels::detail
