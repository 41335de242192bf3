// requires: MPI
// Communicators of the benchmark kernels over MPI: one per set of ranks, reused by later kernels and freed before MPI ends.
#include "src/kernels/families/mpi/group.hpp"

#include <map>
#include <memory>

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/mpi.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/scoped_yield.hpp"

namespace merganser::kernels::detail {
namespace {

using Groups = std::vector<std::unique_ptr<MpiGroup>>;

/// Returns the groups of MPI ranks of which kernels have made communicators, those of this simulated rank under SMPI.
Groups& groups() {
  static auto* all = new std::map<int, Groups>;  // never destroyed: MPI ends after the destructors of statics
  int context = 0;
  if constexpr (kSimulated) MPI_Comm_rank(MPI_COMM_WORLD, &context);  // simulated ranks share the memory of one process
  return (*all)[context];
}

/// Frees the windows and communicators of the kernels of all groups. MPI calls it at the beginning of MPI_Finalize, by an attribute
/// of MPI_COMM_SELF: the last moment at which a window can be freed.
int free_all(MPI_Comm, int, void*, void*) {
  try {
    for (const auto& group : groups()) group->pool.free_all();
  } catch (const Error&) {
    return MPI_ERR_OTHER;
  }
  return MPI_SUCCESS;
}

/// Makes a communicator of some ranks of MPI_COMM_WORLD, in this order. Collective over these ranks alone.
MPI_Comm make_comm(const std::vector<int>& world_ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group part = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_WORLD;
  if (kSimulated && world_ranks.size() == static_cast<std::size_t>(comm::launcher_world().size)) return comm;
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(MPI_Group_incl(world, static_cast<int>(world_ranks.size()), world_ranks.data(), &part), "MPI_Group_incl");
  const comm::detail::ScopedYield yield;
  check(MPI_Comm_create_group(MPI_COMM_WORLD, part, kNoTag, &comm), "MPI_Comm_create_group");
  check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  MPI_Group_free(&part);
  MPI_Group_free(&world);
  return comm;
}

}  // namespace

// Returns the group with the communicator of the kernels for these ranks: the one that an earlier kernel made of the same ranks,
// else a new one. Collective.
MpiGroup& mpi_group(comm::Transport& control) {
  agree(control, [] { comm::detail::start_mpi(); });
  std::vector<int> world_ranks = all_gather_value(control, comm::detail::rank_in(MPI_COMM_WORLD));
  for (const auto& group : groups()) {
    if (group->world_ranks == world_ranks) return *group;
  }
  if (groups().empty()) comm::detail::register_finalize_callback(free_all);
  auto group = std::make_unique<MpiGroup>();
  group->comm = make_comm(world_ranks);
  group->world_ranks = std::move(world_ranks);
  return *groups().emplace_back(std::move(group));
}

// Returns a transport of the model over the ranks of the control transport, made on the first call. Collective.
comm::Transport& transport_over(comm::Transport& control, std::string_view model) {
  if (control.name() == model) return control;
  MpiGroup& group = mpi_group(control);
  const auto known = group.transports.find(model);
  if (known != group.transports.end()) return *known->second;
  auto opened = comm::open(group.comm, {.backend = std::string(model)});
  return *group.transports.emplace(model, std::move(opened)).first->second;
}

// Frees windows and communicators of kernels that no rank uses any more, as found by a sum over the ranks.
void free_unused(comm::Transport& control, comm::detail::CollectivePool& pool) {
  pool.free_unused([&](std::span<std::int64_t> values) { control.all_reduce(values, comm::Op::sum); });
}

// Makes the distributed graph communicator of a process graph, by which neighbourhood kernels communicate. Collective.
GraphCommunicator::GraphCommunicator(const MpiGroup& group, const comm::Graph& graph)
    : comm_(comm::detail::graph_communicator(group.comm, graph)) {
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

// Frees the distributed graph communicator. Collective over its ranks.
void GraphCommunicator::free() {
  const comm::detail::ScopedYield yield;
  if (comm_ != MPI_COMM_NULL) check(MPI_Comm_free(&comm_), "MPI_Comm_free");
}

}  // namespace merganser::kernels::detail
