#pragma once
/// Starting MPI and checking its answers.
#include <mpi.h>

namespace merganser::comm::detail {

/// Starts MPI, if nobody has; ended when the process ends by who started it. @throws CommError for singletons under a
/// launcher of another library
void start_mpi();

/// Whether MPI has been started and has not been ended.
[[nodiscard]] bool mpi_running();

/// The communicator of an integer handle, as Fortran has them; in the interface of the standard the integers are its own.
[[nodiscard]] inline MPI_Comm communicator_of(int handle) {
#if defined(MPI_ABI_VERSION)
  return MPI_Comm_fromint(handle);
#else
  return MPI_Comm_f2c(handle);
#endif
}

[[noreturn]] void throw_mpi_error(int result, const char* call);

/// @throws CommError naming the call and MPI's text, unless `result` is MPI_SUCCESS
inline void check(int result, const char* call) {
  if (result != MPI_SUCCESS) throw_mpi_error(result, call);
}

}  // namespace merganser::comm::detail
