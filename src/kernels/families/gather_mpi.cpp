// requires: MPI
#include <numeric>

#include "merganser/base/simulated.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/backends/mpi/transport.hpp"
#include "src/comm/detail/scoped_yield.hpp"
#include "src/kernels/families/mpi/group.hpp"
#include "src/kernels/families/support/exchange_base.hpp"
#include "src/kernels/families/support/family.hpp"

/// All-gathers by collectives of the MPI library, blocking, non-blocking and neighbourhood, the same for every model over MPI.
namespace merganser::kernels::detail {
namespace {

using comm::detail::ScopedYield;

/// All-gather by a collective of a communicator, with buffers for the part of this rank and for all parts.
class MpiGather : public Gather {
 public:
  /// Allocates the send buffer of this rank and the receive buffer for the parts of all ranks. Local.
  MpiGather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes, MPI_Comm comm)
      : Gather(control, info, part_bytes),
        comm_(comm),
        bytes_(static_cast<int>(part_bytes)),
        memory_(std::make_unique<GatherBuffers>(part_bytes, part_bytes * static_cast<std::size_t>(control.size()))) {}

 protected:
  /// Send and receive buffer of an all-gather by MPI, allocated apart from it so that they can be leaked under an active request.
  struct GatherBuffers {
    // One byte more, since some versions of MPI refuse null buffers even if they are empty.
    GatherBuffers(std::size_t part, std::size_t parts) : mine(part + 1), all(parts + 1) {}
    std::vector<std::byte> mine;  // part of the all-gather that this rank sends
    std::vector<std::byte> all;   // parts of all ranks, in the order of ranks
  };

  /// Copies the part of this rank into the send buffer of the MPI collective. Local.
  void do_start(std::span<const std::byte> part) override {
    std::copy(part.begin(), part.end(), memory_->mine.begin());
  }
  /// Returns the send buffer of the MPI all-gather, with the part of this rank.
  [[nodiscard]] std::byte* mine() { return memory_->mine.data(); }
  /// Returns the receive buffer of the MPI all-gather, for the parts of all ranks.
  [[nodiscard]] std::byte* all() { return memory_->all.data(); }
  /// Returns the gathered parts of all ranks, without the spare byte of the receive buffer.
  [[nodiscard]] std::span<const std::byte> parts() const {
    return std::span(memory_->all).first(memory_->all.size() - 1);
  }

  MPI_Comm comm_;  // communicator of the all-gather, not owned
  int bytes_;      // bytes of the part of each rank
  std::unique_ptr<GatherBuffers> memory_;
};

/// Blocking all-gather by MPI_Allgather on the communicator of all ranks of the measurement.
class BlockingAllgather final : public MpiGather {
 public:
  using MpiGather::MpiGather;

 protected:
  std::span<const std::byte> do_complete() override {
    const ScopedYield yield(ScopedYield::Call::brief);
    check(MPI_Allgather(mine(), bytes_, MPI_BYTE, all(), bytes_, MPI_BYTE, comm_), "MPI_Allgather");
    return parts();
  }
};

/// Non-blocking all-gather by MPI_Iallgather, issued by do_start() and waited for by do_complete().
class NonBlockingAllgather final : public MpiGather {
 public:
  using MpiGather::MpiGather;
  ~NonBlockingAllgather() override {
    // A request is active here only while an exception propagates, and other ranks may never join the collective. Its buffers are
    // leaked, since the library may still access them.
    if (request_ != MPI_REQUEST_NULL) (void)memory_.release();
  }

 protected:
  void do_start(std::span<const std::byte> part) override {
    MpiGather::do_start(part);
    check(MPI_Iallgather(mine(), bytes_, MPI_BYTE, all(), bytes_, MPI_BYTE, comm_, &request_), "MPI_Iallgather");
  }
  std::span<const std::byte> do_complete() override {
    comm::detail::complete({&request_, 1}, "MPI_Iallgather", [this] {
      return "rank " + std::to_string(control_.rank()) + " in Gather::complete: not every one of " +
             std::to_string(control_.size()) + " ranks has come (MPI_Iallgather does not tell which)";
    });
    return parts();
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;  // of the MPI_Iallgather that was started; null if none is active
};

/// All-gather by the neighbourhood collective MPI_Neighbor_allgather on a communicator of the complete graph.
class NeighborAllgather final : public MpiGather {
 public:
  NeighborAllgather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes,
                    std::shared_ptr<GraphCommunicator> graph)
      : MpiGather(control, info, part_bytes, graph->comm()), graph_(std::move(graph)) {}

 protected:
  std::span<const std::byte> do_complete() override {
    const ScopedYield yield(ScopedYield::Call::brief);
    check(MPI_Neighbor_allgather(mine(), bytes_, MPI_BYTE, all(), bytes_, MPI_BYTE, comm_), "MPI_Neighbor_allgather");
    return parts();
  }

 private:
  std::shared_ptr<GraphCommunicator> graph_;
};

/// All-gather of ranks simulated by SMPI, which share the memory of one process with the parts of all; the simulated time of the
/// collective is added.
class SimulatedAllgather final : public Gather {
 public:
  SimulatedAllgather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes,
                     std::unique_ptr<comm::detail::TimedCollectives> timed)
      : Gather(control, info, part_bytes), timed_(std::move(timed)) {}

 protected:
  void do_start(std::span<const std::byte> part) override { mine_.assign(part.begin(), part.end()); }
  std::span<const std::byte> do_complete() override {
    parts_ = timed_->all_gather(mine_, true);
    return parts_->bytes;
  }

 private:
  std::unique_ptr<comm::detail::TimedCollectives> timed_;  // adds the simulated time of the collective
  std::vector<std::byte> mine_;                            // part of this rank
  std::shared_ptr<const comm::detail::Parts> parts_;       // parts of all ranks, shared by the simulated ranks
};

/// Makes an all-gather over the communicator of all ranks of `control`, by MPI or, under SMPI, by its simulation. Collective.
template <class Kind>
std::unique_ptr<Gather> make_world_gather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes) {
  const MpiGroup& group = mpi_group(control);
  if constexpr (kSimulated) {
    auto timed = comm::detail::timed_collectives(group.comm);
    if (timed != nullptr) return make_agreed<SimulatedAllgather>(control, control, info, part_bytes, std::move(timed));
  }
  return make_agreed<Kind>(control, control, info, part_bytes, group.comm);
}

/// Makes an all-gather by a neighbourhood collective on the complete graph, with arcs from every rank to every rank, itself
/// included, so that parts arrive in the order of ranks. Collective.
std::unique_ptr<Gather> make_neighbor_gather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes) {
  MpiGroup& group = mpi_group(control);
  free_unused(control, group.pool);
  std::vector<int> all_ranks(static_cast<std::size_t>(control.size()));
  std::iota(all_ranks.begin(), all_ranks.end(), 0);
  auto graph = group.pool.add(std::make_shared<GraphCommunicator>(group, comm::Graph::symmetric(std::move(all_ranks))));
  return make_agreed<NeighborAllgather>(control, control, info, part_bytes, std::move(graph));
}

constexpr std::string_view kBlocking = "MPI_Allgather";
constexpr std::string_view kNonBlocking = "MPI_Iallgather, then it is waited for";
constexpr std::string_view kNeighborhood = "MPI_Neighbor_allgather on the complete graph";

// Registry entries of the all-gathers by MPI, the same calls for each communication model over MPI.
constexpr GatherEntry kGathers[] = {
    {{GatherKind::blocking, "p2p", kBlocking}, make_world_gather<BlockingAllgather>},
    {{GatherKind::non_blocking, "p2p", kNonBlocking}, make_world_gather<NonBlockingAllgather>},
    {{GatherKind::neighborhood, "p2p", kNeighborhood}, make_neighbor_gather},
    {{GatherKind::blocking, "neighborhood", kBlocking}, make_world_gather<BlockingAllgather>},
    {{GatherKind::non_blocking, "neighborhood", kNonBlocking}, make_world_gather<NonBlockingAllgather>},
    {{GatherKind::neighborhood, "neighborhood", kNeighborhood}, make_neighbor_gather},
    {{GatherKind::blocking, "rma", kBlocking}, make_world_gather<BlockingAllgather>},
    {{GatherKind::non_blocking, "rma", kNonBlocking}, make_world_gather<NonBlockingAllgather>},
    {{GatherKind::neighborhood, "rma", kNeighborhood}, make_neighbor_gather},
};

}  // namespace

extern const KernelFamily gather_mpi_kernels;
const KernelFamily gather_mpi_kernels{{}, {}, kGathers};

}  // namespace merganser::kernels::detail
