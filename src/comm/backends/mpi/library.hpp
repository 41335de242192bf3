#pragma once
/// Starting MPI and checking its answers.
#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm::detail {

/// Starts MPI, if nobody has; ended when the process ends by who started it. @throws CommError for singletons under a
/// launcher of another library
void start_mpi();

/// Whether MPI has been started and has not been ended.
[[nodiscard]] bool mpi_running();

/// Enables ScopedYield where the library polls (scoped_yield.hpp). Local; may be called again.
/// @throws UsageError as enable_yielding()
void be_courteous();

/// The communicator of an integer handle, as Fortran has them; in the interface of the standard the integers are its own.
[[nodiscard]] inline MPI_Comm communicator_of(int handle) {
#if defined(MPI_ABI_VERSION)
  return MPI_Comm_fromint(handle);
#else
  return MPI_Comm_f2c(handle);
#endif
}

/// Bytes to ask of MPI_Win_allocate for `bytes` of memory: whole pages. MPICH 4.0.2 misplaces what is put where the small
/// windows of one host differ by less, and some components refuse windows without memory.
[[nodiscard]] inline MPI_Aint window_bytes(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return static_cast<MPI_Aint>((bytes + kPage - 1 + (bytes == 0 ? 1 : 0)) / kPage * kPage);
}

/// Whether MPI_(I)neighbor_alltoallw of this library delivers wrong bytes where a rank has more arcs in than out, or fewer:
/// MPICH 4.0 to 4.0.2 copy the lists of one side by the length of the other.
[[nodiscard]] bool unequal_degrees_fail();

/// Whether MPI_Win_flush_all of this library returns before it has read what was put: the same versions, after many puts to
/// several ranks. MPI_Win_flush does not.
[[nodiscard]] bool flush_all_is_early();

/// Whether MPI_Finalize of this library crashes if a window is left: MPICH's over UCX.
[[nodiscard]] bool left_windows_crash();

/// A communicator of the ranks of `parent` with the topology of a graph. Collective.
[[nodiscard]] MPI_Comm graph_communicator(MPI_Comm parent, const Graph& graph);

/// Rank of this process in a communicator.
[[nodiscard]] int rank_in(MPI_Comm comm);

/// Which ranks of the world those of a communicator are: some of them, or all. -1 for those that are none of it.
[[nodiscard]] std::vector<int> world_ranks(MPI_Comm comm, std::span<const int> ranks);
[[nodiscard]] std::vector<int> world_ranks(MPI_Comm comm);

/// Makes writes of others into a window's memory known here, and those here to others. @param open  whether an epoch is open
void sync_window(MPI_Win window, MPI_Comm comm, bool open);

/// Has `end` called when MPI begins to end: it deletes the attributes of MPI_COMM_SELF first, when all ranks are there.
void when_mpi_ends(MPI_Comm_delete_attr_function* end);

[[noreturn]] void throw_mpi_error(int result, const char* call);

/// @throws CommError naming the call and MPI's text, unless `result` is MPI_SUCCESS
inline void check(int result, const char* call) {
  if (result != MPI_SUCCESS) throw_mpi_error(result, call);
}

}  // namespace merganser::comm::detail
