#pragma once
/// MPI communicators and resources of kernels, for the ranks of a control transport of any model.
#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/detail/collective_pool.hpp"
#include "src/kernels/families/support/transport_exchange.hpp"

namespace merganser::kernels::detail {

using comm::detail::check;

/// Tag of no message: MPI_Iprobe for it finds nothing and drives the progress of the library.
inline constexpr int kNoTag = 0;

/// Communicator of the benchmark kernels on some ranks of MPI_COMM_WORLD, with the windows and communicators made of it, which are
/// freed before MPI is finalised. mpi_group() makes it.
struct MpiGroup {
  std::vector<int> world_ranks;       ///< by rank in the group: rank in MPI_COMM_WORLD
  MPI_Comm comm = MPI_COMM_NULL;      ///< communicator of these ranks; in SMPI MPI_COMM_WORLD if these are all
  int next_tag = kNoTag;              ///< last message tag that new_tag() returned
  comm::detail::CollectivePool pool;  ///< windows and graph communicators, freed collectively
  /// By model: transport over these ranks for kernels of its objects. Never destroyed, which would be collective: MPI ends with it.
  std::map<std::string, std::unique_ptr<comm::Transport>, std::less<>> transports;

  /// Returns a message tag for one exchange, barrier or measurement; tags are reused after 32,767 of them. Called by all ranks of
  /// the group in the same order.
  [[nodiscard]] int new_tag() {
    constexpr int kSmallestUpperBound = 32767;  // that the standard allows
    next_tag = next_tag % kSmallestUpperBound + 1;
    return next_tag;
  }
};

/// Returns the group of the ranks of `control`, with a communicator for benchmark kernels, made on the first call for these ranks;
/// initialises MPI if nothing has. Collective.
[[nodiscard]] MpiGroup& mpi_group(comm::Transport& control);

/// Returns a transport of a model over MPI on the ranks of `control`: `control` itself if it is of that model, else one that is opened
/// on the first call. Collective. @throws CommError on every rank if the model cannot run on these ranks
[[nodiscard]] comm::Transport& transport_over(comm::Transport& control, std::string_view model);

/// Factory of the kernels over a Transport of a model over MPI, for tables: `make` is make_mailbox_exchange or
/// make_stream_exchange. Collective.
template <auto make>
std::unique_ptr<Exchange> make_over_mpi(comm::Transport& control, ExchangePlan&& plan) {
  comm::Transport& model = transport_over(control, plan.info->model);
  return make(control, model, std::move(plan));
}

/// Frees the windows and communicators of benchmark kernels in a pool that no rank uses any more. Collective over `control`.
void free_unused(comm::Transport& control, comm::detail::CollectivePool& pool);

/// Distributed graph communicator (MPI_Dist_graph_create_adjacent) of a process graph.
class GraphCommunicator final : public comm::detail::CollectiveResource {
 public:
  /// Makes the distributed graph communicator of a process graph from its arcs on this rank. Collective over the group.
  GraphCommunicator(const MpiGroup& group, const comm::Graph& graph);
  /// Returns the handle of the distributed graph communicator, which this object owns.
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// Frees the distributed graph communicator. Collective over its ranks; the pool calls it.
  void free() override;

 private:
  MPI_Comm comm_;
};

}  // namespace merganser::kernels::detail
