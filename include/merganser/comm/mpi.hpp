#pragma once
/// open() for programs that include mpi.h: the only public header that does.
#include <mpi.h>

#include <memory>
#include <type_traits>

#include "merganser/comm/open.hpp"

namespace merganser::comm {

/// Makes a transport over an intra-communicator of the caller's; promises and errors are those of open() in open.hpp, which
/// takes the Fortran handle. Collective over the communicator. Not defined where MPI_Comm is an int, which open() takes.
template <class Communicator>
requires(std::is_same_v<Communicator, MPI_Comm> && !std::is_same_v<Communicator, int>)
    [[nodiscard]] std::unique_ptr<Transport> open(Communicator communicator, const OpenOptions& options = {}) {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  const bool runs = started != 0 && ended == 0;  // handles cannot be converted otherwise; open() then throws
#if defined(MPI_ABI_VERSION)
  return open(runs ? MPI_Comm_toint(communicator) : 0, options);
#else
  return open(runs ? static_cast<int>(MPI_Comm_c2f(communicator)) : 0, options);
#endif
}

}  // namespace merganser::comm
