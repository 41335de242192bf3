#pragma once
namespace merganser::comm::detail {

/// Starts OpenSHMEM, if nobody has, after MPI where that is in this build too. @throws CommError as start_mpi()
void start_shmem();

}  // namespace merganser::comm::detail
