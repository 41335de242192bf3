#pragma once
/// Base of the transports of all models over MPI: collectives for set-up, and Links of two-sided messages.
#include <mpi.h>

#include <memory>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/detail/message_transport.hpp"

namespace merganser::comm::detail {

/// Owner of an MPI communicator, which its destructor frees (collectively) unless an exception unwinds.
class Communicator {
 public:
  Communicator() = default;
  /// Takes ownership of an MPI communicator and makes its calls return errors.
  explicit Communicator(MPI_Comm comm);
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator() { free(); }
  /// Frees the owned MPI communicator now; omitted while an exception unwinds and after MPI_Finalize. Collective over its ranks.
  void free() noexcept;
  operator MPI_Comm() const noexcept { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Completes MPI requests by polling, with the back-off of a Waiter; the requests are MPI_REQUEST_NULL afterwards.
/// @param call      name of the MPI call that made the requests, in errors of MPI
/// @param describe  description of the wait, for the error after the wait limit
void complete(std::span<MPI_Request> requests, const char* call, const Waiter::Describe& describe);

/// Makes a Link of two-sided MPI messages along this rank's arcs of a process graph, with a tag that no other Link of the
/// communicator uses. Local.
[[nodiscard]] std::unique_ptr<Link> mpi_link(MPI_Comm comm, int tag, const Graph& graph);

/// Base of the transports over MPI, over a communicator of its own: collectives and two-sided messages. A derived class
/// adds one-sided memory or neighbourhood collectives.
class MpiTransport : public MessageTransport {
 public:
  /// Makes a transport over a duplicate of the MPI communicator `parent`. Collective over `parent`.
  explicit MpiTransport(MPI_Comm parent);

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  [[nodiscard]] std::unique_ptr<Transport> subset(bool take_part) override;

 protected:
  void release() override { comm_.free(); }
  /// Makes a transport of the same communication model over the ranks of the MPI communicator `parent`. Collective over it.
  [[nodiscard]] virtual std::unique_ptr<MpiTransport> make(MPI_Comm parent) const = 0;
  std::unique_ptr<Link> link(const Graph& graph) override;
  bool any(bool mine) override;
  void do_barrier() override;
  void do_reduce(std::span<std::uint64_t> words, Op op) override;
  std::vector<Bytes> do_gather(std::span<const std::byte> mine) override;
  Bytes do_broadcast(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_gather(std::span<const std::byte> mine) override;
  std::vector<Bytes> do_all_to_all(std::span<const BytesView> to) override;
  std::vector<Bytes> do_exchange(std::span<const int> ranks, const std::vector<Bytes>& messages) override;

  /// Returns the transport's own MPI communicator.
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// Returns the MPI tag of a new Link, the same on every rank since objects are made collectively.
  [[nodiscard]] int next_tag();

 private:
  /// Returns the logical OR of `mine` over all simulated ranks, timed as a reduction of one int. Collective.
  [[nodiscard]] bool timed_any(bool mine);
  /// Returns the bytes of all simulated ranks, by rank, timed as an all-gather of differing sizes. Collective.
  [[nodiscard]] std::vector<Bytes> timed_all_gather(BytesView mine);
  /// Starts MPI receives of the bytes of a collective from rank `from`, in pieces, and appends their requests.
  void start_receiving(std::span<std::byte> to, int from, std::vector<MPI_Request>& requests) const;
  /// Starts MPI sends of the bytes of a collective to rank `to`, in pieces, and appends their requests.
  void start_sending(std::span<const std::byte> from, int to, std::vector<MPI_Request>& requests) const;
  /// Completes the requests of a collective call of MPI, made for `what` ("all_gather"); both are named in the error after the
  /// wait limit.
  void complete(std::span<MPI_Request> requests, const char* what, const char* call) const;

  Communicator comm_;                                // of this transport alone; shared by all in a simulation
  std::unique_ptr<SimulatedCollectives> simulated_;  // collectives without simulated time; null: MPI's are used
  std::unique_ptr<TimedCollectives> timed_;          // collectives with simulated time; null: MPI's are used
  int rank_ = 0;
  int size_ = 1;
  int highest_tag_ = 0;     // MPI_TAG_UB
  std::int64_t links_ = 0;  // number of tags given out
};

/// Implements BackendEntry::start of a model over MPI: initialises MPI and makes a transport of all its processes. Collective.
template <class Model>
std::unique_ptr<TransportBase> start_over_world() {
  start_mpi();
  return std::make_unique<Model>(MPI_COMM_WORLD);
}
/// Implements BackendEntry::open of a model over MPI: makes a transport of the ranks of an MPI communicator, given as its Fortran
/// handle. Collective over the communicator.
template <class Model>
std::unique_ptr<TransportBase> open_over(int communicator) {
  return std::make_unique<Model>(communicator_from_handle(communicator));
}

}  // namespace merganser::comm::detail
