// requires: MPI
#include "src/kernels/families/mpi/mpi_exchange.hpp"
#include "src/kernels/families/support/family.hpp"

/// Exchange kernels by MPI neighbourhood collectives over a distributed graph communicator.
namespace merganser::kernels::detail {
namespace {

/// Base of the kernels by neighbourhood collectives: an exchange with counts and displacements for
/// MPI_Neighbor_alltoallv.
class Neighborhood : public ExchangeBase {
 public:
  Neighborhood(comm::Transport& control, std::shared_ptr<GraphCommunicator> graph, ExchangePlan plan)
      : ExchangeBase(control, std::move(plan), {}),
        graph_(std::move(graph)),
        out_places_(places(plan_.sources)),
        in_places_(places(plan_.landings)),
        out_counts_(counts(out_bytes_)),
        in_counts_(counts(in_bytes_)) {}
  /// Returns false: a collective has no notification that could be omitted.
  bool drop_next(std::size_t) override { return false; }

 protected:
  void resized() override {
    out_counts_ = counts(out_bytes_);
    in_counts_ = counts(in_bytes_);
  }
  std::shared_ptr<GraphCommunicator> graph_;
  std::vector<int> out_places_;
  std::vector<int> in_places_;
  std::vector<int> out_counts_;
  std::vector<int> in_counts_;

 private:
  // One element more, since some versions of MPI refuse null arrays even if they are empty.
  static std::vector<int> places(const Zones& zones) {
    std::vector<int> places(zones.at.begin(), zones.at.end());
    places.push_back(0);
    return places;
  }
  static std::vector<int> counts(const std::vector<std::size_t>& bytes) {
    std::vector<int> counts(bytes.begin(), bytes.end());
    counts.push_back(0);
    return counts;
  }
};

/// Exchange kernel by the blocking MPI_Neighbor_alltoallv.
class Alltoallv final : public Neighborhood {
 public:
  using Neighborhood::Neighborhood;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    check(MPI_Neighbor_alltoallv(out_set(buffer), out_counts_.data(), out_places_.data(), MPI_BYTE, in_set(buffer),
                                 in_counts_.data(), in_places_.data(), MPI_BYTE, graph_->comm()),
          "MPI_Neighbor_alltoallv");
  }
};

/// Exchange kernel by the non-blocking MPI_Ineighbor_alltoallv and a wait.
class Ialltoallv final : public Neighborhood {
 public:
  using Neighborhood::Neighborhood;
  void iterate(std::size_t buffer) override {
    const Iteration mark(*this, buffer);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ineighbor_alltoallv(out_set(buffer), out_counts_.data(), out_places_.data(), MPI_BYTE, in_set(buffer),
                                  in_counts_.data(), in_places_.data(), MPI_BYTE, graph_->comm(), &request),
          "MPI_Ineighbor_alltoallv");
    wait_for(request, describe_);
  }
};

// Factory of a kernel by neighbourhood collectives in the registry: the graph communicator first, on every rank.
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
};

}  // namespace

extern const KernelFamily neighborhood_kernels;
const KernelFamily neighborhood_kernels{kKernels, {}};

}  // namespace merganser::kernels::detail
