#pragma once
/// MPI for kernels: a communicator for the ranks of a control transport, whatever model that is of.
#include <mpi.h>

#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/detail/collective_pool.hpp"

namespace merganser::kernels::detail {

using comm::detail::check;

/// Tag of no message: probing for it does nothing but let the library work.
inline constexpr int kNoTag = 0;

/// Lives until MPI ends; windows and communicators that are still kept then are freed first.
struct MpiGroup {
  std::vector<int> world_ranks;
  MPI_Comm comm = MPI_COMM_NULL;
  int next_tag = kNoTag;
  comm::detail::CollectivePool pool;

  /// A tag for one object. Called by all ranks in the same order.
  [[nodiscard]] int new_tag() {
    constexpr int kSmallestUpperBound = 32767;  // that the standard allows
    next_tag = next_tag % kSmallestUpperBound + 1;
    return next_tag;
  }
};

/// The group of these ranks. Starts MPI where nobody has. Collective.
[[nodiscard]] MpiGroup& mpi_group(comm::Transport& control);

/// Frees the resources of the pool that no rank uses any more. Collective.
void free_unused(comm::Transport& control, comm::detail::CollectivePool& pool);

/// The communicator of a process graph.
class GraphCommunicator final : public comm::detail::CollectiveResource {
 public:
  /// Collective over the group.
  GraphCommunicator(const MpiGroup& group, const comm::Graph& graph);
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  void free() override;

 private:
  MPI_Comm comm_;
};

}  // namespace merganser::kernels::detail
