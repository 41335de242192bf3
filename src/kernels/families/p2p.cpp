// requires: MPI
#include "src/kernels/families/mpi/mpi_exchange.hpp"
#include "src/kernels/families/support/family.hpp"

/// Exchange kernels by two-sided messages of MPI, and the synchronised start by messages.
namespace merganser::kernels::detail {
namespace {

/// Send mode of a two-sided exchange kernel: MPI_Isend, or MPI_Issend, which is complete only when the receive has begun.
enum class SendMode { standard, synchronous };

/// Exchange kernel by non-blocking receives and sends, standard (MPI_Isend) or synchronous (MPI_Issend), that are all
/// completed in every iteration.
template <SendMode mode>
class SendReceive final : public ExchangeBase {
 public:
  /// Allocates the zones, and null requests for all arcs, with a message tag of its own. Called by all ranks in the same order.
  SendReceive(comm::Transport& control, MpiGroup& group, ExchangePlan plan)
      : ExchangeBase(control, std::move(plan), {}),
        comm_(group.comm),
        tag_(group.new_tag()),
        requests_(in_then_out(graph())) {}
  /// Makes one exchange: posts the receives of all in-arcs, then the sends of all out-arcs, and completes them.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      check(MPI_Irecv(in_at(arc, buffer), mpi_count(in_bytes_[arc]), MPI_BYTE, in_[arc], tag_, comm_, &requests_[arc]),
            "MPI_Irecv");
    }
    constexpr auto send = mode == SendMode::standard ? MPI_Isend : MPI_Issend;
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (dropped(arc)) continue;
      check(send(out_at(arc, buffer), mpi_count(out_bytes_[arc]), MPI_BYTE, out_[arc], tag_, comm_,
                 &requests_[in_.size() + arc]),
            mode == SendMode::standard ? "MPI_Isend" : "MPI_Issend");
    }
    requests_.wait(describe_);
  }
  [[nodiscard]] std::vector<int> missing() const override { return requests_.missing(); }

 private:
  MPI_Comm comm_;      // communicator of the ranks of the exchange, not owned
  int tag_;            // tag of the messages of this exchange alone
  Requests requests_;  // one per in-arc (receive), then one per out-arc (send)
};

/// Exchange kernel by persistent requests of MPI, which are made once per buffer and size and started in every iteration.
class PersistentSendReceive final : public ExchangeBase {
 public:
  /// Allocates the zones and makes persistent sends and receives for all arcs and buffers. Called by all ranks in the same order.
  PersistentSendReceive(comm::Transport& control, MpiGroup& group, ExchangePlan plan)
      : ExchangeBase(control, std::move(plan), {}), comm_(group.comm), tag_(group.new_tag()) {
    for (std::size_t buffer = 0; buffer < plan_.spec.buffers; ++buffer) {
      requests_.push_back(std::make_unique<Requests>(in_then_out(graph())));
    }
    init_requests();
  }
  /// Makes one exchange: starts the persistent receives and sends of a buffer, and completes them.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    Requests& requests = *requests_[buffer];
    current_.store(&requests, std::memory_order_relaxed);
    for (std::size_t at = 0; at < requests.size(); ++at) {
      if (at >= in_.size() && dropped(at - in_.size())) continue;
      check(MPI_Start(&requests[at]), "MPI_Start");
    }
    requests.wait(describe_);
  }
  /// Returns the ranks at the other ends of the pending requests of the running iteration. Another thread may call it.
  [[nodiscard]] std::vector<int> missing() const override {
    const Requests* current = current_.load(std::memory_order_relaxed);
    return current == nullptr ? std::vector<int>{} : current->missing();
  }

 protected:
  /// Replaces the persistent requests of all buffers after resize(), since a request has its size fixed. Local.
  void resized() override {
    for (const auto& requests : requests_) requests->free();
    init_requests();
  }

 private:
  /// Makes inactive persistent requests for every buffer: a receive per in-arc, then a send per out-arc. Local.
  void init_requests() {
    for (std::size_t buffer = 0; buffer < requests_.size(); ++buffer) {
      Requests& requests = *requests_[buffer];
      for (std::size_t arc = 0; arc < in_.size(); ++arc) {
        check(MPI_Recv_init(in_at(arc, buffer), mpi_count(in_bytes_[arc]), MPI_BYTE, in_[arc], tag_, comm_,
                            &requests[arc]),
              "MPI_Recv_init");
      }
      for (std::size_t arc = 0; arc < out_.size(); ++arc) {
        check(MPI_Send_init(out_at(arc, buffer), mpi_count(out_bytes_[arc]), MPI_BYTE, out_[arc], tag_, comm_,
                            &requests[in_.size() + arc]),
              "MPI_Send_init");
      }
    }
  }

  MPI_Comm comm_;                                    // communicator of the ranks of the exchange, not owned
  int tag_;                                          // tag of the messages of this exchange alone
  std::vector<std::unique_ptr<Requests>> requests_;  // by buffer: persistent requests of all arcs
  std::atomic<Requests*> current_{nullptr};          // requests of the last iteration, for missing() of another thread
};

/// Makes an exchange kernel by two-sided messages of MPI. Collective.
template <class Kernel>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  MpiGroup& group = mpi_group(control);
  return make_agreed<Kernel>(control, control, group, std::move(plan));
}

/// Synchronised start of a measurement by a dissemination barrier, with one empty message per round. In round k a rank
/// sends to the rank 2^k above it and receives from the rank 2^k below.
class MessageStart final : public Start {
 public:
  MessageStart(comm::Transport& control, MpiGroup& group)
      : comm_(group.comm), tag_(group.new_tag()), rank_(control.rank()), size_(control.size()) {}

  /// Runs the dissemination barrier: ceil(log2(ranks)) rounds of one empty message each. Collective.
  void wait() override {
    for (int step = 1; step < size_; step *= 2) {
      const int from = (rank_ - step + size_) % size_;
      MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      check(MPI_Irecv(nullptr, 0, MPI_BYTE, from, tag_, comm_, &requests[0]), "MPI_Irecv");
      check(MPI_Isend(nullptr, 0, MPI_BYTE, (rank_ + step) % size_, tag_, comm_, &requests[1]), "MPI_Isend");
      waits_for_.store(from, std::memory_order_relaxed);
      wait_for(requests, describe_);
    }
    waits_for_.store(-1, std::memory_order_relaxed);
  }
  [[nodiscard]] int waits_for() const override { return waits_for_.load(std::memory_order_relaxed); }

 private:
  MPI_Comm comm_;                   // communicator of all ranks of the measurement, not owned
  int tag_;                         // tag of the messages of this barrier alone
  int rank_;                        // rank of the caller in comm_
  int size_;                        // number of ranks of comm_
  std::atomic<int> waits_for_{-1};  // rank whose message of the present round is awaited; -1 outside wait()
  const comm::detail::Waiter::Describe describe_ = [this] {
    return "rank " + std::to_string(waits_for()) + " to start";
  };
};

/// Makes the synchronised start of a measurement by messages, for all models over MPI. Collective.
std::unique_ptr<Start> make_message_start(comm::Transport& control) {
  MpiGroup& group = mpi_group(control);
  return make_agreed<MessageStart>(control, control, group);
}

constexpr KernelEntry kKernels[] = {
    mpi_kernel({"p2p.isend-irecv", "p2p", "MPI_Irecv, MPI_Isend, then all are waited for", Completion::notified},
               make<SendReceive<SendMode::standard>>),
    mpi_kernel({"p2p.issend-irecv", "p2p", "MPI_Irecv, MPI_Issend, then all are waited for", Completion::notified},
               make<SendReceive<SendMode::synchronous>>),
    mpi_kernel({"p2p.persistent", "p2p", "MPI_Start of persistent sends and receives, then all are waited for",
                Completion::notified},
               make<PersistentSendReceive>),
    mpi_kernel({"p2p.mailbox", "p2p", kMailboxText, Completion::notified}, make_over_mpi<make_mailbox_exchange>),
    mpi_kernel({"p2p.stream", "p2p", kStreamText, Completion::notified}, make_over_mpi<make_stream_exchange>),
};
constexpr StartEntry kStarts[] = {
    {"p2p", make_message_start}, {"neighborhood", make_message_start}, {"rma", make_message_start}};

}  // namespace

extern const KernelFamily p2p_kernels;
const KernelFamily p2p_kernels{kKernels, kStarts};

}  // namespace merganser::kernels::detail
