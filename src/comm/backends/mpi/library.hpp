#pragma once
/// Initialisation of MPI for the models over MPI, checks of its return codes, and queries for faults of its versions.
#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::comm::detail {

/// Initialises MPI if it is not initialised, and in that case finalises it when the process ends. Collective over the processes
/// of the job.
/// @throws CommError for singletons under a launcher of another library, and after MPI_Finalize
void start_mpi();

/// Returns true if MPI is initialised and not finalised in this process. Local.
[[nodiscard]] bool mpi_running();

/// Enables ScopedYield (sleeps within MPI calls, scoped_yield.hpp) if the MPI library polls without yielding the core. Local; may
/// be called again.
/// @throws UsageError for a bad value of MERGANSER_YIELD
void enable_mpi_yielding();

/// Returns the MPI communicator of a Fortran handle; in the standard ABI of MPI 5 of an integer of MPI_Comm_toint(). Local.
[[nodiscard]] inline MPI_Comm communicator_from_handle(int handle) {
#if defined(MPI_ABI_VERSION)
  return MPI_Comm_fromint(handle);
#else
  return MPI_Comm_f2c(handle);
#endif
}

/// Returns the size to request from MPI_Win_allocate for `bytes` bytes of memory: whole pages, at least one. MPICH 4.0.2 puts
/// to wrong addresses if small windows of one host differ in size by less than a page, and some components refuse windows
/// without memory.
[[nodiscard]] inline MPI_Aint window_bytes(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return static_cast<MPI_Aint>((bytes + kPage - 1 + (bytes == 0 ? 1 : 0)) / kPage * kPage);
}

/// Returns true if MPI_(I)neighbor_alltoallw of this library delivers wrong bytes on ranks whose in-degree and out-degree
/// differ: MPICH 4.0 to 4.0.2 copy the lists of one side by the length of the other. Local.
[[nodiscard]] bool unequal_degrees_fail();

/// Returns true if MPI_Win_flush_all of this library may return before it has read the origin buffers of puts: MPICH 4.0 to
/// 4.0.2 do, after many puts to several ranks. MPI_Win_flush does not. Local.
[[nodiscard]] bool flush_all_is_early();

/// Returns true if MPI_Finalize of this library crashes while a window is not freed: MPICH does over UCX. Local.
[[nodiscard]] bool left_windows_crash();

/// Returns a new MPI communicator of the ranks of `parent` with the process graph `graph` as its distributed graph topology, for
/// neighbourhood collectives. Collective over `parent`.
[[nodiscard]] MPI_Comm graph_communicator(MPI_Comm parent, const Graph& graph);

/// Returns the rank of this process in an MPI communicator. Local.
[[nodiscard]] int rank_in(MPI_Comm comm);

/// Returns the ranks in MPI_COMM_WORLD of some ranks of an MPI communicator; -1 for processes outside MPI_COMM_WORLD. Local.
[[nodiscard]] std::vector<int> world_ranks(MPI_Comm comm, std::span<const int> ranks);
/// Returns the rank in MPI_COMM_WORLD of every rank of an MPI communicator; -1 for processes outside MPI_COMM_WORLD. Local.
[[nodiscard]] std::vector<int> world_ranks(MPI_Comm comm);

/// Synchronises the private and public copies of this rank's window memory (MPI_Win_sync). Local. @param open  true within an
/// access epoch; else one is opened for the call
void sync_window(MPI_Win window, MPI_Comm comm, bool open);

/// Registers a function that MPI_Finalize calls first, as deletion of an attribute of MPI_COMM_SELF, when MPI still works and
/// all ranks are in MPI_Finalize. Local.
void register_finalize_callback(MPI_Comm_delete_attr_function* end);

/// Throws CommError with the name of an MPI call and MPI's text for its return code `result`.
[[noreturn]] void throw_mpi_error(int result, const char* call);

/// Checks the return code of an MPI call. @throws CommError with the call's name and MPI's text, unless `result` is MPI_SUCCESS
inline void check(int result, const char* call) {
  if (result != MPI_SUCCESS) throw_mpi_error(result, call);
}

}  // namespace merganser::comm::detail
