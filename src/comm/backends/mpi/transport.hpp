#pragma once
/// What the models over MPI share: collectives for set-up, and links of two-sided messages.
#include <mpi.h>

#include <memory>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/detail/message_transport.hpp"

namespace merganser::comm::detail {

/// A communicator of our own, freed at the end unless an error is on its way.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(MPI_Comm comm);
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator() { free(); }
  void free() noexcept;
  operator MPI_Comm() const noexcept { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Waits for requests, which are null then, without keeping the core from others. `call` is named in errors of MPI, `describe` asked when the
/// wait limit is over.
void complete(std::span<MPI_Request> requests, const char* call, const Waiter::Describe& describe);

/// Two-sided messages along the arcs of a graph.
[[nodiscard]] std::unique_ptr<Link> mpi_link(MPI_Comm comm, int tag, const Graph& graph);

class MpiTransport : public MessageTransport {
 public:
  /// Collective over `parent`.
  explicit MpiTransport(MPI_Comm parent);

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  [[nodiscard]] std::unique_ptr<Transport> subset(bool take_part) override;

 protected:
  void release() override { comm_.free(); }
  /// The same model on other ranks. Collective over `parent`.
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

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// A tag of a link's own, the same on every rank.
  [[nodiscard]] int next_tag();

 private:
  [[nodiscard]] bool timed_any(bool mine);
  [[nodiscard]] std::vector<Bytes> timed_all_gather(BytesView mine);
  /// Starts moving bytes between two ranks, in pieces.
  void start_receiving(std::span<std::byte> to, int from, std::vector<MPI_Request>& requests) const;
  void start_sending(std::span<const std::byte> from, int to, std::vector<MPI_Request>& requests) const;
  /// Waits for a collective call of MPI, made for `what` ("all_gather"). MPI does not tell who is missing.
  void complete(std::span<MPI_Request> requests, const char* what, const char* call) const;

  Communicator comm_;
  std::unique_ptr<SimulatedCollectives> simulated_;  // null: MPI's are used
  std::unique_ptr<TimedCollectives> timed_;          // null: MPI's are used
  int rank_ = 0;
  int size_ = 1;
  int highest_tag_ = 0;
  std::int64_t links_ = 0;
};

/// What BackendEntry asks of a model over MPI.
template <class Model>
std::unique_ptr<TransportBase> start_over_world() {
  start_mpi();
  return std::make_unique<Model>(MPI_COMM_WORLD);
}
template <class Model>
std::unique_ptr<TransportBase> open_over(int communicator) {
  return std::make_unique<Model>(communicator_of(communicator));
}

}  // namespace merganser::comm::detail
