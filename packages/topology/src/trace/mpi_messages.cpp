// requires: MPI
// Wrappers of MPI's two-sided calls in the tracing library.
#include "src/trace/mpi_wrap.hpp"

/// Wrapped calls: start and end of MPI, two-sided messages, persistent requests, phases.

#define SEND const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm
#define SEND_ARGUMENTS buffer, n, type, to, tag, comm

namespace {

/// Stores a persistent send of MPI to a rank of a communicator under its request, to be counted when it is started.
void store_send(MPI_Comm comm, int to, int n, MPI_Datatype type, MPI_Request request) {
  using namespace merganser::trace;
  Sends* sends = new_sends(1);
  if (sends == nullptr) return;
  sends->one[0] = {world_rank(comm, to), data_bytes(n, type)};
  store_sends(request, sends);
}

}  // namespace

MERGANSER_WATCH(Init, (int* argc, char*** argv), (argc, argv), , start_counting())
MERGANSER_WATCH(Init_thread, (int* argc, char*** argv, int required, int* provided), (argc, argv, required, provided), ,
                start_counting())
MERGANSER_WATCH(Finalize, (), (), write_part("finalize"), )
MERGANSER_WATCH(Abort, (MPI_Comm comm, int code), (comm, code), write_part("abort"), )

MERGANSER_WRAP_BOTH(Send, Isend, (SEND), (SEND_ARGUMENTS), count_send(comm, to, n, type))
MERGANSER_WRAP_BOTH(Bsend, Ibsend, (SEND), (SEND_ARGUMENTS), count_send(comm, to, n, type))
MERGANSER_WRAP_BOTH(Ssend, Issend, (SEND), (SEND_ARGUMENTS), count_send(comm, to, n, type))
MERGANSER_WRAP_BOTH(Rsend, Irsend, (SEND), (SEND_ARGUMENTS), count_send(comm, to, n, type))
MERGANSER_WRAP(Sendrecv,
               (const void* buffer, int n, MPI_Datatype type, int to, int tag, void* in, int in_n, MPI_Datatype in_type,
                int from, int in_tag, MPI_Comm comm, MPI_Status* status),
               (buffer, n, type, to, tag, in, in_n, in_type, from, in_tag, comm, status), count_send(comm, to, n, type))
MERGANSER_WRAP(Sendrecv_replace,
               (void* buffer, int n, MPI_Datatype type, int to, int tag, int from, int in_tag, MPI_Comm comm,
                MPI_Status* status),
               (buffer, n, type, to, tag, from, in_tag, comm, status), count_send(comm, to, n, type))

/// Wraps the creation of a persistent send of MPI.
#define INIT(NAME)                                                               \
  MERGANSER_WRAP(NAME, (SEND, MPI_Request * request), (SEND_ARGUMENTS, request), \
                 store_send(comm, to, n, type, *request))
INIT(Send_init)
INIT(Bsend_init)
INIT(Ssend_init)
INIT(Rsend_init)
MERGANSER_WRAP(Start, (MPI_Request * request), (request), count_start(*request))
MERGANSER_WRAP(Startall, (int n, MPI_Request requests[]), (n, requests),
               for (int i = 0; i < n; ++i) count_start(requests[i]))
MERGANSER_WATCH(Request_free, (MPI_Request * request), (request), erase_request(*request), )
MERGANSER_WATCH(Comm_free, (MPI_Comm * comm), (comm), erase_comm(*comm), )
MERGANSER_WATCH(Comm_disconnect, (MPI_Comm * comm), (comm), erase_comm(*comm), )
MERGANSER_WATCH(Win_free, (MPI_Win * window), (window), erase_window(*window), )

/// Wraps MPI_Pcontrol, which begins the phase `level` of the traced program's traffic. MPI's own function does nothing.
extern "C" MERGANSER_SHOWN int MPI_Pcontrol(const int level, ...) {
  merganser::trace::begin_phase(level);
  return MPI_SUCCESS;
}
/// Begins a phase under the profiling name, which the Fortran bindings call.
extern "C" MERGANSER_SHOWN int PMPI_Pcontrol(const int level, ...) {
  merganser::trace::begin_phase(level);
  return MPI_SUCCESS;
}
