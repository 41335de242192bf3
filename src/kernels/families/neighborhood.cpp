// requires: MPI
#include "src/kernels/families/mpi/mpi_exchange.hpp"
#include "src/kernels/families/support/family.hpp"

/// Exchange kernels by MPI neighbourhood collectives over a distributed graph communicator.
namespace merganser::kernels::detail {
namespace {

/// Base of the exchange kernels by MPI neighbourhood collectives: an exchange with the counts and displacements that
/// MPI_Neighbor_alltoallv takes.
class NeighborExchange : public ExchangeBase {
 public:
  /// Allocates the zones and converts sizes and offsets of the arcs to MPI counts and displacements. Local.
  NeighborExchange(comm::Transport& control, std::shared_ptr<GraphCommunicator> graph, ExchangePlan plan)
      : ExchangeBase(control, std::move(plan), {}),
        graph_(std::move(graph)),
        out_places_(places(plan_.sources)),
        in_places_(places(plan_.landings)),
        out_counts_(counts(out_bytes_)),
        in_counts_(counts(in_bytes_)) {}
  /// Returns false: a collective has no notification that could be omitted.
  bool drop_next(std::size_t) override { return false; }

 protected:
  /// Recomputes the MPI counts of all arcs after resize() has changed the bytes that they carry.
  void resized() override {
    out_counts_ = counts(out_bytes_);
    in_counts_ = counts(in_bytes_);
  }
  std::shared_ptr<GraphCommunicator> graph_;  // distributed graph communicator of the process graph
  std::vector<int> out_places_;               // by out-arc: displacement of the source zone in its set, in bytes
  std::vector<int> in_places_;                // by in-arc: displacement of the landing zone in its set, in bytes
  std::vector<int> out_counts_;               // by out-arc: bytes sent
  std::vector<int> in_counts_;                // by in-arc: bytes received

 private:
  /// Returns the offsets of the zones of all arcs as MPI displacements, in bytes. One element more, since some versions of MPI
  /// refuse null arrays even if they are empty.
  static std::vector<int> places(const Zones& zones) {
    std::vector<int> places(zones.at.begin(), zones.at.end());
    places.push_back(0);
    return places;
  }
  /// Returns the sizes of all arcs as MPI counts of bytes, with one element more than there are arcs.
  static std::vector<int> counts(const std::vector<std::size_t>& bytes) {
    std::vector<int> counts(bytes.begin(), bytes.end());
    counts.push_back(0);
    return counts;
  }
};

/// Exchange kernel by the blocking neighbourhood collective MPI_Neighbor_alltoallv.
class Alltoallv final : public NeighborExchange {
 public:
  using NeighborExchange::NeighborExchange;
  /// Makes one exchange by MPI_Neighbor_alltoallv on the graph communicator.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    check(MPI_Neighbor_alltoallv(out_set(buffer), out_counts_.data(), out_places_.data(), MPI_BYTE, in_set(buffer),
                                 in_counts_.data(), in_places_.data(), MPI_BYTE, graph_->comm()),
          "MPI_Neighbor_alltoallv");
  }
};

/// Exchange kernel by the non-blocking MPI_Ineighbor_alltoallv and a wait.
class Ialltoallv final : public NeighborExchange {
 public:
  using NeighborExchange::NeighborExchange;
  /// Makes one exchange by MPI_Ineighbor_alltoallv and waits for it with a time limit.
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ineighbor_alltoallv(out_set(buffer), out_counts_.data(), out_places_.data(), MPI_BYTE, in_set(buffer),
                                  in_counts_.data(), in_places_.data(), MPI_BYTE, graph_->comm(), &request),
          "MPI_Ineighbor_alltoallv");
    wait_for(request, describe_);
  }
};

/// Makes an exchange kernel by neighbourhood collectives: the graph communicator first, on every rank. Collective.
template <class Kernel>
std::unique_ptr<Exchange> make(comm::Transport& control, ExchangePlan&& plan) {
  MpiGroup& group = mpi_group(control);
  free_unused(control, group.pool);
  auto graph = group.pool.add(std::make_shared<GraphCommunicator>(group, plan.spec.graph));
  return make_agreed<Kernel>(control, control, std::move(graph), std::move(plan));
}

constexpr KernelEntry kKernels[] = {
    {{"neighborhood.alltoallv", "neighborhood", "MPI_Neighbor_alltoallv", Completion::notified},
     make<Alltoallv>,
     kMaxMpiBytes,
     kMaxMpiBytes},
    {{"neighborhood.ialltoallv", "neighborhood", "MPI_Ineighbor_alltoallv, then it is waited for",
      Completion::notified},
     make<Ialltoallv>,
     kMaxMpiBytes,
     kMaxMpiBytes},
    {{"neighborhood.mailbox", "neighborhood", kMailboxText, Completion::notified},
     make_over_mpi<make_mailbox_exchange>,
     kMaxMpiBytes,
     kMaxMpiBytes},
    {{"neighborhood.stream", "neighborhood", kStreamText, Completion::notified},
     make_over_mpi<make_stream_exchange>,
     kMaxMpiBytes,
     kMaxMpiBytes},
};

}  // namespace

extern const KernelFamily neighborhood_kernels;
const KernelFamily neighborhood_kernels{kKernels, {}};

}  // namespace merganser::kernels::detail
